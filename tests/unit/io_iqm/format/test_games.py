"""What each game refuses in an IQM, by the rules of its loader."""

from __future__ import annotations

from dataclasses import replace

import iqm_samples
import numpy as np
import pytest
from engines import iqm as engines
from engines.posing import Refused

from io_idtech.io_iqm.format import (
    PROFILES,
    ArrayType,
    FrameRange,
    Game,
    Iqm,
    VertexArray,
    check_iqm,
    format_iqm,
    from_model,
)


@pytest.fixture
def iqm() -> Iqm:
    return from_model(iqm_samples.model(), [iqm_samples.animation()])


def codes(iqm: Iqm, game: Game, source: Iqm | None = None) -> list[str]:
    return [finding.code for finding in check_iqm(iqm, game, source) if finding.is_error]


@pytest.mark.parametrize("game", list(Game))
def test_what_we_write_is_taken_by_every_game(iqm, game):
    assert codes(iqm, game) == []
    if game.value in engines.READERS:
        engines.READERS[game.value](format_iqm(iqm))


@pytest.mark.parametrize("game", list(Game))
def test_an_array_of_a_reserved_type_is_named_by_its_number(game):
    found = [str(one) for one in check_iqm(iqm_samples.unusual(), game) if one.code == "array_wide"]
    assert bool(found) == (game is Game.QUAKE3)
    assert all("type 8 has 8 × float32" in one for one in found)


def test_every_rule_has_a_source_and_a_limit_that_its_words_name():
    for profile in PROFILES.values():
        for rule in profile.rules:
            assert rule.source
            assert rule.why
            assert rule.remedy
            assert rule.limit in (0, 1) or f"{int(rule.limit):,}" in rule.requirement


def _scaled(iqm):
    iqm.pose_offsets[1, 7:] = 2.0


def _without_bounds(iqm):
    iqm.bounds = np.zeros((0, 8), np.float32)


def _without_normals(iqm):
    iqm.arrays = [array for array in iqm.arrays if array.type != ArrayType.NORMAL]


def _without_weights(iqm):
    iqm.arrays = [array for array in iqm.arrays if array.type < ArrayType.BLEND_INDEXES]


def _with_float_weights(iqm):
    values = (iqm.array(ArrayType.BLEND_WEIGHTS) / 255).astype(np.float32)
    iqm.arrays[5] = VertexArray(ArrayType.BLEND_WEIGHTS, values)


def _without_poses(iqm):
    empty = Iqm()
    for name in ("pose_parents", "pose_masks", "pose_offsets", "pose_scales", "frames", "animations", "bounds"):
        setattr(iqm, name, getattr(empty, name))


def _with_late_parents(iqm):
    iqm.joint_parents = iqm.pose_parents = np.array([-1, 3, 1, 0], np.int32)


def _with_an_empty_animation(iqm):
    iqm.animations.append(FrameRange("none", 0, 0, 24.0))


def _with_a_negative_scale(iqm):
    iqm.joint_channels[0, 7] = -1.0


def _with_doubles(iqm):
    iqm.arrays.append(VertexArray(16, np.zeros((60, 1)), name="a"))


def _large(iqm):
    iqm.extensions = []
    iqm.arrays.append(VertexArray(16, np.zeros((60, 1 << 19), np.uint8), name="a"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "game", "code"),
    [
        (_without_bounds, Game.GZDOOM, "parts_missing"),
        (_with_late_parents, Game.GZDOOM, "parent_after_child"),
        (_without_normals, Game.QUAKE3, "arrays_missing"),
        (_without_weights, Game.QUAKE3, "weights_missing"),
        (_with_doubles, Game.QUAKE3, "array_wide"),
        (_large, Game.QUAKE3, "file_too_large"),
        (_with_float_weights, Game.UNVANQUISHED, "not_portable"),
        (_with_a_negative_scale, Game.UNVANQUISHED, "negative_scale"),
        (_with_an_empty_animation, Game.UNVANQUISHED, "animation_empty"),
        (_with_late_parents, Game.UNVANQUISHED, "parent_after_child"),
        (_with_float_weights, Game.SAUERBRATEN, "not_portable"),
        (_without_weights, Game.DARKPLACES, "weights_missing"),
        (_with_late_parents, Game.DARKPLACES, "parent_after_child"),
        (_without_poses, Game.QFUSION, "animation_missing"),
        (_with_late_parents, Game.RAYLIB, "parent_after_child"),
    ],
)
def test_what_a_game_refuses_is_an_error_that_a_source_with_it_makes_a_warning(iqm, change, game, code):
    change(iqm)
    assert code in codes(iqm, game)
    if game.value in engines.READERS and code != "array_wide":
        # Wide arrays of its own are left out by ioquake3's newest version.
        with pytest.raises(Refused):
            engines.READERS[game.value](format_iqm(iqm))
    assert code not in codes(iqm, Game.ANY)
    assert code not in codes(iqm, game, source=iqm)


@pytest.mark.parametrize("game", [Game.QUAKE3, Game.QFUSION])
def test_weights_of_floats_are_no_error_for_games_that_take_them(iqm, game):
    _with_float_weights(iqm)
    assert codes(iqm, game) == []


def test_scales_are_a_warning_for_games_that_ignore_them(iqm):
    _scaled(iqm)
    for game in (Game.SAUERBRATEN, Game.DARKPLACES, Game.QFUSION, Game.RAYLIB):
        assert [finding.code for finding in check_iqm(iqm, game)] == ["joint_scale"]
    assert check_iqm(iqm, Game.GZDOOM) == []


@pytest.mark.slow
@pytest.mark.parametrize(("game", "vertices"), [(Game.QUAKE3, 999), (Game.RAYLIB, 65536), (Game.FTEQW, 65536)])
def test_the_limit_itself_is_no_error(game, vertices):
    made = iqm_samples.model()
    for count, expected in ((vertices, []), (vertices + 1, ["too_many_vertices"])):
        mesh = iqm_samples.mesh(made.joints, "big", 1, weights=1, vertices=30)
        grown = replace(
            mesh,
            uvs=np.zeros((count, 2)),
            weight_starts=np.zeros(count, np.int32),
            weight_counts=np.ones(count, np.int32),
        )
        assert codes(from_model(replace(made, meshes=[grown])), game) == expected


def test_vertices_without_weights_are_a_warning(iqm):
    iqm.array(ArrayType.BLEND_WEIGHTS)[2] = 0
    (finding,) = check_iqm(iqm)
    assert finding.text.startswith("Vertices have no weights: 1 in the mesh 'body'")
