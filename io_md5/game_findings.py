"""The findings of a game about a scene, with their objects in Blender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..io_common.counting import counted
from ..io_common.operators.game_check import (
    BONES,
    FACES,
    VERTICES,
    LocatedFinding,
    Location,
    faces_of_corners,
)
from ..io_common.reports import Report, listing, progress
from ..io_common.scene import state
from ..io_common.scene.objects import Scope
from ..io_common.textures.search import Search
from ..io_common.verification import Verify
from .clips import AnimationOptions, Clip
from .companions import Companion, find_companion
from .export_build import Build, ModelOptions, build
from .export_game import prepare
from .export_source import clips_by_file, find_source
from .format.check import Finding, check_animation, check_model
from .format.games import PROFILES, Game, Target
from .format.suffixes import ANIMATION_SUFFIX
from .one_animation import placed
from .texture_rules import TEXTURE_RULES

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
        folder: the folder of the animations if they were exported. A model there that the game would replace by the
            armature, such as the MDL with its name, has to have the same sequences.
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
    if Target(game).writing.animation_beside and source.armature is not None:
        path = folder / f"{source.armature.name}{ANIMATION_SUFFIX}"
        companion, _ = find_companion(path, Search(game_folders, TEXTURE_RULES))
        found += [("", finding) for finding in _of_one_animation(clips, companion, game)]
    result = [_placed(finding, subjects, built) for finding, subjects in _grouped(found)]
    return sorted(result, key=lambda finding: not finding.is_error)


def _findings(built: Build, game: Game) -> list[tuple[str, Finding]]:
    """Findings of the model, and of each animation with its name."""
    found = [("", finding) for finding in check_model(built.model, game, has_animation=True)]
    for path, animation in built.animations.items():
        findings = check_animation(animation, built.model.joints, game)
        found += [(path.stem, finding) for finding in findings]
    return found


def _of_one_animation(clips: dict[Path, Clip], companion: Companion | None, game: Game) -> Iterator[Finding]:
    """The findings about all clips as one animation.

    Args:
        clips: all clips of the armature.
        companion: the model that the game replaces; None if it is unknown.
        game: that takes one animation.
    """
    options = AnimationOptions()
    order = list(clips)
    if companion is not None and companion.game is game and clips:
        order, problems, _ = placed(clips, companion, options)
        for problem in problems:
            yield Finding(
                "companion_frames", True,
                f"{problem}; the game counts the frames of {companion.name}: change the action",
                engine=PROFILES[game].engines, remedy="change the action",
            )  # fmt: skip
    total = sum(len(clips[key].samples(options)[0]) for key in order)
    rule = next((rule for rule in PROFILES[game].rules if rule.code == "frame_count"), None)
    if rule is not None and total > rule.limit and len(order) > 1:
        yield rule.finding(
            f"{counted(total, 'frames')} in all actions together",
            total,
            remedy="export fewer or shorter actions",
        )


def _grouped(found: list[tuple[str, Finding]]) -> list[tuple[Finding, list[str]]]:
    """Findings with the animations that they are about; the same one in several animations is one finding."""
    groups: dict[tuple[object, ...], tuple[Finding, list[str]]] = {}
    for subject, finding in found:
        key = (finding.code, finding.is_error, finding.text, bool(subject))
        _, subjects = groups.setdefault(key, (finding, []))
        if subject:
            subjects.append(subject)
    return list(groups.values())


def _placed(finding: Finding, subjects: list[str], built: Build) -> LocatedFinding:
    """A finding with its objects in Blender."""
    text = f"{listing(subjects, 3)}: {finding.text}" if subjects else finding.text
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
