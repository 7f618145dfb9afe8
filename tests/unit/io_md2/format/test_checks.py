"""Checks of what a game would draw differently or a file cannot hold."""

from __future__ import annotations

import numpy as np
from md2_samples import fan, model_of

from io_idtech.io_md2.format import Game, Model, check_model, generate_commands


def codes(model: Model, game: Game, former: Model | None = None) -> set[tuple[str, bool]]:
    return {(finding.code, finding.is_error) for finding in check_model(model, game, former)}


def test_empty_tables_are_refused_by_quake_ii():
    model = model_of(0, 0, 1, 0)
    errors = {code for code, is_error in codes(model, Game.QUAKE2) if is_error}
    assert errors == {"missing_vertices", "missing_triangles", "missing_st"}
    assert not any(is_error for _code, is_error in codes(model, Game.ANY))


def test_names_that_the_file_cannot_hold_are_refused_for_every_game():
    model = model_of()
    model.frame_names = ["a name of seventeen"]
    model.skins = ["\u20ac.pcx"]
    for game in Game:
        assert {("name_characters", True), ("name_too_long", True)} <= codes(model, game)


def test_oddities_are_warnings():
    model = model_of(frames=2)
    model.frame_names = ["run1", "run1"]
    model.normals[0, 0] = 200
    model.st = np.full((3, 2), 64, np.int16)
    assert codes(model, Game.ANY) == {
        ("frame_names_repeated", False),
        ("bad_normals", False),
        ("st_outside_skin", False),
    }
    findings = {finding.code: finding for finding in check_model(model)}
    assert findings["bad_normals"].vertices == (0,)
    assert findings["st_outside_skin"].triangles == (0,)


def test_commands_that_draw_other_triangles_are_found():
    model = fan(4)
    model.gl_commands = generate_commands(model.triangles, model.triangle_st, model.st, 64, 64)
    assert check_model(model) == []
    model.triangles = model.triangles[:, [0, 2, 1]]
    (finding,) = check_model(model)
    assert finding.code == "gl_commands_differ"
