"""Flat faces and sharp edges, which need a vertex for each side: in a file, a vertex has one normal in each frame.

Corners of a vertex belong to different sides if Blender shades them by normals that differ in some frame.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_blender.records import NONE
from ...io_blender.reports import listing
from ...io_blender.scene import mesh_data
from ...io_blender.scene.mesh_data import faces_of_corners
from ...io_common.counting import counted
from ...io_common.triangles import FLIPPED_WINDING
from ..format import nearest_normals, vertex_normals

if TYPE_CHECKING:
    from bpy.types import Mesh

    from ...io_blender.clips.frame_sampling import Samples
    from ...io_blender.reports import Report
    from ...io_blender.scene.mesh_data import TriangleMesh
    from .topology import Part

# Normals that differ by less are those of one side: custom normals are stored with an error.
_SAME_SIDE = np.cos(np.radians(1.0))


def split(
    parts: list[Part], samples: Samples, rotation: npt.NDArray[np.float64]
) -> tuple[list[Part], Samples, npt.NDArray[np.uint8]]:
    """Gives each side of a vertex a vertex of its own, the same ones in all frames.

    `samples` must have the normals of corners. `rotation` goes from the axes of the scene to those of the file, (3, 3).
    Returns the objects and frames with these vertices, U of them, and the index of each one's normal in each frame, (F,
    U).
    """
    assert samples.normals is not None
    results, rows, indices = [], [], []
    first_row = first_corner = 0
    for part in parts:
        normals = samples.normals[:, first_corner : first_corner + len(part.corners)] @ rotation.T
        new, own_rows, own_indices = _split_part(part, normals)
        results.append(new)
        rows.append(first_row + own_rows)
        indices.append(own_indices)
        first_row += len(part.used)
        first_corner += len(part.corners)
    positions = samples.positions[:, np.concatenate(rows)]
    return results, replace(samples, positions=positions), np.concatenate(indices, axis=1)


def _split_part(
    part: Part, normals: npt.NDArray[np.floating]
) -> tuple[Part, npt.NDArray[np.intp], npt.NDArray[np.uint8]]:
    """An object with a vertex for each side, the row of each one's vertex in `used`, and its normals, (F, U)."""
    old = np.full(part.vertex_count, NONE)
    old[part.used] = np.arange(len(part.used))
    corner_rows = old[part.corners]
    used, firsts = np.unique(corner_rows, return_index=True)
    first_of = np.zeros(len(part.used), dtype=np.intp)
    first_of[used] = firsts
    # Of one side, all corners have the index of the first.
    of_first = normals[:, first_of[corner_rows]]
    is_same = part.has_file_normals | ((normals * of_first).sum(axis=2) >= _SAME_SIDE)
    normals = np.where(is_same[..., None], of_first, normals)
    indices = nearest_normals(normals.reshape(-1, 3)).reshape(normals.shape[:2])
    keys = np.column_stack([corner_rows, indices.T])
    _, sides, side_of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    # The side of the first corner keeps the vertex; the others come after all vertices.
    is_first = first_of[corner_rows[sides]] == sides
    numbers = np.where(is_first, corner_rows[sides], len(part.used) + np.cumsum(~is_first) - 1)
    rows = np.concatenate([np.arange(len(part.used)), corner_rows[sides[~is_first]]])
    result = np.zeros((len(indices), len(rows)), dtype=np.uint8)
    result[:, numbers] = indices[:, sides]
    split_part = replace(
        part,
        used=part.used[rows],
        source=np.append(part.source, np.full(len(rows) - len(part.used), NONE, dtype=np.int32)),
        triangles=numbers[side_of.reshape(-1)][part.loops].astype(np.int32),
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


def has_file_normals(mesh: TriangleMesh) -> bool:
    """Whether an imported object has custom normals, which are those of the file while no edge or face is sharp.

    Blender stores them relative to the faces, so they differ at a vertex where faces meet in no other.
    """
    data = mesh.mesh
    return data.has_custom_normals and not any(_has_any(data, name) for name in ("sharp_edge", "sharp_face"))


def _has_any(mesh: Mesh, name: str) -> bool:
    """Whether a boolean attribute is set anywhere."""
    attribute: Any = mesh.attributes.get(name)
    values = np.zeros(0 if attribute is None else len(attribute.data), dtype=bool)
    if len(values):
        attribute.data.foreach_get("value", values)
    return bool(values.any())


def smoothed(mesh: TriangleMesh) -> tuple[int, float]:
    """How many faces of an object are flat or have sharp edges, and how far a smooth normal is from one of theirs.

    The largest angle in degrees. Edges that are sharp where the surface is flat do not count.
    """
    if mesh.mesh.normals_domain == "POINT" or not len(mesh.corner_vertices):
        return 0, 0.0
    normals, vertices = mesh_data.corner_normals(mesh.obj), mesh.corner_vertices
    used, firsts = np.unique(vertices, return_index=True)
    first_of = np.zeros(len(mesh.vertices), dtype=np.intp)
    first_of[used] = firsts
    differs = (normals * normals[first_of[vertices]]).sum(axis=1) < _SAME_SIDE
    has_sides = np.zeros(len(mesh.vertices), dtype=bool)
    has_sides[vertices[differs]] = True
    corners = np.flatnonzero(has_sides[vertices])
    if not len(corners):
        return 0, 0.0
    smooth = vertex_normals(mesh.vertices, mesh.triangles[:, FLIPPED_WINDING])[vertices[corners]]
    lengths = np.linalg.norm(smooth, axis=1)
    cosines = (normals[corners] * smooth).sum(axis=1) / np.where(lengths > 0.0, lengths, 1.0)
    return len(faces_of_corners(mesh.mesh, corners)), float(
        np.degrees(np.arccos(np.clip(cosines.min(), -1.0, 1.0)))
    )
