"""Quaternions over arrays, against scalar functions written word by word from the specification."""

from __future__ import annotations

import math

import numpy as np
import pytest
from md5_samples import negative_w, unit_quaternions
from md5_specification import close, compute_w, conjugate, mult_quat, normalise, rotate_point, slerp

from io_idtech.io_common.skeletal import quaternions as quat

# Quaternions


def test_w_is_minus_the_root_of_what_is_missing_to_1(rng):
    xyz = rng.uniform(-0.57, 0.57, size=(50, 3))
    result = quat.wxyz_from_xyz(xyz)
    close(result, [[compute_w(*row), *row] for row in xyz.tolist()])
    assert (result[:, 0] <= 0).all()


def test_w_of_the_identity_is_minus_1():
    close(quat.wxyz_from_xyz([0.0, 0.0, 0.0]), [-1, 0, 0, 0])


@pytest.mark.parametrize("excess", [1e-12, 1e-6, 1e-3, 0.5])
def test_w_is_0_where_xyz_is_longer_than_1_and_the_rest_is_normalised(excess):
    xyz = np.array([0.6, 0.0, -0.8]) * (1 + excess)
    assert compute_w(*xyz) == 0.0
    result = quat.wxyz_from_xyz(xyz)
    assert result[0] == 0.0
    close(result, [0, 0.6, 0, -0.8])


def test_w_is_computed_over_any_leading_axes(rng):
    xyz = rng.uniform(-0.5, 0.5, size=(2, 3, 4, 3))
    assert quat.wxyz_from_xyz(xyz).shape == (2, 3, 4, 4)
    close(quat.wxyz_from_xyz(xyz)[1, 2, 3], quat.wxyz_from_xyz(xyz[1, 2, 3]))
    assert quat.wxyz_from_xyz(np.empty((0, 3))).shape == (0, 4)


def test_what_a_file_holds_has_a_negative_w(rng):
    quaternions = unit_quaternions(rng, 100)
    assert (quaternions[:, 0] > 0).any()
    again = quat.wxyz_from_xyz(quat.xyz_from_wxyz(quaternions))
    close(again, negative_w(quaternions), atol=1e-6)
    for a, b in zip(again, quaternions, strict=True):
        close(rotate_point(a.tolist(), [1, 2, 3]), rotate_point(b.tolist(), [1, 2, 3]), atol=1e-6)


def test_what_a_file_holds_does_not_depend_on_length():
    close(quat.xyz_from_wxyz([2.0, 0.0, 0.0, 2.0]), [0, 0, -math.sqrt(0.5)])


def test_a_half_turn_keeps_its_sign_in_a_file():
    close(quat.xyz_from_wxyz([[0.0, 0.6, 0.8, 0.0], [-0.0, -0.6, 0.8, 0.0]]), [[0.6, 0.8, 0], [-0.6, 0.8, 0]])


def test_the_given_quaternions_are_not_changed(rng):
    quaternions = unit_quaternions(rng, 20)
    before = quaternions.copy()
    for function in (quat.xyz_from_wxyz, quat.normalise, quat.conjugate, quat.make_continuous, quat.to_matrices):
        function(quaternions)
        np.testing.assert_array_equal(quaternions, before)


def test_product_follows_the_specification(rng):
    a, b = rng.normal(size=(2, 30, 4))
    expected = [mult_quat(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    close(quat.multiply(a, b), expected)


def test_product_applies_the_second_rotation_first(rng):
    a, b = unit_quaternions(rng, 2)
    point = rng.normal(size=3)
    close(quat.rotate(quat.multiply(a, b), point), rotate_point(a, rotate_point(b, point)))


def test_product_broadcasts(rng):
    a, b = rng.normal(size=(5, 1, 4)), rng.normal(size=(7, 4))
    assert quat.multiply(a, b).shape == (5, 7, 4)
    close(quat.multiply(a, b)[3, 2], mult_quat(a[3, 0], b[2]))


def test_conjugate_is_the_inverse(rng):
    q = unit_quaternions(rng, 10)
    close(quat.conjugate(q), [conjugate(row) for row in q.tolist()])
    close(quat.multiply(q, quat.conjugate(q)), np.tile([1.0, 0, 0, 0], (10, 1)))


def test_normalise_gives_unit_length(rng):
    q = rng.normal(scale=100, size=(10, 4))
    close(quat.normalise(q), [normalise(row) for row in q.tolist()])


def test_normalise_gives_the_identity_for_zero():
    close(quat.normalise([[0.0, 0, 0, 0], [0, 0, 5, 0]]), [[1, 0, 0, 0], [0, 0, 1, 0]])


def test_normalise_does_not_hide_what_is_not_finite():
    assert np.isnan(quat.normalise([np.nan, 0, 0, 0])).any()


def test_rotate_is_q_p_q_conjugate(rng):
    q, p = unit_quaternions(rng, 30), rng.normal(scale=100, size=(30, 3))
    expected = [rotate_point(x, y) for x, y in zip(q.tolist(), p.tolist(), strict=True)]
    close(quat.rotate(q, p), expected, atol=1e-10)


def test_rotate_by_90_degrees_about_z_turns_x_into_y():
    close(quat.rotate([math.sqrt(0.5), 0, 0, math.sqrt(0.5)], [1.0, 0, 0]), [0, 1, 0])


def test_rotate_broadcasts(rng):
    q, p = unit_quaternions(rng, 4, 1), rng.normal(size=(6, 3))
    assert quat.rotate(q, p).shape == (4, 6, 3)
    close(quat.rotate(q, p)[2, 5], rotate_point(q[2, 0], p[5]))


def test_matrices_rotate_like_quaternions(rng):
    q, p = unit_quaternions(rng, 20), rng.normal(size=(20, 3))
    close(np.einsum("nij,nj->ni", quat.to_matrices(q), p), [rotate_point(a, b) for a, b in zip(q, p, strict=True)])


def test_quaternions_survive_conversion_to_matrices_and_back(rng):
    q = unit_quaternions(rng, 200)
    positive = np.where(q[:, :1] < 0, -q, q)
    close(quat.from_matrices(quat.to_matrices(q)), positive)


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, 0.6, -0.8], [-0.6, 0, 0.8]])
@pytest.mark.parametrize("degrees", [0, 1e-6, 90, 179.999999, 180])
def test_matrices_of_half_turns_and_of_hardly_any_turn_come_back(axis, degrees):
    half = math.radians(degrees) / 2
    q = np.array([math.cos(half), *(math.sin(half) * np.array(axis))])
    result = quat.from_matrices(quat.to_matrices(q))
    close(abs(result @ q), 1.0, atol=1e-14)
    close(quat.to_matrices(result), quat.to_matrices(q), atol=1e-14)


def test_matrices_keep_leading_axes(rng):
    q = unit_quaternions(rng, 2, 3)
    assert quat.to_matrices(q).shape == (2, 3, 3, 3)
    assert quat.from_matrices(quat.to_matrices(q)).shape == (2, 3, 4)
    assert quat.from_matrices(np.empty((0, 3, 3))).shape == (0, 4)


def test_a_matrix_with_rounding_errors_gives_a_unit_quaternion(rng):
    q = unit_quaternions(rng, 50)
    rough = np.round(quat.to_matrices(q), 3)
    result = quat.from_matrices(rough)
    close(np.linalg.norm(result, axis=1), 1.0)
    close(np.abs(np.einsum("ni,ni->n", result, q)), 1.0, atol=1e-5)


def test_continuous_signs_leave_no_jump(rng):
    steps = np.linspace(0, 4 * math.pi, 60)
    turns = np.stack([np.cos(steps / 2), np.zeros(60), np.zeros(60), np.sin(steps / 2)], axis=1)
    from_file = negative_w(turns)
    assert (np.einsum("fi,fi->f", from_file[1:], from_file[:-1]) < 0).any()
    result = quat.make_continuous(from_file)
    assert (np.einsum("fi,fi->f", result[1:], result[:-1]) > 0).all()
    close(np.abs(np.einsum("fi,fi->f", result, from_file)), 1.0)


def test_continuous_signs_are_found_for_each_joint_by_itself(rng):
    q = unit_quaternions(rng, 40, 5)
    result = quat.make_continuous(q)
    expected = q.copy()
    for joint in range(5):
        for frame in range(1, 40):
            if sum(expected[frame, joint] * expected[frame - 1, joint]) < 0:
                expected[frame, joint] = -expected[frame, joint]
    np.testing.assert_array_equal(result, expected)


def test_continuous_signs_of_one_or_no_frame():
    assert quat.make_continuous(np.empty((0, 2, 4))).shape == (0, 2, 4)
    close(quat.make_continuous([[-1.0, 0, 0, 0]]), [[-1, 0, 0, 0]])


# Playing


def test_slerp_follows_the_textbook(rng):
    a, b, t = unit_quaternions(rng, 50), unit_quaternions(rng, 50), rng.uniform(size=50)
    assert (np.einsum("ni,ni->n", a, b) < 0).any()
    expected = [slerp(x, y, z) for x, y, z in zip(a.tolist(), b.tolist(), t.tolist(), strict=True)]
    close(quat.slerp(a, b, t), expected, atol=1e-10)


def test_slerp_begins_and_ends_where_it_should(rng):
    a, b = unit_quaternions(rng, 2, 20)
    close(quat.slerp(a, b, np.zeros(20)), a)
    close(np.abs(np.einsum("ni,ni->n", quat.slerp(a, b, np.ones(20)), b)), 1.0)


def test_slerp_takes_the_shorter_way():
    a, b = np.array([1.0, 0, 0, 0]), np.array([-math.cos(0.1), 0, 0, -math.sin(0.1)])
    close(quat.slerp(a, b, 0.5), [math.cos(0.05), 0, 0, math.sin(0.05)])


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 0.01])
def test_slerp_of_hardly_any_angle_stays_a_rotation(angle):
    a, b = np.array([1.0, 0, 0, 0]), np.array([math.cos(angle), 0, math.sin(angle), 0])
    for t in (0.0, 0.25, 1.0):
        close(quat.slerp(a, b, t), [math.cos(angle * t), 0, math.sin(angle * t), 0], atol=1e-10)


def test_slerp_of_opposite_quaternions_does_not_rotate():
    a = np.array([0.5, 0.5, -0.5, 0.5])
    close(quat.slerp(a, -a, 0.5), a)


def test_lerp_follows_the_specification(rng):
    a, b, t = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.uniform(size=6)
    expected = [[x + s * (y - x) for x, y in zip(p, q, strict=True)] for p, q, s in zip(a, b, t, strict=True)]
    close(quat.lerp(a, b, t), expected)


def test_w_and_the_rest_are_never_negative_zero():
    xyz = [[1.0, -0.0, 0.0], [-0.0, -0.0, -0.0], [0.0, -0.0, 2.0], [-1.0, -0.0, -0.0]]
    result = quat.wxyz_from_xyz(xyz)
    assert not (np.signbit(result) & (result == 0.0)).any()


@pytest.mark.parametrize("fraction", [-1.0, 1.5, 2.0])
def test_slerp_goes_on_at_the_same_speed_outside_of_0_to_1(fraction):
    def about_z(degrees):
        half = np.radians(degrees) / 2
        return [np.cos(half), 0.0, 0.0, np.sin(half)]

    close(quat.slerp(about_z(10), about_z(40), fraction), about_z(10 + 30 * fraction))
