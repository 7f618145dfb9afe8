"""The 162 normals of MD2, and the normal indices of vertices by the rule of Quake II's model compiler.

The table is the compiler's ``anorms.h``: the corners of a twice subdivided icosahedron. Files also have 162 to 255,
which have no meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

_TABLE = """
    -0.525731  0.000000  0.850651   -0.442863  0.238856  0.864188   -0.295242  0.000000  0.955423
    -0.309017  0.500000  0.809017   -0.162460  0.262866  0.951056    0.000000  0.000000  1.000000
     0.000000  0.850651  0.525731   -0.147621  0.716567  0.681718    0.147621  0.716567  0.681718
     0.000000  0.525731  0.850651    0.309017  0.500000  0.809017    0.525731  0.000000  0.850651
     0.295242  0.000000  0.955423    0.442863  0.238856  0.864188    0.162460  0.262866  0.951056
    -0.681718  0.147621  0.716567   -0.809017  0.309017  0.500000   -0.587785  0.425325  0.688191
    -0.850651  0.525731  0.000000   -0.864188  0.442863  0.238856   -0.716567  0.681718  0.147621
    -0.688191  0.587785  0.425325   -0.500000  0.809017  0.309017   -0.238856  0.864188  0.442863
    -0.425325  0.688191  0.587785   -0.716567  0.681718 -0.147621   -0.500000  0.809017 -0.309017
    -0.525731  0.850651  0.000000    0.000000  0.850651 -0.525731   -0.238856  0.864188 -0.442863
     0.000000  0.955423 -0.295242   -0.262866  0.951056 -0.162460    0.000000  1.000000  0.000000
     0.000000  0.955423  0.295242   -0.262866  0.951056  0.162460    0.238856  0.864188  0.442863
     0.262866  0.951056  0.162460    0.500000  0.809017  0.309017    0.238856  0.864188 -0.442863
     0.262866  0.951056 -0.162460    0.500000  0.809017 -0.309017    0.850651  0.525731  0.000000
     0.716567  0.681718  0.147621    0.716567  0.681718 -0.147621    0.525731  0.850651  0.000000
     0.425325  0.688191  0.587785    0.864188  0.442863  0.238856    0.688191  0.587785  0.425325
     0.809017  0.309017  0.500000    0.681718  0.147621  0.716567    0.587785  0.425325  0.688191
     0.955423  0.295242  0.000000    1.000000  0.000000  0.000000    0.951056  0.162460  0.262866
     0.850651 -0.525731  0.000000    0.955423 -0.295242  0.000000    0.864188 -0.442863  0.238856
     0.951056 -0.162460  0.262866    0.809017 -0.309017  0.500000    0.681718 -0.147621  0.716567
     0.850651  0.000000  0.525731    0.864188  0.442863 -0.238856    0.809017  0.309017 -0.500000
     0.951056  0.162460 -0.262866    0.525731  0.000000 -0.850651    0.681718  0.147621 -0.716567
     0.681718 -0.147621 -0.716567    0.850651  0.000000 -0.525731    0.809017 -0.309017 -0.500000
     0.864188 -0.442863 -0.238856    0.951056 -0.162460 -0.262866    0.147621  0.716567 -0.681718
     0.309017  0.500000 -0.809017    0.425325  0.688191 -0.587785    0.442863  0.238856 -0.864188
     0.587785  0.425325 -0.688191    0.688191  0.587785 -0.425325   -0.147621  0.716567 -0.681718
    -0.309017  0.500000 -0.809017    0.000000  0.525731 -0.850651   -0.525731  0.000000 -0.850651
    -0.442863  0.238856 -0.864188   -0.295242  0.000000 -0.955423   -0.162460  0.262866 -0.951056
     0.000000  0.000000 -1.000000    0.295242  0.000000 -0.955423    0.162460  0.262866 -0.951056
    -0.442863 -0.238856 -0.864188   -0.309017 -0.500000 -0.809017   -0.162460 -0.262866 -0.951056
     0.000000 -0.850651 -0.525731   -0.147621 -0.716567 -0.681718    0.147621 -0.716567 -0.681718
     0.000000 -0.525731 -0.850651    0.309017 -0.500000 -0.809017    0.442863 -0.238856 -0.864188
     0.162460 -0.262866 -0.951056    0.238856 -0.864188 -0.442863    0.500000 -0.809017 -0.309017
     0.425325 -0.688191 -0.587785    0.716567 -0.681718 -0.147621    0.688191 -0.587785 -0.425325
     0.587785 -0.425325 -0.688191    0.000000 -0.955423 -0.295242    0.000000 -1.000000  0.000000
     0.262866 -0.951056 -0.162460    0.000000 -0.850651  0.525731    0.000000 -0.955423  0.295242
     0.238856 -0.864188  0.442863    0.262866 -0.951056  0.162460    0.500000 -0.809017  0.309017
     0.716567 -0.681718  0.147621    0.525731 -0.850651  0.000000   -0.238856 -0.864188 -0.442863
    -0.500000 -0.809017 -0.309017   -0.262866 -0.951056 -0.162460   -0.850651 -0.525731  0.000000
    -0.716567 -0.681718 -0.147621   -0.716567 -0.681718  0.147621   -0.525731 -0.850651  0.000000
    -0.500000 -0.809017  0.309017   -0.238856 -0.864188  0.442863   -0.262866 -0.951056  0.162460
    -0.864188 -0.442863  0.238856   -0.809017 -0.309017  0.500000   -0.688191 -0.587785  0.425325
    -0.681718 -0.147621  0.716567   -0.442863 -0.238856  0.864188   -0.587785 -0.425325  0.688191
    -0.309017 -0.500000  0.809017   -0.147621 -0.716567  0.681718   -0.425325 -0.688191  0.587785
    -0.162460 -0.262866  0.951056    0.442863 -0.238856  0.864188    0.162460 -0.262866  0.951056
     0.309017 -0.500000  0.809017    0.147621 -0.716567  0.681718    0.000000 -0.525731  0.850651
     0.425325 -0.688191  0.587785    0.587785 -0.425325  0.688191    0.688191 -0.587785  0.425325
    -0.955423  0.295242  0.000000   -0.951056  0.162460  0.262866   -1.000000  0.000000  0.000000
    -0.850651  0.000000  0.525731   -0.955423 -0.295242  0.000000   -0.951056 -0.162460  0.262866
    -0.864188  0.442863 -0.238856   -0.951056  0.162460 -0.262866   -0.809017  0.309017 -0.500000
    -0.864188 -0.442863 -0.238856   -0.951056 -0.162460 -0.262866   -0.809017 -0.309017 -0.500000
    -0.681718  0.147621 -0.716567   -0.681718 -0.147621 -0.716567   -0.850651  0.000000 -0.525731
    -0.688191  0.587785 -0.425325   -0.587785  0.425325 -0.688191   -0.425325  0.688191 -0.587785
    -0.425325 -0.688191 -0.587785   -0.587785 -0.425325 -0.688191   -0.688191 -0.587785 -0.425325
"""

NORMALS: NDArray[np.float64] = np.array([float(word) for word in _TABLE.split()]).reshape(-1, 3)
"""(162, 3) float64: the unit vectors, as exact as the six decimals of the table."""

NORMALS.flags.writeable = False

NORMAL_COUNT = len(NORMALS)

# With "no normal" after the last one.
_PADDED = np.vstack([NORMALS, np.zeros(3)]).astype(np.float32)


def normal_vectors(indices: npt.ArrayLike) -> NDArray[np.float32]:
    """The vectors of normal indices, float32 with a last axis of 3; zero from 162 on, which stands for no normal."""
    vectors: NDArray[np.float32] = _PADDED[np.minimum(indices, NORMAL_COUNT)]
    return vectors


# Sums of unit normals that should cancel, as those of the two sides of a double-sided triangle, leave
# rounding of this size.
_CANCELLED = 1e-9

# Products this close are equal except for rounding, which depends on the order of additions. The table's
# vectors mirror each other, so that such ties are common on symmetrical models.
_TIE = 1e-12

# Triangles or vertices at a time.
_CHUNK = 1 << 16
# Vectors at a time, so that their products with all normals stay in the processor's cache.
_VECTORS = 1 << 8


def nearest_normals(vectors: npt.ArrayLike) -> NDArray[np.uint8]:
    """The indices, uint8, of the table's vectors nearest in direction to vectors (..., 3) of any length.

    As in Quake II's model compiler, the greatest dot product counts, the first of equals; a zero vector gets index 0.
    """
    rows = np.asarray(vectors, np.float64).reshape(-1, 3)
    result = np.empty(len(rows), np.uint8)
    for start in range(0, len(rows), _VECTORS):
        chunk = rows[start : start + _VECTORS]
        length = np.sqrt(chunk[:, 0] ** 2 + chunk[:, 1] ** 2 + chunk[:, 2] ** 2)
        length[length == 0.0] = 1.0
        products = (chunk / length[:, None]) @ NORMALS.T
        greatest = products.max(axis=1, keepdims=True)
        result[start : start + _VECTORS] = np.argmax(products >= greatest - _TIE, axis=1)
    return result.reshape(np.shape(vectors)[:-1])


def face_normals(positions: npt.ArrayLike, triangles: npt.ArrayLike) -> NDArray[np.float64]:
    """The unit normals of triangles (T, 3) in every frame of positions (..., V, 3), float64 (..., T, 3).

    They are (v0 - v1) x (v2 - v1), as triangles are clockwise; zero for a triangle without area.
    """
    return np.moveaxis(_face_normals(_components(positions), np.asarray(triangles)), (0, 1), (-1, -2))


def vertex_normals(positions: npt.ArrayLike, triangles: npt.ArrayLike) -> NDArray[np.float64]:
    """The mean of the unit face normals at each vertex in every frame, float64 (..., V, 3) (Quake II's model compiler).

    Every corner has the same weight, regardless of the triangle's size; vertices at the same position are not merged.
    The mean is not of unit length, and zero for a vertex without faces or whose faces cancel.
    """
    return np.moveaxis(_vertex_normals(_components(positions), np.asarray(triangles)), (0, 1), (-1, -2))


def normal_indices(positions: npt.ArrayLike, triangles: npt.ArrayLike) -> NDArray[np.uint8]:
    """The normal index of every vertex in every frame, uint8 (F, V), by the rule of Quake II's model compiler.

    ``positions`` (F, V, 3) are finite, ``triangles`` (T, 3). The compiler stops at a vertex without faces; here it gets
    index 0, as does one whose faces cancel.
    """
    positions, triangles = np.asarray(positions), np.asarray(triangles)
    frame_count, vertex_count = positions.shape[:2]
    result = np.zeros((frame_count, vertex_count), np.uint8)
    # Some frames at a time, so that memory does not grow with the animation.
    step = max(1, _CHUNK // max(1, vertex_count, len(triangles)))
    for start in range(0, frame_count, step):
        frames = slice(start, start + step)
        means = _vertex_normals(_components(positions[frames]), triangles)
        result[frames] = nearest_normals(np.moveaxis(means, 0, -1)).T
    return result


def changed_normal_indices(
    positions: NDArray[Any], triangles: NDArray[Any], indices: NDArray[np.uint8], changed: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Normal indices (F, V) with those in `changed`, (F, V), computed as by `normal_indices`."""
    result = indices.copy()
    is_changed = np.asarray(changed.any(axis=0))
    frames, vertices = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(is_changed)
    if not len(frames):
        return result
    rank = np.full(changed.shape[1], -1)
    faces = triangles[is_changed[triangles].any(axis=1)]
    used = np.union1d(vertices, faces)
    rank[used] = np.arange(len(used))
    computed = normal_indices(positions[np.ix_(frames, used)], rank[faces])[:, rank[vertices]]
    block = np.ix_(frames, vertices)
    result[block] = np.where(changed[block], computed, result[block])
    return result


# Frames are the last axis here, which gives numpy long rows to work on.


def _components(positions: npt.ArrayLike) -> NDArray[np.float64]:
    """Positions (..., V, 3) as (3, V, ...)."""
    return np.ascontiguousarray(np.moveaxis(np.asarray(positions, np.float64), (-1, -2), (0, 1)))


def _face_normals(points: NDArray[np.float64], triangles: NDArray[Any]) -> NDArray[np.float64]:
    """The unit normals (3, T, ...) of positions (3, V, ...)."""
    normals = np.empty((3, len(triangles), *points.shape[2:]))
    corners = [[component[triangles[:, corner]] for component in points] for corner in range(3)]
    a, c = ([end - middle for end, middle in zip(corners[k], corners[1], strict=True)] for k in (0, 2))
    for axis in range(3):
        y, z = (axis + 1) % 3, (axis + 2) % 3
        np.multiply(a[y], c[z], out=normals[axis])
        normals[axis] -= a[z] * c[y]
    length = np.sqrt(normals[0] * normals[0] + normals[1] * normals[1] + normals[2] * normals[2])
    # A triangle without area stays zero.
    length[length == 0.0] = 1.0
    normals /= length
    return normals


def _vertex_normals(points: NDArray[np.float64], triangles: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of the unit face normals (3, V, ...) of positions (3, V, ...)."""
    result = np.zeros(points.shape)
    if len(triangles) == 0:
        return result
    order = np.argsort(triangles, axis=None, kind="stable")
    corners_of = np.bincount(triangles.reshape(-1), minlength=points.shape[1])
    used = np.flatnonzero(corners_of)
    starts = (np.cumsum(corners_of) - corners_of)[used]
    counts = corners_of[used].reshape(-1, *(1 for _ in points.shape[2:]))
    for component, faces in zip(result, _face_normals(points, triangles), strict=True):
        component[used] = np.add.reduceat(faces[order // 3], starts, axis=0) / counts
    result[:, np.abs(result).max(axis=0) < _CANCELLED] = 0.0
    return result
