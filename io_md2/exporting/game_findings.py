"""Check for Game: the findings about a scene as an MD2 model, and where they are in Blender."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...io_blender import state
from ...io_blender.operators.game_check import FACES, VERTICES, LocatedFinding, Location
from ...io_blender.reports import Report
from ...io_blender.scene.mesh_data import faces_of_corners
from ...io_blender.verification import Verify
from ..format import Finding, check_model
from .exporter import Build, ExportOptions, build_model

if TYPE_CHECKING:
    from bpy.types import Context

    from .topology import Part


def find(context: Context, options: ExportOptions) -> list[LocatedFinding]:
    """The findings of a game about the model that an export would write. Nothing is verified.

    Raises Md2Error if the format cannot hold the model, and NothingToExportError if there is nothing to check.
    """
    # Warnings of the export itself are not findings of the game.
    with state.temporary_object_mode(context):
        built = build_model(context, replace(options, verify=Verify.NONE), Report())
    findings = check_model(built.model, options.game, built.source_counts)
    return [
        LocatedFinding(finding.code, finding.is_error, finding.text, _location(finding, built))
        for finding in findings
    ]


def _location(finding: Finding, built: Build) -> Location:
    """The object with most of the elements of a finding, and these elements."""
    best = Location(built.parts[0].obj if len(built.parts) == 1 else None)
    if finding.vertices:
        firsts = np.cumsum([0, *(len(part.used) for part in built.parts)])
        chosen = np.array(finding.vertices)
        for part, first in zip(built.parts, firsts[:-1].tolist(), strict=True):
            own = chosen[(chosen >= first) & (chosen < first + len(part.used))] - first
            best = _better(best, part, VERTICES, np.unique(part.used[own]))
    elif finding.triangles:
        firsts = np.cumsum([0, *(len(part.triangles) for part in built.parts)])
        chosen = built.triangles[np.array(finding.triangles)]
        for part, first in zip(built.parts, firsts[:-1].tolist(), strict=True):
            own = chosen[(chosen >= first) & (chosen < first + len(part.triangles))] - first
            best = _better(best, part, FACES, part.loops[own, 0])
    return best


def _better(best: Location, part: Part, kind: str, elements: np.ndarray) -> Location:
    """A location in a part, if it has more elements; the object alone if modifiers changed the number of vertices."""
    if len(elements) <= len(best.elements):
        return best
    if part.vertex_count != len(part.obj.data.vertices):
        return Location(part.obj)
    if kind == FACES:
        elements = faces_of_corners(part.obj.data, elements)
    return Location(part.obj, kind, tuple(elements.tolist()))
