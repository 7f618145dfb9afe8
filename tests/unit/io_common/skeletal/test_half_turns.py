"""Quaternions near half turns are printed so that games, which read 32-bit floats, compute the w that was meant."""

from __future__ import annotations

import math

import numpy as np
import pytest
from md5_samples import random_parents

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal import skeleton as encoding
from io_idtech.io_common.skeletal.skeleton import local_poses
from io_idtech.io_md5.format import Joints, Model, format_animation, format_mesh, parse_animation, parse_mesh

AXES = 400
# Steps of 1 - x² - y² - z² in 32 bits are 2⁻²⁴, so a w of 3e-4 can be off by 5e-5 whatever the digits are.
ALLOWED = {0.0: 2e-5, 1e-5: 3e-5, 3e-4: 8e-5, 1e-3: 4e-5, 0.01: 2e-5}


def readings(x, y, z):
    """w in the engines' own order of operations, each step rounded to 32 bits."""
    x, y, z = (np.float32(value) for value in (x, y, z))
    together = np.float32(1.0) - (x * x + y * y + z * z)
    one_by_one = np.float32(1.0) - x * x - y * y - z * z
    return {
        "vkQuake, Daemon": math.sqrt(max(together, 0.0)),
        "Doom 3": math.sqrt(abs(together)),
        "Sauerbraten, q2pro": math.sqrt(max(one_by_one, 0.0)),
    }


def turns(rng, w, count=AXES):
    """Quaternions with a given w about random axes."""
    axes = rng.normal(size=(count, 3))
    axes[::4, 2] = 0.0
    axes *= np.sqrt(1.0 - w * w) / np.linalg.norm(axes, axis=1, keepdims=True)
    return np.column_stack([np.full(count, -w), axes])


def worst(printed, w, engines=("vkQuake, Daemon", "Doom 3", "Sauerbraten, q2pro")):
    """The largest error of w for each printed quaternion."""
    return np.array([max(abs(readings(*xyz)[name] - w) for name in engines) for xyz in printed.tolist()])


def printed_joints(text):
    """The orientations of the joints of a mesh as they are printed."""
    rows = [line.split() for line in text.decode().split("{")[1].splitlines()[1:-1]]
    return np.array([row[8:11] for row in rows], dtype=np.float64)


def animation_of(orientations):
    count = len(orientations)
    joints = [f"joint{index}" for index in range(count)]
    poses = np.zeros((1, count, 3)), orientations[None]
    return encoding.encode_local_poses(joints, random_parents(np.random.default_rng(1), count), *poses, frame_rate=24)


@pytest.mark.parametrize("w", ALLOWED)
def test_the_games_compute_the_w_that_was_meant_from_an_animation(rng, w):
    written = parse_animation(format_animation(animation_of(turns(rng, w))))
    errors = worst(written.base_orientations, w)
    assert np.quantile(errors, 0.98) <= ALLOWED[w]


@pytest.mark.parametrize("w", ALLOWED)
def test_the_games_compute_the_w_that_was_meant_from_a_mesh(rng, w):
    orientations = turns(rng, w)
    joints = Joints(
        [f"joint{index}" for index in range(AXES)], random_parents(rng, AXES), np.zeros((AXES, 3)), orientations
    )
    text = format_mesh(Model(joints, []))
    # Joints of a mesh keep their axis to the last digit, which Doom 3 does not read, and it does not use their turns.
    engines = ("vkQuake, Daemon", "Sauerbraten, q2pro")
    assert np.quantile(worst(printed_joints(text), w, engines), 0.98) <= ALLOWED[w]
    # Programs that use doubles see the same rotation.
    np.testing.assert_allclose(parse_mesh(text).joints.orientations, orientations, atol=2e-5)


@pytest.mark.parametrize("w", [0.0, 1e-5, 3e-4, 1e-3])
def test_digits_of_a_file_are_kept_however_games_read_them(rng, w):
    digits = np.round(turns(rng, w)[:, 1:], 10)
    digits = digits[(digits**2).sum(axis=1) < 1.0]
    assert (worst(digits, w) > 1e-4).any() or w == 1e-3
    np.testing.assert_allclose(quat.xyz_from_wxyz(quat.wxyz_from_xyz(digits)), digits, rtol=0.0, atol=1e-14)


def test_joints_whose_digits_are_longer_than_1_come_back_digit_for_digit(rng):
    digits = np.round(turns(rng, 0.0)[:, 1:], 6)
    squares = (digits**2).sum(axis=1)
    digits = digits[(squares > 1.0) & (squares < 1.0 + 9e-7)]
    joints = Joints(
        [f"joint{index}" for index in range(len(digits))],
        random_parents(rng, len(digits)),
        np.zeros((len(digits), 3)),
        quat.wxyz_from_xyz(digits),
    )
    np.testing.assert_allclose(printed_joints(format_mesh(Model(joints, []))), digits, rtol=0.0, atol=1e-14)


def test_a_joint_at_half_turn_in_all_frames_is_not_animated(rng):
    orientations = np.repeat(turns(rng, 0.0, 5)[None], 8, axis=0)
    animation = encoding.encode_local_poses(
        list("abcde"), random_parents(rng, 5), np.zeros((8, 5, 3)), orientations, frame_rate=24
    )
    assert not animation.flags.any()


def test_poses_as_read_have_the_w_of_32_bit_floats():
    animation = animation_of(np.array([[0.0, 1.0, 0.0, 0.0]]))
    animation.base_orientations[0] = 0.7071067811, 0.7071067811, 0.0
    half = np.float32(0.7071067811)
    # Powers are rounded differently by some systems, products are not.
    w = float(-math.sqrt(np.float32(1.0) - (half * half + half * half)))
    assert abs(w) > 1e-4
    assert local_poses(animation, as_read=True)[1][0, 0, 0] == pytest.approx(w)
    assert abs(local_poses(animation)[1][0, 0, 0]) < 2e-5
