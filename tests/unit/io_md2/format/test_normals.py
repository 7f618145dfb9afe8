"""The table of normals, and which of them a vertex gets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from io_idtech.io_md2.format import (
    NORMALS,
    face_normals,
    nearest_normals,
    normal_indices,
    normal_vectors,
    vertex_normals,
)
from io_idtech.io_md2.format.normals import changed_normal_indices


def slow_normal_indices(frame: np.ndarray, triangles: np.ndarray) -> list[int]:
    """The compiler's rule for one frame, triangle by triangle."""
    sums = [[0.0, 0.0, 0.0, 0] for _ in frame]
    for triangle in triangles.tolist():
        v0, v1, v2 = ([float(x) for x in frame[i]] for i in triangle)
        a = [v0[i] - v1[i] for i in range(3)]
        b = [v2[i] - v1[i] for i in range(3)]
        normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        length = math.sqrt(sum(x * x for x in normal))
        for vertex in triangle:
            for axis in range(3):
                sums[vertex][axis] += normal[axis] / length if length else 0.0
            sums[vertex][3] += 1
    result = []
    for x, y, z, count in sums:
        best, best_product = 0, -math.inf
        if count:
            x, y, z = x / count, y / count, z / count
            length = math.sqrt(x * x + y * y + z * z)
            if length:
                x, y, z = x / length, y / length, z / length
            for index, (a, b, c) in enumerate(NORMALS.tolist()):
                product = x * a + y * b + z * c
                if product > best_product:
                    best, best_product = index, product
        result.append(best)
    return result


class TestNormals:
    def test_the_table_has_162_unit_normals(self) -> None:
        assert NORMALS.shape == (162, 3)
        assert np.allclose(np.linalg.norm(NORMALS, axis=1), 1, atol=2e-6)
        assert len(np.unique(NORMALS, axis=0)) == 162
        assert NORMALS[0].tolist() == [-0.525731, 0.0, 0.850651]
        assert NORMALS[161].tolist() == [-0.688191, -0.587785, -0.425325]

    def test_every_normal_is_nearest_to_itself(self) -> None:
        assert nearest_normals(NORMALS * 3).tolist() == list(range(162))

    def test_an_index_beyond_the_table_has_no_normal(self) -> None:
        vectors = normal_vectors(np.array([[0, 161], [162, 255]], np.uint8))
        assert vectors.shape == (2, 2, 3)
        assert vectors.dtype == np.float32
        assert np.allclose(vectors[0], NORMALS[[0, 161]])
        assert not vectors[1].any()

    def test_of_equally_near_normals_the_first_is_used(self) -> None:
        up = np.array([0.0, 0.0, 1.0])
        products = NORMALS @ up
        assert nearest_normals(up) == np.flatnonzero(products == products.max())[0]
        # Half way between two entries, which rounding must not decide.
        for a, b in ((0, 1), (10, 11), (40, 47)):
            between = NORMALS[a] + NORMALS[b]
            ties = NORMALS @ (between / np.linalg.norm(between))
            assert nearest_normals(between) == np.flatnonzero(ties > ties.max() - 1e-9)[0]

    def test_it_is_the_compilers_rule(self, rng: np.random.Generator) -> None:
        positions = rng.normal(size=(3, 40, 3)) * 20
        triangles = rng.integers(0, 38, (60, 3))
        expected = [slow_normal_indices(frame, triangles) for frame in positions]
        assert normal_indices(positions, triangles).tolist() == expected

    def test_clockwise_triangles_face_the_viewer(self) -> None:
        # Seen from above (+Z), with +X right and +Y up: left, top, right is clockwise.
        positions = np.array([[-1, 0, 0], [0, 1, 0], [1, 0, 0]], float)
        assert face_normals(positions, np.array([[0, 1, 2]])).tolist() == [[0, 0, 1]]

    def test_faces_are_weighted_equally_whatever_their_size(self) -> None:
        positions = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 99], [0, 99, 0]], float)
        mean = vertex_normals(positions, np.array([[0, 1, 2], [0, 3, 4]]))[0]
        assert np.allclose(np.abs(mean), [0.5, 0, 0.5])

    def test_vertices_without_a_normal_get_the_first(self) -> None:
        positions = np.array([[[0, 0, 0], [0, 1, 0], [1, 0, 0], [5, 5, 5], [6, 6, 6]]], float)
        double_sided = np.array([[0, 1, 2], [2, 1, 0], [3, 3, 4]])
        assert normal_indices(positions, double_sided).tolist() == [[0, 0, 0, 0, 0]]

    def test_no_triangles_and_no_vertices(self) -> None:
        none = np.zeros((0, 3), int)
        assert normal_indices(np.ones((2, 3, 3)), none).tolist() == [[0] * 3] * 2
        assert normal_indices(np.ones((2, 0, 3)), none).shape == (2, 0)

    def test_many_frames_are_the_same_as_one_by_one(self, rng: np.random.Generator) -> None:
        positions = rng.normal(size=(300, 120, 3))
        triangles = rng.integers(0, 120, (200, 3))
        together = normal_indices(positions, triangles)
        for i in (0, 135, 136, 137, 299):
            assert np.array_equal(together[i], normal_indices(positions[i : i + 1], triangles)[0])

    @pytest.mark.parametrize("share", [0.0, 0.02, 1.0])
    def test_only_changed_vertices_get_another_index(self, rng: np.random.Generator, share: float) -> None:
        positions = rng.normal(size=(20, 60, 3))
        triangles = rng.integers(0, 58, (80, 3))
        changed = rng.random((20, 60)) < share
        before = np.full((20, 60), 200, np.uint8)
        after = changed_normal_indices(positions, triangles, before, changed)
        assert np.array_equal(after, np.where(changed, normal_indices(positions, triangles), 200))
        assert (before == 200).all()
