"""Weights that reproduce a motion: least squares with at most a few joints for each vertex."""

from __future__ import annotations

import numpy as np

from .model import Floats, Ints

_CHUNK = 4_000_000  # numbers of the largest array
# So many joints are tried together, in so many rounds.
_CANDIDATES = 16
_ROUNDS = 3
# Relative to the squared distances of a point: joints that move alike make the equations singular.
_RIDGE = 1e-9


def fit_weights(
    points: Floats, rotations: Floats, translations: Floats, targets: Floats, *, most: int = 4
) -> tuple[Ints, Floats, Floats]:
    """Finds the weights with which joints move points along given paths, by least squares.

    Weights are not negative and sum to 1. The result of a point is never worse than its best joint alone.

    Args:
        points: the points in the bind pose, (V, 3).
        rotations: for each frame and joint, the rotation (and scale) from the bind pose, (F, J, 3, 3).
        translations: the translation that follows it, (F, J, 3); a joint moves p to `rotation @ p + translation`.
        targets: where the points are to be in each frame, (F, V, 3).
        most: the largest number of joints of a point.

    Returns:
        The joints of each point, (V, K), with K at most `most`; their weights, float64 (V, K), 0 where fewer joints
        are used; and the largest distance to the target over all frames, (V,).

    Raises:
        ValueError: there is no frame or no joint, or the shapes do not fit each other.
    """
    frames, joints = rotations.shape[:2]
    if not frames or not joints or translations.shape != (frames, joints, 3):
        raise ValueError(f"rotations {rotations.shape} and translations {translations.shape} do not fit")
    if targets.shape != (frames, len(points), 3):
        raise ValueError(f"points {points.shape} and targets {targets.shape} do not fit")
    count = min(most, joints)
    found = (np.zeros((len(points), count), np.int64), np.zeros((len(points), count)), np.zeros(len(points)))
    step = max(1, _CHUNK // (joints * frames * 3))
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        moved = np.einsum("fjab,vb->vjfa", rotations, points[part]) + translations.transpose(1, 0, 2)
        offsets = moved - targets[:, part].transpose(1, 0, 2)[:, None]
        for array, values in zip(found, _fit(offsets, count), strict=True):
            array[part] = values
    return found


def _fit(offsets: Floats, count: int) -> tuple[Ints, Floats, Floats]:
    """Fits points whose distances to their targets with each joint alone are given, (V, J, F, 3)."""
    rows = np.arange(len(offsets))[:, None]
    rank = np.einsum("vjfa,vjfa->vj", offsets, offsets)
    used = rank.argsort(axis=1, kind="stable")[:, :count]
    weights = np.zeros(used.shape)
    weights[:, 0] = 1.0
    errors = _largest(offsets[rows, used], weights)
    for _ in range(_ROUNDS):
        # What is used, and the joints whose addition reduces the error most.
        rank[rows, used] = -np.inf
        tried = rank.argsort(axis=1, kind="stable")[:, :_CANDIDATES]
        solved = _solve(offsets[rows, tried].reshape(*tried.shape, -1), count)
        order = (-solved).argsort(axis=1, kind="stable")[:, :count]
        found, solved = np.take_along_axis(tried, order, axis=1), np.take_along_axis(solved, order, axis=1)
        found_errors = _largest(offsets[rows, found], solved)
        better = found_errors < errors
        used[better], weights[better], errors[better] = found[better], solved[better], found_errors[better]
        residuals = np.einsum("vk,vkfa->vfa", weights, offsets[rows, used])
        rank = np.einsum("vjfa,vfa->vj", offsets, residuals)
    return used, weights, errors


def _solve(offsets: Floats, count: int) -> Floats:
    """Weights (V, K) of the candidates, at most `count` of a point above 0; offsets (V, K, F * 3)."""
    # As the weights sum to 1, the error is the weighted sum of the offsets, with the square w' H w: H w is constant.
    products = offsets @ offsets.transpose(0, 2, 1)
    size, tried = products.shape[:2]
    diagonal = np.arange(tried)
    largest = products[:, diagonal, diagonal].max(axis=1, keepdims=True)
    products[:, diagonal, diagonal] += _RIDGE * largest + 1e-30
    is_active = np.ones((size, tried), bool)
    weights = np.zeros((size, tried))
    open_rows = np.arange(size)
    while len(open_rows):
        active = is_active[open_rows]
        system = products[open_rows] * (active[:, :, None] & active[:, None, :])
        system[:, diagonal, diagonal] += ~active
        solved = np.linalg.solve(system, active[..., None].astype(np.float64))[..., 0]
        solved /= solved.sum(axis=1, keepdims=True)
        weights[open_rows] = solved
        least = np.where(active, solved, np.inf)
        has_too_many = active.sum(axis=1) > count
        is_open = (least.min(axis=1) < 0.0) | has_too_many
        open_rows = open_rows[is_open]
        is_active[open_rows, least[is_open].argmin(axis=1)] = False
    return weights


def _largest(offsets: Floats, weights: Floats) -> Floats:
    """The largest distance of each point to its target over all frames."""
    sums = np.einsum("vk,vkfa->vfa", weights, offsets)
    return np.asarray(np.linalg.norm(sums, axis=2).max(axis=1))
