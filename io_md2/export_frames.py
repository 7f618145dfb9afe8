"""What objects show in each frame of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common.reports import Progress, Report
from ..io_common.scene import evaluated, mesh_data
from ..io_common.scene.instances import warn_of_instances
from ..io_common.scene.objects import NothingToExportError
from .export_topology import Part
from .frame_plan import Plan
from .key_playback import shape_keys

if TYPE_CHECKING:
    from bpy.types import Context, Key, Mesh, Object, ShapeKey

Floats = npt.NDArray[np.float64]


@dataclass(eq=False)
class Evaluated:
    """What one object shows in a frame, to verify the model with.

    Attributes:
        vertices: all of them in the space of the scene, (V, 3).
        uvs: u and v of each corner of the mesh, (L, 2); None without a UV map, or if it was not evaluated again.
        loops: the corners of the triangles that faces are cut into, int32 (T, 3); None if all faces are triangles, or
            if it was not evaluated again.
    """

    vertices: npt.NDArray[np.floating]
    uvs: Floats | None = None
    loops: npt.NDArray[np.int32] | None = None


@dataclass(eq=False)
class Samples:
    """What all parts show.

    Attributes:
        positions: of the vertices of all parts in each frame, one part after the other, in the space of the scene,
            (F, V, 3).
        verified: for each frame to be verified, what each part shows in it.
    """

    positions: Floats
    verified: dict[int, list[Evaluated]]

    def first_frame(self) -> Samples:
        """The first frame alone."""
        return Samples(self.positions[:1], {row: shown for row, shown in self.verified.items() if row == 0})


def sample(
    context: Context,
    parts: list[Part],
    plan: Plan,
    frames_to_verify: Iterable[int],
    progress: Progress,
    report: Report,
) -> Samples:
    """Evaluates the parts in each frame.

    The scene may be left at another frame.

    Args:
        context: of the scene.
        parts: the objects, as they are evaluated now.
        plan: the frames.
        frames_to_verify: indices of the frames to verify.
        progress: shown to the user.
        report: takes warnings.

    Raises:
        NothingToExportError: modifiers make other vertices or faces in one frame than in another.
    """
    verified: dict[int, list[Evaluated]] = {frame: [] for frame in frames_to_verify}
    if plan.scene_frames is None:
        return Samples(_sample_keys(context, parts, plan, verified, progress), verified)
    positions = _empty(parts, plan)
    for row, frame in enumerate(plan.scene_frames):
        context.scene.frame_set(frame)
        depsgraph = context.evaluated_depsgraph_get()
        begin = 0
        for part in parts:
            mesh_object = part.obj.evaluated_get(depsgraph)
            end = begin + len(part.used)
            _take(part, mesh_object, positions[row, begin:end], f"frame {frame} of the scene")
            if row in verified:
                verified[row].append(_evaluate(mesh_object))
                warn_of_instances(part.obj, depsgraph, report)
            begin = end
        progress.step()
    return Samples(positions, verified)


def _empty(parts: list[Part], plan: Plan) -> Floats:
    return np.empty((len(plan.names), sum(len(part.used) for part in parts), 3))


def _take(part: Part, mesh_object: Object, row: Floats, where: str) -> None:
    """Writes the vertices that a part shows now into a frame, (U, 3)."""
    mesh = mesh_object.data
    if len(mesh.vertices) != part.vertex_count:
        raise NothingToExportError(
            f"{part.obj.name} has {len(mesh.vertices)} vertices in {where}, and {part.vertex_count} in others: all "
            "frames of an MD2 model have the same vertices. Disable the modifier that changes them, or apply it"
        )
    if not _has_same_faces(part, mesh):
        raise NothingToExportError(
            f"{part.obj.name} has other faces in {where} than in others: all frames of an MD2 model have the same "
            "faces. Disable the modifier that changes them, or apply it"
        )
    vertices = evaluated.world_vertices(mesh_object)
    row[:] = vertices if len(part.used) == len(vertices) else vertices[part.used]


def _has_same_faces(part: Part, mesh: Mesh) -> bool:
    return np.array_equal(mesh_data.corner_vertices(mesh), part.corners)


def _evaluate(mesh_object: Object) -> Evaluated:
    """What an evaluated object shows now."""
    mesh = mesh_object.data
    loops = None
    if len(mesh.loops) != 3 * len(mesh.polygons):
        mesh.calc_loop_triangles()
        loops = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
        mesh.loop_triangles.foreach_get("loops", loops.reshape(-1))
    return Evaluated(evaluated.world_vertices(mesh_object), evaluated.texture_coordinates(mesh), loops)


# Shape keys


def _sample_keys(
    context: Context,
    parts: list[Part],
    plan: Plan,
    verified: dict[int, list[Evaluated]],
    progress: Progress,
) -> Floats:
    """The positions of each shape key alone: as it is stored, or where modifiers work on it as it is evaluated."""
    result = _empty(parts, plan)
    depsgraph = context.evaluated_depsgraph_get()
    begin = 0
    blocks = []
    for part in parts:
        blocks.append(slice(begin, begin + len(part.used)))
        begin += len(part.used)
    modified = [part for part in parts if part.obj in plan.keys and not _is_unmodified(part.obj)]
    for part, block in zip(parts, blocks, strict=True):
        if part in modified:
            continue
        if part.obj in plan.keys:
            _take_keys(part, plan.keys[part.obj], result[:, block], verified)
        else:
            mesh_object = part.obj.evaluated_get(depsgraph)
            result[:, block] = evaluated.world_vertices(mesh_object)[part.used]
            for rows in verified.values():
                rows.append(_evaluate(mesh_object))
    if modified:
        _take_evaluated_keys(context, parts, blocks, modified, plan, result, verified, progress)
    return result


def _take_evaluated_keys(
    context: Context,
    parts: list[Part],
    blocks: list[slice],
    modified: list[Part],
    plan: Plan,
    result: Floats,
    verified: dict[int, list[Evaluated]],
    progress: Progress,
) -> None:
    """Evaluates the frames of objects with modifiers, and puts what is to be verified into the order of the parts."""
    with _keys_alone([part.obj for part in modified]) as show_key:
        for row, name in enumerate(plan.names):
            for part in modified:
                show_key(part.obj, plan.keys[part.obj][row])
            depsgraph = context.evaluated_depsgraph_get()
            for position, (part, block) in enumerate(zip(parts, blocks, strict=True)):
                if part not in modified:
                    continue
                mesh_object = part.obj.evaluated_get(depsgraph)
                _take(part, mesh_object, result[row, block], f"frame {name}")
                if row in verified:
                    verified[row].insert(position, _evaluate(mesh_object))
            progress.step()


def _is_unmodified(obj: Object) -> bool:
    """Whether an object shows its keys as they are stored, but for its transform.

    Faces of more than three corners are evaluated, as it depends on their shape how Blender cuts them.
    """
    is_deformed = obj.parent is not None and obj.parent_type in ("ARMATURE", "LATTICE")
    is_cut = len(obj.data.loops) == 3 * len(obj.data.polygons)
    return is_cut and not is_deformed and not any(modifier.show_viewport for modifier in obj.modifiers)


@contextmanager
def first_keys_alone(plan: Plan) -> Iterator[None]:
    """Shows the key of the first frame alone on objects whose triangles may depend on it."""
    changed = [obj for obj in plan.keys if not _is_unmodified(obj)]
    with _keys_alone(changed) as show_key:
        for obj in changed:
            show_key(obj, plan.keys[obj][0])
        yield


def _take_keys(part: Part, indices: list[int], block: Floats, verified: dict[int, list[Evaluated]]) -> None:
    """Writes the positions of some keys of an unmodified object into its part of the frames, (F, U, 3)."""
    keys = shape_keys(part.obj)
    assert keys is not None
    points = _KeyPoints(part, keys)
    table = np.empty((len(indices), part.vertex_count, 3), dtype=np.float32)
    for row, index in enumerate(indices):
        points.read(index, table[row])
    matrix = evaluated.world_matrix(part.obj)
    is_identity = np.array_equal(matrix, np.eye(4))
    if is_identity:
        block[:] = table if len(part.used) == part.vertex_count else table[:, part.used]
    else:
        block[:] = table[:, part.used].astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    for row, rows in verified.items():
        again = np.empty((part.vertex_count, 3), dtype=np.float32)
        points.read(indices[row], again)
        shown = again if is_identity else again.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        rows.append(Evaluated(shown))


class _KeyPoints:
    """What an unmodified object shows with one of its shape keys at the value 1 and the others at 0.

    Args:
        part: the object.
        keys: of it.
    """

    def __init__(self, part: Part, keys: Key) -> None:
        self._obj = part.obj
        self._keys = keys
        self._count = part.vertex_count
        self._weights: dict[str, npt.NDArray[np.float32]] = {}

    def read(self, index: int, result: npt.NDArray[np.float32]) -> None:
        """Reads the local positions (V, 3) with the key of an index."""
        key = self._keys.key_blocks[index]
        if not is_offset(self._keys, key):
            key.points.foreach_get("co", result.reshape(-1))
            return
        own, relative = np.empty_like(result), np.empty_like(result)
        key.points.foreach_get("co", own.reshape(-1))
        key.relative_key.points.foreach_get("co", relative.reshape(-1))
        self._keys.reference_key.points.foreach_get("co", result.reshape(-1))
        result += _full_value(key) * self._group_weights(key.vertex_group)[:, None] * (own - relative)

    def _group_weights(self, name: str) -> npt.NDArray[np.float32]:
        """The weight of each vertex in a vertex group, 1 without one."""
        if name not in self._weights:
            weights = np.ones(self._count, dtype=np.float32)
            group = self._obj.vertex_groups.get(name) if name else None
            if group is not None:
                weights[:] = 0.0
                vertices, groups, values = evaluated.vertex_group_weights(self._obj.data)
                chosen = groups == group.index
                weights[vertices[chosen]] = values[chosen]
            self._weights[name] = weights
        return self._weights[name]


def is_offset(keys: Key, key: ShapeKey) -> bool:
    """Whether a key at its full value shows anything but its own positions.

    A vertex group, a range of values without 1, or positions relative to another key than the basis do that.
    """
    if not keys.use_relative or key == keys.reference_key:
        return False
    return bool(key.vertex_group) or key.relative_key != keys.reference_key or _full_value(key) != 1.0


def _full_value(key: ShapeKey) -> float:
    """The value of a key that is to be 1, in its range."""
    return min(max(1.0, key.slider_min), key.slider_max)


@contextmanager
def _keys_alone(objects: list[Object]) -> Iterator[Callable[[Object, int], None]]:
    """Lets objects show one of their shape keys alone, and afterwards what they showed before."""
    before = [(obj, obj.show_only_shape_key, obj.active_shape_key_index) for obj in objects]
    all_keys = [keys for obj in objects if (keys := shape_keys(obj)) is not None]
    values = [(key, key.value) for keys in all_keys for key in keys.key_blocks]
    drivers = [
        driver
        for keys in all_keys
        if keys.animation_data is not None
        for driver in keys.animation_data.drivers
        if not driver.mute
    ]
    try:
        for driver in drivers:
            driver.mute = True
        yield _show_key
    finally:
        for obj, pinned, index in before:
            obj.active_shape_key_index = index
            obj.show_only_shape_key = pinned
        for key, value in values:
            if key.value != value:
                key.value = value
        for driver in drivers:
            driver.mute = False


def _show_key(obj: Object, index: int) -> None:
    """Shows a shape key of an object alone: pinned, or at its full value where that shows something else."""
    keys = shape_keys(obj)
    assert keys is not None
    key = keys.key_blocks[index]
    obj.show_only_shape_key = not is_offset(keys, key)
    obj.active_shape_key_index = index
    if not obj.show_only_shape_key:
        for other in keys.key_blocks:
            other.value = 0.0
        key.value = _full_value(key)
