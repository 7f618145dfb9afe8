"""What each game accepts of MD5 models and animations."""

from __future__ import annotations

import pytest
from md5_game_models import animation, found, model

from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.games.profiles import Game
from io_idtech.io_md5.format.games.writing import prepare_animation, prepare_model


@pytest.mark.parametrize("game", Game)
def test_a_good_model_and_animation_have_no_findings(game):
    good, warnings = prepare_model(model(), game)
    assert warnings == []
    assert check_model(good, game) == []
    moving = animation()
    moving.base_positions[0] = 0.0
    written, _ = prepare_animation(moving, game)
    assert check_animation(written, game=game) == []


LIMITS = [
    ({"joints": 256}, "joint_count", {Game.ANY: False, Game.DOOM3_BFG: True, Game.UNVANQUISHED: True}),
    ({"joints": 257}, "joint_count", {
        Game.ANY: False, Game.DOOM3_BFG: True, Game.SAUERBRATEN: True, Game.QUAKE: True, Game.QUAKE2: True,
        Game.UNVANQUISHED: True,
    }),
    ({"vertices": 6145}, "vertex_count", {Game.QUAKE2: True}),
    ({"vertices": 65536}, "vertex_count", {
        Game.QUAKE2: True, Game.DOOM3_BFG: True, Game.SAUERBRATEN: True, Game.QUAKE: True,
    }),
    ({"triangles": 6145}, "triangle_count", {Game.QUAKE2: True}),
    ({"weights": 8193}, "weight_count", {Game.QUAKE2: True}),
    ({"weights": 65536}, "weight_count", {Game.QUAKE2: True, Game.SAUERBRATEN: True}),
    ({"vertices": 65538, "weights": 65538}, "weight_starts", {Game.QUAKE2: True}),
    ({"vertices": 40000, "meshes": 2}, "total_vertices", {Game.SAUERBRATEN: False}),
    ({"meshes": 33}, "mesh_count", {Game.QUAKE2: True}),
    ({"meshes": 0}, "no_meshes", dict.fromkeys(
        (Game.QUAKE, Game.QUAKE2, Game.SAUERBRATEN, Game.UNVANQUISHED), True)),
    ({"joints": 0, "meshes": 0}, "no_joints", dict.fromkeys(Game, True)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "code", "errors"), LIMITS, ids=[f"{code}-{numbers}" for numbers, code, _ in LIMITS]
)
def test_each_limit_is_that_of_the_game(numbers, code, errors):
    subject = model(**numbers)
    results = {game: found(subject, game).get(code) for game in Game}
    assert results == {game: errors.get(game) for game in Game}


def test_one_below_each_limit_is_taken():
    assert "joint_count" not in found(model(joints=256), Game.SAUERBRATEN)
    assert "joint_count" not in found(model(joints=256), Game.QUAKE)
    assert set(found(model(256, 6144, 6144, 8192, 32), Game.QUAKE2)) == {"several_materials"}
    assert "vertex_count" not in found(model(vertices=65535), Game.QUAKE)
