"""What each game takes of an MD2 model, and how models are written for it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from io_md2.format import (
    PROFILES,
    Counts,
    Finding,
    Game,
    GlCommands,
    Model,
    check_model,
    drawn_triangles,
    format_model,
    generate_commands,
    parse_model,
    prepare_model,
)
from io_md2.format.degenerate import degenerate_rows, is_degenerate, with_degenerate
from io_md2.format.games import game_named, rules_of
from io_md5.format.check import Finding as Md5Finding


def model_of(triangles: int = 1, vertices: int = 3, frames: int = 1, st: int = 3, skins: int = 1) -> Model:
    """A model without shape that has so many of everything."""
    return Model(
        skin_width=64,
        skin_height=64,
        skins=[f"{i}.pcx" for i in range(skins)],
        st=np.zeros((st, 2), np.int16),
        triangles=np.zeros((triangles, 3), np.int32),
        triangle_st=np.zeros((triangles, 3), np.int32),
        scale=np.ones((frames, 3), np.float32),
        translate=np.zeros((frames, 3), np.float32),
        frame_names=[f"frame{i}" for i in range(frames)],
        vertices=np.zeros((frames, vertices, 3), np.uint8),
        normals=np.zeros((frames, vertices), np.uint8),
    )


def fan(triangles: int) -> Model:
    """A model of so many proper triangles around vertex 0, each corner with a texture coordinate of its own vertex."""
    model = model_of(triangles, triangles + 2, 1, triangles + 2)
    model.triangles = np.array([(0, k + 1, k + 2) for k in range(triangles)], np.int32)
    model.triangle_st = model.triangles.copy()
    model.st = np.array([(k % 64, k // 64) for k in range(triangles + 2)], np.int16)
    return model


def codes(model: Model, game: Game, source_counts: Counts | None = None) -> set[tuple[str, bool]]:
    return {(finding.code, finding.is_error) for finding in check_model(model, game, source_counts)}


@pytest.mark.parametrize("game", Game)
def test_a_good_model_is_taken_by_every_game(game):
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
    found = {
        game: {finding.is_error for finding in check_model(model, game) if finding.code == code}
        for game in Game
    }
    assert found == {game: {errors[game]} if game in errors else set() for game in Game}


def test_one_below_each_limit_is_taken():
    assert codes(model_of(4096, 2048, 512, 3, 32), Game.QUAKE2) == set()
    assert codes(model_of(6144, 2048, 1024, 3, 32), Game.QUAKE2_MODERN) == set()


def test_the_height_of_a_skin_counts_for_quake_ii_alone():
    model = model_of()
    model.skin_height = 481
    assert [codes(model, game) for game in Game] == [set(), {("skin_too_tall", True)}, set()]


def test_a_skin_name_of_64_bytes_is_refused_by_the_modern_engines_alone():
    model = model_of()
    model.skins = ["x" * 64]
    assert [codes(model, game) for game in Game] == [
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
    assert finding.text == "The model has 2050 vertices; Quake II takes 2048: reduce the mesh"
    assert (finding.found, finding.limit, finding.engine) == ("2050", "2048", "Quake II")
    assert (finding.mesh, finding.vertices) == (0, (2048, 2049))


def test_what_the_imported_file_exceeded_is_a_warning_also_where_more_was_added():
    source_counts = Counts.of(model_of(vertices=2049))
    (finding,) = (f for f in check_model(model_of(vertices=2060), Game.QUAKE2, source_counts))
    assert (finding.code, finding.is_error) == ("too_many_vertices", False)
    assert finding.text.endswith("the imported file already did")
    assert ("too_many_vertices", True) in codes(
        model_of(vertices=2060), Game.QUAKE2, Counts.of(model_of(vertices=2048))
    )


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


def test_less_than_three_texture_coordinates_are_filled_up():
    model = model_of(st=1)
    model.st = np.array([(5, 7)], np.int16)
    written = prepare_model(model)
    assert written.st.tolist() == [[5, 7]] * 3
    assert prepare_model(model_of(st=0)).st.tolist() == [[0, 0]] * 3
    for whole in (model_of(), model_of(triangles=0, st=0)):
        assert prepare_model(whole) is whole


def test_every_rule_has_a_source_and_every_error_a_remedy():
    for game in Game:
        rules = rules_of(game)
        assert len({rule.code for rule in rules}) == len(rules)
        for rule in rules:
            assert rule.source
            assert rule.requirement
            assert rule.remedy or not rule.is_error
    assert set(PROFILES) == set(Game)


def test_games_of_other_formats_count_as_any():
    assert [game_named(name) for name in ("QUAKE2", "SAUERBRATEN")] == [Game.QUAKE2, Game.ANY]


def test_findings_of_both_formats_have_the_same_attributes():
    def shape(cls: type) -> list[tuple[str, object]]:
        return [(field.name, field.default) for field in dataclasses.fields(cls)]

    assert shape(Finding) == shape(Md5Finding)


# Degenerate triangles


def mixed() -> Model:
    """Five triangles, of which the second and the last are degenerate."""
    model = fan(5)
    model.triangles[1] = (1, 1, 2)
    model.triangles[4] = (6, 0, 6)
    return model


def without_degenerate(model: Model) -> Model:
    proper = ~is_degenerate(model.triangles)
    return dataclasses.replace(
        model, triangles=model.triangles[proper], triangle_st=model.triangle_st[proper]
    )


def test_degenerate_triangles_come_back_in_their_places():
    model = mixed()
    rows = degenerate_rows(model)
    assert rows[:, 0].tolist() == [1, 4]
    sources = np.arange(model.vertex_count, dtype=np.int32)
    again, previous = with_degenerate(without_degenerate(model), rows, sources, model.st)
    assert np.array_equal(again.triangles, model.triangles)
    assert np.array_equal(again.triangle_st, model.triangle_st)
    assert np.array_equal(again.st, model.st)
    assert previous.tolist() == [0, -1, 1, 2, -1]
    assert check_model(again) == []
    assert len(drawn_triangles(again.gl_commands)[0]) == 5


def test_those_whose_vertices_are_gone_stay_away():
    model = mixed()
    sources = np.arange(model.vertex_count, dtype=np.int32)
    sources[6] = -1
    again, _previous = with_degenerate(without_degenerate(model), degenerate_rows(model), sources, model.st)
    assert again.triangles[1].tolist() == [1, 1, 2]
    assert len(again.triangles) == 4
    none, previous = with_degenerate(
        without_degenerate(model), degenerate_rows(model), np.full_like(sources, -1), model.st
    )
    assert (len(none.triangles), previous.tolist()) == (3, [0, 1, 2])


def test_in_a_new_table_they_keep_the_values_of_their_texture_coordinates():
    model = mixed()
    few = without_degenerate(model)
    few.st, few.triangle_st = few.st[:3][::-1].copy(), np.zeros_like(few.triangle_st)
    sources = np.arange(model.vertex_count, dtype=np.int32)
    again, _previous = with_degenerate(few, degenerate_rows(model), sources, model.st)
    assert np.array_equal(again.st[again.triangle_st[[1, 4]]], model.st[model.triangle_st[[1, 4]]])
    assert len(np.unique(again.st, axis=0)) == len(again.st)


# Texture coordinates that do not exist


def with_missing(commands: GlCommands | None = None) -> bytes:
    """A file of two triangles, the second of which refers to texture coordinates that do not exist."""
    model = fan(2)
    model.st = np.array([(3, 4), (10, 20), (30, 40), (50, 60)], np.int16)
    if commands is None:
        commands = generate_commands(model.triangles, model.triangle_st, model.st, 64, 64)
    model.gl_commands = commands
    model.triangle_st = np.array([(0, 1, 2), (0, 2, 3)], np.int32)
    data = bytearray(format_model(model))
    place = data.index(np.array([0, 2, 3, 0, 2, 3], "<u2").tobytes())
    data[place + 6 : place + 12] = np.array([65535, 2, 65535], "<u2").tobytes()
    return bytes(data)


def test_missing_texture_coordinates_are_taken_from_the_commands_with_a_warning():
    model = parse_model(with_missing())
    assert model.st[model.triangle_st[1]].tolist() == [[3, 4], [30, 40], [50, 60]]
    assert any("taken from the GL commands" in text for text in model.warnings)
    assert check_model(model, Game.QUAKE2) == []


def test_without_commands_they_are_in_the_corner_with_a_warning():
    model = parse_model(with_missing(GlCommands()))
    assert model.st[model.triangle_st[1]].tolist() == [[0, 0], [30, 40], [0, 0]]
    assert any("2 are in the upper left corner" in text for text in model.warnings)


def test_an_edge_of_the_table_is_not_missing():
    model = fan(2)
    model.gl_commands = generate_commands(model.triangles, model.triangle_st, model.st, 64, 64)
    again = parse_model(format_model(model))
    assert again == model
    assert again.warnings == []
