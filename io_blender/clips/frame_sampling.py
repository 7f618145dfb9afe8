"""What objects show in each frame of a vertex-animated model, sampled from shape keys or from the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ...io_common.counting import counted
from .. import state
from ..scene import mesh_data
from ..scene.objects import NothingToExportError, warn_of_instances
from ..scene.shape_keys import KeyPositions, frame_keys, solo_keys

if TYPE_CHECKING:
    from bpy.types import Context, Mesh, Object

    from ..reports import Progress, Report
    from .animation_list import ListedAnimation
    from .frame_plan import FramePlan

Floats = npt.NDArray[np.floating]

# Modifiers that only move vertices.
_MOVING = (
    "ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH",
    "LATTICE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "WARP", "WAVE",
)  # fmt: skip


class Part(Protocol):
    """An object whose vertices are sampled. V vertices in Blender, U of them in the file."""

    @property
    def obj(self) -> Object:
        """The object in the original data."""

    @property
    def vertex_count(self) -> int:
        """V, as it is evaluated."""

    @property
    def corners(self) -> npt.NDArray[np.int32]:
        """The vertex of each corner of the evaluated mesh, (L,)."""

    @property
    def used(self) -> npt.NDArray[np.int64]:
        """The vertices that the file has, rising, (U,)."""


@dataclass(eq=False)
class EvaluatedFrame:
    """What one object shows in a frame, to verify the model with.

    Attributes:
        vertices: all of them in the space of the scene, (V, 3).
        uvs: u and v of each corner of the mesh, (L, 2); None without a UV map, or if it was not evaluated again.
        loops: the corners of the triangles that faces are split into, int32 (T, 3); None if all faces are triangles,
            or if it was not evaluated again.
    """

    vertices: npt.NDArray[np.floating]
    uvs: Floats | None = None
    loops: npt.NDArray[np.int32] | None = None


@dataclass(eq=False)
class Samples:
    """The frames of all parts.

    Attributes:
        positions: of the vertices of all parts in each frame, one part after the other, in the space of the scene,
            (F, U, 3): in single precision if they are those stored in shape keys, else in double precision.
        verified: for each frame to be verified, what each part shows in it.
        normals: of the corners of all parts in each frame, (F, L, 3); None unless asked for.
    """

    positions: Floats
    verified: dict[int, list[EvaluatedFrame]]
    normals: npt.NDArray[np.float32] | None = None

    def first_frame(self) -> Samples:
        """The first frame alone."""
        verified = {row: frames for row, frames in self.verified.items() if row == 0}
        return Samples(self.positions[:1], verified, None if self.normals is None else self.normals[:1])


def sample_frames(
    context: Context,
    parts: Sequence[Part],
    plan: FramePlan,
    frames_to_verify: Iterable[int],
    progress: Progress,
    report: Report,
    play: Callable[[ListedAnimation], None] | None = None,
    *,
    with_normals: bool = False,
) -> Samples:
    """Evaluates the parts in each frame.

    The scene may be left at another frame. `parts` are the objects as they are evaluated now. `play` plays the
    animation of a segment of the plan. With `with_normals`, the normals of corners are read too. Raises
    NothingToExportError if modifiers make other vertices or faces in one frame than in another.
    """
    verified: dict[int, list[EvaluatedFrame]] = {frame: [] for frame in frames_to_verify}
    normals = None
    if with_normals:
        corner_count = sum(len(part.corners) for part in parts)
        normals = np.empty((plan.frame_count, corner_count, 3), dtype=np.float32)
    if plan.scene_frames is None:
        positions = _sample_keys(context, parts, plan, verified, progress, normals)
        return Samples(positions, verified, normals)
    positions = _empty(parts, plan)
    begins = {segment.first: segment.animation for segment in plan.segments}
    for row, frame in enumerate(plan.scene_frames):
        if play is not None and row in begins:
            play(begins[row])
        state.set_frame(context.scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        begin = 0
        for part, corners in zip(parts, _corner_blocks(parts), strict=True):
            mesh_object = part.obj.evaluated_get(depsgraph)
            if normals is not None:
                normals[row, corners] = mesh_data.corner_normals(mesh_object)
            end = begin + len(part.used)
            _read_vertices(part, mesh_object, positions[row, begin:end], f"frame {frame:g} of the scene")
            if row in verified:
                verified[row].append(_read_frame(mesh_object))
                warn_of_instances(part.obj, depsgraph, report)
            begin = end
        progress.step()
    return Samples(positions, verified, normals)


def _corner_blocks(parts: Sequence[Part]) -> list[slice]:
    """Where the corners of each part are among those of all."""
    ends = np.cumsum([len(part.corners) for part in parts]).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


@contextmanager
def first_frame_keys(plan: FramePlan) -> Iterator[None]:
    """Shows the shape key of the first frame alone on objects whose triangles may depend on it."""
    objects = [obj for obj in plan.keys if not _is_unmodified(obj)]
    with solo_keys(objects) as show_alone:
        for obj in objects:
            show_alone(obj, plan.keys[obj][0])
        yield


def may_change_otherwise(obj: Object) -> bool:
    """Whether frames of an object may differ in more than the places of its vertices, for a short time.

    Faces of more than three corners may be split otherwise, and some modifiers change texture coordinates.
    """
    has_faces = len(obj.data.loops) != 3 * len(obj.data.polygons)
    return has_faces or any(one.show_viewport and one.type not in _MOVING for one in obj.modifiers)


def _empty(parts: Sequence[Part], plan: FramePlan, dtype: type[np.floating] = np.float64) -> Floats:
    return np.empty((plan.frame_count, sum(len(part.used) for part in parts), 3), dtype)


def _read_vertices(part: Part, mesh_object: Object, row: Floats, where: str) -> None:
    """Reads the vertices that a part shows now into a frame, (U, 3)."""
    mesh = mesh_object.data
    if len(mesh.vertices) != part.vertex_count:
        raise NothingToExportError(
            f"{part.obj.name} has {counted(len(mesh.vertices), 'vertices')} in {where}, and {part.vertex_count} in "
            f"others, but all frames of a model must have the same vertices. {_remedy(part.obj)}"
        )
    if not _has_same_faces(part, mesh):
        raise NothingToExportError(
            f"{part.obj.name} has other faces in {where} than in others, but all frames of a model must have the same "
            f"faces. {_remedy(part.obj)}"
        )
    vertices = mesh_data.world_vertices(mesh_object)
    row[:] = vertices if len(part.used) == len(vertices) else vertices[part.used]


def _remedy(obj: Object) -> str:
    """What to do about modifiers that make other vertices or faces in some frames."""
    if not frame_keys(obj):
        return "Disable the modifier that changes them, or apply it"
    # Blender applies no such modifier to a mesh with shape keys.
    if any(modifier.type == "TRIANGULATE" and modifier.show_viewport for modifier in obj.modifiers):
        return "Set Quad Method of the Triangulate modifier to Fixed, or triangulate in Edit Mode (Ctrl+T)"
    return (
        "Disable the modifier that changes them, and edit the mesh in Edit Mode, such as with Mesh > Clean Up"
    )


def _has_same_faces(part: Part, mesh: Mesh) -> bool:
    return np.array_equal(mesh_data.corner_vertices(mesh), part.corners)


def _read_frame(mesh_object: Object) -> EvaluatedFrame:
    """What an evaluated object shows now."""
    mesh = mesh_object.data
    loops = None
    if len(mesh.loops) != 3 * len(mesh.polygons):
        loops, _ = mesh_data.triangulation(mesh_object)
    return EvaluatedFrame(mesh_data.world_vertices(mesh_object), mesh_data.texture_coordinates(mesh), loops)


# Shape keys


def _sample_keys(
    context: Context,
    parts: Sequence[Part],
    plan: FramePlan,
    verified: dict[int, list[EvaluatedFrame]],
    progress: Progress,
    normals: npt.NDArray[np.float32] | None,
) -> Floats:
    """The positions of each shape key alone: as it is stored, or as it is evaluated where modifiers change it.

    Normals are only in evaluated meshes.
    """
    modified = [
        part
        for part in parts
        if part.obj in plan.keys and (normals is not None or not _is_unmodified(part.obj))
    ]
    # Stored positions are in single precision, which is enough where they are used as they are.
    is_stored = not modified and all(part.obj in plan.keys and _is_untransformed(part.obj) for part in parts)
    result = _empty(parts, plan, np.float32 if is_stored else np.float64)
    depsgraph = context.evaluated_depsgraph_get()
    begin = 0
    blocks = []
    for part in parts:
        blocks.append(slice(begin, begin + len(part.used)))
        begin += len(part.used)
    for part, block, corners in zip(parts, blocks, _corner_blocks(parts), strict=True):
        if part in modified:
            continue
        if part.obj in plan.keys:
            _read_keys(part, plan.keys[part.obj], result[:, block], verified)
        else:
            mesh_object = part.obj.evaluated_get(depsgraph)
            result[:, block] = mesh_data.world_vertices(mesh_object)[part.used]
            if normals is not None:
                normals[:, corners] = mesh_data.corner_normals(mesh_object)
            for rows in verified.values():
                rows.append(_read_frame(mesh_object))
    if modified:
        _evaluate_keys(context, parts, blocks, modified, plan, result, verified, progress, normals)
    return result


def _evaluate_keys(
    context: Context,
    parts: Sequence[Part],
    blocks: list[slice],
    modified: list[Part],
    plan: FramePlan,
    result: Floats,
    verified: dict[int, list[EvaluatedFrame]],
    progress: Progress,
    normals: npt.NDArray[np.float32] | None,
) -> None:
    """Evaluates the frames of objects with modifiers, and puts what is to be verified into the order of the parts."""
    with solo_keys([part.obj for part in modified]) as show_alone:
        for row, name in enumerate(plan.key_names):
            for part in modified:
                show_alone(part.obj, plan.keys[part.obj][row])
            depsgraph = context.evaluated_depsgraph_get()
            for position, (part, block, corners) in enumerate(
                zip(parts, blocks, _corner_blocks(parts), strict=True)
            ):
                if part not in modified:
                    continue
                mesh_object = part.obj.evaluated_get(depsgraph)
                if normals is not None:
                    normals[row, corners] = mesh_data.corner_normals(mesh_object)
                _read_vertices(part, mesh_object, result[row, block], f"shape key {name!r}")
                if row in verified:
                    verified[row].insert(position, _read_frame(mesh_object))
            progress.step()


def _is_unmodified(obj: Object) -> bool:
    """Whether an object shows its shape keys as they are stored, but for its transform.

    Objects with faces of more than three corners are evaluated: how Blender splits those depends on their shape.
    """
    is_deformed = obj.parent is not None and obj.parent_type in ("ARMATURE", "LATTICE")
    is_triangulated = len(obj.data.loops) == 3 * len(obj.data.polygons)
    return (
        is_triangulated and not is_deformed and not any(modifier.show_viewport for modifier in obj.modifiers)
    )


def _is_untransformed(obj: Object) -> bool:
    """Whether an object is where its mesh is."""
    return np.array_equal(mesh_data.world_matrix(obj), np.eye(4))


def _read_keys(
    part: Part, indices: list[int], block: Floats, verified: dict[int, list[EvaluatedFrame]]
) -> None:
    """Reads the positions of some keys of an unmodified object into its part of the frames, (F, U, 3)."""
    keys = KeyPositions(part.obj, part.vertex_count)
    shape = len(indices), part.vertex_count, 3
    is_whole = block.shape == shape and block.dtype == np.float32 and block.flags.c_contiguous
    table: npt.NDArray[Any] = block if is_whole else np.empty(shape, dtype=np.float32)
    for row, index in enumerate(indices):
        keys.read(index, table[row])
    matrix = mesh_data.world_matrix(part.obj)
    is_identity = _is_untransformed(part.obj)
    if is_identity:
        if not is_whole:
            block[:] = table if len(part.used) == part.vertex_count else table[:, part.used]
    else:
        block[:] = table[:, part.used].astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    for row, frames in verified.items():
        vertices: npt.NDArray[np.floating] = np.empty((part.vertex_count, 3), dtype=np.float32)
        keys.read(indices[row], vertices)
        if not is_identity:
            vertices = vertices.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        frames.append(EvaluatedFrame(vertices))
