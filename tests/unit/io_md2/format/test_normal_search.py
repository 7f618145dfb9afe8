"""The search for the nearest normal."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_md2.format import NORMALS, nearest_normals

MANY = 9_000


def by_products(vectors: np.ndarray) -> np.ndarray:
    """The first of the normals whose product with each vector is the greatest, but for rounding."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    products = (vectors / np.where(lengths > 0.0, lengths, 1.0)) @ NORMALS.T
    return np.array([np.flatnonzero(row >= row.max() - 1e-12)[0] for row in products])


def directions(kind: str, count: int) -> np.ndarray:
    """Vectors of many directions, or of those that are hard to decide."""
    rng = np.random.default_rng(8)
    random = rng.normal(size=(count, 3))
    if kind == "in a plane":
        random[np.arange(count), rng.integers(0, 3, count)] = 0.0
    elif kind == "near a plane":
        random[np.arange(count), rng.integers(0, 3, count)] = 1e-9
    elif kind == "half way between two normals":
        return NORMALS[rng.integers(0, 162, count)] + NORMALS[rng.integers(0, 162, count)]
    elif kind == "on the axes":
        return np.eye(3)[rng.integers(0, 3, count)] * rng.choice([-1.0, 1.0], (count, 1))
    elif kind == "small integers":
        return rng.integers(-3, 4, (count, 3)).astype(np.float64)
    return random


@pytest.mark.parametrize("count", [50, MANY])
@pytest.mark.parametrize(
    "kind", ["any", "in a plane", "near a plane", "half way between two normals", "on the axes", "small integers"]
)
def test_it_is_the_one_with_the_greatest_product(kind: str, count: int) -> None:
    vectors = directions(kind, count)
    assert np.array_equal(nearest_normals(vectors), by_products(vectors))


@pytest.mark.parametrize("count", [50, MANY])
def test_a_vector_without_a_direction_gets_the_first(count: int) -> None:
    assert not nearest_normals(np.zeros((count, 3))).any()
    with np.errstate(invalid="ignore"):
        assert not nearest_normals(np.full((count, 3), np.nan)).any()


def test_the_shape_of_the_vectors_is_kept() -> None:
    assert nearest_normals(np.ones((4, 5, 3))).shape == (4, 5)
    assert nearest_normals(np.ones((0, 3))).shape == (0,)
