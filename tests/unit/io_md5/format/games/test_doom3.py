"""The rules of Doom 3."""

from __future__ import annotations

import numpy as np
import pytest
from md5_game_models import animation, camera, found, mesh, model

from io_idtech.io_md5.format.check import check_animation, check_camera, check_model
from io_idtech.io_md5.format.games.profiles import Game


@pytest.mark.parametrize(
    ("rate", "code", "is_error"),
    [(0.5, "rate_below_one", True), (23.976, "rate_fraction", False), (24.0, None, None), (1.0, None, None)],
)
def test_frame_rates_of_doom_3(rate, code, is_error):
    results = found(animation(frame_rate=rate), Game.DOOM3)
    rates = {name: error for name, error in results.items() if name.startswith("rate")}
    assert rates == ({code: is_error} if code else {})


def test_a_fractional_frame_rate_warning_names_the_rate_the_game_uses():
    findings = check_animation(animation(frame_rate=23.976), game=Game.DOOM3)
    (text,) = [f.text for f in findings if f.code == "rate_fraction"]
    assert "Doom 3 will play 23 frames per second" in text


CAMERAS = [
    ({"cuts": np.array([0, 2], dtype=np.int32)}, "first_cut", "a cut at frame 0; Doom 3 refuses"),
    ({"cut_groups": ["pos ( 1 2 3 ) rot ( 0 90 0 )"]}, "cut_groups", "1 cut has a position of the player"),
    ({"fields_of_view": np.array([90.0, 0.0, 90.0, -1.0])}, "fields_of_view", "2 frames have a field of view"),
    ({"frame_rate": 0.5}, "rate_below_one", "a frame rate of 0.5"),
]


@pytest.mark.parametrize(("changes", "code", "text"), CAMERAS, ids=[code for _, code, _ in CAMERAS])
@pytest.mark.parametrize("game", [Game.DOOM3, Game.DOOM3_BFG])
def test_camera_paths_that_doom_3_stops_at_are_errors_with_a_remedy(changes, code, text, game):
    (finding,) = check_camera(camera(**changes), game)
    assert (finding.code, finding.is_error) == (code, True)
    assert finding.text.startswith(text)
    assert finding.remedy
    # No other game plays camera paths.
    of_any = [(one.code, one.is_error) for one in check_camera(camera(**changes))]
    assert of_any == ([] if code == "rate_below_one" else [(code, False)])
    assert check_camera(camera(), game) == []


def test_doom_3_cuts_the_frame_rate_of_camera_paths():
    (finding,) = check_camera(camera(frame_rate=29.97), Game.DOOM3)
    assert (finding.code, finding.is_error) == ("rate_fraction", False)
    assert "29 frames per second" in finding.text


def test_a_root_away_from_the_origin_is_one_warning_with_one_remedy_for_a_mesh_and_its_animations():
    subject = model()
    subject.joints.positions[:] = (0.0, 0.0, 32.0)
    (finding,) = check_model(subject, Game.DOOM3)
    assert not finding.is_error
    assert finding.text == (
        "the root joint 'joint0' is not at the origin; Doom 3 moves the model by its distance: "
        "set Add Root Bone to Always"
    )
    assert finding.found == "32"
    assert finding.joints == (0,)
    assert "root_away" not in found(subject, Game.QUAKE)
    clip = animation()
    clip.base_positions[0] = (0.0, 0.0, 0.02)
    assert found(clip, Game.DOOM3) == {"base_root_away": False}
    assert [one.text.replace("origin'", "joint0'") for one in check_animation(clip, None, Game.DOOM3)] == [finding.text]
    joints = model().joints
    joints.names[0] = "origin"
    assert [one.remedy for one in check_animation(clip, joints, Game.DOOM3) if one.code == "base_root_away"] == [
        "key it at the origin in the first frame"
    ]
    clip.base_positions[0] = (0.0, 0.0, 0.005)
    assert found(clip, Game.DOOM3) == {}


def test_several_roots_are_errors_in_animations_and_warnings_in_models():
    subject = model()
    subject.joints.parents[1] = -1
    assert found(subject, Game.DOOM3) == {"several_roots": False}
    assert found(subject, Game.QUAKE) == {"several_roots": False}
    clip = animation()
    clip.base_positions[0] = 0.0
    clip.parents[1] = -1
    assert found(clip, Game.DOOM3) == {"animation_roots": True}


def test_more_silhouette_edges_than_doom_3_allows_are_a_warning():
    subject = model()
    count = 65537 // 3 + 1
    strip = mesh(3 * count, 1, 3 * count)
    strip.triangles = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    subject.meshes = [strip]
    assert found(subject, Game.DOOM3) == {"silhouette_edges": False}
    # Two triangles back to back share their three edges.
    strip.triangles = np.concatenate([strip.triangles[::2], strip.triangles[::2, ::-1]])
    assert found(subject, Game.DOOM3) == {}


@pytest.mark.parametrize(
    ("first", "second", "are_one"),
    [
        ("skin", "skin.001", True),
        ("models/imp/Skin", "models\\imp\\skin.tga", True),
        ("models/imp.v2/skin", "models/imp", True),
        ("skin", "skin_001", False),
        ("a.b.c", "a.b.d", True),
        ("a.b.c", "a.b", False),
    ],
)
def test_materials_that_doom_3_cannot_tell_apart_are_named(first, second, are_one):
    subject = model(meshes=2)
    subject.meshes[0].shader, subject.meshes[1].shader = first, second
    findings = [f for f in check_model(subject, Game.DOOM3) if f.code == "equal_materials"]
    assert bool(findings) == are_one
    assert all(not f.is_error and first in f.text and second in f.text for f in findings)
    assert "equal_materials" not in found(subject, Game.ANY)


def test_meshes_of_one_material_are_no_finding():
    subject = model(meshes=2)
    subject.meshes[1].shader = subject.meshes[0].shader
    assert found(subject, Game.DOOM3) == {}
