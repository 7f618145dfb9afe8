"""Motion is transferred between skeletons with other names, axes, rest poses and proportions."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_common.skeletal.retargeting import Retargeting, bend_leg
from io_idtech.io_md5.format import Joints, Md5Error, compose, multiply, normalise, rotate

# Name, parent, position in a T pose that looks along +X.
BODY = (
    ("origin", -1, (0, 0, 0)),
    ("hips", 0, (0, 0, 40)),
    ("spine", 1, (0, 0, 50)),
    ("head", 2, (1, 0, 68)),
    ("arm_l", 2, (0, 8, 62)),
    ("elbow_l", 4, (0, 20, 62)),
    ("hand_l", 5, (0, 32, 62)),
    ("arm_r", 2, (0, -8, 62)),
    ("elbow_r", 7, (0, -20, 62)),
    ("hand_r", 8, (0, -32, 62)),
    ("leg_l", 1, (0, 5, 38)),
    ("knee_l", 10, (1, 5, 20)),
    ("foot_l", 11, (0, 5, 3)),
    ("leg_r", 1, (0, -5, 38)),
    ("knee_r", 13, (1, -5, 20)),
    ("foot_r", 14, (0, -5, 3)),
)
NAMES = [name for name, _, _ in BODY]
PARENTS = np.array([parent for _, parent, _ in BODY], np.int32)
LEGS = [(10, 11, 12), (13, 14, 15)]
SIZE = 68.0


def turns(rng, *shape, angle=0.5):
    return normalise(np.concatenate([np.ones((*shape, 1)), angle * rng.normal(size=(*shape, 3))], axis=-1))


def body(rng=None):
    """The body at rest; with axes of any direction if there is a generator."""
    positions = np.array([position for _, _, position in BODY], float)
    orientations = np.tile([1.0, 0, 0, 0], (len(BODY), 1)) if rng is None else turns(rng, len(BODY), angle=2.0)
    return Joints(list(NAMES), PARENTS.copy(), positions, orientations)


def offsets_of(joints):
    above = np.where(joints.parents < 0, 0, joints.parents)
    return joints.positions - np.where((joints.parents < 0)[:, None], 0.0, joints.positions[above])


def play(joints, local_turns, places=None):
    """Poses of joints that turn from rest by rotations (F, J, 4), each in the turned axes of its parent."""
    offsets = np.repeat(offsets_of(joints)[None], len(local_turns), axis=0)
    if places is not None:
        offsets[:, :2] += places
    positions, spins = compose(joints.parents, offsets, local_turns)
    return positions, multiply(spins, joints.orientations)


def motion(rng, frames=12):
    return turns(rng, frames, len(BODY), angle=0.3), rng.normal(scale=4.0, size=(frames, 2, 3))


def angles_between(a, b):
    return 2.0 * np.degrees(np.arccos(np.clip(np.abs((a * b).sum(axis=-1)), 0.0, 1.0)))


def assert_same(poses, expected, tolerance=1e-5):
    np.testing.assert_allclose(poses[0], expected[0], atol=tolerance * SIZE)
    assert angles_between(poses[1], expected[1]).max() < 0.01


def directions(positions, ends, starts):
    lines = positions[..., ends, :] - positions[..., starts, :]
    return lines / np.linalg.norm(lines, axis=-1, keepdims=True)


def test_the_same_skeleton_in_another_order_with_other_axes_moves_exactly_alike_and_back(rng):
    source = body(rng)
    order = np.append(0, 1 + rng.permutation(len(BODY) - 1))
    place = np.argsort(order)
    target = Joints(
        [f"other {index}" for index in order],
        np.where(PARENTS[order] < 0, -1, place[PARENTS[order]]).astype(np.int32),
        source.positions[order],
        turns(rng, len(BODY), angle=2.0),
    )
    legs = [tuple(place[list(leg)]) for leg in LEGS]
    moved = play(source, *motion(rng))
    # Every joint is stretched as well.
    moved[0][...] += rng.normal(size=moved[0].shape)
    there = Retargeting(source, target, order, legs=legs).apply(*moved)
    np.testing.assert_allclose(there[0], moved[0][:, order], atol=1e-9)
    back = Retargeting(target, source, place, legs=LEGS).apply(*there)
    assert_same(back, moved)


def test_a_source_in_other_axes_and_units_gives_the_same_motion(rng):
    source = body(rng)
    moved = play(source, *motion(rng))
    # +Y up instead of +Z, in meters.
    turn = normalise([1.0, -1.0, 0, 0])
    other = Joints(NAMES, PARENTS, 0.01 * rotate(turn, source.positions), multiply(turn, source.orientations))
    retargeting = Retargeting(other, source, range(len(BODY)), legs=LEGS)
    assert retargeting.scale == pytest.approx(100.0)
    assert_same(retargeting.apply(0.01 * rotate(turn, moved[0]), multiply(turn, moved[1])), moved)


def test_limbs_point_as_in_the_source_if_legs_are_longer(rng):
    source, target = body(), body(rng)
    for thigh, shin, foot in LEGS:
        lengths = 1.3 * np.diff(target.positions[[thigh, shin, foot]], axis=0)
        target.positions[shin] = target.positions[thigh] + lengths[0]
        target.positions[foot] = target.positions[shin] + lengths[1]
    moved = play(source, *motion(rng))
    retargeting = Retargeting(source, target, range(len(BODY)), legs=LEGS)
    assert retargeting.scale == pytest.approx(1.3)
    positions, _ = retargeting.apply(*moved)
    ends = np.arange(2, len(BODY))
    ours, theirs = (directions(of, ends, PARENTS[ends]) for of in (positions, moved[0]))
    assert np.degrees(np.arccos(np.clip((ours * theirs).sum(axis=-1), -1.0, 1.0))).max() < 1e-3
    np.testing.assert_allclose(
        positions[:, 1] - target.positions[1], 1.3 * (moved[0][:, 1] - source.positions[1]), atol=1e-9
    )


def test_a_head_and_feet_that_lie_elsewhere_in_the_body_stay_upright_and_flat(rng):
    source, target = body(), body(rng)
    target.positions[3] += (9, 0, -4)
    target.positions[[12, 15]] += (-6, 0, 2)
    moved = play(source, *motion(rng))
    arms, shins = [4, 5, 7, 8], [10, 13]
    _, orientations = Retargeting(source, target, range(len(BODY)), legs=LEGS, limbs=[*arms, *shins]).apply(*moved)
    for joint in (2, 3, 12, 15):
        rest = target.orientations[joint]
        assert angles_between(orientations[:, joint], multiply(moved[1][:, joint], rest)).max() < 0.01


@pytest.mark.parametrize("angle", [-50.0, 30.0])
def test_lowered_arms_in_the_rest_pose_do_not_change_the_motion(rng, angle):
    # What a user does: the arms are posed, and the pose is applied as the rest pose.
    source = body(rng)
    posed = np.tile([1.0, 0, 0, 0], (1, len(BODY), 1))
    half = np.radians(angle) / 2.0
    posed[0, 4], posed[0, 7] = (np.cos(half), np.sin(half), 0, 0), (np.cos(half), -np.sin(half), 0, 0)
    positions, orientations = play(source, posed)
    target = Joints(NAMES, PARENTS, positions[0], orientations[0])
    moved = play(source, *motion(rng))
    assert_same(Retargeting(source, target, range(len(BODY)), legs=LEGS).apply(*moved), moved)


def test_what_is_not_mapped_follows_its_parent_and_the_rest_moves_exactly(rng):
    source = body(rng)
    # A twist bone in an arm, no hands, and a root that nothing moves.
    kept = [index for index, name in enumerate(NAMES) if not name.startswith("hand")]
    place = {joint: index for index, joint in enumerate(kept)}
    parents = [place.get(PARENTS[joint], -1) for joint in kept]
    target = Joints(
        [*(NAMES[joint] for joint in kept), "twist", "prop"],
        np.array([*parents, place[4], -1], np.int32),
        np.concatenate([source.positions[kept], [[0, 14, 62], [50, 0, 0]]]),
        np.concatenate([source.orientations[kept], turns(rng, 2)]),
    )
    moved = play(source, *motion(rng))
    positions, orientations = Retargeting(source, target, [*kept, -1, -1]).apply(*moved)
    assert_same((positions[:, :-2], orientations[:, :-2]), (moved[0][:, kept], moved[1][:, kept]))
    middle = 0.5 * (moved[0][:, 4] + moved[0][:, 5])
    np.testing.assert_allclose(positions[:, -2], middle, atol=1e-9)
    np.testing.assert_allclose(positions[:, -1], [[50, 0, 0]] * 12)


def test_only_joints_of_which_it_is_said_are_translated(rng):
    source, target = body(), body()
    target.positions[[12, 15], 2] = -5.0
    moved = play(source, *motion(rng))
    moved[0][:, 3] += (0, 0, 5)
    still, free = (
        Retargeting(source, target, range(16), legs=LEGS, translated=[index in which for index in range(16)]).apply(
            *moved
        )
        for which in ((), (3,))
    )
    rest = target.positions[3] - target.positions[2]
    np.testing.assert_allclose(still[0][:, 3] - still[0][:, 2], rotate(moved[1][:, 2], rest), atol=1e-9)
    thigh, shin, longer = np.hypot(1.0, [18.0, 17.0, 25.0])
    extra = (free[0] - still[0])[:, 3]
    np.testing.assert_allclose(extra, np.tile([0, 0, 5 * (thigh + longer) / (thigh + shin)], (12, 1)), atol=1e-9)


def test_two_joints_of_one_source_move_as_one_body(rng):
    source = body()
    # A hand that hangs on the hips, at the place of the one at the end of the arm.
    target = Joints(
        [*NAMES, "goal"],
        np.append(PARENTS, 1).astype(np.int32),
        np.concatenate([source.positions, source.positions[6:7]]),
        np.concatenate([source.orientations, turns(rng, 1)]),
    )
    moved = play(source, *motion(rng))
    positions, orientations = Retargeting(source, target, [*range(16), 6]).apply(*moved)
    np.testing.assert_allclose(positions[:, 16], moved[0][:, 6], atol=1e-9)
    expected = multiply(moved[1][:, 6], target.orientations[16])
    assert angles_between(orientations[:, 16], expected).max() < 1e-4


def walk(source, frames=20):
    """One foot that stands while the body moves over it, by turns of the leg."""
    spins = np.tile([1.0, 0, 0, 0], (frames, len(BODY), 1))
    half = np.radians(np.linspace(20, -20, frames)) / 2.0
    spins[:, 1] = np.stack([np.cos(half), 0.2 * np.sin(half), 0 * half, 0.3 * np.sin(half)], axis=1)
    spins[:, 10] = np.stack([np.cos(half), 0 * half, np.sin(half), 0 * half], axis=1)
    spins[:, 11] = np.stack([np.cos(half / 2), 0 * half, np.abs(np.sin(half / 2)), 0 * half], axis=1)
    spins = normalise(spins)
    positions, orientations = play(source, spins)
    return positions - positions[:, 12:13] + source.positions[12], orientations


def test_feet_that_stand_in_the_source_stand_still(rng):
    source, target = body(), body(rng)
    for thigh, shin, foot in LEGS:
        target.positions[[thigh, shin, foot]] += np.array([0, np.sign(target.positions[foot, 1]) * 3, 0])
        target.positions[foot] += (0, 0, -6)
    moved = walk(source)
    retargeting = Retargeting(source, target, range(16), legs=LEGS)
    free, kept = (retargeting.apply(*moved, keep_feet=keep) for keep in (False, True))
    slides = [np.ptp(of[0][:, 12], axis=0).max() for of in (free, kept)]
    assert slides[0] > 0.01
    assert slides[1] < 1e-6 * SIZE
    # The bones keep their lengths, and what is not of the leg its pose.
    for end, start in ((11, 10), (12, 11)):
        lengths = [np.linalg.norm(of[0][:, end] - of[0][:, start], axis=1) for of in (free, kept)]
        np.testing.assert_allclose(lengths[1], lengths[0], atol=1e-9)
    others = [index for index in range(16) if index not in (10, 11, 12)]
    np.testing.assert_array_equal(kept[0][:, others[:10]], free[0][:, others[:10]])


def test_feet_slide_less_than_a_hundredth_of_the_height_on_longer_legs():
    source, target = body(), body()
    for thigh, shin, foot in LEGS:
        target.positions[shin] = target.positions[thigh] + 1.3 * (source.positions[shin] - source.positions[thigh])
        target.positions[foot] = target.positions[shin] + 1.3 * (source.positions[foot] - source.positions[shin])
    positions, _ = Retargeting(source, target, range(16), legs=LEGS).apply(*walk(source))
    assert np.ptp(positions[:, 12], axis=0).max() < 0.01 * SIZE


def test_a_leg_bends_in_its_plane_to_the_goal_and_points_there_if_it_is_too_short():
    hips, knees, feet = np.zeros((3, 3)), np.tile([0.6, 0, -0.8], (3, 1)), np.tile([0.0, 0, -1.6], (3, 1))
    goals = np.array([[0.0, 0, -1.6], [0, 0, -1.2], [3.0, 0, 0]])
    knee, hip = bend_leg(hips, knees, feet, goals)
    new_knees = rotate(hip, knees)
    new_feet = new_knees + rotate(multiply(hip, knee), feet - knees)
    # Two bones of length 1: half the distance, and the root of what remains of 1.
    np.testing.assert_allclose(new_knees, [[0.6, 0, -0.8], [0.8, 0, -0.6], [1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(new_feet, [[0, 0, -1.6], [0, 0, -1.2], [2, 0, 0]], atol=1e-6)


@pytest.mark.parametrize(
    ("sources", "text"), [([-1] * 16, "no joint is mapped"), ([16] * 16, "does not exist"), ([0, 1], "does not exist")]
)
def test_a_map_that_cannot_be_used_is_an_error(sources, text):
    with pytest.raises(Md5Error, match=text):
        Retargeting(body(), body(), sources)


def test_joints_that_would_carry_each_other_are_an_error():
    # Two chains with one pair of sources, in opposite orders below others.
    parents = np.array([-1, 0, 1, 0, 3], np.int32)
    positions = np.arange(15.0).reshape(5, 3)
    source = Joints(list("abc"), np.array([-1, 0, 1], np.int32), positions[:3], np.tile([1.0, 0, 0, 0], (3, 1)))
    target = Joints(list("vwxyz"), parents, positions, np.tile([1.0, 0, 0, 0], (5, 1)))
    with pytest.raises(Md5Error, match="cyclic"):
        Retargeting(source, target, [0, 1, 2, 2, 1])


def test_the_joint_of_the_chain_leads_those_that_share_its_source():
    # A goal of inverse kinematics has a helper of the same source as its parent.
    source, spins = body(), np.tile([1.0, 0, 0, 0], (2, len(BODY) + 2, 1))
    target = Joints(
        [*NAMES, "helper", "goal"],
        np.append(PARENTS, [1, 16]).astype(np.int32),
        np.concatenate([source.positions, source.positions[[6, 6]]]),
        spins[0],
    )
    moved = play(source, motion(np.random.default_rng(3))[0])
    target.positions[5:7] += (0, 6, 0)
    target.positions[16:] += (0, 6, 0)
    positions, _ = Retargeting(source, target, [*range(16), 6, 6]).apply(*moved)
    ours, theirs = (directions(of, [6], [5]) for of in (positions, moved[0]))
    np.testing.assert_allclose(ours, theirs, atol=1e-9)
