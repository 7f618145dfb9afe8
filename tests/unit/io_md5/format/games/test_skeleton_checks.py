"""Checks of joints, in mesh and animation files alike."""

from __future__ import annotations

import numpy as np
import pytest
from md5_game_models import animation, found, model

from io_idtech.io_md5.format.games.profiles import Game

KINDS = pytest.mark.parametrize("make", [model, animation], ids=["mesh", "animation"])


def joints_of(subject):
    return getattr(subject, "joints", subject)


@KINDS
def test_an_empty_name_is_found(make):
    subject = make()
    joints_of(subject).names[1] = ""
    assert "unnamed_joints" in found(subject, Game.DOOM3)


@KINDS
def test_a_repeated_name_is_found(make):
    subject = make()
    names = joints_of(subject).names
    names[2] = names[1]
    assert "repeated_names" in found(subject, Game.DOOM3)


@KINDS
def test_a_joint_before_its_parent_is_found(make):
    subject = make()
    joints_of(subject).parents[1] = 2
    assert "parents_first" in found(subject, Game.DOOM3)


@KINDS
@pytest.mark.parametrize("name", ['a"b', "a\nb"])
def test_a_name_that_no_string_can_hold_is_found(make, name):
    subject = make()
    joints_of(subject).names[1] = name
    assert found(subject, Game.ANY)["unwritable_names"]


@KINDS
def test_a_file_without_joints_is_refused_for_every_game(make):
    subject = make()
    joints = joints_of(subject)
    joints.names = []
    for name, values in vars(joints).items():
        if isinstance(values, np.ndarray) and name not in ("frames", "bounds"):
            setattr(joints, name, values[:0])
    assert found(subject, Game.ANY)["no_joints"]


def test_the_command_line_is_measured_in_bytes():
    subject = model()
    subject.commandline = "\xe9" * 512
    assert "commandline_length" not in found(subject, Game.ANY)
    assert found(subject, Game.QUAKE)["commandline_length"]
