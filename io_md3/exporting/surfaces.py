"""Objects as surfaces: a vertex of the file for each vertex, texture coordinate and normal that corners have."""
# A corner is a vertex of the imported file while its mesh vertex and texture coordinate are the ones of that. Only
# where nothing else is left, all vertices of the file are kept, even unused ones.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from bpy.types import Depsgraph, Mesh, Object

from ...io_blender import versions
from ...io_blender.frames import sampling
from ...io_blender.materials.library import name_for_file
from ...io_blender.records import NONE, match_elements
from ...io_blender.reports import Report
from ...io_blender.scene import mesh_data
from ...io_blender.scene.axes import Conversion
from ...io_common import names
from ...io_common.arrays import distinct_rows
from ...io_common.triangles import Cost, flip_v, is_degenerate, runs_within
from ..format import NAME_SIZE, UNITS, Surface, nearest_normals, normal_vectors, positions
from ..format.model import same_positions
from ..records import CORNER_VERTEX, MATERIAL_NAMES, NUMBER, SAME_NORMAL, SHADERS, SHOWN_NORMALS, VERTEX, StoredModel
from ..tags import fitting_name

Ints = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]
_PIECES = "123456789abcdefghijklmnopqrstuvwxyz"
# The vertex of the surface that each corner of a triangle is, (T, 3); for each of these vertices, one of its corners,
# (N,), and the vertex of the file that it is, or NONE, (N,).
_Groups: TypeAlias = tuple[Indices, Indices, Indices]


@dataclass(eq=False)
class Part(sampling.Part):
    """One object, or its faces of one material."""

    number: int  # of the surface of the imported file, or NONE
    stored: Surface | None
    source: Ints  # the vertex of the file that each corner of a triangle was, or NONE, (T, 3)
    has_file_normals: bool  # whether the first frame is shaded as after the import


def read_part(
    obj: Object, stored: StoredModel | None, depsgraph: Depsgraph, first: int, conversion: Conversion, report: Report
) -> Part:
    """An evaluated object; `first` is the frame of the file that it shows, or NONE, `conversion` goes to the file."""
    mesh = mesh_data.triangle_mesh(obj, depsgraph)
    number = NUMBER.read(obj.data)
    surface = None
    if stored is not None and number is not None and number < len(stored.model.surfaces):
        surface = stored.model.surfaces[number]
    count = 0 if surface is None else surface.vertex_count
    source = match_elements(mesh_data.integers(mesh.mesh, CORNER_VERTEX, "CORNER"), len(mesh.corner_vertices), count)
    kept = mesh_data.integers(mesh.mesh, VERTEX, "POINT")
    in_file = np.full(len(mesh.vertices), surface is not None and kept is not None and len(kept) == count)
    values = sampling.values_of_part(obj, mesh, in_file, report)
    # The mesh without modifiers has the shape of the first frame.
    shaded = mesh.mesh if first == 0 or sampling.has_other_modifiers(obj) else obj.data
    return Part(
        **values,
        number=NONE if surface is None or number is None else number,
        stored=surface,
        source=source[values["loops"]],
        has_file_normals=surface is not None and _has_file_normals(shaded, surface, conversion),
    )


def _has_file_normals(mesh: Mesh, surface: Surface, conversion: Conversion) -> bool:
    """Whether a mesh, of the first frame, is shaded as after the import where it was not edited."""
    source = match_elements(mesh_data.integers(mesh, CORNER_VERTEX, "CORNER"), len(mesh.loops), surface.vertex_count)
    if (source == NONE).all():
        return True
    shown = mesh_data.read_array(mesh.corner_normals, "vector", 3)
    stored = SHOWN_NORMALS.read(mesh)
    expected = normal_vectors(surface.normals[0])[source]
    if stored is not None and len(stored) == len(expected):
        expected = normal_vectors(stored)
    # Faces without area have no normals; Blender does not scale all others to the length 1.
    known = (source != NONE) & shown.any(axis=1)
    shown /= np.maximum(np.linalg.norm(shown, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    # Faces that were moved turn the normals of their vertices.
    vertices = mesh_data.corner_vertices(mesh)
    points = conversion.points(mesh_data.positions(mesh).astype(np.float64))[vertices]
    is_moved = ~(np.abs(points - positions(surface.vertices[0])[source]) < 1.0 / UNITS).all(axis=1)
    counts = mesh_data.read_array(mesh.polygons, "loop_total", dtype=np.int32)
    faces = np.repeat(np.arange(len(counts)), counts)
    turned = np.zeros(len(mesh.vertices), dtype=bool)
    turned[vertices[np.isin(faces, faces[is_moved])]] = True
    unturned = known & ~turned[vertices]
    known = unturned if unturned.any() else known
    cosines = ((shown @ conversion.rotation.T)[known] * expected[known]).sum(axis=1)
    return bool(cosines.min(initial=1.0) >= SAME_NORMAL)


def group_corners(part: Part) -> _Groups:
    """The vertices that positions and texture coordinates make of corners."""
    vertices = part.corners[part.loops].ravel().astype(np.int64)
    sources = np.full(len(vertices), NONE) if part.stored is None else part.source.ravel().astype(np.int64)
    st = flip_v(part.uvs).reshape(-1, 2).astype(np.float32) if part.uvs is not None else np.zeros((len(vertices), 2))
    if part.stored is not None and len(vertices):
        # Blender holds the coordinates of the file in single precision after they were flipped.
        known = np.maximum(sources, 0)
        in_blender = flip_v(part.stored.st.astype(np.float64)).astype(np.float32)
        uvs = part.uvs.reshape(-1, 2).astype(np.float32) if part.uvs is not None else in_blender[known]
        is_kept = (sources != NONE) & (uvs == in_blender[known]).all(axis=1)
        # Copies of a vertex bear the same number: the first one is the original.
        owners = np.full(part.stored.vertex_count, NONE, dtype=np.int64)
        rows = np.flatnonzero(is_kept)[::-1]
        owners[sources[rows]] = vertices[rows]
        is_kept &= owners[known] == vertices
        sources = np.where(is_kept, sources, NONE)
    groups, new = sources.copy(), np.flatnonzero(sources == NONE)
    bits = np.ascontiguousarray(st[new], dtype=np.float32).view(np.int32)
    count = part.stored.vertex_count if part.stored is not None else 0
    groups[new] = count + distinct_rows(np.column_stack([vertices[new], bits]))[1]
    return _in_order(groups, sources)


def _in_order(groups: Indices, sources: Indices) -> _Groups:
    """Groups of corners as vertices: those of the file first, in its order; others in the order of their first use."""
    _, firsts, numbers = np.unique(groups, return_index=True, return_inverse=True)
    ranks = np.lexsort([firsts, np.where(sources[firsts] == NONE, np.iinfo(np.int64).max, sources[firsts])])
    rank = np.empty(len(ranks), dtype=np.int64)
    rank[ranks] = np.arange(len(ranks))
    return rank[numbers].reshape(-1, 3), firsts[ranks], sources[firsts[ranks]]


def is_source(part: Part, triangles: Indices, sources: Indices) -> bool:
    """Whether corners, as `group_corners` gives them, are those of the file, but for triangles that Blender lacks."""
    if part.stored is None or (sources == NONE).any():
        return False
    merged = np.arange(part.stored.vertex_count)
    if part.vertex_count != part.stored.vertex_count:
        merged = same_positions(part.stored.vertices)
    kept = part.stored.triangles[~is_degenerate(merged[part.stored.triangles])]
    return np.array_equal(sources[triangles] if len(sources) else triangles, kept)


class SurfaceBuilder:
    """Builds the surface of a part."""

    # N are the vertices that `group_corners` gives, F the frames.

    def __init__(self, part: Part, frames: Indices, turn_steps: float) -> None:
        # `frames` are the frames of the file, or NONE, (F,); a game decodes normals with `turn_steps`.
        self.part, self._frames, self._groups = part, frames, group_corners(part)
        self._encode = partial(nearest_normals, turn_steps=turn_steps)
        self._is_whole = is_source(part, self._groups[0], self._groups[2])
        self.is_same = np.zeros(len(frames), dtype=bool)  # which frames are as in the file, (F,)
        self._shown: npt.NDArray[np.bool_] | None = None

    def place(self, vertices: npt.NDArray[np.int16]) -> None:
        """Sets the sampled vertices of some frames, the first ones, (F, U, 3)."""
        part, self._frames = self.part, self._frames[: len(vertices)]
        row_of = np.full(part.vertex_count, NONE, dtype=np.int64)
        row_of[part.used] = np.arange(len(part.used))
        self._vertices = vertices[:, row_of[part.corners[part.loops.ravel()[self._groups[1]]]]]
        moved = _moved(part, self._groups, self._vertices, self._frames)
        self.is_same = np.logical_and(~moved.any(axis=1), self._is_whole)
        # Which vertices have the normals that Blender shows, not those of the file, (F, N).
        if part.has_file_normals:
            self._shown = _turned(part, self._groups, moved, self._frames)

    def needs_normals(self) -> npt.NDArray[np.bool_]:
        """In which frames the placed surface has other normals than the file, (F,)."""
        return (~self.is_same | (not (self._is_whole and self.part.has_file_normals))) & (len(self.part.loops) > 0)

    def sides(self, turns: npt.NDArray[np.float64], rows: Indices) -> sampling.Sides:
        """The normals to sample on some rows of the frames, with what turns them to the axes of the file, (R, 3, 3)."""
        shown = None if self._shown is None else self._shown[rows]
        corners, vertices = self.part.loops.ravel(), self._groups[0].ravel()
        return sampling.Sides(corners, vertices, turns, self._encode, shown=shown)

    def build(self, sides: sampling.Sides | None, rows: Indices) -> Surface:
        """The placed surface; `sides` are filled on some rows of the frames, None keeps the normals of the file."""
        part, groups, frames, is_whole = self.part, self._groups, self._frames, self._is_whole
        count = len(groups[1])
        shown = np.ones((len(frames), count), dtype=bool) if self._shown is None else self._shown
        normals = np.zeros((len(frames), count, 2), np.uint8)
        vertices = self._vertices
        if sides is not None:
            normals[rows] = sides.of_vertices[: len(rows)]
            if sides.is_other.any():
                unsplit = groups[0].ravel()
                # What is split is the vertex of the file still, with its positions: other frames have its normal.
                groups = _split_sides(groups, sides, len(rows))
                is_whole = is_whole and len(groups[1]) == count
                old = unsplit[groups[1]]
                vertices, shown, normals = vertices[:, old], shown[:, old], normals[:, old]
                normals[rows] = sides.of_corners(groups[1])[: len(rows)]
        triangles, firsts, sources = groups
        st = np.zeros((len(firsts), 2)) if part.uvs is None else flip_v(part.uvs).reshape(-1, 2)[firsts]
        result = Surface(triangles=triangles, st=st.astype(np.float32), vertices=vertices, normals=normals)
        if part.stored is None:
            return result
        known = np.flatnonzero(sources != NONE)
        result.st[known] = part.stored.st[sources[known]]
        in_file, unturned = np.nonzero(~shown)
        result.normals[in_file, unturned] = part.stored.normals[frames[in_file], sources[unturned]]
        return _with_unused(result, part.stored, sources, frames) if is_whole else result


def _split_sides(groups: _Groups, sides: sampling.Sides, frame_count: int) -> _Groups:
    """Groups with a vertex for each side that differs in the first frames."""
    vertices = groups[0].ravel()
    has_sides = np.zeros(len(groups[1]), dtype=bool)
    has_sides[vertices[sides.is_other]] = True
    corners = np.flatnonzero(has_sides[vertices])
    rows = np.moveaxis(sides.of_corners(corners)[:frame_count], 0, 1).reshape(len(corners), -1)
    split = vertices.copy()
    split[corners] = len(has_sides) + distinct_rows(np.hstack([vertices[corners, None].view(np.uint8), rows]))[1]
    return _in_order(split, groups[2][vertices])


def _moved(part: Part, groups: _Groups, vertices: npt.NDArray[np.int16], frames: Indices) -> npt.NDArray[np.bool_]:
    """Whether vertices (F, N, 3) are elsewhere than in the file, or not in it, (F, N)."""
    result = np.ones(vertices.shape[:2], dtype=bool)
    if part.stored is not None:
        known = np.flatnonzero(groups[2] != NONE)
        sources = groups[2][known]
        for row in np.flatnonzero(frames != NONE).tolist():
            # `take` is much faster than an index.
            before = part.stored.vertices[frames[row]].take(sources, axis=0)
            off = vertices[row].take(known, axis=0) != before
            result[row, known] = off[:, 0] | off[:, 1] | off[:, 2]
    return result


def _turned(part: Part, groups: _Groups, moved: npt.NDArray[np.bool_], frames: Indices) -> npt.NDArray[np.bool_]:
    """Whether vertices are at a face with one that `moved`, (F, N): their normals are not those of the file, (F, N)."""
    result = moved.copy()
    rows = np.flatnonzero(moved.any(axis=1) & ~moved.all(axis=1) & (frames != NONE))
    if part.stored is None or not len(rows):
        return result
    triangles, _, sources = groups
    known = np.flatnonzero(sources != NONE)
    # The file has several vertices at one place where texture coordinates differ.
    siblings = same_positions(part.stored.vertices)[sources[known]]
    for row in rows.tolist():
        turned = moved[row].copy()
        corners = turned.take(triangles)
        turned[triangles[corners[:, 0] | corners[:, 1] | corners[:, 2]]] = True
        places = np.zeros(siblings.max(initial=0) + 1, dtype=bool)
        places[siblings[turned[known]]] = True
        result[row, known] = places[siblings]
    return result


def _with_unused(surface: Surface, stored: Surface, sources: Indices, frames: Indices) -> Surface:
    """The surface with all vertices and triangles of the file; those that no face shows keep their place."""
    rows = np.maximum(frames, 0)
    vertices, normals = stored.vertices[rows], stored.normals[rows]
    vertices[:, sources], normals[:, sources] = surface.vertices, surface.normals
    return replace(surface, triangles=stored.triangles, st=stored.st, vertices=vertices, normals=normals)


def surface_name(part: Part, taken: Sequence[str], report: Report) -> str:
    """The name of a surface: that of the file unless the object was renamed since."""
    name = part.obj.name
    if part.stored is not None:
        before = names.for_blender(part.stored.name, versions.MAX_ID_NAME, "Surface")
        if names.without_copy_suffix(name) == names.without_copy_suffix(before):
            return part.stored.name
    return names.distinct([*taken, fitting_name(name, report)], NAME_SIZE - 1)[-1]


def shader_names(part: Part, game_folders: Sequence[str], report: Report) -> list[str]:
    """The shaders of a surface: those of the file while its materials are unchanged, else the used materials' names."""
    found = [name_for_file(one, SHADERS, game_folders) for one in part.materials if one is not None]
    if part.stored is not None and found == (MATERIAL_NAMES.read(part.obj.data) or []):
        return list(part.stored.shaders)
    used = [part.materials[slot] for slot in np.unique(part.slots).tolist() if slot < len(part.materials)]
    return [fitting_name(name_for_file(one, SHADERS, game_folders), report) for one in used if one is not None]


def further_skins(part: Part, parts: Sequence[Part], game_folders: Sequence[str], report: Report) -> list[str]:
    """The shaders of other skins: materials that no face has, of a mesh whose faces all have one."""
    used = {slot for one in parts if one.obj == part.obj for slot in np.unique(one.slots).tolist()}
    others = [one for slot, one in enumerate(part.materials) if one is not None and slot not in used]
    found = others if len(used) == 1 else []
    return [fitting_name(name_for_file(one, SHADERS, game_folders), report) for one in found]


def surface_parts(objects: Sequence[Part], report: Report) -> list[Part]:
    """A part for each material that faces have, in the order of the file; others after them, by name."""
    parts, known = [], set[int]()
    for part in sorted(objects, key=lambda one: (one.number == NONE, one.number)):
        if not len(part.loops) and (part.stored is None or len(part.stored.triangles)):
            report.warn("there are no faces: left out", part.obj.name)
            continue
        for one in _split_by_material(part):
            # Of what was separated or duplicated, only one is the surface of the file.
            parts.append(one if one.number not in known else replace(one, number=NONE, stored=None))
            known |= {one.number} - {NONE}
    return sorted(parts, key=lambda one: (one.number == NONE, one.number))


def _split_by_material(part: Part) -> list[Part]:
    slots = np.unique(part.slots).tolist()
    if len(slots) < 2:
        return [part]
    return [
        replace(
            part,
            loops=part.loops[chosen],
            rows=part.rows[chosen],
            source=part.source[chosen],
            slots=part.slots[chosen],
            uvs=None if part.uvs is None else part.uvs[chosen],
        )
        for slot in slots
        if (chosen := part.slots == slot).any()
    ]


def split_surface(surface: Surface, most_vertices: int, most_triangles: int) -> list[Surface]:
    """Surfaces within limits, whose names end in `_1`, `_2`, …, `_a`, …: Quake III cuts that off for skins."""
    if surface.vertex_count <= most_vertices and surface.triangle_count <= most_triangles:
        return [surface]
    ones = np.ones(surface.vertex_count, dtype=np.int64)
    costs = [Cost(most_vertices, np.arange(surface.vertex_count), ones)]
    pieces: list[Surface] = []
    for run in runs_within(surface.triangles, most_triangles, costs):
        used, inverse = np.unique(surface.triangles[run], return_inverse=True)
        end = _PIECES[min(len(pieces), len(_PIECES) - 1)]
        pieces.append(
            replace(
                surface, name=f"{surface.name[: NAME_SIZE - 4]}_{end}", st=surface.st[used],
                triangles=inverse.reshape(-1, 3), vertices=surface.vertices[:, used], normals=surface.normals[:, used],
            )
        )  # fmt: skip
    return pieces
