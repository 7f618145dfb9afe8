"""Which of the 162 normals is nearest to a vector.

The products with all of them are the rule, but take long for the many vertices of many frames. The table is symmetrical
in all three axes, so the octant with positive coordinates stands for all of them. It is cut into cubic cells, most of
which lie in the region of one normal. Vectors in other cells are compared with the normals of the octant, those that
are as near to several normals with all of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .normal_table import NORMALS

# Products this close are equal except for rounding, which depends on the order of additions. The table's
# vectors mirror each other, so that such ties are common on symmetrical models.
_TIE = 1e-12

# Vectors at a time.
_CHUNK = 1 << 14

# For fewer vectors the cells are not worth making.
_FEW = 1 << 13

# The cells on an axis. They are a little larger than 1 / _CELLS, so that the last one holds a coordinate of 1.
_CELLS = 64
_CELLS_PER_UNIT = _CELLS - 0.01

# Far more than `_TIE` and the rounding of a coordinate in single precision.
_MARGIN = 1e-6

_AXES = np.arange(3)


def nearest_normals(vectors: NDArray[Any]) -> NDArray[np.uint8]:
    """The indices of the table's vectors nearest in direction (Quake II's model compiler).

    That is the one with the greatest dot product, the first of equals.

    Args:
        vectors: (..., 3) floats of any length; a zero vector gets index 0, whose product is as great as
            every other's.

    Returns:
        uint8, the shape of ``vectors`` without its last axis.
    """
    components = np.asarray(vectors, np.float64).reshape(-1, 3).T
    result = np.empty(components.shape[1], np.uint8)
    for start in range(0, len(result), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        units = _units(components[:, chunk])
        if len(result) < _FEW:
            found = _by_octant(units)
            unknown = np.arange(len(found))
        else:
            found = _by_cell(units)
            unknown = np.flatnonzero(found < 0)
            found[unknown] = _by_octant(units[:, unknown])
        unknown = unknown[found[unknown] < 0]
        found[unknown] = _search(units[:, unknown])
        result[chunk] = found
    return result.reshape(np.shape(vectors)[:-1])


def _units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors (3, n) divided by their lengths; zero vectors stay."""
    x, y, z = vectors
    length = np.sqrt(x * x + y * y + z * z)
    length[length == 0.0] = 1.0
    units: NDArray[np.float64] = vectors / length
    return units


def _search(units: NDArray[np.float64]) -> NDArray[np.intp]:
    """The indices of the normals nearest to unit vectors (3, n), by their products with all normals."""
    products = units.T @ NORMALS.T
    nearest: NDArray[np.intp] = np.argmax(
        products >= products.max(axis=1, keepdims=True, initial=-1.0) - _TIE, axis=1
    )
    return nearest


def _by_cell(units: NDArray[np.float64]) -> NDArray[np.int16]:
    """The indices of the normals nearest to unit vectors (3, n), -1 where the cell does not tell."""
    with np.errstate(invalid="ignore"):  # NaN
        x, y, z = (np.abs(units) * _CELLS_PER_UNIT).astype(np.intp)
    owners = _owners().take((x * _CELLS + y) * _CELLS + z, mode="clip")
    indices: NDArray[np.int16] = _mirrored()[owners, _octants(units)]
    return indices


def _by_octant(units: NDArray[np.float64]) -> NDArray[np.int16]:
    """The indices of the normals nearest to unit vectors (3, n), -1 where several are as near."""
    folded = np.abs(units)
    products = folded.T @ NORMALS[_first_octant()].T
    nearest = products.argmax(axis=1)
    candidates = products >= products.max(axis=1, keepdims=True, initial=-1.0) - _MARGIN
    # On a plane between octants, a normal that does not lie on it ties with its mirror image.
    is_sure = (np.count_nonzero(candidates, axis=1) == 1) & (folded > _MARGIN).all(axis=0)
    return np.where(is_sure, _mirrored()[nearest, _octants(units)], np.int16(-1))


def _octants(units: NDArray[np.float64]) -> NDArray[np.int8]:
    """The octants of vectors (3, n): bit 0 is set where x is negative, bit 1 for y and bit 2 for z."""
    x, y, z = (units < 0.0).view(np.int8)
    octants: NDArray[np.int8] = x + 2 * y + 4 * z
    return octants


@cache
def _first_octant() -> NDArray[np.intp]:
    """The indices of the normals without negative coordinates."""
    return np.flatnonzero((NORMALS >= 0.0).all(axis=1))


@cache
def _mirrored() -> NDArray[np.int16]:
    """The index of each normal of the first octant in each of the eight octants, and a last row of -1."""
    places = {tuple(normal): index for index, normal in enumerate(NORMALS.tolist())}
    signs = 1.0 - 2.0 * ((np.arange(8)[:, None] >> _AXES) & 1)
    vectors = NORMALS[_first_octant()][:, None] * signs
    rows = [[places[tuple(vector)] for vector in row] for row in vectors.tolist()]
    return np.array([*rows, [-1] * 8], np.int16)


@cache
def _owners() -> NDArray[np.int8]:
    """For each cell the row of the normal in `_first_octant` that is nearest to all its unit vectors, or -1."""
    owners = np.full(_CELLS**3, -1, np.int8)
    squares = (np.arange(_CELLS + 1) / _CELLS_PER_UNIT) ** 2
    low, high = (side[:, None, None] + side[:, None] + side for side in (squares[:-1], squares[1:]))
    cells = np.flatnonzero((low <= 1.0 + _MARGIN) & (high >= 1.0 - _MARGIN))
    corners = np.stack(np.unravel_index(cells, (_CELLS,) * 3), axis=1)
    centres = (corners + 0.5) / _CELLS_PER_UNIT
    normals = NORMALS[_first_octant()]
    products = centres @ normals.T
    best = products.argmax(axis=1)
    lead = products[np.arange(len(cells)), best][:, None] - products
    # Moving from the centre to a corner of the cell changes a lead by no more than this.
    reach = np.sqrt(3.0) / 2.0 / _CELLS_PER_UNIT
    distances = np.linalg.norm(normals[:, None] - normals, axis=2)
    leads = lead > distances[best] * reach + _MARGIN
    leads[np.arange(len(cells)), best] = True
    # On a plane between octants, a normal that does not lie on it ties with its mirror image.
    has_twin = ((corners == 0) & (normals[best] > 0.0)).any(axis=1)
    owners[cells] = np.where(leads.all(axis=1) & ~has_twin, best, -1)
    return owners
