"""Scale and axes between a file and the scene."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_blender.scene.axes import Conversion

QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""+X becomes +Y, +Y becomes -X."""


def test_lengths_are_scaled_and_axes_rotated():
    conversion = Conversion(2.0, QUARTER)
    np.testing.assert_array_equal(conversion.points(np.array([[1.0, 2.0, 3.0]])), [[-4.0, 2.0, 6.0]])


def test_points_may_have_any_leading_axes():
    assert Conversion(2.0, QUARTER).points(np.zeros((4, 5, 3))).shape == (4, 5, 3)


def test_the_inverse_undoes_a_conversion():
    points = np.random.default_rng(1).normal(size=(7, 3))
    conversion = Conversion(0.25, QUARTER)
    np.testing.assert_allclose(conversion.inverse().points(conversion.points(points)), points, atol=1e-15)


def test_one_conversion_after_the_other_is_one_conversion():
    points = np.random.default_rng(1).normal(size=(7, 3))
    first, second = Conversion(2.0, QUARTER), Conversion(3.0, QUARTER[[2, 0, 1]])
    np.testing.assert_allclose(first.then(second).points(points), second.points(first.points(points)))


@pytest.mark.parametrize(
    ("scale", "matrix", "expected"), [(1.0, np.eye(3), True), (1.5, np.eye(3), False), (1.0, QUARTER, False)]
)
def test_coordinates_stay_as_they_are_only_without_scale_and_rotation(scale, matrix, expected):
    conversion = Conversion(scale, matrix)
    points = np.ones((1, 3))
    assert conversion.is_identity == expected
    assert (conversion.points(points) is points) == expected
