"""Digits of quaternions near half turns, chosen so that games compute the w that was meant.

Games compute w from x y z with 32-bit floats. Near a half turn 1 - x² - y² - z² is a small multiple of 2⁻²⁴, so
rounding may turn a w of 0 into 3e-4, which moves a model by 0.3 % of its size. Other decimals, less than 5e-7 away, are
read as they should be.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .model import DECIMALS, Floats

SMALL_W = 0.004
"""Above this, 32-bit floats give w to within 2e-5."""

_TOLERANCE = 2e-5
_STEP = 2.0**-24
# Digits of a file that were read and normalised differ from decimals by less.
_SAME = 1e-13
# The digits that most exporters print.
_FEWEST_DIGITS = 6
# Half turns that are longer by this are above 1 in 32 bits, however they are summed up.
_LONGER = 1.2e-7
# Rows at once: each has 51 candidates.
_CHUNK = 2000

# Candidates are turned about the axis that the two largest components leave, and lengthened or shortened.
_TURNS, _LENGTHS = np.meshgrid(np.arange(-8, 9) * 5e-8, np.array([0.0, 2e-8, 4e-8]))


def readable(xyz: Floats, w: Floats, *, may_be_read: bool) -> Floats:
    """The x y z to print for quaternions near half turns, given x y z (N, 3) and w (N,), which is not negative.

    Unchanged if games read them as well as they can, or if they are the digits of a file; else the decimals nearest to
    them that games read best.

    `may_be_read` is whether they may come from a file whose digits were longer than 1 and normalised: a half turn then
    keeps its axis to the last digit, with the digits of the file if six of them give it.
    """
    if may_be_read:
        xyz = _before_normalising(xyz, w)
    digits = np.round(xyz, DECIMALS)
    # What no digits can avoid: the sum of the squares has steps.
    unavoidable = np.abs(w - np.sqrt(np.rint(w * w / _STEP) * _STEP))
    is_misread = misreading(digits, w) > unavoidable + _TOLERANCE
    is_misread &= (np.abs(xyz - digits) > _SAME).any(axis=1)
    misread = np.flatnonzero(is_misread)
    result = xyz.copy()
    for first in range(0, len(misread), _CHUNK):
        rows = misread[first : first + _CHUNK]
        candidates = _candidates(xyz[rows])
        costs = misreading(candidates, w[rows, None]) + np.abs(candidates - xyz[rows, None]).max(axis=2)
        result[rows] = candidates[np.arange(len(rows)), costs.argmin(axis=1)]
    return result


def _before_normalising(xyz: Floats, w: Floats) -> Floats:
    """Half turns with digits longer than 1, of which games compute a w of 0, about the same axes."""
    digits = np.round(xyz, _FEWEST_DIGITS)
    lengths = np.linalg.norm(digits, axis=1, keepdims=True)
    is_same = (np.abs(digits - xyz * lengths) < _SAME).all(axis=1) & (lengths[:, 0] > 1.0)
    is_misread = misreading(np.round(xyz, DECIMALS), w) > _TOLERANCE
    longer = np.where(is_misread[:, None], np.round(xyz * (1.0 + _LONGER), DECIMALS), xyz)
    result: Floats = np.where((w == 0.0)[:, None], np.where(is_same[:, None], digits, longer), xyz)
    return result


def misreading(xyz: Floats, w: Floats) -> Floats:
    """The largest error of w among games, plus that of readers with 64-bit floats, (…).

    `xyz` holds decimals as printed, (…, 3); `w` is what was meant, not negative, (…).
    """
    singles = xyz.astype(np.float32)
    x, y, z = np.moveaxis(singles * singles, -1, 0)
    one = np.float32(1.0)
    sums = one - (x + y + z)
    # Doom 3 takes the absolute value; Sauerbraten and q2pro subtract one square after the other.
    readings = (sums, np.abs(sums), one - x - y - z, 1.0 - (xyz * xyz).sum(axis=-1))
    *games, doubles = (np.abs(np.sqrt(np.maximum(rest, 0.0)) - w) for rest in readings)
    errors: Floats = np.max(games, axis=0) + doubles
    return errors


def _candidates(xyz: Floats) -> Floats:
    """Decimals near each of some vectors (N, 3), (N, M, 3)."""
    rows = np.arange(len(xyz))
    largest, second = np.argsort(-np.abs(xyz), axis=1)[:, :2].T
    sideways = np.zeros_like(xyz)
    sideways[rows, largest], sideways[rows, second] = -xyz[rows, second], xyz[rows, largest]
    turned: npt.NDArray[np.float64] = _TURNS.reshape(-1, 1) * sideways[:, None]
    result: Floats = np.round(xyz[:, None] + turned + _LENGTHS.reshape(-1, 1) * xyz[:, None], DECIMALS)
    return result
