"""Objects joined into the one mesh of a model: its vertices, triangles and texture coordinates.

Texture coordinates have a table of their own, so vertices are not split at seams. Vertices that no triangle uses are
left out, unless they came from a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_blender.records import NONE
from ...io_blender.reports import Report
from ...io_blender.scene import mesh_data
from ...io_common.counting import counted
from ...io_common.triangles import FLIPPED_WINDING, flip_v, have_same_triangles
from .. import records
from ..format import st_texels
from .sharp_edges import has_file_normals, smoothed

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Material, Object

    from ..records import StoredModel

Ints = npt.NDArray[np.int32]

_FEW = 32


@dataclass(eq=False)
class Part:
    """One object of a model. V vertices in Blender, U of them in the file, T triangles.

    Attributes:
        obj: the object in the original data.
        stored: the model that it was imported from; None for other objects.
        vertex_count: V, as it is evaluated.
        corners: the vertex of each corner of the evaluated mesh, int32 (L,).
        loops: the corner of the mesh that each corner of a triangle is, clockwise, int32 (T, 3).
        used: the vertex of the mesh that each vertex of the file is, int64 (U,).
        source: the vertex of the imported file that each of them is, or NONE, int32 (U,).
        triangles: clockwise, indices into `used`, int32 (T, 3).
        uvs: u and v of each corner, float64 (T, 3, 2); None without a UV map.
        source_st: the texture coordinate of the imported file that each corner had, or NONE, int32 (T, 3); None if the
            mesh does not store them.
        slots: the material slot of each triangle, int32 (T,).
        materials: of the slots.
        smoothed: how many faces are flat or have sharp edges, and by how many degrees their normals become others.
        has_file_normals: whether the custom normals of the import shade it.
    """

    obj: Object
    stored: StoredModel | None
    vertex_count: int
    corners: Ints
    loops: Ints
    used: npt.NDArray[np.int64]
    source: Ints
    triangles: Ints
    uvs: npt.NDArray[np.float64] | None
    source_st: Ints | None
    slots: Ints
    materials: list[Material | None]
    smoothed: tuple[int, float]
    has_file_normals: bool


@dataclass(eq=False)
class Topology:
    """The part of a model that all frames share.

    Attributes:
        triangles: clockwise, int32 (T, 3).
        stored: the model of the only imported part; None if no part was imported, or several were.
        source: the vertex of that file that each vertex is, or NONE, int32 (V,).
        is_source: whether vertices and triangles are exactly those of that file.
        same_faces: which vertices have the triangles that they have in that file, and no others, (V,).
    """

    triangles: Ints
    stored: StoredModel | None
    source: Ints
    is_source: bool
    same_faces: npt.NDArray[np.bool_]


def read_part(obj: Object, stored: StoredModel | None, depsgraph: Depsgraph, report: Report) -> Part:
    """An evaluated object as triangles with texture coordinates."""
    mesh = mesh_data.triangle_mesh(obj, depsgraph)
    sources = np.full(len(mesh.vertices), NONE, dtype=np.int32)
    if stored is not None:
        sources = records.load_vertices(mesh.mesh, stored.vertex_count)
    in_file = sources != NONE
    in_file[mesh.triangles] = True
    loose = len(in_file) - int(in_file.sum())
    if loose:
        report.warn(f"{counted(loose, 'vertices')} without faces: left out", obj.name)
    used = np.flatnonzero(in_file)
    rank = np.cumsum(in_file) - 1
    loops = mesh.loops[:, FLIPPED_WINDING]
    if mesh.uvs is None and len(loops):
        report.warn("there is no UV map, so all texture coordinates are 0: unwrap the mesh", obj.name)
    corner_st = records.load_corner_st(mesh.mesh, len(stored.st)) if stored is not None else None
    keeps_normals = stored is not None and has_file_normals(mesh)
    return Part(
        obj=obj,
        stored=stored,
        vertex_count=len(in_file),
        corners=mesh.corner_vertices,
        loops=loops,
        used=used,
        source=sources[used],
        triangles=rank[mesh.triangles[:, FLIPPED_WINDING]].astype(np.int32),
        uvs=None if mesh.uvs is None else mesh.uvs[loops],
        source_st=None if corner_st is None else corner_st[loops],
        slots=mesh.materials,
        materials=mesh.slots,
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
        and np.array_equal(sources, np.arange(stored.vertex_count))
        and np.array_equal(triangles, stored.triangles)
    )
    if stored is None:
        same_faces = np.zeros(len(sources), dtype=bool)
    elif is_source:
        same_faces = np.ones(len(sources), dtype=bool)
    else:
        same_faces = have_same_triangles(triangles, sources, stored.triangles, stored.vertex_count)
    return Topology(triangles.astype(np.int32), stored, sources, is_source, same_faces)


def texture_coordinates(
    parts: list[Part], topology: Topology, skin_size: tuple[int, int]
) -> tuple[Ints, Ints]:
    """The table of texture coordinates and each corner's entry in it.

    The table of an imported file is reused, with repeated and unused entries, while all corners are on the same texels.
    Otherwise there is one entry for each texel.

    `topology` is that of the parts, joined. Returns the table in texels from the upper left corner, int32 (S, 2), and
    the entries, int32 (T, 3).
    """
    texels = np.concatenate(
        [
            np.zeros((*part.triangles.shape, 2), dtype=np.int32)
            if part.uvs is None
            else _texels(part.uvs, skin_size)
            for part in parts
        ]
    )
    if topology.is_source and topology.stored is not None:
        table, entries = topology.stored.st, _source_entries(parts)
        if entries is not None and np.array_equal(table[entries], texels):
            return table.astype(np.int32), entries
    return _distinct(texels)


def _source_entries(parts: list[Part]) -> Ints | None:
    """The entry of each corner in the table of the imported file, (T, 3); None if some are not known."""
    entries = [part.source_st for part in parts if len(part.triangles)]
    known = [rows for rows in entries if rows is not None and (rows != NONE).all()]
    if len(known) < len(entries):
        return None
    return np.concatenate([np.zeros((0, 3), dtype=np.int32), *known])


def shows_source_uvs(part: Part) -> bool:
    """Whether some corner of an imported object is still on its texel of the file, or there are no corners.

    Only then the stored size of the skin is still valid.
    """
    stored = part.stored
    if stored is None:
        return False
    if not len(part.triangles):
        return True
    if part.uvs is None or part.source_st is None:
        return part.uvs is None and not len(stored.st)
    # The first few triangles are usually enough.
    return any(_is_on_source_texel(part, stored, rows) for rows in (slice(_FEW), slice(_FEW, None)))


def _is_on_source_texel(part: Part, stored: StoredModel, rows: slice) -> bool:
    """Whether some corner of some triangles is still on its texel of the file."""
    assert part.uvs is not None
    assert part.source_st is not None
    known = part.source_st[rows] != NONE
    texels = _texels(part.uvs[rows][known], stored.skin_size)
    return bool((stored.st[part.source_st[rows][known]] == texels).all(axis=-1).any())


def _texels(uvs: npt.NDArray[np.float64], skin_size: tuple[int, int]) -> Ints:
    """The texel of u and v, (…, 2): the reverse of u = (s + 0.5) / width, v = 1 - (t + 0.5) / height."""
    return st_texels(flip_v(uvs), *skin_size)


def _distinct(texels: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """The distinct texels (S, 2) in the order of their first use, and the index of each corner's, (T, 3)."""
    flat = texels.reshape(-1, 2)
    if not len(flat):
        return np.zeros((0, 2), dtype=np.int32), np.zeros((0, 3), dtype=np.int32)
    values, firsts, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return values[order].astype(np.int32), rank[inverse.reshape(-1)].reshape(-1, 3)
