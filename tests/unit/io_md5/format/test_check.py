"""What a game takes: a sorted list of findings."""

from __future__ import annotations

import numpy as np
from md5_samples import ANIMATION, MESH

from io_idtech.io_md5.format import parse_animation, parse_mesh
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.games.profiles import Game


def test_clean_files_have_no_findings():
    assert check_model(parse_mesh(MESH.encode())) == []
    model = parse_mesh(MESH.encode())
    assert check_animation(parse_animation(ANIMATION.encode()), model.joints) == []


def test_errors_come_before_warnings():
    model = parse_mesh(MESH.encode())
    model.joints.names[1:] = ["", ""]
    model.joints.parents[2] = -1
    model.meshes[0].weight_positions[0] = np.nan
    kinds = [finding.is_error for finding in check_model(model, Game.DOOM3)]
    assert set(kinds) == {True, False}
    assert kinds == sorted(kinds, reverse=True)


def test_whether_an_animation_is_beside_the_mesh_matters_only_where_it_is_known():
    model = parse_mesh(MESH.encode())
    codes = [
        {finding.code for finding in check_model(model, Game.QUAKE, has_animation=known)}
        for known in (None, True, False)
    ]
    assert ["no_animation" in found for found in codes] == [False, False, True]


def test_an_animation_is_compared_with_the_joints_of_a_model_only_where_they_are_known():
    model = parse_mesh(MESH.encode())
    model.joints.names[1] = "pelvis"
    animation = parse_animation(ANIMATION.encode())
    assert check_animation(animation) == []
    assert "other_joints" in {finding.code for finding in check_animation(animation, model.joints)}
