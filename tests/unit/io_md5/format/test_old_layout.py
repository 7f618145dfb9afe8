"""Files in the layout from before Doom 3 was finished."""

from __future__ import annotations

import math

import numpy as np
import pytest
from md5_parsing import animation_of, animation_refused, assert_warned, mesh_of, mesh_refused
from md5_samples import ANIMATION, MESH, OLD_ANIMATION, OLD_MESH, edited

from io_idtech.io_common.skeletal import skinning


def test_bones_of_the_old_layout_are_joints():
    model = mesh_of(OLD_MESH)
    assert model.warnings == []
    assert model.joints.names == ["root", "tip"]
    assert model.joints.parents.tolist() == [-1, 0]
    assert model.joints.positions.tolist() == [[1, 2, 3], [1, 2, 13]]
    assert (model.joints.orientations[:, 0] <= 0).all()
    assert model.meshes[0].shader == "data\\box.tga"
    assert model.meshes[0].uvs.tolist() == [[0, 0], [0.25, 1], [0.5, 0.5]]


def test_the_rows_of_an_old_matrix_are_the_axes_of_the_bone():
    model = mesh_of(OLD_MESH)
    places = skinning.skin(model.meshes[0], model.joints.positions, model.joints.orientations)
    # One unit along x of the root goes along +y of the model, one along y along -x.
    np.testing.assert_allclose(places, [[1, 3, 3], [0, 2, 3], [1, 2, 14]], atol=1e-12)


def test_bones_may_stand_before_their_parents():
    first, second = OLD_MESH.index("bone 0"), OLD_MESH.index("bone 1")
    end = OLD_MESH.index("mesh 0")
    model = mesh_of(OLD_MESH[:first] + OLD_MESH[second:end] + OLD_MESH[first:second] + OLD_MESH[end:])
    assert model.joints.names == ["tip", "root"]
    assert model.joints.parents.tolist() == [1, -1]
    assert_warned(model, "before its parent")


def test_channels_of_the_old_layout_are_frames():
    animation = animation_of(OLD_ANIMATION)
    assert animation.warnings == []
    assert not animation.has_hierarchy
    assert animation.names == ["root", "tip"]
    assert animation.parents.tolist() == [-1, -1]
    assert animation.flags.tolist() == [63, 63]
    assert animation.starts.tolist() == [0, 6]
    assert animation.frame_rate == 30
    assert animation.frames.shape == (3, 12)
    assert animation.frames[:, 0].tolist() == [1, 2, 3]


def test_the_last_key_of_a_short_channel_stays():
    animation = animation_of(OLD_ANIMATION)
    assert animation.frames[:, 8].tolist() == [10, 10, 10]
    half = math.sqrt(0.5)
    # A yaw of 90 degrees about +z, written with a negative w.
    np.testing.assert_allclose(animation.frames[:, 3:6], [[0, 0, 0], [0, 0, -half], [0, 0, -half]], atol=1e-12)


def test_a_wrong_number_of_keys_in_a_channel_is_a_warning():
    animation = animation_of(edited(OLD_ANIMATION, "keys 2\n\t\t0 90", "keys 3\n\t\t0 90"))
    assert_warned(animation, "3 keys", "'yaw'", "2")


def test_a_channel_without_usable_frame_rate_gets_24():
    animation = animation_of(OLD_ANIMATION.replace("framerate 30", "framerate 0"))
    assert animation.frame_rate == 24
    assert_warned(animation, "frame rate")


@pytest.mark.parametrize(
    ("old", "new", "at", "reason", "found", "expected"),
    [
        ("\tbindpos 1 2 13\n", "", "bone 1 {", "no bindpos", "'{'", "bindpos"),
        ("bindpos 1 2 13", "bindpos 1 2", "bindpos 1 2\n", "bindpos has the wrong number", "2 numbers", "3"),
        ("bindmat 1 0 0 0 1 0 0 0 1", "bindmat 1", "bindmat 1\n", "bindmat has the wrong number", "1 number", "9"),
        ('\tname "tip"\n', "", "bone 1 {", "no name", "'{'", 'name "'),
        ('name "tip"', "name", "name\n", "no name", "'name'", 'name "'),
        ('parent "root"', 'parent "toor"', "toor", "the parent does not exist", "'toor'", "the name of a bone"),
        ('parent "root"', 'parent "tip"', "bone 1 {", "its own ancestor", "parent 1", "-1"),
        ("weight 2 1", "weight 2 2", "weight 2", "the joint does not exist", "2", "0 to 1"),
    ],
)
def test_invalid_bones_of_the_old_layout_are_refused(old, new, at, reason, found, expected):
    mesh_refused(edited(OLD_MESH, old, new), at, reason=reason, found=found, expected=expected)


@pytest.mark.parametrize(
    ("old", "new", "at", "reason", "found", "expected"),
    [
        ('\tjoint "tip"\n', "", "channel 2 {", "no joint", "'{'", 'joint "'),
        ('\tattribute "z"\n', "", "channel 2 {", "no attribute", "'{'", 'attribute "'),
        ("\tkeys 1\n\t\t10\n", "", "channel 2 {", "'z' of 'tip' has no keys", "'{'", "keys"),
    ],
)
def test_invalid_channels_of_the_old_layout_are_refused(old, new, at, reason, found, expected):
    animation_refused(edited(OLD_ANIMATION, old, new), at, reason=reason, found=found, expected=expected)


@pytest.mark.parametrize(
    ("text", "old", "new", "layout"),
    [(OLD_MESH, 6, 10, 6), (OLD_ANIMATION, 6, 10, 6), (MESH, 10, 6, 10), (ANIMATION, 10, 11, 10)],
)
def test_a_version_of_another_layout_is_a_warning(text, old, new, layout):
    changed = edited(text, f"MD5Version {old}", f"MD5Version {new}")
    read = animation_of if text in (OLD_ANIMATION, ANIMATION) else mesh_of
    assert_warned(read(changed), f"version {new}", f"layout is that of version {layout}")
