"""How far a surface moves if its faces are split into other triangles."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_blender.scene.mesh_data import bend

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
ONE_WAY, OTHER_WAY = np.array([[0, 1, 2], [0, 2, 3]], np.int32), np.array([[1, 2, 3], [0, 1, 3]], np.int32)


def test_a_flat_face_is_the_same_surface_however_it_is_split():
    assert bend(SQUARE, ONE_WAY, OTHER_WAY) == pytest.approx(0.0, abs=1e-6)


def test_a_face_that_is_not_flat_moves_by_the_distance_between_its_diagonals_and_the_other_surface():
    raised = SQUARE + np.eye(4)[:, 1:2] * (0, 0, 1)
    # The middle of the raised diagonal is at (0.5, 0.5, 0.5), over a slope of 45 degrees.
    assert bend(raised, ONE_WAY, OTHER_WAY) == pytest.approx(np.sqrt(0.125), rel=1e-5)
    two = np.concatenate([SQUARE, raised + 5.0])
    ways = [np.concatenate([way, way + 4]).astype(np.int32) for way in (ONE_WAY, OTHER_WAY)]
    assert bend(two, *ways) == pytest.approx(np.sqrt(0.125), rel=1e-5)


def test_a_triangle_outside_of_a_concave_face_counts_though_the_face_is_flat():
    arrow = np.array([[0.0, 0, 0], [4, 0, 0], [1, 1, 0], [0, 4, 0]])
    # The middle of the outer diagonal is (2, 2), and the nearest edge leads from (4, 0) to (1, 1).
    assert bend(arrow, ONE_WAY, OTHER_WAY) == pytest.approx(4.0 / np.sqrt(10.0), rel=1e-5)


def test_the_same_triangles_in_another_order_are_no_difference():
    rng = np.random.default_rng(1)
    fan = np.array([[0, number, number + 1] for number in range(1, 9)], np.int32)
    assert bend(rng.random((10, 3)), fan, fan[::-1, [1, 2, 0]]) == 0.0


@pytest.mark.parametrize("count", [5, 30, 1000])
def test_faces_of_many_corners_move_by_less_than_their_depth(count):
    """A round face whose rim goes up and down by 0.1 three times."""
    turns = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    corners = np.stack([np.cos(turns), np.sin(turns), 0.1 * np.sin(3.0 * turns)], axis=1)
    fan = np.array([[0, number, number + 1] for number in range(1, count - 1)], np.int32)
    assert 0.01 < bend(corners, fan, (fan + count // 3).astype(np.int32) % count) <= 0.2
