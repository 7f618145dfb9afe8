"""The validation: what passes can be written and read again, and what does not is named."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from md5_samples import ANIMATION, CAMERA, MESH, random_animation, random_model

from io_idtech.io_md5.format import (
    Animation,
    Camera,
    Joints,
    Md5Error,
    Mesh,
    Model,
    bind_pose,
    check_animation,
    check_model,
    compose,
    face_normals,
    format_animation,
    format_camera,
    format_mesh,
    local_pose_at,
    loop_type,
    parse_animation,
    parse_camera,
    parse_mesh,
    pose_at,
    pose_bounds,
    poses,
    skin,
    vertex_normals,
    vertex_tangents,
    vertex_weights,
)


def sample_model():
    return parse_mesh(MESH.encode())


def sample_animation():
    return parse_animation(ANIMATION.encode())


def sample_camera():
    return parse_camera(CAMERA.encode())


BAD_MODELS = {
    "Model.joints.parents": lambda m: m.joints.parents.__setitem__(1, 9),
    "Model.joints.parents: joint": lambda m: m.joints.parents.__setitem__(0, 2),
    "Model.joints.positions": lambda m: setattr(m.joints, "positions", m.joints.positions[:1]),
    "Model.joints.positions[0, 1]": lambda m: m.joints.positions.__setitem__((0, 1), np.nan),
    "Model.joints.orientations[1]": lambda m: m.joints.orientations.__setitem__(1, 0.0),
    "Model.joints.names[1]": lambda m: m.joints.names.__setitem__(1, 'a"b'),
    "Model.commandline": lambda m: setattr(m, "commandline", "a\nb"),
    "Model.meshes[0].shader": lambda m: setattr(m.meshes[0], "shader", "a\nb"),
    "Model.meshes[0].triangles[0, 2]": lambda m: m.meshes[0].triangles.__setitem__((0, 2), 99),
    "Model.meshes[0].weight_joints[0]": lambda m: m.meshes[0].weight_joints.__setitem__(0, -1),
    "Model.meshes[0].weight_starts": lambda m: m.meshes[0].weight_starts.__setitem__(0, 99),
    "Model.meshes[0].weight_counts": lambda m: setattr(m.meshes[0], "weight_counts", np.zeros(1, np.int32)),
    "Model.meshes[0].weight_biases": lambda m: setattr(m.meshes[0], "weight_biases", [1.0]),
    "Model.meshes[0].weight_positions[0, 0]": lambda m: m.meshes[0].weight_positions.__setitem__((0, 0), 1e39),
    "Model.meshes[0].uvs": lambda m: setattr(m.meshes[0], "uvs", m.meshes[0].uvs.astype(np.float32)),
}

BAD_ANIMATIONS = {
    "Animation.bounds": lambda a: setattr(a, "bounds", a.bounds[:1]),
    "Animation.frames": lambda a: (setattr(a, "frames", a.frames[:0]), setattr(a, "bounds", a.bounds[:0])),
    "Animation.flags[0]": lambda a: a.flags.__setitem__(0, 64),
    "Animation.starts[1]": lambda a: a.starts.__setitem__(1, 6),
    "Animation.starts has": lambda a: (setattr(a, "starts", a.starts + np.int64(1 << 40)), a.flags.fill(0)),
    "Animation.parents": lambda a: a.parents.__setitem__(0, -2),
    "Animation.base_positions": lambda a: setattr(a, "base_positions", a.base_positions[:, :2]),
    "Animation.frames[1, 0]": lambda a: a.frames.__setitem__((1, 0), np.inf),
    "Animation.frame_rate": lambda a: setattr(a, "frame_rate", 0.0),
}

BAD_CAMERAS = {
    "Camera.cuts[0]": lambda c: c.cuts.__setitem__(0, 99),
    "Camera.cut_groups has": lambda c: setattr(c, "cut_groups", [""] * 9),
    "Camera.fields_of_view": lambda c: setattr(c, "fields_of_view", c.fields_of_view[:1]),
    "Camera.frame_rate": lambda c: setattr(c, "frame_rate", np.nan),
}


@pytest.mark.parametrize(
    ("make", "write", "name", "spoil"),
    [
        *((sample_model, format_mesh, *case) for case in BAD_MODELS.items()),
        *((sample_animation, format_animation, *case) for case in BAD_ANIMATIONS.items()),
        *((sample_camera, format_camera, *case) for case in BAD_CAMERAS.items()),
    ],
    ids=[*BAD_MODELS, *BAD_ANIMATIONS, *BAD_CAMERAS],
)
def test_what_cannot_be_read_is_not_written_and_the_message_names_the_attribute(make, write, name, spoil):
    subject = make()
    write(subject)
    spoil(subject)
    with pytest.raises(Md5Error) as caught:
        write(subject)
    assert str(caught.value).startswith(name)


def test_integers_of_any_type_are_written():
    model = sample_model()
    expected = format_mesh(model)
    model.joints.parents = model.joints.parents.astype(np.int64)
    model.meshes[0].triangles = model.meshes[0].triangles.astype(np.uint8)
    assert format_mesh(model) == expected


@pytest.mark.parametrize("name", BAD_MODELS)
def test_a_check_finds_what_cannot_be_written(name):
    model = sample_model()
    BAD_MODELS[name](model)
    assert any(finding.is_error for finding in check_model(model))


@pytest.mark.parametrize("name", BAD_ANIMATIONS)
def test_a_check_finds_animations_that_cannot_be_written(name):
    animation = sample_animation()
    BAD_ANIMATIONS[name](animation)
    assert any(finding.is_error for finding in check_animation(animation))


def test_skinning_refuses_what_does_not_fit():
    model = sample_model()
    mesh, joints = model.meshes[0], model.joints
    with pytest.raises(Md5Error, match="positions has the wrong shape"):
        skin(mesh, joints.positions[0], joints.orientations)
    with pytest.raises(Md5Error, match="differ in their number of joints"):
        skin(mesh, joints.positions, joints.orientations[:1])
    with pytest.raises(Md5Error, match="is not a unit quaternion"):
        skin(mesh, joints.positions, joints.orientations * 2)
    with pytest.raises(Md5Error, match=r"Mesh.weight_joints\[.*does not exist"):
        skin(mesh, joints.positions[:1], joints.orientations[:1])


# Construction


def test_lists_become_arrays():
    joints = Joints(["a", "b"], [-1, 0], [[0, 0, 0], [1, 2, 3]], [[1, 0, 0, 0], [1, 0, 0, 0]])
    assert (joints.parents.dtype, joints.positions.dtype) == (np.int32, np.float64)
    mesh = Mesh("skin", [[0, 0], [1, 0], [0, 1]], [0, 1, 2], [1, 1, 1], [[0, 1, 2]], [0, 0, 1], [1, 1, 1],
                [[0, 0, 0], [0, 1, 0], [0, 0, 1]])  # fmt: skip
    model = Model(joints, [mesh])
    assert parse_mesh(format_mesh(model)).meshes[0] == mesh
    animation = Animation(["a"], [-1], [1], [0], np.zeros((2, 2, 3)), [[0, 0, 0]], [[0, 0, 0]], [[1], [2]], 24)
    assert parse_animation(format_animation(animation)) == animation
    camera = Camera([], [[0, 0, 0]], [[0, 0, 0]], [90])
    assert parse_camera(format_camera(camera)) == camera


def test_empty_lists_have_the_shape_of_no_rows():
    model = Model(Joints([], [], [], []), [Mesh("", [], [], [], [], [], [], [])])
    assert parse_mesh(format_mesh(model)) == model


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], [0.5], [[0, 0, 0]], [[1, 0, 0, 0]]), "Joints.parents is not an array of integers"),
        ((["a"], [-1], [[0, 0], [0]], [[1, 0, 0, 0]]), "Joints.positions has rows of different lengths"),
        ((["a"], [-1], [["x", "y", "z"]], [[1, 0, 0, 0]]), "Joints.positions is not an array of numbers"),
        ((["a"], None, [[0, 0, 0]], [[1, 0, 0, 0]]), "Joints.parents is not an array of integers"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(arguments, message):
    with pytest.raises(Md5Error, match=message):
        Joints(*arguments)


def test_arrays_are_shared_and_models_are_compared_by_value():
    rng = np.random.default_rng(1)
    model = random_model(rng)
    assert dataclasses.replace(model.meshes[0]).uvs is model.meshes[0].uvs
    assert random_model(np.random.default_rng(1)) == model
    other = random_model(np.random.default_rng(1))
    other.warnings.append("of the file")
    assert other == model
    other.meshes[0].uvs[0, 0] += 1
    assert other != model
    assert model != random_animation(rng)


# Written means readable

DAMAGES = st.tuples(
    st.integers(0, 2**32 - 1), st.sampled_from([np.nan, np.inf, 1e39, -1, 0, 1, 3, 64, 2**30, "cut", "swap"])
)


def arrays_of(subject):
    holders = [subject]
    if isinstance(subject, Model):
        holders = [subject.joints, *subject.meshes]
    return [
        (holder, name) for holder in holders for name, value in vars(holder).items() if isinstance(value, np.ndarray)
    ]


def damage(subject, choice, value):
    places = arrays_of(subject)
    holder, name = places[choice % len(places)]
    array = getattr(holder, name).copy()
    if value == "cut":
        array = array[: choice % (len(array) + 1)]
    elif value == "swap":
        array = array.T
    elif array.size and (array.dtype.kind == "f" or isinstance(value, int)):
        array.flat[choice % array.size] = value
    setattr(holder, name, array)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(["model", "animation", "camera"]), st.lists(DAMAGES, max_size=3))
def test_whatever_is_written_is_read_again(kind, damages):
    make, write, parse = {
        "model": (sample_model, format_mesh, parse_mesh),
        "animation": (sample_animation, format_animation, parse_animation),
        "camera": (sample_camera, format_camera, parse_camera),
    }[kind]
    subject = make()
    for choice, value in damages:
        damage(subject, choice, value)
    try:
        data = write(subject)
    except Md5Error:
        return
    again = parse(data)
    assert write(again) == data
    for (holder, name), (other, _) in zip(arrays_of(subject), arrays_of(again), strict=True):
        assert getattr(holder, name).shape == getattr(other, name).shape


def test_many_frames_without_motion_are_written():
    animation = Animation(["a"], [-1], [0], [0], np.zeros((300, 2, 3)), np.zeros((1, 3)), np.zeros((1, 3)),
                          np.zeros((300, 0)))  # fmt: skip
    assert parse_animation(format_animation(animation)) == animation


def test_motionless_animations_too_long_for_their_file_are_not_written():
    joints, frames = 2000, 4000
    none = np.zeros(joints, np.int32)
    animation = Animation([f"j{index}" for index in range(joints)], none - 1, none, none, np.zeros((frames, 2, 3)),
                          np.zeros((joints, 3)), np.zeros((joints, 3)), np.zeros((frames, 0)))  # fmt: skip
    with pytest.raises(Md5Error, match="too many frames"):
        format_animation(animation)


# Computing with what was made by hand


@pytest.mark.parametrize(
    ("name", "value"), [("weight_starts", 99), ("weight_starts", -1), ("weight_counts", 1 << 30), ("weight_counts", -1)]
)
@pytest.mark.parametrize(
    "compute",
    [
        lambda mesh, joints: vertex_weights(mesh),
        lambda mesh, joints: bind_pose(mesh, joints.positions, joints.orientations),
        lambda mesh, joints: pose_bounds([mesh], joints.positions[None], joints.orientations[None]),
    ],
    ids=["vertex_weights", "bind_pose", "pose_bounds"],
)
def test_weights_that_do_not_exist_are_named_before_they_are_used(compute, name, value):
    model = sample_model()
    getattr(model.meshes[0], name)[0] = value
    with pytest.raises(Md5Error, match="vertex 0 has weights that do not exist"):
        compute(model.meshes[0], model.joints)


@pytest.mark.parametrize(
    "triangles", [[[0, 1, 99]], [[0, 1, -1]], [[0, 1]], [0, 1, 2], [[0.0, 1.0, 2.0]], None], ids=str
)
@pytest.mark.parametrize(
    "compute",
    [face_normals, vertex_normals, lambda points, triangles: vertex_tangents(points, points[:, :2], triangles, points)],
    ids=["face_normals", "vertex_normals", "vertex_tangents"],
)
def test_triangles_that_cannot_be_are_named_by_what_computes_normals(compute, triangles):
    with pytest.raises(Md5Error, match="triangles"):
        compute(np.eye(3), triangles)


@pytest.mark.parametrize("name", ["flags", "starts", "base_positions", "base_orientations"])
@pytest.mark.parametrize(
    "compute",
    [
        loop_type,
        lambda animation: pose_at(animation, 0.5),
        lambda animation: local_pose_at(animation, 0.5, wrap="hold"),
    ],
    ids=["loop_type", "pose_at", "local_pose_at"],
)
def test_playback_names_arrays_that_do_not_fit_together(compute, name):
    animation = sample_animation()
    setattr(animation, name, getattr(animation, name)[:-1])
    with pytest.raises(Md5Error, match=rf"Animation\.{name}"):
        compute(animation)


@pytest.mark.parametrize("parent", [9, -2])
def test_a_parent_that_does_not_exist_is_named_by_what_builds_skeletons(parent):
    joints = sample_model().joints
    joints.parents[1] = parent
    with pytest.raises(Md5Error, match=f"a parent does not exist; found {parent}"):
        compose(joints.parents, joints.positions, joints.orientations)
    animation = sample_animation()
    animation.parents[1] = parent
    with pytest.raises(Md5Error, match="a parent does not exist"):
        poses(animation)
