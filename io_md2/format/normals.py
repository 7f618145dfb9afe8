"""The 162 normals of MD2, and which of them a vertex gets.

The vectors are data of the game: the table ``anorms.h`` of Quake II's model compiler, which the engine and
the MD2 specification use too. They are the corners of a twice subdivided icosahedron, in the model's own
axes (+X forward, +Y left, +Z up). A file's index is a byte, so 162 to 255 occur, which have no meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NORMALS: NDArray[np.float64] = np.array(
    [
        (-0.525731, 0.000000, 0.850651),
        (-0.442863, 0.238856, 0.864188),
        (-0.295242, 0.000000, 0.955423),
        (-0.309017, 0.500000, 0.809017),
        (-0.162460, 0.262866, 0.951056),
        (0.000000, 0.000000, 1.000000),
        (0.000000, 0.850651, 0.525731),
        (-0.147621, 0.716567, 0.681718),
        (0.147621, 0.716567, 0.681718),
        (0.000000, 0.525731, 0.850651),
        (0.309017, 0.500000, 0.809017),
        (0.525731, 0.000000, 0.850651),
        (0.295242, 0.000000, 0.955423),
        (0.442863, 0.238856, 0.864188),
        (0.162460, 0.262866, 0.951056),
        (-0.681718, 0.147621, 0.716567),
        (-0.809017, 0.309017, 0.500000),
        (-0.587785, 0.425325, 0.688191),
        (-0.850651, 0.525731, 0.000000),
        (-0.864188, 0.442863, 0.238856),
        (-0.716567, 0.681718, 0.147621),
        (-0.688191, 0.587785, 0.425325),
        (-0.500000, 0.809017, 0.309017),
        (-0.238856, 0.864188, 0.442863),
        (-0.425325, 0.688191, 0.587785),
        (-0.716567, 0.681718, -0.147621),
        (-0.500000, 0.809017, -0.309017),
        (-0.525731, 0.850651, 0.000000),
        (0.000000, 0.850651, -0.525731),
        (-0.238856, 0.864188, -0.442863),
        (0.000000, 0.955423, -0.295242),
        (-0.262866, 0.951056, -0.162460),
        (0.000000, 1.000000, 0.000000),
        (0.000000, 0.955423, 0.295242),
        (-0.262866, 0.951056, 0.162460),
        (0.238856, 0.864188, 0.442863),
        (0.262866, 0.951056, 0.162460),
        (0.500000, 0.809017, 0.309017),
        (0.238856, 0.864188, -0.442863),
        (0.262866, 0.951056, -0.162460),
        (0.500000, 0.809017, -0.309017),
        (0.850651, 0.525731, 0.000000),
        (0.716567, 0.681718, 0.147621),
        (0.716567, 0.681718, -0.147621),
        (0.525731, 0.850651, 0.000000),
        (0.425325, 0.688191, 0.587785),
        (0.864188, 0.442863, 0.238856),
        (0.688191, 0.587785, 0.425325),
        (0.809017, 0.309017, 0.500000),
        (0.681718, 0.147621, 0.716567),
        (0.587785, 0.425325, 0.688191),
        (0.955423, 0.295242, 0.000000),
        (1.000000, 0.000000, 0.000000),
        (0.951056, 0.162460, 0.262866),
        (0.850651, -0.525731, 0.000000),
        (0.955423, -0.295242, 0.000000),
        (0.864188, -0.442863, 0.238856),
        (0.951056, -0.162460, 0.262866),
        (0.809017, -0.309017, 0.500000),
        (0.681718, -0.147621, 0.716567),
        (0.850651, 0.000000, 0.525731),
        (0.864188, 0.442863, -0.238856),
        (0.809017, 0.309017, -0.500000),
        (0.951056, 0.162460, -0.262866),
        (0.525731, 0.000000, -0.850651),
        (0.681718, 0.147621, -0.716567),
        (0.681718, -0.147621, -0.716567),
        (0.850651, 0.000000, -0.525731),
        (0.809017, -0.309017, -0.500000),
        (0.864188, -0.442863, -0.238856),
        (0.951056, -0.162460, -0.262866),
        (0.147621, 0.716567, -0.681718),
        (0.309017, 0.500000, -0.809017),
        (0.425325, 0.688191, -0.587785),
        (0.442863, 0.238856, -0.864188),
        (0.587785, 0.425325, -0.688191),
        (0.688191, 0.587785, -0.425325),
        (-0.147621, 0.716567, -0.681718),
        (-0.309017, 0.500000, -0.809017),
        (0.000000, 0.525731, -0.850651),
        (-0.525731, 0.000000, -0.850651),
        (-0.442863, 0.238856, -0.864188),
        (-0.295242, 0.000000, -0.955423),
        (-0.162460, 0.262866, -0.951056),
        (0.000000, 0.000000, -1.000000),
        (0.295242, 0.000000, -0.955423),
        (0.162460, 0.262866, -0.951056),
        (-0.442863, -0.238856, -0.864188),
        (-0.309017, -0.500000, -0.809017),
        (-0.162460, -0.262866, -0.951056),
        (0.000000, -0.850651, -0.525731),
        (-0.147621, -0.716567, -0.681718),
        (0.147621, -0.716567, -0.681718),
        (0.000000, -0.525731, -0.850651),
        (0.309017, -0.500000, -0.809017),
        (0.442863, -0.238856, -0.864188),
        (0.162460, -0.262866, -0.951056),
        (0.238856, -0.864188, -0.442863),
        (0.500000, -0.809017, -0.309017),
        (0.425325, -0.688191, -0.587785),
        (0.716567, -0.681718, -0.147621),
        (0.688191, -0.587785, -0.425325),
        (0.587785, -0.425325, -0.688191),
        (0.000000, -0.955423, -0.295242),
        (0.000000, -1.000000, 0.000000),
        (0.262866, -0.951056, -0.162460),
        (0.000000, -0.850651, 0.525731),
        (0.000000, -0.955423, 0.295242),
        (0.238856, -0.864188, 0.442863),
        (0.262866, -0.951056, 0.162460),
        (0.500000, -0.809017, 0.309017),
        (0.716567, -0.681718, 0.147621),
        (0.525731, -0.850651, 0.000000),
        (-0.238856, -0.864188, -0.442863),
        (-0.500000, -0.809017, -0.309017),
        (-0.262866, -0.951056, -0.162460),
        (-0.850651, -0.525731, 0.000000),
        (-0.716567, -0.681718, -0.147621),
        (-0.716567, -0.681718, 0.147621),
        (-0.525731, -0.850651, 0.000000),
        (-0.500000, -0.809017, 0.309017),
        (-0.238856, -0.864188, 0.442863),
        (-0.262866, -0.951056, 0.162460),
        (-0.864188, -0.442863, 0.238856),
        (-0.809017, -0.309017, 0.500000),
        (-0.688191, -0.587785, 0.425325),
        (-0.681718, -0.147621, 0.716567),
        (-0.442863, -0.238856, 0.864188),
        (-0.587785, -0.425325, 0.688191),
        (-0.309017, -0.500000, 0.809017),
        (-0.147621, -0.716567, 0.681718),
        (-0.425325, -0.688191, 0.587785),
        (-0.162460, -0.262866, 0.951056),
        (0.442863, -0.238856, 0.864188),
        (0.162460, -0.262866, 0.951056),
        (0.309017, -0.500000, 0.809017),
        (0.147621, -0.716567, 0.681718),
        (0.000000, -0.525731, 0.850651),
        (0.425325, -0.688191, 0.587785),
        (0.587785, -0.425325, 0.688191),
        (0.688191, -0.587785, 0.425325),
        (-0.955423, 0.295242, 0.000000),
        (-0.951056, 0.162460, 0.262866),
        (-1.000000, 0.000000, 0.000000),
        (-0.850651, 0.000000, 0.525731),
        (-0.955423, -0.295242, 0.000000),
        (-0.951056, -0.162460, 0.262866),
        (-0.864188, 0.442863, -0.238856),
        (-0.951056, 0.162460, -0.262866),
        (-0.809017, 0.309017, -0.500000),
        (-0.864188, -0.442863, -0.238856),
        (-0.951056, -0.162460, -0.262866),
        (-0.809017, -0.309017, -0.500000),
        (-0.681718, 0.147621, -0.716567),
        (-0.681718, -0.147621, -0.716567),
        (-0.850651, 0.000000, -0.525731),
        (-0.688191, 0.587785, -0.425325),
        (-0.587785, 0.425325, -0.688191),
        (-0.425325, 0.688191, -0.587785),
        (-0.425325, -0.688191, -0.587785),
        (-0.587785, -0.425325, -0.688191),
        (-0.688191, -0.587785, -0.425325),
    ]
)
"""(162, 3) float64: the unit vectors, as exact as the six decimals of the table."""

NORMALS.flags.writeable = False

NORMAL_COUNT = len(NORMALS)

# With "no normal" after the last one.
_PADDED = np.vstack([NORMALS, np.zeros(3)]).astype(np.float32)

# Products this close are equal except for rounding, which depends on the order of additions. The table's
# vectors mirror each other, so that such ties are common on symmetrical models.
_TIE = 1e-12

# Sums of unit normals that should cancel, as those of the two sides of a double-sided triangle, leave
# rounding of this size.
_CANCELLED = 1e-9

_CHUNK = 1 << 14


def normal_vectors(indices: NDArray[Any]) -> NDArray[np.float32]:
    """The vectors of normal indices.

    Args:
        indices: integers of any shape; 162 and over give the zero vector, which stands for "no normal" (the engine
            would read beyond its table).

    Returns:
        float32, the shape of ``indices`` and a last axis of 3.
    """
    vectors: NDArray[np.float32] = _PADDED[np.minimum(indices, NORMAL_COUNT)]
    return vectors


def nearest_normals(vectors: NDArray[Any]) -> NDArray[np.uint8]:
    """The indices of the table's vectors nearest in direction (Quake II's model compiler).

    That is the one with the greatest dot product, the first of equals.

    Args:
        vectors: (..., 3) floats of any length; a zero vector gets index 0, whose product is as great as
            every other's.

    Returns:
        uint8, the shape of ``vectors`` without its last axis.
    """
    flat = np.asarray(vectors, np.float64).reshape(-1, 3)
    length = np.sqrt(np.einsum("ij,ij->i", flat, flat))[:, None]
    unit = np.divide(flat, length, out=np.zeros_like(flat), where=length > 0)
    result = np.empty(len(unit), np.uint8)
    for start in range(0, len(unit), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        products = unit[chunk] @ NORMALS.T
        result[chunk] = np.argmax(products >= products.max(axis=1, keepdims=True) - _TIE, axis=1)
    return result.reshape(np.shape(vectors)[:-1])


def face_normals(positions: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.float64]:
    """The unit normals of triangles in every frame: (v0 - v1) x (v2 - v1), as they are clockwise.

    Args:
        positions: (..., V, 3) floats.
        triangles: (T, 3) integers, indices of vertices.

    Returns:
        (..., T, 3) float64; zero for a triangle without area.
    """
    points = np.asarray(positions, np.float64)
    a, b, c = (points[..., triangles[:, corner], :] for corner in range(3))
    a, c = a - b, c - b
    normal = np.empty_like(a)
    for axis in range(3):
        y, z = (axis + 1) % 3, (axis + 2) % 3
        normal[..., axis] = a[..., y] * c[..., z] - a[..., z] * c[..., y]
    length = np.sqrt((normal * normal).sum(axis=-1, keepdims=True))
    unit: NDArray[np.float64] = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    return unit


def vertex_normals(positions: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of the unit face normals at each vertex in every frame (Quake II's model compiler).

    Every corner has the same weight, regardless of the triangle's size. Vertices at the same position are not merged.

    Args:
        positions: (..., V, 3) floats.
        triangles: (T, 3) integers, indices of vertices.

    Returns:
        (..., V, 3) float64, not of unit length; zero for a vertex without faces or whose faces cancel.
    """
    vertex_count = np.shape(positions)[-2]
    result = np.zeros(np.shape(positions))
    if len(triangles) == 0:
        return result
    faces = face_normals(positions, triangles)
    order = np.argsort(triangles, axis=None, kind="stable")
    corners_of = np.bincount(triangles.reshape(-1), minlength=vertex_count)
    used = np.flatnonzero(corners_of)
    starts = (np.cumsum(corners_of) - corners_of)[used]
    sums = np.add.reduceat(faces[..., order // 3, :], starts, axis=-2)
    means = sums / corners_of[used][:, None]
    means[np.abs(means).max(axis=-1) < _CANCELLED] = 0
    result[..., used, :] = means
    return result


def normal_indices(positions: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.uint8]:
    """The normal index of every vertex in every frame by the rule of Quake II's model compiler.

    The compiler stops at a vertex without faces; here it gets index 0, as does one whose faces cancel.

    Args:
        positions: (F, V, 3) floats, finite.
        triangles: (T, 3) integers, indices of vertices.

    Returns:
        (F, V) uint8.
    """
    frame_count, vertex_count = np.shape(positions)[:2]
    result = np.zeros((frame_count, vertex_count), np.uint8)
    # Some frames at a time, so that memory does not grow with the animation.
    step = max(1, _CHUNK // max(1, vertex_count, len(triangles)))
    for start in range(0, frame_count, step):
        frames = slice(start, start + step)
        result[frames] = nearest_normals(vertex_normals(positions[frames], triangles))
    return result
