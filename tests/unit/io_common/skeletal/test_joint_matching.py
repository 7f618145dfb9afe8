"""Animations are matched with models by the names and parents of joints."""

from __future__ import annotations

import numpy as np
from md5_samples import random_animation, random_joints

from io_idtech.io_md5.format import match_joints


def test_joints_are_matched_by_name(rng):
    joints = random_joints(rng, 6)
    animation = random_animation(rng, joints=6, parents=joints.parents)
    match = match_joints(animation, joints)
    assert match.is_complete
    assert match.joints == match.bones == list(range(6))


def test_the_order_of_joints_does_not_matter(rng):
    joints = random_joints(rng, 4)
    joints.parents[:] = [-1, 0, 0, 0]
    animation = random_animation(rng, joints=4, parents=np.array([-1, 0, 0, 0], np.int32))
    animation.names = [joints.names[index] for index in (0, 3, 1, 2)]
    match = match_joints(animation, joints)
    assert match.is_complete
    assert match.bones == [0, 3, 1, 2]


def test_what_does_not_match_is_named(rng):
    joints = random_joints(rng, 4)
    joints.parents[:] = [-1, 0, 1, 0]
    animation = random_animation(rng, joints=4, parents=np.array([-1, 0, 0, 0], np.int32))
    animation.names = [*joints.names[:3], "tail"]
    match = match_joints(animation, joints)
    assert (match.extra, match.missing, match.differing) == (["tail"], [joints.names[3]], [joints.names[2]])
    assert not match.is_complete


def test_renamed_joints_in_the_same_order_with_the_same_parents_are_those_of_the_skeleton(rng):
    joints = random_joints(rng, 5)
    joints.parents[:] = [-1, 0, 1, 1, 0]
    animation = random_animation(rng, joints=5, parents=joints.parents)
    animation.names = [joints.names[0], "a", "b", joints.names[3], "c"]
    match = match_joints(animation, joints)
    assert match.joints == match.bones == list(range(5))
    assert (match.renamed, match.named_count, match.fit) == (["a", "b", "c"], 2, "part")
    # A name that both have says that the order is another one.
    animation.names = ["a", "b", "c", joints.names[2], "d"]
    assert not match_joints(animation, joints).renamed
