"""The findings of a game about a scene, with their objects in Blender."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..io_common.operators.game_check import (
    BONES,
    FACES,
    VERTICES,
    LocatedFinding,
    Location,
    faces_of_corners,
)
from ..io_common.reports import Report, progress
from ..io_common.scene import state
from ..io_common.scene.objects import Scope
from ..io_common.verification import Verify
from .clips import AnimationOptions
from .export_build import Build, ModelOptions, build
from .export_game import prepare
from .export_source import clips_by_file, find_source
from .format.check import Finding, check_animation, check_model
from .format.games import Game, Target

if TYPE_CHECKING:
    from bpy.types import Context


def find(
    context: Context, game: Game, *, make_names_safe: bool, folder: Path, game_folders: tuple[str, ...]
) -> list[LocatedFinding]:
    """The findings of a game about the active armature, its meshes and all its actions.

    Args:
        context: of the scene and view layer.
        game: the game to check for.
        make_names_safe: names that an export replaces are only warnings.
        folder: the folder of the animations if they were exported.
        game_folders: the user's, to which the paths of images are relative.

    Raises:
        NothingToExportError: there is nothing to check.
    """
    # Warnings of the export itself are not findings.
    report = Report()
    with state.temporary_object_mode(context):
        source = find_source(context, Scope(), report)
        clips = clips_by_file(context, source.armature, "ALL", folder, "", report)
        options = ModelOptions(game=game, verify=Verify.NONE, game_folders=game_folders)
        with progress(len(source.meshes) + len(clips)) as progress_bar:
            built = build(context, source, options, clips, AnimationOptions(), report, progress_bar)
    model, animations = built.model, dict(built.animations)
    prepare(built, Target(game, make_names_safe=False), report)
    found = _findings(built, game)
    if make_names_safe:
        built.model, built.animations = model, animations
        prepare(built, Target(game), report)
        left = {(finding.code, subject) for subject, finding in _findings(built, game)}
        found = [
            (subject, finding if (finding.code, subject) in left else replace(finding, is_error=False))
            for subject, finding in found
        ]
    result = [_placed(finding, subject, built) for subject, finding in found]
    return sorted(result, key=lambda finding: not finding.is_error)


def _findings(built: Build, game: Game) -> list[tuple[str, Finding]]:
    """Findings of the model, and of each animation with its name."""
    found = [("", finding) for finding in check_model(built.model, game, has_animation=True)]
    for path, animation in built.animations.items():
        findings = check_animation(animation, built.model.joints, game)
        found += [(path.stem, finding) for finding in findings]
    return found


def _placed(finding: Finding, subject: str, built: Build) -> LocatedFinding:
    """A finding with its objects in Blender."""
    text = f"{subject}: {finding.text}" if subject else finding.text
    return LocatedFinding(finding.code, finding.is_error, text, _location(finding, built))


def _location(finding: Finding, built: Build) -> Location:
    skeleton = built.skeleton
    if finding.joints and skeleton.armature is not None:
        bones = skeleton.bones[np.array(finding.joints)]
        return Location(
            skeleton.armature, BONES, tuple(skeleton.rig.bone_names[bone] for bone in bones if bone >= 0)
        )
    if not 0 <= finding.mesh < len(built.parts):
        return Location()
    obj, block = built.parts[finding.mesh]
    if block.vertex_count != len(obj.data.vertices):
        # Modifiers changed the number of vertices.
        return Location(obj)
    if finding.vertices:
        vertices = np.unique(block.vertices[np.array(finding.vertices)])
        return Location(obj, VERTICES, tuple(vertices.tolist()))
    if finding.triangles:
        corners = block.corners[np.array(finding.triangles), 0]
        return Location(obj, FACES, tuple(faces_of_corners(obj.data, corners).tolist()))
    return Location(obj)
