"""Objects joined into the one mesh of a model: which vertices and triangles it has, and its texture coordinates.

Texture coordinates have a table of their own, so that a seam splits nothing: a vertex is one vertex in the file,
however many places of the skin it shows. Vertices that no triangle uses are left out, unless they came from a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..io_common import evaluated
from ..io_common.reports import Report
from . import kept
from .import_model import TURNED

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Object

    from .kept import Kept

NONE = -1


@dataclass(eq=False)
class Part:
    """One object of a model. V vertices in Blender, U of them in the file, T triangles.

    Attributes:
        obj: the object in the original data.
        memory: what it was imported as, if it was.
        vertex_count: V, as it is evaluated.
        used: the vertices that the file has, rising, int64 (U,).
        former: the vertex of the imported file that each of them is, or NONE, int32 (U,).
        triangles: clockwise, indices into `used`, int32 (T, 3).
        uvs: u and v of each corner, float64 (T, 3, 2); None without a UV map.
        former_st: the texture coordinate of the imported file that each corner had, int32 (T, 3); None if unknown.
        slots: the material slot of each triangle, int32 (T,).
    """

    obj: Object
    memory: Kept | None
    vertex_count: int
    used: npt.NDArray[np.int64]
    former: npt.NDArray[np.int32]
    triangles: npt.NDArray[np.int32]
    uvs: npt.NDArray[np.float64] | None
    former_st: npt.NDArray[np.int32] | None
    slots: npt.NDArray[np.int32]


@dataclass(eq=False)
class Topology:
    """What all frames have in common.

    Attributes:
        triangles: clockwise, int32 (T, 3).
        memory: what the only part that was imported was imported as; None if there is no such part or several.
        former: the vertex of that file that each vertex is, or NONE, int32 (V,).
        is_former: whether vertices and triangles are all and only those of that file.
    """

    triangles: npt.NDArray[np.int32]
    memory: Kept | None
    former: npt.NDArray[np.int32]
    is_former: bool


def read_part(obj: Object, depsgraph: Depsgraph, report: Report) -> Part:
    """What an object shows, as triangles with texture coordinates."""
    shown = evaluated.triangle_mesh(obj, depsgraph)
    count = len(shown.vertices)
    memory = kept.kept(obj.data)
    former = _former_vertices(shown, memory)
    in_file = former != NONE
    in_file[shown.triangles] = True
    loose = count - int(in_file.sum())
    if loose:
        report.warn(f"{loose} vertices that no face uses were left out", obj.name)
    used = np.flatnonzero(in_file)
    place = np.cumsum(in_file) - 1
    loops = shown.loops[:, TURNED]
    if shown.uvs is None and len(loops):
        report.warn("no UV map: all texture coordinates are 0", obj.name)
    corners = evaluated.integers(shown.mesh, kept.CORNER_ST, "CORNER") if memory is not None else None
    return Part(
        obj=obj,
        memory=memory,
        vertex_count=count,
        used=used,
        former=former[used],
        triangles=place[shown.triangles[:, TURNED]].astype(np.int32),
        uvs=None if shown.uvs is None else shown.uvs[loops],
        former_st=None if corners is None else corners[loops],
        slots=shown.materials,
    )


def _former_vertices(shown: evaluated.TriangleMesh, memory: Kept | None) -> npt.NDArray[np.int32]:
    """The vertex of the imported file that each vertex is, or NONE.

    Blender gives copies of a vertex its number, and new ones 0; the vertex itself stands before them.
    """
    result = np.full(len(shown.vertices), NONE, dtype=np.int32)
    numbers = evaluated.integers(shown.mesh, kept.VERTEX, "POINT") if memory is not None else None
    if memory is None or numbers is None:
        return result
    values, firsts = np.unique(numbers, return_index=True)
    known = (values >= 0) & (values < memory.frames.normals.shape[1])
    result[firsts[known]] = values[known]
    return result


def join(parts: list[Part]) -> Topology:
    """The triangles of all parts, one part after the other."""
    counts = [len(part.used) for part in parts]
    offsets = np.cumsum([0, *counts[:-1]])
    triangles = np.concatenate([part.triangles + offset for part, offset in zip(parts, offsets, strict=True)])
    imported = [part for part in parts if part.memory is not None]
    memory = imported[0].memory if len(imported) == 1 else None
    former = np.concatenate(
        [part.former if part in imported and memory else np.full_like(part.former, NONE) for part in parts]
    )
    is_former = (
        memory is not None
        and np.array_equal(former, np.arange(memory.frames.normals.shape[1]))
        and np.array_equal(triangles, memory.triangles)
    )
    return Topology(triangles.astype(np.int32), memory, former, is_former)


def texture_coordinates(
    parts: list[Part], topology: Topology, skin_size: tuple[int, int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The table of texture coordinates and each corner's entry in it.

    The table of an imported file is kept, with entries that are equal or that nothing uses, as long as all corners
    still lie where they did. Otherwise there is one entry for each texel.

    Args:
        parts: the objects.
        topology: the same, joined.
        skin_size: width and height.

    Returns:
        The table in texels from the upper left corner, int32 (S, 2), and the entries, int32 (T, 3).
    """
    texels = np.concatenate([_texels(part, skin_size) for part in parts])
    if topology.is_former and topology.memory is not None:
        table, entries = topology.memory.st, _former_entries(parts)
        if entries is not None and _is_inside(entries, len(table)) and np.array_equal(table[entries], texels):
            return table.astype(np.int32), entries
    return _distinct(texels)


def _former_entries(parts: list[Part]) -> npt.NDArray[np.int32] | None:
    """The former entry of each corner, (T, 3); None if they are not known."""
    entries = [part.former_st for part in parts if len(part.triangles)]
    known = [rows for rows in entries if rows is not None]
    if len(known) < len(entries):
        return None
    return np.concatenate([np.zeros((0, 3), dtype=np.int32), *known])


def _is_inside(entries: npt.NDArray[np.int32], count: int) -> bool:
    """Whether all entries are those of a table of that length."""
    return bool(((entries >= 0) & (entries < count)).all())


def _texels(part: Part, skin_size: tuple[int, int]) -> npt.NDArray[np.int32]:
    """The texel of each corner, (T, 3, 2): the reverse of u = (s + 0.5) / width, v = 1 - (t + 0.5) / height."""
    if part.uvs is None:
        return np.zeros((*part.triangles.shape, 2), dtype=np.int32)
    limits = np.iinfo(np.int32)
    fractions = part.uvs * (1.0, -1.0) + (0.0, 1.0)
    texels = np.floor(fractions * np.maximum(skin_size, 1))
    return np.clip(texels, limits.min, limits.max).astype(np.int32)


def _distinct(texels: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The distinct texels in the order of their first use, and the place of each, of (T, 3, 2)."""
    flat = texels.reshape(-1, 2)
    if not len(flat):
        return np.zeros((0, 2), dtype=np.int32), np.zeros((0, 3), dtype=np.int32)
    values, firsts, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return values[order].astype(np.int32), rank[inverse.reshape(-1)].reshape(-1, 3)
