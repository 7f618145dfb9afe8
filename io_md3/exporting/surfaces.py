"""Objects as surfaces: a vertex of the file for each vertex, texture coordinate and normal that corners have."""
# A corner is a vertex of the imported file while its mesh vertex and texture coordinate are the ones of that. Only
# where nothing else is left, all vertices of the file are kept, even unused ones.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender import versions
from ...io_blender.clips import sampling
from ...io_blender.materials.library import name_for_file
from ...io_blender.records import NONE, match_elements
from ...io_blender.scene import mesh_data, names
from ...io_common.frame_names import to_latin1
from ...io_common.triangles import flip_v, is_degenerate
from ..format import NAME_SIZE, Surface, nearest_normals, normal_vectors
from ..format.frames import same_positions
from ..records import CORNER_VERTEX, MATERIAL_NAMES, NUMBER, SAME_NORMAL, SHADERS, SHOWN_NORMALS, VERTEX, StoredModel

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Object

    from ...io_blender.reports import Report

Ints = npt.NDArray[np.int32]


@dataclass(eq=False)
class Part(sampling.Part):
    """One object, or its faces of one material."""

    number: int  # of the surface of the imported file, or NONE
    stored: Surface | None
    rows: npt.NDArray[np.int64]  # which triangles of the mesh they are, (T,)
    source: Ints  # the vertex of the file that each corner of a triangle was, or NONE, (T, 3)
    has_file_normals: bool  # whether the first frame shows those of the file, or an import left them out


def read_part(
    obj: Object,
    stored: StoredModel | None,
    depsgraph: Depsgraph,
    first: int,
    rotation: npt.NDArray[np.float64],
    report: Report,
) -> Part:
    """An evaluated object; `first` is the frame of the file that it shows, or NONE, `rotation` goes to its axes."""
    mesh = mesh_data.triangle_mesh(obj, depsgraph)
    number = NUMBER.read(obj.data)
    surface = None
    if stored is not None and number is not None and number < len(stored.model.surfaces):
        surface = stored.model.surfaces[number]
    source = np.full(len(mesh.corner_vertices), NONE, dtype=np.int32)
    in_file = np.zeros(len(mesh.vertices), dtype=bool)
    if surface is not None:
        count = surface.vertex_count
        found = match_elements(mesh_data.integers(mesh.mesh, CORNER_VERTEX, "CORNER"), len(source), count)
        source = source if found is None else found
        kept = mesh_data.integers(mesh.mesh, VERTEX, "POINT")
        in_file[:] = kept is not None and len(kept) == count
    values = sampling.values_of_part(obj, mesh, in_file, report)
    return Part(
        **values,
        number=NONE if surface is None or number is None else number,
        stored=surface,
        rows=np.arange(len(values["loops"])),
        source=source[values["loops"]],
        has_file_normals=surface is not None and _has_file_normals(mesh, surface, source, first, rotation),
    )


def _has_file_normals(
    mesh: mesh_data.TriangleMesh, surface: Surface, source: Ints, first: int, rotation: npt.NDArray[np.float64]
) -> bool:
    """Whether Blender shades a surface by the normals of the file, or smoothly if the import left those out."""
    shown, vertices = mesh_data.corner_normals(mesh.obj), mesh.corner_vertices
    if mesh.mesh.has_custom_normals:
        known = source != NONE
        # Of later frames, Blender turns the normals of the first along with the faces.
        if first != 0 or not known.any():
            return True
        expected = normal_vectors(surface.normals[0])[source]
        stored = SHOWN_NORMALS.read(mesh.mesh)
        if stored is not None and len(stored) == len(expected):
            expected = normal_vectors(stored)
        # Faces without area have none.
        known &= shown.any(axis=1)
        return bool(((shown @ rotation.T)[known] * expected[known]).sum(axis=1).min(initial=1.0) >= SAME_NORMAL)
    smooth = np.zeros_like(mesh.vertices)
    smooth[vertices] = shown
    cosines = (smooth[vertices] * shown).sum(axis=1)
    return bool(cosines[smooth[vertices].any(axis=1) & shown.any(axis=1)].min(initial=1.0) >= sampling.SAME_SIDE)


def group_corners(
    part: Part, normals: npt.NDArray[np.floating] | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The vertex of the surface that each corner of a triangle is, (T, 3); for each of these vertices, one of its
    corners, (N,), and the vertex of the file that it is, or NONE, (N,). `normals` are of all corners, (F, L, 3)."""
    shape = part.loops.shape
    vertices, sources = (part.corners[part.loops].ravel().astype(np.int64), part.source.ravel().astype(np.int64))
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
    else:
        sources = np.full_like(sources, NONE)
    groups, new = sources.copy(), np.flatnonzero(sources == NONE)
    bits = np.ascontiguousarray(st[new], dtype=np.float32).view(np.int32)
    count = part.stored.vertex_count if part.stored is not None else 0
    groups[new] = count + _distinct(np.column_stack([vertices[new], bits]))
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    if normals is not None and len(groups):
        firsts = np.unique(groups, return_index=True)[1]
        corners = part.loops.ravel()
        differs = np.zeros(len(groups), dtype=bool)
        for shown in normals:
            of_corners, of_firsts = shown[corners], shown[corners[firsts[groups]]]
            differs |= (of_corners * of_firsts).sum(axis=1) < sampling.SAME_SIDE
        if differs.any():
            keys = np.zeros((len(groups), 2 * len(normals)), dtype=np.int64)
            keys[differs] = np.moveaxis(nearest_normals(normals[:, corners[differs]]), 0, 1).reshape(
                int(differs.sum()), -1
            )
            sources = np.where(differs, NONE, sources)
            groups = _distinct(np.column_stack([groups, differs, keys]))
    # Vertices of the file come first, in its order; the others in the order of their first use.
    firsts = np.unique(groups, return_index=True)[1]
    ranks = np.lexsort([firsts, np.where(sources[firsts] == NONE, np.iinfo(np.int64).max, sources[firsts])])
    rank = np.empty(len(ranks), dtype=np.int64)
    rank[ranks] = np.arange(len(ranks))
    return rank[groups].reshape(shape), firsts[ranks], sources[firsts[ranks]]


def _distinct(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The number of each row among the distinct ones."""
    if not len(rows):
        return np.zeros(0, np.int64)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).reshape(-1)


def is_source(part: Part, triangles: npt.NDArray[np.int64], sources: npt.NDArray[np.int64]) -> bool:
    """Whether corners, as `group_corners` gives them, are those of the file, but for triangles that Blender lacks."""
    if part.stored is None or (sources == NONE).any():
        return False
    merged = np.arange(part.stored.vertex_count)
    if part.vertex_count != part.stored.vertex_count:
        merged = same_positions(part.stored.vertices)
    kept = part.stored.triangles[~is_degenerate(merged[part.stored.triangles])]
    return np.array_equal(sources[triangles] if len(sources) else triangles, kept)


def build_surface(
    part: Part,
    vertices: npt.NDArray[np.int16],
    normals: npt.NDArray[np.floating] | None,
    rows: npt.NDArray[np.int64] | None,
    frames: npt.NDArray[np.int64],
) -> tuple[Surface, npt.NDArray[np.bool_]]:
    """The surface of sampled vertices (F, U, 3), and the frames that are as in the file, (F,)."""
    # `normals` are those of corners in the axes of the file on some `rows` of the frames, (R, L, 3); None to keep those
    # of the file on all. `frames` are the frames of the file, or NONE, (F,).
    triangles, firsts, sources = group_corners(part, normals)
    row_of = np.full(part.vertex_count, NONE, dtype=np.int64)
    row_of[part.used] = np.arange(len(part.used))
    corners = part.loops.ravel()[firsts]
    chosen = vertices[:, row_of[part.corners[corners]]]
    st = np.zeros((len(firsts), 2)) if part.uvs is None else flip_v(part.uvs).reshape(-1, 2)[firsts]
    encoded = np.zeros((*chosen.shape[:2], 2), np.uint8)
    if normals is not None:
        encoded[rows] = nearest_normals(normals[:, corners])
    result = Surface(triangles=triangles, st=st.astype(np.float32), vertices=chosen, normals=encoded)
    known = np.flatnonzero(sources != NONE)
    stored = part.stored
    if stored is None:
        return result, np.zeros(len(frames), dtype=bool)
    result.st[known] = stored.st[sources[known]]
    whole = is_source(part, triangles, sources)
    if whole:
        result = _with_unused(result, stored, sources)
        known = sources = np.arange(stored.vertex_count)
    moved = np.ones(result.vertices.shape[:2], dtype=bool)
    in_file = np.flatnonzero(frames != NONE)
    before = stored.vertices[frames[in_file]]
    if whole and np.array_equal(result.vertices[in_file], before):
        moved[in_file] = False
    else:
        now = result.vertices[np.ix_(in_file, known)]
        moved[np.ix_(in_file, known)] = (now != before[:, sources[known]]).any(axis=2)
    same = np.logical_and(~moved.any(axis=1), whole)
    if part.has_file_normals:
        kept = np.flatnonzero(same)
        if len(kept):
            result.normals[kept] = stored.normals[frames[kept]]
        siblings = same_positions(stored.vertices) if len(kept) < len(in_file) else np.zeros(0, np.int64)
        for row in np.setdiff1d(in_file, kept).tolist():
            # A face that changed turns the normals of its vertices, and of others at the same place.
            turned = moved[row].copy()
            turned[result.triangles[moved[row, result.triangles].any(axis=1)]] = True
            places = np.zeros(siblings.max(initial=0) + 1, dtype=bool)
            places[siblings[sources[known[turned[known]]]]] = True
            unturned = known[~places[siblings[sources[known]]]]
            result.normals[row, unturned] = stored.normals[frames[row], sources[unturned]]
    return result, same


def _with_unused(surface: Surface, stored: Surface, sources: npt.NDArray[np.int64]) -> Surface:
    """The surface with all vertices and triangles of the file; those that no face shows keep their first place."""
    count, frames = stored.vertex_count, len(surface.vertices)
    vertices = np.repeat(stored.vertices[:1], frames, axis=0)
    normals = np.zeros((frames, count, 2), np.uint8)
    if frames == len(stored.vertices):
        vertices = stored.vertices.copy()
    vertices[:, sources], normals[:, sources] = surface.vertices, surface.normals
    return replace(surface, triangles=stored.triangles, st=stored.st, vertices=vertices, normals=normals)


def needs_normals(part: Part, surface: Surface, same: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """In which frames a surface, built without normals, has others than the file, (F,)."""
    if not len(part.loops):
        return np.zeros(len(same), dtype=bool)
    is_whole = part.stored is not None and np.array_equal(surface.triangles, part.stored.triangles)
    return ~same if is_whole and part.has_file_normals else np.ones(len(same), dtype=bool)


def surface_name(part: Part, taken: Sequence[str], report: Report) -> str:
    """The name of a surface: that of the file unless the object was renamed since."""
    name = part.obj.name
    if part.stored is not None:
        before = names.for_blender(part.stored.name, versions.MAX_ID_NAME, "Surface")
        if names.without_copy_suffix(name) == names.without_copy_suffix(before):
            return part.stored.name
    fit = to_latin1(name)[: NAME_SIZE - 1]
    if fit != name:
        report.warn(f"names have at most {NAME_SIZE - 1} Latin-1 characters, so it was written as {fit}", name)
    return names.distinct([*taken, fit], NAME_SIZE - 1)[-1]


def shader_names(part: Part, game_folders: Sequence[str], report: Report) -> list[str]:
    """The shaders of a surface: those of the file while its materials are unchanged, else the used materials' names."""
    found = [name_for_file(one, SHADERS, game_folders) for one in part.materials if one is not None]
    if part.stored is not None and found == (MATERIAL_NAMES.read(part.obj.data) or []):
        return list(part.stored.shaders)
    used = [part.materials[slot] for slot in np.unique(part.slots).tolist() if slot < len(part.materials)]
    result = []
    for material in used:
        if material is None:
            continue
        name = name_for_file(material, SHADERS, game_folders)
        fit = to_latin1(name)[: NAME_SIZE - 1]
        if fit != name:
            report.warn(f"the shader name {name!r} does not fit and was written as {fit!r}: rename the material")
        result.append(fit)
    return result


def surface_parts(objects: Sequence[Part], report: Report) -> list[Part]:
    """A part for each material that faces have, in the order of the file; others after them, by name."""
    parts, known = [], set[int]()
    for part in sorted(objects, key=lambda one: (one.number == NONE, one.number)):
        if not len(part.loops) and (part.stored is None or len(part.stored.triangles)):
            report.warn("there are no faces: left out", part.obj.name)
            continue
        first, *others = _split_by_material(part)
        # Of what was separated or duplicated, only one is the surface of the file.
        parts.append(first if first.number not in known else replace(first, number=NONE, stored=None))
        known |= {part.number} - {NONE}
        parts += [replace(one, number=NONE, stored=None) for one in others]
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
    """Surfaces within limits, whose names end in `_1`, `_2`, …: Quake III ignores that for skins."""
    if surface.vertex_count <= most_vertices and surface.triangle_count <= most_triangles:
        return [surface]
    pieces: list[Surface] = []
    start = 0
    while start < surface.triangle_count:
        corners = surface.triangles[start : start + most_triangles].ravel()
        values, firsts = np.unique(corners, return_index=True)
        order = np.sort(firsts)
        # The triangle with the first vertex too many begins the next piece.
        count = int(order[most_vertices]) // 3 if len(values) > most_vertices else len(corners) // 3
        used, inverse = np.unique(corners[: 3 * count], return_inverse=True)
        pieces.append(
            replace(
                surface, name=f"{surface.name[: NAME_SIZE - 4]}_{len(pieces) + 1}", st=surface.st[used],
                triangles=inverse.reshape(-1, 3), vertices=surface.vertices[:, used], normals=surface.normals[:, used],
            )
        )  # fmt: skip
        start += count
    return pieces
