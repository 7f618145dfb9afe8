"""The findings of a game about a scene, with their objects in Blender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_blender import state
from ...io_blender.operators.game_check import BONES, FACES, VERTICES, LocatedFinding, Location
from ...io_blender.reports import Report, listing, progress
from ...io_blender.scene.mesh_data import faces_of_corners
from ...io_blender.verify_option import Verify
from ...io_common.counting import counted
from ...io_common.rules import Finding
from ...io_common.textures.search import Search
from ..format.check import check_animation, check_model
from ..format.games import PROFILES, Game, Target
from ..format.model import ANIMATION_SUFFIX
from ..importing.companions import Companion, find_companion
from ..importing.texture_rules import TEXTURE_RULES
from .build import Build, build
from .clips import Clip
from .exporter import ExportOptions
from .game import prepare
from .one_animation import placed
from .source import clips_by_file, find_source, require_meshes

if TYPE_CHECKING:
    from bpy.types import Context, Object


def find(
    context: Context, options: ExportOptions, *, path: Path | None = None, has_mesh: bool = True
) -> list[LocatedFinding]:
    """The findings of a game about what an export would write. Nothing is verified.

    Names that an export replaces are only warnings. `path` is the file that would be written; None for a file beside
    the .blend, with the name of the armature. A model there that the game would replace, such as the MDL with its name,
    has to have the same sequences. Without `has_mesh`, only animations would be written.

    Raises NothingToExportError if there is nothing to check.
    """
    # Warnings of the export itself are not findings.
    report = Report()
    model_options = replace(options.model, verify=Verify.NONE)
    game = model_options.game
    with state.temporary_object_mode(context):
        source = find_source(context, model_options.scope, report)
        if has_mesh:
            require_meshes(context, model_options.scope, source)
        path = path or _default_path(source.armature)
        clips = clips_by_file(context, source.armature, options.actions, path.parent, path.stem, report)
        with progress(len(source.meshes) + len(clips)) as progress_bar:
            built = build(
                context,
                source,
                model_options,
                clips,
                options.animation,
                report,
                progress_bar,
                writes_meshes=has_mesh,
            )
    model, animations = built.model, dict(built.animations)
    prepare(built, Target(game, make_names_safe=False), report)
    found = _findings(built, game, has_mesh=has_mesh)
    if model_options.make_names_safe:
        built.model, built.animations = model, animations
        prepare(built, Target(game), report)
        left = {(finding.code, subject) for subject, finding in _findings(built, game, has_mesh=has_mesh)}
        found = [
            (subject, finding if (finding.code, subject) in left else replace(finding, is_error=False))
            for subject, finding in found
        ]
    if Target(game).writing.animation_beside and source.armature is not None:
        companion = None
        if options.match_companion:
            search = Search(model_options.game_folders, TEXTURE_RULES)
            companion, _ = find_companion(path.with_suffix(ANIMATION_SUFFIX), search)
        found += [("", finding) for finding in _of_one_animation(clips, companion, options)]
    result = [_placed(finding, subjects, built) for finding, subjects in _grouped(found)]
    return sorted(result, key=lambda finding: not finding.is_error)


def _default_path(armature: Object | None) -> Path:
    """A file beside the .blend with the name of an armature."""
    folder = Path(bpy.path.abspath("//")) if bpy.data.filepath else Path()
    return folder / f"{armature.name if armature is not None else 'model'}{ANIMATION_SUFFIX}"


def _findings(built: Build, game: Game, *, has_mesh: bool) -> list[tuple[str, Finding]]:
    """Findings of the model, and those of each animation, with its name, that the model does not have as well."""
    found = []
    if has_mesh:
        animations = list(built.animations.values())
        of_model = check_model(built.model, game, has_animation=True, animations=animations)
        found = [("", finding) for finding in of_model]
    told = {finding.text for _, finding in found}
    for path, animation in built.animations.items():
        findings = check_animation(animation, built.model.joints, game, scales=built.scales.get(path))
        found += [(path.stem, finding) for finding in findings if finding.text not in told]
    return found


def _of_one_animation(
    clips: dict[Path, Clip], companion: Companion | None, options: ExportOptions
) -> Iterator[Finding]:
    """The findings about all clips as one animation, for a game that takes one.

    `clips` are by the file that each would have; `companion` is None if the replaced model is unknown.
    """
    game = options.model.game
    order = list(clips)
    if companion is not None and companion.game is game and clips:
        order, problems, _ = placed(clips, companion, options.animation)
        for problem in problems:
            yield Finding(
                "companion_frames", True,
                f"{problem}; the game counts the frames of {companion.name}: change the action",
                engine=PROFILES[game].engines, remedy="change the action",
            )  # fmt: skip
    total = sum(len(clips[key].samples(options.animation)[0]) for key in order)
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
