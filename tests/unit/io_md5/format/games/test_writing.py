"""Models and animations as a game wants them written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from md5_game_models import animation, found, model
from md5_samples import MESH

from io_idtech.io_common.skeletal import skeleton
from io_idtech.io_md5.format import format_animation, parse_animation, parse_mesh
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.games.profiles import PROFILES, Game, game_named, rules_of
from io_idtech.io_md5.format.games.writing import prepare_animation, prepare_model, rest_pose

WITH_COMMENTS = {Game.SAUERBRATEN}

WITHOUT_NAME_LINES = {Game.QUAKE, Game.QUAKE2, Game.UNVANQUISHED}


@pytest.mark.parametrize("game", Game)
def test_names_of_meshes_are_written_as_the_game_reads_them(game):
    subject = model(meshes=2)
    subject.meshes[0].name = "body"
    subject.meshes[1].shader = "models\\imp/head"
    written, _ = prepare_model(subject, game)
    assert written.meshes[0].name == ("" if game in WITHOUT_NAME_LINES else "body")
    assert (written.meshes[0].comment_name == "body") == (game in WITHOUT_NAME_LINES | WITH_COMMENTS)
    assert written.meshes[1].comment_name == ("head" if game in WITH_COMMENTS else "")
    assert not any(check.is_error for check in check_model(written, game))


def test_names_of_objects_are_used_where_the_file_had_none():
    written, _ = prepare_model(model(meshes=2), Game.SAUERBRATEN, object_names=["Body", "Head"])
    assert [m.comment_name for m in written.meshes] == ["Body", "Head"]


def test_meshes_that_share_their_shader_are_kept_apart():
    subject = model(meshes=3)
    subject.meshes[0].shader = subject.meshes[1].shader
    assert found(subject, Game.ANY) == {"equal_meshes": False}
    written, _ = prepare_model(subject, object_names=["a", "b", "c"])
    assert [m.comment_name for m in written.meshes] == ["a", "b", ""]
    assert check_model(written) == []


def test_a_long_command_line_is_cut_with_a_warning():
    subject = replace(model(), commandline="é" * 600)
    assert found(subject, Game.QUAKE)["commandline_length"]
    written, warnings = prepare_model(subject, Game.QUAKE)
    assert written.commandline == "é" * 511
    assert "from 1,200 to 1,023 bytes" in warnings[0]
    clip, _ = prepare_animation(animation(commandline="x" * 1024), Game.QUAKE)
    assert len(clip.commandline) == 1023
    assert prepare_model(subject, Game.DOOM3)[0].commandline == subject.commandline


def test_quake_gets_all_components_and_the_same_poses():
    clip = animation()
    assert found(clip, Game.QUAKE)["base_frame_needed"] is False
    written, _ = prepare_animation(clip, Game.QUAKE)
    assert (written.flags == 63).all()
    assert found(written, Game.QUAKE) == {}
    again = parse_animation(format_animation(written))
    for mine, theirs in zip(skeleton.poses(again), skeleton.poses(clip), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
    np.testing.assert_array_equal(again.bounds, clip.bounds)


def test_an_animation_without_frames_gets_none():
    clip = animation(frames=np.empty((0, 7)), bounds=np.empty((0, 2, 3)))
    assert prepare_animation(clip, Game.QUAKE)[0].frames.shape == (0, 18)


def test_the_rest_pose_is_the_bind_pose():
    joints = parse_mesh(MESH.encode()).joints
    clip = rest_pose(joints, np.array([[-1, -1, -1], [1, 1, 1]]))
    assert check_animation(clip, joints) == []
    positions, orientations = skeleton.poses(parse_animation(format_animation(clip)))
    # Digits near half turns are chosen for games, which read them with 32-bit floats.
    np.testing.assert_allclose(positions[0], joints.positions, atol=1e-5)
    np.testing.assert_allclose(np.abs((orientations[0] * joints.orientations).sum(axis=1)), 1.0, atol=1e-8)


def test_every_rule_has_a_source_and_every_error_a_remedy():
    for game in Game:
        rules = rules_of(game)
        assert len({rule.code for rule in rules}) == len(rules)
        for rule in rules:
            assert rule.source
            assert rule.requirement
            assert rule.remedy
    assert list(PROFILES) == list(Game)


def test_games_of_other_formats_have_a_meaning():
    assert [game_named(name) for name in ("QUAKE2_MODERN", "QUAKE", "")] == [Game.QUAKE2, Game.QUAKE, Game.ANY]
