"""Objects joined into the one mesh of a model: its vertices, triangles, texture coordinates and skins."""
# Texture coordinates have a table of their own, so vertices are not split at seams. Vertices that no triangle uses are
# left out, unless they came from a file. Flat faces and sharp edges need a vertex for each side, as a vertex of a file
# has one normal in each frame; corners are of different sides if Blender's normals differ in some frame.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from bpy.types import Depsgraph, Material, Object

from ...io_blender.frames import sampling
from ...io_blender.records import NONE, match_elements, match_vertices
from ...io_blender.reports import Report, listing
from ...io_blender.scene import mesh_data
from ...io_common.arrays import distinct_rows
from ...io_common.frames import to_latin1
from ...io_common.texts import counted
from ...io_common.triangles import FLIPPED_WINDING, flip_v, have_same_triangles
from .. import records
from ..format import Model, nearest_normals, st_texels, vertex_normals
from ..importing import MAX_MATERIALS
from ..records import StoredModel

Ints = npt.NDArray[np.int32]


@dataclass(eq=False)
class Part(sampling.Part):
    """One object of a model. Its U sampled vertices are those of the file."""

    stored: StoredModel | None  # the model that it was imported from; None for other objects
    source: Ints  # the vertex of the imported file that each vertex is, or NONE, int32 (U,)
    triangles: Ints  # clockwise, indices into `used`, int32 (T, 3)
    source_st: Ints  # the texture coordinate of the imported file that each corner had, or NONE, int32 (T, 3)
    # How many faces are flat or have sharp edges, and by how many degrees their normals become others.
    smoothed: tuple[int, float]
    has_file_normals: bool  # whether the custom normals of the import shade it


@dataclass(eq=False)
class Topology:
    """The part of a model that all frames share."""

    triangles: Ints  # clockwise, int32 (T, 3)
    # The model of the only imported part; None if no part was imported, or several were.
    stored: StoredModel | None
    source: Ints  # the vertex of that file that each vertex is, or NONE, int32 (V,)
    is_source: bool  # whether vertices and triangles are exactly those of that file
    # Which vertices have the triangles that they have in that file, and no others, (V,)
    same_faces: npt.NDArray[np.bool_]


def read_part(obj: Object, stored: StoredModel | None, depsgraph: Depsgraph, report: Report) -> Part:
    """An evaluated object as triangles with texture coordinates."""
    mesh = mesh_data.triangle_mesh(obj, depsgraph)
    file = Model() if stored is None else stored.model
    numbers = mesh_data.integers(mesh.mesh, records.VERTEX, "POINT")
    sources = match_vertices(numbers, len(mesh.vertices), file.vertex_count)
    entries = mesh_data.integers(mesh.mesh, records.CORNER_ST, "CORNER")
    corner_st = match_elements(entries, len(mesh.corner_vertices), len(file.st))
    values = sampling.values_of_part(obj, mesh, sources != NONE, report)
    used = values["used"]
    rank = np.zeros(len(sources), dtype=np.int32)
    rank[used] = np.arange(len(used))
    keeps_normals = stored is not None and has_file_normals(mesh)
    return Part(
        **values,
        stored=stored,
        source=sources[used],
        triangles=rank[mesh.triangles[:, FLIPPED_WINDING]],
        source_st=corner_st[values["loops"]],
        smoothed=(0, 0.0) if keeps_normals else smoothed(mesh),
        has_file_normals=keeps_normals,
    )


def join(parts: list[Part]) -> Topology:
    """The triangles of all parts, one part after the other."""
    counts = [len(part.used) for part in parts]
    offsets = np.cumsum([0, *counts[:-1]])
    triangles = np.concatenate([part.triangles + offset for part, offset in zip(parts, offsets, strict=True)])
    imported = [part for part in parts if part.stored is not None]
    stored = imported[0].stored if len(imported) == 1 else None
    sources = np.concatenate(
        [part.source if part in imported and stored else np.full_like(part.source, NONE) for part in parts]
    )
    is_source = (
        stored is not None
        and np.array_equal(sources, np.arange(stored.model.vertex_count))
        and np.array_equal(triangles, stored.triangles)
    )
    same_faces = np.full(len(sources), is_source)
    if stored is not None and not is_source:
        same_faces = have_same_triangles(triangles, sources, stored.triangles, stored.model.vertex_count)
    return Topology(triangles.astype(np.int32), stored, sources, is_source, same_faces)


def texture_coordinates(parts: list[Part], topology: Topology, skin_size: tuple[int, int]) -> tuple[Ints, Ints]:
    """The table of texels from the upper left corner, (S, 2), and each corner's entry in it, (T, 3)."""
    # The table of an imported file is reused, even its repeated and unused entries, while all texels are the same.
    texels = np.concatenate(
        [
            np.zeros((*part.triangles.shape, 2), dtype=np.int32) if part.uvs is None else _texels(part.uvs, skin_size)
            for part in parts
        ]
    )
    if topology.is_source and topology.stored is not None:
        table, entries = topology.stored.model.st, np.concatenate([part.source_st for part in parts])
        if (entries != NONE).all() and np.array_equal(table[entries], texels):
            return table.astype(np.int32), entries
    flat = texels.reshape(-1, 2)
    firsts, numbers = distinct_rows(flat)
    return flat[firsts].astype(np.int32), numbers.reshape(-1, 3).astype(np.int32)


def shows_source_uvs(part: Part) -> bool:
    """Whether a corner is still on its texel of the file, or there is none: else the size is outdated."""
    stored = part.stored
    if stored is None:
        return False
    if not len(part.triangles):
        return True
    if part.uvs is None:
        return not len(stored.model.st)
    known = part.source_st != NONE
    texels = _texels(part.uvs[known], stored.skin_size)
    return bool((stored.model.st[part.source_st[known]] == texels).all(axis=-1).any())


def _texels(uvs: npt.NDArray[np.float64], skin_size: tuple[int, int]) -> Ints:
    """The reverse of u = (s + 0.5) / width, v = 1 - (t + 0.5) / height; (…, 2)."""
    return st_texels(flip_v(uvs), *skin_size)


def sides_of(part: Part, rotation: npt.NDArray[np.float64], frame_count: int) -> sampling.Sides:
    """The normals of a part to sample; `rotation` goes from the axes of the scene to those of the file."""
    turns = np.broadcast_to(rotation, (frame_count, 3, 3))
    corners = np.arange(len(part.corners))
    return sampling.Sides(corners, part.corners, turns, nearest_normals, has_others=not part.has_file_normals)


def split(parts: list[Part], samples: sampling.Samples) -> tuple[list[Part], sampling.Samples, npt.NDArray[np.uint8]]:
    """Gives each side of a vertex a vertex of its own in all frames; also the indices of normals, (F, U)."""
    results, rows, indices = [], [], []
    vertex_blocks = sampling.blocks(len(part.used) for part in parts)
    for part, vertex_block, one in zip(parts, vertex_blocks, samples.sides, strict=True):
        new, part_rows, part_indices = _split_part(
            part, one.of_corners(np.arange(len(part.corners)))[: len(samples.positions)]
        )
        results.append(new)
        rows.append(vertex_block.start + part_rows)
        indices.append(part_indices)
    positions = samples.positions[:, np.concatenate(rows)]
    return results, replace(samples, positions=positions), np.concatenate(indices, axis=1)


def _split_part(part: Part, indices: npt.NDArray[np.uint8]) -> tuple[Part, npt.NDArray[np.intp], npt.NDArray[np.uint8]]:
    """An object with a vertex for each side, each one's row in `used`, and its normals, (F, U), of corners, (F, L)."""
    old = np.full(part.vertex_count, NONE)
    old[part.used] = np.arange(len(part.used))
    corner_rows = old[part.corners]
    sides, side_of = distinct_rows(np.column_stack([corner_rows, indices.T]))
    # The side of the first corner keeps the vertex; the others come after all vertices.
    is_first = np.zeros(len(sides), dtype=bool)
    is_first[np.unique(corner_rows[sides], return_index=True)[1]] = True
    numbers = np.where(is_first, corner_rows[sides], len(part.used) + np.cumsum(~is_first) - 1)
    rows = np.concatenate([np.arange(len(part.used)), corner_rows[sides[~is_first]]])
    result = np.zeros((len(indices), len(rows)), dtype=np.uint8)
    result[:, numbers] = indices[:, sides]
    split_part = replace(
        part,
        used=part.used[rows],
        source=np.append(part.source, np.full(len(rows) - len(part.used), NONE, dtype=np.int32)),
        triangles=numbers[side_of][part.loops].astype(np.int32),
    )
    return split_part, rows, result


def warn_of_smoothing(parts: list[Part], report: Report) -> None:
    """Warns of flat faces and sharp edges that become smooth, as vertices are not split."""
    faces = sum(part.smoothed[0] for part in parts)
    if faces:
        degrees = max(part.smoothed[1] for part in parts)
        number = counted(faces, "faces", "are")
        report.warn(
            f"{number} flat or {'has' if faces == 1 else 'have'} sharp edges, but smooth in the file: normals are off "
            f"by up to {degrees:.0f} degrees. Turn on Split at Sharp Edges, which adds vertices",
            listing([part.obj.name for part in parts if part.smoothed[0]]),
        )


def has_file_normals(mesh: mesh_data.TriangleMesh) -> bool:
    """Whether an imported object has custom normals, which are those of the file while nothing is sharp."""
    # Blender stores them relative to the faces, so they differ at a vertex where faces meet in no other.
    data = mesh.mesh
    sharp: list[Any] = [data.attributes.get(name) for name in ("sharp_edge", "sharp_face")]
    is_sharp = any(one is not None and mesh_data.read_array(one.data, "value", dtype=bool).any() for one in sharp)
    return data.has_custom_normals and not is_sharp


def smoothed(mesh: mesh_data.TriangleMesh) -> tuple[int, float]:
    """How many faces are flat or have sharp edges, and how far in degrees a smooth normal is from theirs."""
    # Edges that are sharp where the surface is flat do not count.
    if mesh.mesh.normals_domain == "POINT" or not len(mesh.corner_vertices):
        return 0, 0.0
    vertices = mesh.corner_vertices
    normals = mesh_data.corner_normals(mesh.mesh, mesh_data.world_matrix(mesh.obj)).astype(np.float64)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    differs = (normals * normals[sampling.first_corners(vertices)]).sum(axis=1) < sampling.SAME_SIDE
    has_sides = np.zeros(len(mesh.vertices), dtype=bool)
    has_sides[vertices[differs]] = True
    corners = np.flatnonzero(has_sides[vertices])
    if not len(corners):
        return 0, 0.0
    smooth = vertex_normals(mesh.vertices, mesh.triangles[:, FLIPPED_WINDING])[vertices[corners]]
    lengths = np.linalg.norm(smooth, axis=1)
    cosines = (normals[corners] * smooth).sum(axis=1) / np.where(lengths > 0.0, lengths, 1.0)
    return len(mesh_data.faces_of_corners(mesh.mesh, corners)), float(
        np.degrees(np.arccos(np.clip(cosines.min(), -1.0, 1.0)))
    )


def skin_names(parts: list[Part], game_folders: Sequence[str], report: Report) -> list[str]:
    """The names of the skins: those of the imported file while its materials are unchanged, else new ones."""
    result: list[str] = []
    drawn: set[Material] = set()
    for part in parts:
        names = records.material_skins(part.materials, game_folders)
        stored = part.stored.model.skins if part.stored is not None else []
        if part.stored is not None and names == part.stored.material_skins:
            # A file may list a skin twice, but parts that share a skin must not repeat it.
            result += [name for name in stored if name not in result]
        else:
            # Skins without a material cannot have changed.
            for name in dict.fromkeys([*names, *stored[MAX_MATERIALS:]]):
                fit = to_latin1(name)
                if fit != name:
                    report.warn(
                        f"the skin name {name!r} has characters that are not in Latin-1 and was written as {fit!r}: "
                        "rename the image or material"
                    )
                if fit not in result:
                    result.append(fit)
        used = {part.materials[slot] for slot in set(part.slots.tolist()) if slot < len(part.materials)}
        drawn |= {material for material in used if material is not None}
    if len(drawn) > 1:
        remedy = ", or leave objects out with Selected Only" if len(parts) > 1 else ""
        report.warn(
            f"faces have {len(drawn)} materials, but games show one skin on the whole model: bake them into one image"
            f"{remedy}"
        )
    return result


def skin_size(parts: list[Part], default: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the skin: as set on the meshes, else the image's, else the files', else the default."""
    # Sizes that the meshes or the files do not agree on do not count.
    chosen = {size for part in parts if (size := records.load_skin_size(part.obj.data)) is not None}
    if len(chosen) == 1:
        return chosen.pop()
    # If the image is still the one that the import found, the size of the file is used, but only if the mesh still has
    # texture coordinates in texels of that size.
    current = records.image_size(material for part in parts for material in part.materials)
    stored = [part.stored for part in parts if part.stored is not None and shows_source_uvs(part)]
    sizes = {model.skin_size for model in stored}
    if len(sizes) == 1 and (current == (0, 0) or any(model.image_size == current for model in stored)):
        return sizes.pop()
    return current if current != (0, 0) else default
