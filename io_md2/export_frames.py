"""What objects show in each frame of a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common import evaluated
from ..io_common.reports import Progress
from ..io_common.scene_objects import NothingToExportError
from .export_topology import Part
from .frame_plan import Plan

if TYPE_CHECKING:
    from bpy.types import Context, Object

Floats = npt.NDArray[np.float64]


def sample(context: Context, parts: list[Part], plan: Plan, shown: Progress) -> Floats:
    """The vertices of all parts in each frame, one part after the other, in the space of the scene, (F, V, 3).

    The scene may be left at another frame.

    Raises:
        NothingToExportError: modifiers make another number of vertices in one frame than in another.
    """
    if plan.scene_frames is None:
        return _sample_keys(context, parts, plan, shown)
    result = _empty(parts, plan)
    for row, frame in enumerate(plan.scene_frames):
        context.scene.frame_set(frame)
        _take(context, parts, result[row], f"frame {frame} of the scene")
        shown.step()
    return result


def _empty(parts: list[Part], plan: Plan) -> Floats:
    return np.empty((len(plan.names), sum(len(part.used) for part in parts), 3))


def _sample_keys(context: Context, parts: list[Part], plan: Plan, shown: Progress) -> Floats:
    """Shape keys as they are stored, or where modifiers work on them as they are evaluated, one at a time."""
    result = _empty(parts, plan)
    evaluating = [part for part in parts if part.obj in plan.keys and not _is_bare(part.obj)]
    still = [part for part in parts if part.obj not in plan.keys]
    depsgraph = context.evaluated_depsgraph_get()
    begin = 0
    for part in parts:
        block = result[:, begin : begin + len(part.used)]
        begin += len(part.used)
        if part in still:
            block[:] = evaluated.world_vertices(part.obj.evaluated_get(depsgraph))[part.used]
        elif part not in evaluating:
            block[:] = _stored_keys(part, plan.keys[part.obj])
    if not evaluating:
        return result
    with _pinned_keys([part.obj for part in evaluating]):
        for row, name in enumerate(plan.names):
            for part in evaluating:
                part.obj.active_shape_key_index = plan.keys[part.obj][row]
            _take(context, parts, result[row], f"frame {name}", only=evaluating)
            shown.step()
    return result


def _is_bare(obj: Object) -> bool:
    """Whether an object shows its keys as they are stored, but for its transform."""
    is_deformed = obj.parent is not None and obj.parent_type in ("ARMATURE", "LATTICE")
    return not is_deformed and not any(modifier.show_viewport for modifier in obj.modifiers)


def _stored_keys(part: Part, indices: list[int]) -> npt.NDArray[np.floating]:
    """The vertices of some keys in the space of the scene, (F, U, 3), as precise as they are."""
    blocks = part.obj.data.shape_keys.key_blocks
    places = np.empty((len(indices), 3 * part.vertex_count), dtype=np.float32)
    for row, index in enumerate(indices):
        blocks[index].points.foreach_get("co", places[row])
    vertices = places.reshape(len(indices), -1, 3)
    if len(part.used) < part.vertex_count:
        vertices = vertices[:, part.used]
    matrix = evaluated.world_matrix(part.obj)
    if np.array_equal(matrix, np.eye(4)):
        return vertices
    return vertices.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def _take(
    context: Context, parts: list[Part], row: Floats, where: str, only: list[Part] | None = None
) -> None:
    """Writes the vertices that parts show now into their places of a frame (V, 3)."""
    depsgraph = context.evaluated_depsgraph_get()
    begin = 0
    for part in parts:
        end = begin + len(part.used)
        if only is None or part in only:
            vertices = evaluated.world_vertices(part.obj.evaluated_get(depsgraph))
            if len(vertices) != part.vertex_count:
                raise NothingToExportError(
                    f"{part.obj.name} has {len(vertices)} vertices in {where}, and {part.vertex_count} in others: "
                    "all frames of an MD2 model have the same"
                )
            row[begin:end] = vertices[part.used]
        begin = end


@contextmanager
def _pinned_keys(objects: list[Object]) -> Iterator[None]:
    """Shows the active shape key of objects alone, and afterwards what was shown before."""
    before = [(obj, obj.show_only_shape_key, obj.active_shape_key_index) for obj in objects]
    try:
        for obj in objects:
            obj.show_only_shape_key = True
        yield
    finally:
        for obj, pinned, index in before:
            obj.active_shape_key_index = index
            obj.show_only_shape_key = pinned
