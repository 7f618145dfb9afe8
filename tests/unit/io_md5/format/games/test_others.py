"""Sauerbraten, Unvanquished, and any game."""

from __future__ import annotations

import numpy as np
import pytest
from md5_game_models import animation, camera, found, model

from io_idtech.io_md5.format.check import check_camera, check_model
from io_idtech.io_md5.format.games.profiles import Game


def test_unvanquished_refuses_what_others_cut():
    subject = model(vertices=1, triangles=0, weights=5)
    subject.meshes[0].weight_counts[:] = 5
    subject.meshes[0].weight_starts[:] = 0
    subject.meshes[0].weight_biases[:] = 0.2
    assert found(subject, Game.UNVANQUISHED)["influences"]


def fan(joints, parents):
    """A model whose last joints hang on those before them: so many parents in a chain, the rest on the last."""
    subject = model(joints=joints)
    subject.joints.parents[parents:] = parents - 1
    return subject


def test_unvanquished_takes_255_joints():
    assert found(fan(255, 3), Game.UNVANQUISHED) == {}
    assert found(fan(256, 3), Game.UNVANQUISHED) == {"joint_count": True}


def test_unvanquished_refuses_parents_after_the_first_128_joints():
    assert found(model(joints=129), Game.UNVANQUISHED) == {}
    (finding,) = check_model(model(joints=140), Game.UNVANQUISHED)
    assert finding.is_error
    assert finding.joints == tuple(range(129, 140))
    assert finding.text.startswith("11 joints have a parent with an index over 127: joint129")
    moving = animation(names=[f"joint{i}" for i in range(140)], parents=np.arange(140, dtype=np.int32) - 1)
    for name in ("flags", "starts"):
        setattr(moving, name, np.zeros(140, dtype=np.int32))
    moving.base_positions, moving.base_orientations = np.zeros((140, 3)), np.zeros((140, 3))
    assert found(moving, Game.UNVANQUISHED) == {"parent_indices": True}
    assert found(moving, Game.SAUERBRATEN) == {}


@pytest.mark.parametrize("game", [Game.QUAKE, Game.QUAKE2, Game.SAUERBRATEN, Game.UNVANQUISHED])
def test_games_without_camera_paths_say_so(game):
    (finding,) = check_camera(camera(), game)
    assert not finding.is_error
    assert finding.code == "no_cameras"
    assert check_camera(camera()) == []


def test_the_frame_rate_of_a_game_is_no_matter_of_any():
    assert found(animation(frame_rate=23.976), Game.ANY) == {}


def test_sauerbraten_wants_the_name_of_a_mesh_in_a_comment():
    subject = model()
    assert found(subject, Game.SAUERBRATEN) == {"unnamed_mesh": False}
    subject.meshes[0].comment_name = "body"
    assert found(subject, Game.SAUERBRATEN) == {}


@pytest.mark.parametrize(("joints", "codes"), [(1, {}), (1000, {"joint_count": False})])
def test_any_game_warns_of_many_joints_and_refuses_none(joints, codes):
    assert found(model(joints=joints), Game.ANY) == codes
