"""Vertices of frames: from bytes to positions and back, between frames, boxes around them, and merging.

A position is ``byte * scale + translate`` per axis (MD2 specification, "Frames"). Quantising follows Quake II's model
compiler: ``scale = (max - min) / 255``, ``translate = min``, ``byte = floor((x - translate) / scale + 0.5)``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from ...io_common.arrays import distinct_rows
from ...io_common.frames import Wrap, find_frame_pair
from .model import FRAMES_PER_SECOND, GlCommands, Md2Error, Model, validate_structure
from .normals import normal_indices

STEPS = 255

# The rounding error of a coordinate after a few operations in single precision, relative to the greatest one.
_ROUNDING = 2.0**-20


def decompress(vertices: npt.ArrayLike, scale: npt.ArrayLike, translate: npt.ArrayLike) -> NDArray[np.float32]:
    """The positions of vertices, float32: ``byte * scale + translate``, in single precision as in the engine.

    ``vertices`` are uint8, (F, V, 3) or (V, 3) for one frame; ``scale`` and ``translate`` are (F, 3) or (3,).
    """
    vertices = np.asarray(vertices)
    scale, translate = np.asarray(scale, np.float32), np.asarray(translate, np.float32)
    positions = np.empty(vertices.shape, np.float32)
    # One axis at a time gives numpy long rows to work on.
    for axis in range(3):
        coordinates = positions[..., axis]
        np.multiply(vertices[..., axis], scale[..., None, axis], out=coordinates)
        coordinates += translate[..., None, axis]
    return positions


def box_grid(positions: npt.ArrayLike, *, shared: bool = False) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The grid of each frame of positions (F, V, 3) by the compiler's rule: ``scale``, ``translate``, (F, 3) float32.

    A scale is 0 where a frame is flat. With ``shared``, all frames have the box of all together, so that what does not
    move has the same bytes in all of them; the grid is coarser. Raises Md2Error if positions are not finite, or too far
    apart for single precision.
    """
    points = np.asarray(positions, np.float64)
    limit = float(np.finfo(np.float32).max)
    if not (np.abs(points) <= limit / 4).all():
        raise Md2Error("positions are not finite or too large", expected=f"at most {limit / 4:g}")
    if points.size == 0:
        return np.zeros((len(points), 3), np.float32), np.zeros((len(points), 3), np.float32)
    low, high = points.min(axis=1), points.max(axis=1)
    if shared:
        low[:], high[:] = low.min(axis=0), high.max(axis=0)
    return ((high - low) / STEPS).astype(np.float32), low.astype(np.float32)


def quantise(
    positions: npt.ArrayLike, *, shared: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]:
    """Positions (F, V, 3) as bytes on the grid of each frame's own box; for ``shared`` and errors see ``box_grid``.

    Returns ``vertices`` (F, V, 3) uint8, ``scale`` and ``translate`` (F, 3) float32. A decompressed vertex lies within
    half a step of its position on each axis.
    """
    scale, translate = box_grid(positions, shared=shared)
    return quantise_on_grid(positions, scale, translate), scale, translate


def quantise_on_grid(positions: npt.ArrayLike, scale: npt.ArrayLike, translate: npt.ArrayLike) -> NDArray[np.uint8]:
    """Positions as bytes on a given grid, uint8; positions outside are clamped to its edge.

    ``positions`` are (F, V, 3), or (V, 3) for one frame, ``scale`` and ``translate`` (F, 3) or (3,). An axis with the
    scale 0 gets the byte 0, a negative one is mirrored. Raises Md2Error if positions are not finite.
    """
    points = np.asarray(positions, np.float64)
    if not np.isfinite(points).all():
        raise Md2Error("positions are not finite")
    scale, translate = np.asarray(scale, np.float64), np.asarray(translate, np.float64)
    vertices = np.empty(points.shape, np.uint8)
    for axis in range(3):
        factor = scale[..., None, axis]
        steps = points[..., axis] - translate[..., None, axis]
        with np.errstate(over="ignore"):
            steps = np.divide(steps, factor, out=np.zeros_like(steps), where=factor != 0)
        vertices[..., axis] = np.clip(np.floor(steps + 0.5), 0, STEPS)
    return vertices


def grid_tolerance(
    scale: npt.ArrayLike, translate: npt.ArrayLike, positions: npt.ArrayLike | None = None
) -> NDArray[np.float64]:
    """How far from its grid point rounding in single precision may move a vertex, float64 of the shape of ``scale``.

    It grows with the coordinates, since they come back from a program that holds them as floats, but is never more than
    a quarter of a step, beyond which a vertex was moved. The coordinates of ``positions``, (F, V, 3) or (V, 3), bound
    it as well, so that a grid far larger than the model does not take it in.
    """
    step = np.abs(np.asarray(scale, np.float64))
    reach = step * STEPS + np.abs(np.asarray(translate, np.float64))
    if positions is not None:
        coordinates = np.abs(positions).reshape(*step.shape[:-1], -1)
        reach = np.minimum(reach, coordinates.max(axis=-1, initial=0.0)[..., None])
    rounding = reach * _ROUNDING
    return np.where(step > 0, np.minimum(rounding, step / 4), rounding)


def match_grid(
    positions: npt.ArrayLike,
    scale: npt.ArrayLike,
    translate: npt.ArrayLike,
    tolerance: npt.ArrayLike | None = None,
    previous: npt.ArrayLike | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Quantises on a given grid, and finds out which vertices lie on it. An untouched frame gives the bytes it had.

    ``positions``, ``scale`` and ``translate`` are as in ``quantise_on_grid``. ``tolerance`` is how far a vertex may be
    from its grid point on each axis: a number, or of the shape of ``scale``; ``grid_tolerance`` unless given. Bytes of
    ``previous``, the imported frames, are reused where they still give the position: on a flat axis, or where steps are
    finer than a float's, several bytes do.

    Returns ``vertices`` uint8, the shape of ``positions``, and ``on_grid`` bool, without its last axis. Raises Md2Error
    if positions are not finite.
    """
    positions, scale, translate = np.asarray(positions), np.asarray(scale), np.asarray(translate)
    previous = None if previous is None else np.asarray(previous, np.uint8)
    if previous is not None and np.array_equal(decompress(previous, scale, translate), positions):
        return previous.copy(), np.ones(previous.shape[:-1], bool)
    points = np.asarray(positions, np.float64)
    allowed = grid_tolerance(scale, translate, points) if tolerance is None else np.asarray(tolerance, np.float64)
    allowed = np.broadcast_to(allowed, np.shape(scale))[..., None, :]
    if previous is None:
        vertices = quantise_on_grid(points, scale, translate)
    else:
        is_same = _within(allowed, decompress(previous, scale, translate), points)
        if is_same.all():
            return previous.copy(), np.ones(points.shape[:-1], bool)
        vertices = np.where(is_same, previous, quantise_on_grid(points, scale, translate))
    return vertices, on_all_axes(_within(allowed, decompress(vertices, scale, translate), points))


def on_all_axes(values: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where all three of the last axis (..., 3) are true; far faster than ``numpy.all`` for so few."""
    result: NDArray[np.bool_] = values[..., 0] & values[..., 1]
    result &= values[..., 2]
    return result


def _within(allowed: NDArray[Any], some: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Where coordinates (..., V, 3) differ by no more than is allowed (..., 1, 3)."""
    near = np.empty(some.shape, bool)
    for axis in range(3):
        distance = np.abs(some[..., axis] - others[..., axis])
        np.less_equal(distance, allowed[..., axis], out=near[..., axis])
    return near


def frame_pair(
    seconds: npt.ArrayLike, first: int, last: int, frame_rate: float = FRAMES_PER_SECOND, *, wrap: Wrap = "blend"
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The frames before and after some times within a sequence, int32, and the fractions between them, float64.

    ``seconds``, of any shape, count from the beginning of the sequence; before it, ``"blend"`` and ``"jump"`` count
    backwards from its end, and ``"hold"`` shows its first frame. ``last`` is included. Raises Md2Error if there are no
    frames, or a time or the rate is not valid.
    """
    return find_frame_pair(seconds, first, last, frame_rate, wrap, Md2Error)


def interpolate(start: npt.ArrayLike, end: npt.ArrayLike, fraction: float) -> NDArray[np.float32]:
    """``start + fraction * (end - start)``, float32 (MD2 specification, "Animation").

    It serves positions and normals alike; interpolated normals are a little shorter than 1.
    """
    # The difference of two values may exceed the range of single precision.
    a = np.asarray(start, np.float64)
    return (a + fraction * (np.asarray(end, np.float64) - a)).astype(np.float32)


def frame_bounds(model: Model) -> NDArray[np.float32]:
    """The least and the greatest x, y and z of each frame, float32 (F, 2, 3).

    Raises Md2Error if the model is not valid, or has no vertices.
    """
    validate_structure(model)
    if not model.vertex_count:
        raise Md2Error("vertices is empty, so there is no box around them", found="0", expected="1 or more")
    # The formula is monotonic in the byte, falling where a scale is negative.
    ends = np.stack([model.vertices.min(axis=1), model.vertices.max(axis=1)], axis=1)
    corners = decompress(ends, model.scale, model.translate)
    return np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)


def model_bounds(model: Model) -> NDArray[np.float32]:
    """The least and the greatest x, y and z of all frames, float32 (2, 3).

    Raises Md2Error if the model is not valid, or has no vertices or frames.
    """
    boxes = frame_bounds(model)
    if not len(boxes):
        raise Md2Error("frame_names is empty: the model has no frames", found="0", expected="1 or more")
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


def merge_vertices(model: Model) -> Model:
    """The model with vertices merged that have the same position in every frame, in the order of the file.

    Texture coordinates are not part of a vertex, so seams need no copies; some exporters split vertices at seams and
    hard edges all the same. Where their normals differ, the merged vertex gets the normal of the compiler's rule. All
    triangles stay, even those that become degenerate; the GL commands are left out.
    """
    kept, numbers = distinct_rows(np.moveaxis(model.vertices, 1, 0))
    triangles = numbers[model.triangles].astype(np.int32)
    vertices = model.vertices[:, kept]
    normals = model.normals[:, kept]
    differing = (model.normals != normals[:, numbers]).any(axis=0)
    mixed = np.unique(numbers[differing])
    if len(mixed):
        positions = decompress(vertices, model.scale, model.translate)
        normals[:, mixed] = normal_indices(positions, triangles)[:, mixed]
    return replace(model, triangles=triangles, vertices=vertices, normals=normals, gl_commands=GlCommands())
