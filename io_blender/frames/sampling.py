"""What objects show in each frame of a vertex-animated model, sampled from shape keys or from the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from bpy.types import Context, Depsgraph, Material, Modifier, Object

from ...io_common.texts import counted
from ...io_common.triangles import FLIPPED_WINDING
from .. import state
from ..clips.clip import Clip
from ..clips.playing import Player, restored_frame_and_values
from ..reports import Job, Progress, Report
from ..scene import mesh_data
from ..scene.objects import NothingToExportError, warn_of_instances
from ..scene.time_dependence import warn_of_simulations
from ..verification import frames_to_verify
from .frame_plan import FramePlan
from .options import ExportOptions
from .shape_keys import differs_from_stored, frame_keys, shape_keys, solo_keys

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int32]

# Modifiers that only move vertices.
_MOVING = (
    "ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH",
    "LATTICE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "WARP", "WAVE",
)  # fmt: skip


@dataclass(eq=False)
class Part:
    """An object that is sampled, or its faces of one material. V vertices in Blender, L corners, T triangles."""

    obj: Object  # the object in the original data
    vertex_count: int  # V, as it is evaluated
    corners: Ints  # the vertex of each corner of the evaluated mesh, (L,)
    used: npt.NDArray[np.int64]  # the vertices that are sampled, (U,)
    loops: Ints  # for each corner of each triangle, clockwise, the corner of the mesh, (T, 3)
    rows: npt.NDArray[np.int64]  # the index of each triangle in the mesh, (T,)
    uvs: npt.NDArray[np.float64] | None  # of the corners of triangles, (T, 3, 2); None without a UV map
    slots: Ints  # the material slot of each triangle, (T,)
    materials: list[Material | None]  # of the slots


AnyPart = TypeVar("AnyPart", bound=Part)

SAME_SIDE = np.cos(np.radians(1.0))
"""Normals belong to one side if their cosine is at least this: custom normals are stored with an error."""


def first_corners(vertices: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """For each corner the first one with the same vertex, (C,)."""
    _, firsts, numbers = np.unique(vertices, return_index=True, return_inverse=True)
    return firsts[numbers.reshape(-1)]


class Sides:
    """The normals of vertices in each frame, as a format stores them; a side is the corners with one normal."""

    def __init__(
        self,
        corners: npt.NDArray[np.integer],
        vertices: npt.NDArray[np.integer],
        turns: Floats,
        encode: Callable[[Floats], npt.NDArray[np.uint8]],
        *,
        shown: npt.NDArray[np.bool_] | None = None,
        has_others: bool = True,
    ) -> None:
        # `vertices` has the vertex of each of some `corners` of the mesh, both (C,). `turns` rotate normals to the axes
        # of the file in each frame, (F, 3, 3). Only `shown` vertices are filled in each frame, (F, V); None for all.
        # Without `has_others`, each vertex has one side.
        _, firsts, self._vertices = np.unique(vertices, return_index=True, return_inverse=True)
        self._corners, self._firsts = corners, corners[firsts]
        self._turns, self._encode = turns.astype(np.float32), encode
        self._shown, self._has_others = shown, has_others
        # The value of the first corner of each vertex in each frame, (F, V, …), which all on its side have, and the
        # corners on other sides with theirs.
        self.of_vertices = np.zeros((len(turns), len(firsts), *encode(np.zeros(3)).shape), np.uint8)
        self._others: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]] = []
        self.is_other = np.zeros(len(corners), dtype=bool)  # which are on another side in some frame, (C,)

    def fill(self, frame: int, normals: npt.NDArray[np.float32]) -> None:
        """Fills `frame`, the next one, with the normals of the corners of the mesh, of any length, (L, 3)."""
        turn = self._turns[frame].T
        shown = np.ones(len(self._firsts), bool) if self._shown is None else self._shown[frame]
        # `take` is much faster than an index.
        of_firsts = normals.take(self._firsts, axis=0)
        self.of_vertices[frame, shown] = self._encode(of_firsts[shown] @ turn)
        others = np.zeros(0, np.int64)
        if self._has_others:
            of_corners = normals.take(self._corners, axis=0)
            # Most corners have exactly the normal of the first one.
            others = np.unique(np.flatnonzero(of_corners != of_firsts.take(self._vertices, axis=0)) // 3)
            others = others[shown[self._vertices[others]]]
            a, b = of_corners[others], of_firsts[self._vertices[others]]
            lengths = np.sqrt(np.einsum("ci,ci->c", a, a) * np.einsum("ci,ci->c", b, b))
            # A normal that is NaN fails the comparison, so its corner is on another side.
            is_one = np.einsum("ci,ci->c", a, b) >= SAME_SIDE * np.maximum(lengths, np.finfo(np.float32).tiny)
            others = others[~is_one]
            self.is_other[others] = True
        self._others.append((others, self._encode(normals[self._corners[others]] @ turn)))

    def of_corners(self, corners: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
        """The values of some corners in all frames, (F, n, …)."""
        result = self.of_vertices[:, self._vertices[corners]]
        places = np.full(len(self._vertices), -1)
        places[corners] = np.arange(len(corners))
        for frame, (others, codes) in enumerate(self._others):
            chosen = places[others] >= 0
            result[frame, places[others[chosen]]] = codes[chosen]
        return result


def values_of_part(
    obj: Object, mesh: mesh_data.TriangleMesh, in_file: npt.NDArray[np.bool_], report: Report
) -> dict[str, Any]:
    """The fields of `Part` for an evaluated object; `in_file` are the vertices to keep without faces, (V,)."""
    in_file = in_file.copy()
    in_file[mesh.triangles] = True
    loose = len(in_file) - int(in_file.sum())
    if loose:
        report.warn(f"{counted(loose, 'vertices')} without faces: left out", obj.name)
    loops = mesh.loops[:, FLIPPED_WINDING]
    if mesh.uvs is None and len(loops):
        report.warn("there is no UV map, so all texture coordinates are 0: unwrap the mesh", obj.name)
    return {
        "obj": obj,
        "vertex_count": len(in_file),
        "corners": mesh.corner_vertices,
        "used": np.flatnonzero(in_file),
        "loops": loops,
        "rows": np.arange(len(loops)),
        "uvs": None if mesh.uvs is None else mesh.uvs[loops],
        "slots": mesh.materials,
        "materials": mesh.slots,
    }


@dataclass(eq=False)
class EvaluatedFrame:
    """What one object shows in a frame, to verify the model with."""

    vertices: Floats  # in the space of the scene, (V, 3)
    uvs: Floats | None = None  # of each corner, (L, 2); None without a UV map, or for stored shape keys
    loops: npt.NDArray[np.int32] | None = None  # of its triangles, (T, 3); None if all faces are triangles


@dataclass(eq=False)
class Samples:
    """The frames of all parts."""

    # In the space of the scene, one part after the other, (F, U, 3); float32 if stored in shape keys.
    positions: Floats
    verified: dict[int, list[EvaluatedFrame]]  # by frame, what each part shows
    sides: list[Sides]  # of each part, if normals were asked for
    # The transforms of what was followed in each frame of the scene, (F, n, 4, 4); none for shape keys
    matrices: npt.NDArray[np.float64] | None = None

    def first_frames(self, count: int) -> Samples:
        """The first frames alone."""
        verified = {row: frames for row, frames in self.verified.items() if row < count}
        return replace(self, positions=self.positions[:count], verified=verified)


@dataclass(frozen=True, eq=False)
class Sampling(Generic[AnyPart]):
    """What is sampled."""

    context: Context
    objects: Sequence[Object]
    plan: FramePlan
    options: ExportOptions
    report: Report
    read: Callable[[Depsgraph], list[AnyPart]]  # makes the parts from the first frame
    sides: Callable[[AnyPart], Sides] | None = None  # makes the sides of a part, which are then filled
    # Whether parts depend on the shape of the first frame; else its key is only shown where triangles may depend on it.
    shows_keys: bool = False
    # Each returns the transform of an object or bone, (4, 4), in the space of the scene, as it is evaluated.
    followed: Sequence[Callable[[Depsgraph], npt.NDArray[np.float64]]] = ()


def sample_frames(what: Sampling[AnyPart]) -> Job[tuple[list[AnyPart], Samples]]:
    """The parts, and what they and what is followed show in all frames."""
    # Raises NothingToExportError if frames differ in vertices or faces.
    context, objects, plan = what.context, what.objects, what.plan
    scene, scene_frames = context.scene, plan.scene_frames

    def is_hidden(modifier: Modifier) -> bool:
        return not what.options.apply_modifiers and modifier.type != "ARMATURE"

    if scene_frames is not None:
        warn_of_simulations(objects, scene, what.report)
    with (
        state.hidden_modifiers(objects, is_hidden),
        restored_frame_and_values(scene) if scene_frames is not None else nullcontext(),
        Player(context, plan.owners, plan.clips) as player,
    ):
        if plan.clips:
            player.play(plan.clips[0])
        if scene_frames is not None:
            state.set_frame(scene, scene_frames[0])
        keyed = [obj for obj in plan.keys if what.shows_keys or not _is_unmodified(obj)]
        with solo_keys(keyed) as show_alone:
            for obj in keyed:
                show_alone(obj, plan.keys[obj][0])
            depsgraph = context.evaluated_depsgraph_get()
            parts = what.read(depsgraph)
            for obj in objects:
                warn_of_instances(obj, depsgraph, what.report)
        sampler = _Sampler(what, parts)
        if scene_frames is None:
            yield from sampler.sample_keys()
        else:
            yield from sampler.sample_scene(scene_frames, player.play)
    verified = {row: [shown[index] for index in range(len(parts))] for row, shown in sampler.verified.items()}
    return parts, Samples(sampler.positions, verified, sampler.sides, sampler.matrices)


def _has_triangles_only(obj: Object) -> bool:
    return len(obj.data.loops) == 3 * len(obj.data.polygons)


def has_other_modifiers(obj: Object) -> bool:
    """Whether modifiers may do more than move vertices."""
    return any(one.show_viewport and one.type not in _MOVING for one in obj.modifiers)


class _Sampler:
    """Fills a table in which each part has a block of columns for its vertices."""

    def __init__(self, what: Sampling[Any], parts: Sequence[Part]) -> None:
        self._what, self._context, self._plan, self._parts = what, what.context, what.plan, parts
        self.sides: list[Sides] = [] if what.sides is None else [what.sides(part) for part in parts]
        plan = what.plan
        self._progress = Progress(plan.frame_count)
        self._vertices = blocks(len(part.used) for part in parts)
        self._is_stored = [
            part.obj in plan.keys and _is_unmodified(part.obj) and _shows_stored_keys(part.obj, plan.keys[part.obj])
            for part in parts
        ]
        # Stored positions are in single precision, which is enough where they are used as they are.
        is_single = all(self._is_stored) and all(_is_untransformed(part.obj) for part in parts)
        vertex_count = sum(len(part.used) for part in parts)
        self.positions: Floats = np.empty((plan.frame_count, vertex_count, 3), np.float32 if is_single else np.float64)
        self.matrices: npt.NDArray[np.float64] | None = None
        # On a few frames, faces may be split differently, or texture coordinates may differ.
        may_change = any(not _has_triangles_only(obj) or has_other_modifiers(obj) for obj in what.objects)
        verified = frames_to_verify(plan.frame_count, what.options.verify, many=may_change)
        self.verified: dict[int, dict[int, EvaluatedFrame]] = {frame: {} for frame in verified}

    def sample_scene(self, frames: Sequence[float], play: Callable[[Clip], None]) -> Job[None]:
        followed = self._what.followed
        self.matrices = np.empty((len(frames), len(followed), 4, 4))
        clips, first = {}, 0
        for segment in self._plan.segments:
            clips[first] = segment.clip
            first += len(segment.frames)
        for row, frame in enumerate(frames):
            if row in clips:
                play(clips[row])
            state.set_frame(self._context.scene, frame)
            depsgraph = self._context.evaluated_depsgraph_get()
            for index, follow in enumerate(followed):
                self.matrices[row, index] = follow(depsgraph)
            for index, part in enumerate(self._parts):
                self._read(index, range(row, row + 1), depsgraph, f"frame {frame:g} of the scene")
                if row in self.verified:
                    warn_of_instances(part.obj, depsgraph, self._what.report)
            yield self._progress.step()

    def sample_keys(self) -> Job[None]:
        """Reads each shape key alone: as it is stored, or as it is evaluated where modifiers change it."""
        depsgraph = self._context.evaluated_depsgraph_get()
        modified = []
        for index, part in enumerate(self._parts):
            if part.obj not in self._plan.keys:
                self._read(index, range(self._plan.frame_count), depsgraph, "the first frame")
            elif self._is_stored[index]:
                yield from self._read_stored(index)
            else:
                modified.append(index)
        if not modified:
            return
        with solo_keys([self._parts[index].obj for index in modified]) as show_alone:
            for row, name in enumerate(self._plan.key_names):
                for index in modified:
                    obj = self._parts[index].obj
                    show_alone(obj, self._plan.keys[obj][row])
                depsgraph = self._context.evaluated_depsgraph_get()
                for index in modified:
                    self._read(index, range(row, row + 1), depsgraph, f"shape key {name!r}")
                yield self._progress.step()

    def _read(self, index: int, rows: range, depsgraph: Depsgraph, where: str) -> None:
        """Reads what a part shows now into one or all frames."""
        part = self._parts[index]
        mesh_object = part.obj.evaluated_get(depsgraph)
        mesh = mesh_object.data
        if len(mesh.vertices) != part.vertex_count:
            raise NothingToExportError(
                f"{part.obj.name} has {counted(len(mesh.vertices), 'vertices')} in {where}, and {part.vertex_count} in "
                f"others, but all frames of a model must have the same vertices. {_remedy(part.obj)}"
            )
        if not np.array_equal(mesh_data.corner_vertices(mesh), part.corners):
            raise NothingToExportError(
                f"{part.obj.name} has other faces in {where} than in others, but all frames of a model must have the "
                f"same faces. {_remedy(part.obj)}"
            )
        vertices = mesh_data.world_vertices(mesh_object)
        chosen = vertices if len(part.used) == len(vertices) else vertices[part.used]
        self.positions[rows.start : rows.stop, self._vertices[index]] = chosen
        if self.sides:
            normals = mesh_data.corner_normals(mesh, mesh_data.world_matrix(mesh_object))
            for row in rows:
                self.sides[index].fill(row, normals)
        for row in self.verified.keys() & rows:
            loops = None if _has_triangles_only(mesh_object) else mesh_data.triangulation(mesh_object)[0]
            self.verified[row][index] = EvaluatedFrame(vertices, mesh_data.texture_coordinates(mesh), loops)

    def _read_stored(self, index: int) -> Job[None]:
        """Reads the stored keys of an unmodified object into all frames."""
        part = self._parts[index]
        indices = self._plan.keys[part.obj]
        keys = list(shape_keys(part.obj).key_blocks)
        points: Floats = np.empty((len(indices), part.vertex_count, 3), dtype=np.float32)
        for row, key in enumerate(indices):
            keys[key].points.foreach_get("co", points[row].reshape(-1))
        if self.sides:
            for row, normals in enumerate(mesh_data.normals_of_shapes(part.obj, points)):
                self.sides[index].fill(row, normals)
                yield self._progress.step()
        if not _is_untransformed(part.obj):
            matrix = mesh_data.world_matrix(part.obj)
            points = points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        chosen = points if len(part.used) == part.vertex_count else points[:, part.used]
        self.positions[:, self._vertices[index]] = chosen
        for row, shown in self.verified.items():
            shown[index] = EvaluatedFrame(points[row])


def blocks(counts: Iterable[int]) -> list[slice]:
    """The columns of each part in tables that have one part after the other."""
    ends = np.cumsum(list(counts), dtype=np.int64).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


def _remedy(obj: Object) -> str:
    """What to do about modifiers that make other vertices or faces in some frames."""
    if not frame_keys(obj):
        return "Disable the modifier that changes them, or apply it"
    # Blender applies no such modifier to a mesh with shape keys.
    if any(modifier.type == "TRIANGULATE" and modifier.show_viewport for modifier in obj.modifiers):
        return "Set Quad Method of the Triangulate modifier to Fixed, or triangulate in Edit Mode (Ctrl+T)"
    return "Disable the modifier that changes them, and edit the mesh in Edit Mode, such as with Mesh > Clean Up"


def _is_unmodified(obj: Object) -> bool:
    """Whether an object shows its shape keys as they are stored, but for its transform."""
    # Faces of more than three corners are evaluated: how Blender splits those depends on their shape.
    is_deformed = obj.parent is not None and obj.parent_type in ("ARMATURE", "LATTICE")
    is_modified = is_deformed or any(modifier.show_viewport for modifier in obj.modifiers)
    return _has_triangles_only(obj) and not is_modified


def _shows_stored_keys(obj: Object, indices: Iterable[int]) -> bool:
    """Whether an object without modifiers shows each of some shape keys, alone, as it is stored."""
    keys = shape_keys(obj)
    blocks = list(keys.key_blocks)
    return not any(differs_from_stored(keys, blocks[index]) for index in indices)


def _is_untransformed(obj: Object) -> bool:
    return np.array_equal(mesh_data.world_matrix(obj), np.eye(4))
