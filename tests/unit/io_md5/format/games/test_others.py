"""Sauerbraten, Unvanquished, and any game."""

from __future__ import annotations

import pytest
from md5_game_models import found, model

from io_md5.format.games import Game


def test_unvanquished_refuses_what_others_cut():
    subject = model(vertices=1, triangles=0, weights=5)
    subject.meshes[0].weight_counts[:] = 5
    subject.meshes[0].weight_starts[:] = 0
    subject.meshes[0].weight_biases[:] = 0.2
    assert found(subject, Game.UNVANQUISHED)["influences"]


def test_unvanquished_takes_256_joints():
    assert found(model(joints=256), Game.UNVANQUISHED) == {}
    assert found(model(joints=257), Game.UNVANQUISHED)["joint_count"]


def test_sauerbraten_wants_the_name_of_a_mesh_in_a_comment():
    subject = model()
    assert found(subject, Game.SAUERBRATEN) == {"unnamed_mesh": False}
    subject.meshes[0].comment_name = "body"
    assert found(subject, Game.SAUERBRATEN) == {}


@pytest.mark.parametrize(("joints", "codes"), [(1, {}), (1000, {"joint_count": False})])
def test_any_game_warns_of_many_joints_and_refuses_none(joints, codes):
    assert found(model(joints=joints), Game.ANY) == codes
