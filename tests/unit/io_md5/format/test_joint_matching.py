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
