"""An IQM as joints, meshes and animations, and these as an IQM, judged by a reader of the tests' own."""

from __future__ import annotations

from dataclasses import replace

import iqm_samples
import iqm_specification as specification
import numpy as np
import pytest

from io_idtech.io_common.skeletal.model import Model
from io_idtech.io_common.skeletal.skeleton import encode_local_poses
from io_idtech.io_common.skeletal.skinning import bind_pose, skin
from io_idtech.io_iqm.format import (
    ArrayType,
    Attributes,
    IqmError,
    VertexArray,
    animations_alone,
    bind_scales,
    format_iqm,
    from_model,
    parse_iqm,
    to_animations,
    to_attributes,
    to_model,
)

PRECISION = 30 / 65535


def shown(model, animations):
    """The vertices of a model in all frames, as MD5's own arithmetic shows them."""
    return [np.concatenate([skin(mesh, *one.poses()) for mesh in model.meshes], axis=1) for one in animations]


def as_bytes_show(data):
    spec = specification.read(data)
    bind = spec.bind()
    return [[spec.skinned(first + n, bind) for n in range(count)] for _, first, count, *_ in spec.anims]


@pytest.mark.parametrize("scaled", [False, True])
def test_a_file_shows_what_the_model_and_its_animations_show(scaled):
    model = iqm_samples.model()
    # Weights of bytes, so that nothing but the frames is rounded.
    model = to_model(from_model(model))
    animations = [iqm_samples.animation(), iqm_samples.animation("other", 9, scaled=scaled)]
    data = format_iqm(from_model(model, animations))
    for found, expected in zip(as_bytes_show(data), shown(model, animations), strict=True):
        assert np.abs(found - expected).max() < 40 * PRECISION


@pytest.mark.parametrize("scaled", [False, True])
def test_a_file_is_read_as_it_shows(scaled):
    made = from_model(iqm_samples.model(), [iqm_samples.animation(scaled=scaled)])
    data = format_iqm(made)
    iqm = parse_iqm(data)
    model, animations = to_model(iqm), to_animations(iqm)
    assert (animations[0].scales is not None) == scaled
    for found, expected in zip(shown(model, animations), as_bytes_show(data), strict=True):
        assert np.abs(found - expected).max() < 1e-4


def test_scales_of_the_bind_pose_are_kept_and_change_nothing():
    model, animation = iqm_samples.model(), iqm_samples.animation(scaled=True)
    scales = np.tile(np.array([[0.1], [2.0], [1.0], [0.5]]), 3)
    plain, scaled = from_model(model, [animation]), from_model(model, [animation], scales=scales)
    assert np.allclose(bind_scales(scaled), scales)
    for found, expected in zip(as_bytes_show(format_iqm(scaled)), as_bytes_show(format_iqm(plain)), strict=True):
        assert np.abs(np.subtract(found, expected)).max() < 40 * PRECISION
    joints = to_model(scaled).joints
    assert np.allclose(joints.positions, model.joints.positions, atol=1e-4)
    alone = animations_alone(scaled)
    (found,) = to_animations(alone, joints, bind_scales(scaled))
    (expected,) = to_animations(scaled)
    assert found.animation == expected.animation


def test_a_joint_that_scales_its_axes_differently_is_warned_of():
    iqm = from_model(iqm_samples.model(), [iqm_samples.animation()])
    iqm.pose_offsets[1, 7:] = 1.0, 2.0, 3.0
    (found,) = to_animations(iqm)
    assert found.animation.warnings == ["axes of joints are scaled differently, their mean is used: arm"]
    assert np.allclose(found.scales.values[:, 1:3], 2.0)


def test_frames_have_the_least_error_of_16_bits():
    animation = iqm_samples.animation()
    iqm = from_model(iqm_samples.model(), [animation])
    spread = np.ptp(iqm.channels(), axis=0)
    again = from_model(iqm_samples.model(), to_animations(iqm))
    assert (np.abs(again.channels() - iqm.channels()) <= spread / 65535 / 2 + 1e-5).all()
    assert iqm.frames.min(axis=0).max() == 0
    assert iqm.frames.max(axis=0).min() == 65535
    # A joint that does not move has no channels for its place.
    assert not iqm.pose_masks[3] & 7


def test_animations_of_another_skeleton_are_refused():
    model = iqm_samples.model()
    alone = animations_alone(from_model(model, [iqm_samples.animation()]))
    # Without a model, its joints have no names.
    assert to_animations(alone)[0].animation.names == [""] * 4
    joints = replace(model.joints, parents=np.array([-1, 0, 0, 0], np.int32))
    with pytest.raises(IqmError, match="pose 2 has another parent"):
        to_animations(alone, joints)
    other = iqm_samples.animation()
    other.animation.names[1] = "other"
    with pytest.raises(IqmError, match="other joints"):
        from_model(model, [other])


@pytest.mark.parametrize(("dtype", "half"), [(np.uint16, 2**15), (np.uint32, 2**31), (np.float32, 0.502)])
def test_colors_of_any_component_type_are_bytes_of_the_same_brightness(dtype, half):
    iqm = iqm_samples.iqm()
    iqm.arrays.append(VertexArray(ArrayType.COLOR, np.full((iqm.vertex_count, 4), half, dtype)))
    iqm.arrays = [one for one in iqm.arrays if one.type != ArrayType.COLOR or one.values.dtype == dtype]
    assert (to_attributes(iqm)[0].colors == 128).all()


def test_normals_tangents_colors_and_custom_arrays_come_back():
    rng = np.random.default_rng(5)
    normals, tangents = rng.normal(size=(30, 3)), rng.normal(size=(30, 4))
    colors = rng.integers(0, 255, (30, 4)).astype(np.uint8)
    custom = [VertexArray(16, rng.integers(0, 9, (30, 2)).astype(np.uint16), 1, "mask")]
    given_attributes = [Attributes(normals, tangents, colors, custom), Attributes()]
    first, second = to_attributes(from_model(iqm_samples.model(), attributes=given_attributes))
    assert np.allclose(first.normals, normals)
    assert np.allclose(first.tangents, tangents)
    assert np.array_equal(first.colors, colors)
    assert first.custom == custom
    assert (second.colors == 255).all()
    assert not second.custom[0].values.any()
    used = np.unique(iqm_samples.model().meshes[1].triangles)
    assert np.allclose(np.linalg.norm(second.normals[used], axis=1), 1.0, atol=1e-6)


def test_a_file_without_joints_hangs_on_one_at_the_origin():
    iqm = from_model(Model(iqm_samples.skeleton(), [iqm_samples.mesh(iqm_samples.skeleton(), "a", 1)]))
    points = iqm.array(ArrayType.POSITION).copy()
    iqm.joint_names, iqm.joint_parents, iqm.joint_channels = [], np.zeros(0, np.int32), np.zeros((0, 10), np.float32)
    model = to_model(parse_iqm(format_iqm(iqm)))
    assert model.joints.names == ["origin"]
    mesh = model.meshes[0]
    assert np.allclose(bind_pose(mesh, model.joints.positions, model.joints.orientations)[0], points)


def test_triangles_of_another_meshs_vertices_bring_them_along():
    iqm = from_model(iqm_samples.model())
    iqm.triangles[:40] += 30
    model = to_model(parse_iqm(format_iqm(iqm)))
    assert [mesh.vertex_count for mesh in model.meshes] == [30 + len(np.unique(iqm.triangles[:40])), 30]
    first = model.meshes[0]
    points = bind_pose(first, model.joints.positions, model.joints.orientations)[0]
    expected = iqm.array(ArrayType.POSITION)[iqm.triangles[:40]]
    assert np.allclose(points[first.triangles], expected, atol=1e-5)


def test_a_weight_of_a_joint_that_does_not_exist_is_refused():
    iqm = from_model(iqm_samples.model())
    iqm.array(ArrayType.BLEND_INDEXES)[3, 0] = 200
    with pytest.raises(IqmError, match="vertex 3 has a weight of a joint that does not exist"):
        to_model(iqm)


def test_bounds_hold_every_vertex_of_a_frame():
    iqm = from_model(iqm_samples.model(), [iqm_samples.animation(scaled=True)])
    points = np.array(as_bytes_show(format_iqm(iqm))[0])
    low, high, around, radius = np.split(iqm.bounds.astype(np.float64), [3, 6, 7], axis=1)
    # The model has weights that are no bytes.
    assert np.allclose(low, points.min(axis=1), atol=0.5)
    assert np.allclose(high, points.max(axis=1), atol=0.5)
    assert np.allclose(around[:, 0], np.linalg.norm(points[..., :2], axis=2).max(axis=1), atol=0.5)
    assert np.allclose(radius[:, 0], np.linalg.norm(points, axis=2).max(axis=1), atol=0.5)


def test_more_joints_than_a_byte_can_name_are_refused():
    names = [f"j{n}" for n in range(257)]
    parents = [-1, *range(256)]
    joints = replace(
        iqm_samples.skeleton(), names=names, parents=np.array(parents, np.int32), positions=np.zeros((257, 3)),
        orientations=np.tile([-1.0, 0, 0, 0], (257, 1)),
    )  # fmt: skip
    with pytest.raises(IqmError, match="too many joints"):
        from_model(Model(joints, []))


def test_an_animation_without_a_rate_plays_at_10():
    found = encode_local_poses(["a"], [-1], np.zeros((2, 1, 3)), np.tile([-1.0, 0, 0, 0], (2, 1, 1)), frame_rate=1.0)
    model = Model(replace(iqm_samples.skeleton(), names=["a"], parents=np.array([-1], np.int32),
                          positions=np.zeros((1, 3)), orientations=np.array([[-1.0, 0, 0, 0]])), [])  # fmt: skip
    iqm = from_model(model, [replace(iqm_samples.animation(), animation=found)])
    iqm.animations[0].frame_rate = 0.0
    assert to_animations(iqm)[0].animation.frame_rate == 10.0
