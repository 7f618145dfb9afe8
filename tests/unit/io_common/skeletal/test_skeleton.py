"""Skeletons, against a literal version of the specification's loops."""

from __future__ import annotations

import numpy as np
import pytest
from md5_samples import assert_same_animation, assert_same_model, random_animation, random_parents, random_pose
from md5_specification import build_skeleton, close, compute_w, frame_components, normalise

from io_idtech.io_common.skeletal import skeleton
from io_idtech.io_md5.format import (
    Animation,
    Joints,
    Md5Error,
    Model,
    format_animation,
    format_mesh,
    parse_animation,
    parse_mesh,
)

# Skeletons


@pytest.mark.parametrize("shuffle", [False, True], ids=["parents first", "parents anywhere"])
@pytest.mark.parametrize("roots", [1, 3])
def test_compose_places_joints_along_the_hierarchy(rng, roots, shuffle):
    parents = random_parents(rng, 25, roots, shuffle)
    positions, orientations = random_pose(rng, 25)
    expected = build_skeleton(parents, positions.tolist(), orientations.tolist())
    result = skeleton.compose(parents, positions, orientations)
    close(result[0], expected[0], atol=1e-10)
    close(result[1], expected[1])


@pytest.mark.parametrize("shuffle", [False, True], ids=["parents first", "parents anywhere"])
def test_decompose_is_the_inverse_of_compose(rng, shuffle):
    parents = random_parents(rng, 25, 2, shuffle)
    positions, orientations = random_pose(rng, 4, 25)
    result = skeleton.decompose(parents, *skeleton.compose(parents, positions, orientations))
    close(result[0], positions, atol=1e-10)
    close(result[1], orientations)


def test_compose_does_all_frames_at_once(rng):
    parents = random_parents(rng, 8, shuffle=True)
    positions, orientations = random_pose(rng, 3, 8)
    result = skeleton.compose(parents, positions, orientations)
    for frame in range(3):
        expected = build_skeleton(parents, positions[frame].tolist(), orientations[frame].tolist())
        close(result[0][frame], expected[0], atol=1e-10)
        close(result[1][frame], expected[1])


def test_compose_does_not_change_its_arguments(rng):
    parents = random_parents(rng, 8)
    positions, orientations = random_pose(rng, 8)
    before = positions.copy(), orientations.copy()
    skeleton.compose(parents, positions, orientations)
    skeleton.decompose(parents, positions, orientations)
    np.testing.assert_array_equal(positions, before[0])
    np.testing.assert_array_equal(orientations, before[1])


def test_a_chain_of_2000_joints_composes():
    count = 2000
    parents = np.arange(-1, count - 1, dtype=np.int32)[::-1].copy()
    parents = np.where(parents == -1, -1, count - 1 - parents).astype(np.int32)
    positions = np.tile([1.0, 0, 0], (count, 1))
    orientations = np.tile([-1.0, 0, 0, 0], (count, 1))
    assert parents[0] == 1
    assert parents[-1] == -1
    assert skeleton.depths(parents).tolist() == list(range(count - 1, -1, -1))
    placed, _ = skeleton.compose(parents, positions, orientations)
    close(placed[:, 0], np.arange(count, 0, -1), atol=1e-9)


def test_an_empty_skeleton_composes():
    nothing = np.empty(0, dtype=np.int32)
    positions, orientations = skeleton.compose(nothing, np.empty((0, 3)), np.empty((0, 4)))
    assert positions.shape == (0, 3)
    assert orientations.shape == (0, 4)


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 3, 1, 2, 0], [1, 2, 3, 3]])
def test_a_cycle_is_found_and_one_of_its_joints_named(parents):
    with pytest.raises(skeleton.CyclicHierarchyError) as caught:
        skeleton.depths(np.array(parents))
    at = caught.value.joint
    for _ in parents:
        at = parents[at]
        if at == caught.value.joint:
            break
    assert at == caught.value.joint


@pytest.mark.parametrize("flags", range(64))
def test_components_are_taken_for_each_of_the_64_flags(rng, flags):
    animation = random_animation(rng, joints=4, frames=2, flags=np.array([63, flags, flags, 9], dtype=np.int32))
    result = skeleton.components(animation)
    for frame in range(2):
        for joint in range(4):
            base = [*animation.base_positions[joint], *animation.base_orientations[joint]]
            row = animation.frames[frame].tolist()
            start = int(animation.starts[joint])
            close(result[frame, joint], frame_components(base, int(animation.flags[joint]), start, row), atol=0)


def test_joints_may_share_components(rng):
    animation = random_animation(rng, joints=2, frames=3, flags=np.array([7, 7], dtype=np.int32))
    animation.starts[:] = 0
    result = skeleton.components(animation)
    np.testing.assert_array_equal(result[:, 0, :3], animation.frames[:, :3])
    np.testing.assert_array_equal(result[:, 1, :3], animation.frames[:, :3])


def test_component_columns_tell_where_each_component_stands():
    flags, starts = np.array([0, 0b101001, 0b110], dtype=np.int32), np.array([0, 4, 1], dtype=np.int32)
    joints, bits, columns = skeleton.component_columns(flags, starts)
    found = sorted(zip(joints.tolist(), bits.tolist(), columns.tolist(), strict=True))
    assert found == [(1, 0, 4), (1, 3, 5), (1, 5, 6), (2, 1, 1), (2, 2, 2)]


@pytest.mark.parametrize("shuffle", [False, True], ids=["parents first", "parents anywhere"])
def test_poses_are_the_specifications_frame_skeletons(rng, shuffle):
    animation = random_animation(rng, joints=12, frames=4, parents=random_parents(rng, 12, 2, shuffle))
    positions, orientations = skeleton.poses(animation)
    assert positions.shape == (4, 12, 3)
    for frame in range(4):
        local_positions, local_orientations = [], []
        for joint in range(12):
            base = [*animation.base_positions[joint], *animation.base_orientations[joint]]
            row = frame_components(
                base, int(animation.flags[joint]), int(animation.starts[joint]), animation.frames[frame]
            )
            local_positions.append(row[:3])
            # Over 1 in length, the specification leaves the quaternion as it is; a rotation has length 1.
            local_orientations.append(normalise([compute_w(*row[3:]), *row[3:]]))
        expected = build_skeleton(animation.parents, local_positions, local_orientations)
        close(positions[frame], expected[0], atol=1e-10)
        close(orientations[frame], expected[1])


def test_w_is_computed_after_mixing_frame_and_base_frame(rng):
    animation = random_animation(rng, joints=1, frames=1, flags=np.array([8], dtype=np.int32))
    animation.base_orientations[:] = [[0.9, 0.1, 0.2]]
    animation.frames[:] = [[0.3]]
    _, orientations = skeleton.local_poses(animation)
    close(orientations[0, 0], [compute_w(0.3, 0.1, 0.2), 0.3, 0.1, 0.2])


def chain(count):
    """Joints that hang on each other one by one, each a unit further along."""
    positions = np.zeros((count, 3))
    positions[:, 0] = np.arange(count)
    return Joints(
        names=[f"joint {index}" for index in range(count)],
        parents=np.arange(-1, count - 1, dtype=np.int32),
        positions=positions,
        orientations=np.tile([-1.0, 0.0, 0.0, 0.0], (count, 1)),
    )


@pytest.mark.slow
def test_five_thousand_joints_in_a_chain():
    joints = chain(5000)
    model = Model(joints, [])
    assert_same_model(parse_mesh(format_mesh(model)), model)
    animation = Animation(
        names=joints.names,
        parents=joints.parents,
        flags=np.zeros(5000, dtype=np.int32),
        starts=np.zeros(5000, dtype=np.int32),
        bounds=np.zeros((1, 2, 3)),
        base_positions=np.tile([1.0, 0.0, 0.0], (5000, 1)),
        base_orientations=np.zeros((5000, 3)),
        frames=np.empty((1, 0)),
    )
    again = parse_animation(format_animation(animation))
    assert_same_animation(again, animation)
    positions, _ = skeleton.poses(again)
    assert positions[0, -1].tolist() == [5000.0, 0.0, 0.0]


def test_a_cycle_at_the_end_of_a_long_chain_is_refused():
    joints = chain(5000)
    joints.parents[0] = 4999
    with pytest.raises(Md5Error, match=r"Model.joints.parents: joint '.*' is its own ancestor"):
        format_mesh(Model(joints, []))
    text = format_mesh(Model(chain(5000), [])).decode().replace('"joint 0"\t-1', '"joint 0"\t4999')
    with pytest.raises(Md5Error, match=r"^joint '.*' is its own ancestor.* \(line \d+\)$"):
        parse_mesh(text.encode())


def test_joints_without_children_come_last_where_that_is_enough():
    # A chain 0 - 2 - 4, and a joint without children on each.
    parents = np.array([-1, 0, 0, 2, 2, 4], dtype=np.int32)
    assert skeleton.order_with_early_parents(parents, 2).tolist() == [0, 2, 4, 1, 3, 5]
    assert skeleton.order_with_early_parents(parents, 4) is None
    assert skeleton.order_with_early_parents(parents, 1) is None
