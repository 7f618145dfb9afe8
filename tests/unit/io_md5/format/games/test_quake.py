"""The re-releases of Quake and Quake II."""

from __future__ import annotations

import json

import numpy as np
import pytest
from md5_game_models import animation, found, model

from io_idtech.io_common.skeletal.scales import ScaleTable
from io_idtech.io_md5.format.games.profiles import Game
from io_idtech.io_md5.format.scale_file import format_scales, scales_of_table


@pytest.mark.parametrize("game", [Game.QUAKE, Game.QUAKE2])
def test_a_mesh_without_an_animation_is_refused(game):
    assert found(model(), game, has_animation=False)["no_animation"]
    assert found(model(), game, has_animation=True) == {}


def test_a_command_line_that_quakes_parser_cannot_hold_is_refused():
    subject = model()
    subject.commandline = "x" * 1023
    assert "commandline_length" not in found(subject, Game.QUAKE)
    subject.commandline += "x"
    assert found(subject, Game.QUAKE)["commandline_length"]


def test_the_path_of_a_skin_has_at_most_63_bytes():
    subject = model()
    subject.meshes[0].shader = "k" * 51
    assert found(subject, Game.QUAKE) == {}
    subject.meshes[0].shader = "k" * 50 + "é"
    assert found(subject, Game.QUAKE) == {"skin_length": False}


def test_quake_ii_shows_one_skin_on_the_whole_model():
    subject = model(meshes=2)
    assert found(subject, Game.QUAKE2) == {"several_materials": False}
    assert "several_materials" not in found(subject, Game.QUAKE)
    subject.meshes[1].shader = subject.meshes[0].shader
    assert found(subject, Game.QUAKE2) == {}


def table(frames, joints, scaled, *, scales_position=False):
    values = np.ones((frames, joints))
    values[:, :scaled] = 1.5
    return ScaleTable(values, np.full(joints, scales_position))


def tokens(value):
    """The tokens that the parser of q2pro counts."""
    if isinstance(value, dict):
        return 1 + sum(1 + tokens(one) for one in value.values())
    return 1


@pytest.mark.parametrize("scales_position", [False, True])
def test_quake_ii_reads_4096_tokens_of_scales(scales_position):
    clip = animation()
    joints = len(clip.names)
    for frames in (2045, 2046, 2047):
        scales = table(frames, joints, 1, scales_position=scales_position)
        count = tokens(json.loads(format_scales(scales_of_table(clip.names, scales))))
        results = found(clip, Game.QUAKE2, scales=scales)
        assert ("scale_count" in results) == (count > 4096)


@pytest.mark.parametrize(
    ("name", "is_found"),
    [("x" * 47, True), ("x" * 48, False), ("ü" * 24, False), ("a\\b", False), ("a\tb", False), ("große", True)],
)
def test_quake_ii_finds_scaled_joints_by_short_plain_names(name, is_found):
    clip = animation()
    clip.names[0] = name
    scaled = found(clip, Game.QUAKE2, scales=table(2, len(clip.names), 1))
    assert ("scale_names" in scaled) != is_found
    assert "scale_names" not in found(clip, Game.QUAKE2, scales=table(2, len(clip.names), 0))
    assert "scale_names" not in found(clip, Game.QUAKE2)
