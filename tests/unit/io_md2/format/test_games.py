"""The limits of each game, and how models are written for it."""

from __future__ import annotations

import numpy as np
import pytest
from md2_samples import fan, model_of

from io_idtech.io_common.rules import game_named
from io_idtech.io_md2.format import PROFILES, Game, Model, check_model, prepare_model
from io_idtech.io_md2.format.games import COMMON

QUAKE2_GAMES = (Game.ANY, Game.QUAKE2, Game.QUAKE2_MODERN)


def codes(model: Model, game: Game, former: Model | None = None) -> set[tuple[str, bool]]:
    return {(finding.code, finding.is_error) for finding in check_model(model, game, former)}


@pytest.mark.parametrize("game", Game)
def test_a_good_model_has_no_findings_for_any_game(game):
    assert check_model(fan(4), game) == []


@pytest.mark.parametrize(
    ("numbers", "code", "errors"),
    [
        ({"triangles": 4097}, "too_many_triangles", {Game.QUAKE2: False}),
        ({"triangles": 6145}, "too_many_triangles", {Game.QUAKE2: False, Game.QUAKE2_MODERN: True}),
        ({"vertices": 2049}, "too_many_vertices", {Game.QUAKE2: True, Game.QUAKE2_MODERN: False}),
        ({"frames": 513}, "too_many_frames", {Game.QUAKE2: False}),
        ({"frames": 1025}, "too_many_frames", {Game.QUAKE2: False, Game.QUAKE2_MODERN: True}),
        ({"skins": 33}, "too_many_skins", {Game.QUAKE2: False, Game.QUAKE2_MODERN: False}),
        ({"st": 2}, "few_st", {Game.QUAKE2_MODERN: True}),
        ({"vertices": 65537}, "vertices_beyond_format", dict.fromkeys(Game, True)),
    ],
)
def test_each_limit_is_that_of_the_game(numbers, code, errors):
    model = model_of(**numbers)
    found = {game: {finding.is_error for finding in check_model(model, game) if finding.code == code} for game in Game}
    assert found == {game: {errors[game]} if game in errors else set() for game in Game}


def test_one_below_each_limit_is_taken():
    assert codes(model_of(4096, 2048, 512, 3, 32), Game.QUAKE2) == set()
    assert codes(model_of(6144, 2048, 1024, 3, 32), Game.QUAKE2_MODERN) == set()


def test_the_height_of_a_skin_counts_for_quake_ii_alone():
    model = model_of()
    model.skin_height = 481
    assert [codes(model, game) for game in QUAKE2_GAMES] == [set(), {("skin_too_tall", True)}, set()]


def test_a_skin_name_of_64_bytes_is_refused_by_the_modern_engines_alone():
    model = model_of()
    model.skins = [f"{'x' * 60}.pcx"]
    assert [codes(model, game) for game in QUAKE2_GAMES] == [
        {("skin_name_unterminated", False)},
        {("skin_name_unterminated", False)},
        {("skin_name_unterminated", True)},
    ]


def test_more_corners_than_q2pro_makes_vertices_of_are_refused():
    model = fan(2100)
    model.triangle_st = np.arange(3 * 2100, dtype=np.int32).reshape(-1, 3)
    model.st = np.array([(k % 64, k // 64) for k in range(3 * 2100)], np.int16)
    assert ("too_many_corners", True) in codes(model, Game.QUAKE2_MODERN)


def test_a_message_names_the_value_the_limit_the_game_and_the_remedy():
    (finding,) = (f for f in check_model(model_of(vertices=2050), Game.QUAKE2) if f.is_error)
    assert finding.text == "The model has 2,050 vertices; Quake II takes 2,048: reduce the mesh"
    assert (finding.found, finding.limit, finding.engine) == ("2050", "2048", "Quake II")
    assert (finding.mesh, finding.vertices) == (0, (2048, 2049))


def test_what_the_imported_file_exceeded_is_a_warning_also_where_more_was_added():
    former = model_of(vertices=2049)
    (finding,) = (f for f in check_model(model_of(vertices=2060), Game.QUAKE2, former))
    assert (finding.code, finding.is_error) == ("too_many_vertices", False)
    assert finding.text.endswith("the imported file already did")
    assert ("too_many_vertices", True) in codes(model_of(vertices=2060), Game.QUAKE2, model_of(vertices=2048))


def test_less_than_three_texture_coordinates_are_filled_up():
    model = model_of(st=1)
    model.st = np.array([(5, 7)], np.int16)
    written, _ = prepare_model(model)
    assert written.st.tolist() == [[5, 7]] * 3
    assert prepare_model(model_of(st=0))[0].st.tolist() == [[0, 0]] * 3
    for whole in (model_of(), model_of(triangles=0, st=0)):
        assert prepare_model(whole)[0] is whole


def test_every_rule_has_a_source_and_every_error_a_remedy():
    for game in Game:
        rules = PROFILES[game].rules_with(COMMON)
        assert len({rule.code for rule in rules}) == len(rules)
        for rule in rules:
            assert rule.source
            assert rule.requirement
            assert rule.remedy or not rule.is_error
    assert set(PROFILES) == set(Game)


def test_games_of_other_formats_count_as_any():
    assert [game_named(Game, name) for name in ("QUAKE2", "SAUERBRATEN")] == [Game.QUAKE2, Game.ANY]


@pytest.mark.parametrize(
    ("skin", "is_loaded"),
    [
        ("models/imp/skin.pcx", True),
        ("players/robot/red.PNG", True),
        ("Material", False),
        ("skin.001", False),
        ("", False),
    ],
)
def test_quake_ii_loads_skins_that_are_paths_of_images(skin, is_loaded):
    model = model_of()
    model.skins = ["a.tga", skin]
    expected = set() if is_loaded else {("skin_not_image", False)}
    assert [codes(model, game) for game in QUAKE2_GAMES] == [set(), expected, expected]
