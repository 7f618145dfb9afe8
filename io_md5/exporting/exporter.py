"""The export of meshes and animations: everything is built, verified and checked before the first file is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...io_blender import state
from ...io_blender.reports import Report, kept_on_failure, progress
from ...io_blender.results import ExportResult
from ...io_blender.scene.objects import NothingToExportError, warn_of_left_out
from ...io_blender.validation import raise_all
from ...io_common.files import atomic
from ...io_common.textures.search import Search
from ..format import Md5Error, format_animation, format_mesh
from ..format.check import check_animation, check_model
from ..format.model import ANIMATION_SUFFIX
from ..importing.companions import Companion, find_companion
from ..importing.texture_rules import TEXTURE_RULES
from .build import Build, ModelOptions, build
from .clips import AnimationOptions
from .game import animation_beside, prepare, scale_files, with_object_name
from .game_names import tell_names
from .one_animation import arrange, join
from .source import (
    clips_by_file,
    find_source,
    require_meshes,
    warn_of_file_names,
    warn_of_hidden,
    why_without_meshes,
)
from .unfit_files import require_own_files, warn_of_animations, warn_of_meshes

if TYPE_CHECKING:
    from bpy.types import Context


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export of meshes or animations.

    Attributes:
        model: of the model.
        actions: which animations: 'NONE' (meshes only), 'ACTIVE', 'ALL', 'LIST' (those that are checked in the list
            of the armature) or 'SCENE'.
        animation: of the animations.
        match_companion: in games that replace an MD2 or MDL, the animations have to be its sequences.
    """

    model: ModelOptions
    actions: str
    animation: AnimationOptions = field(default_factory=AnimationOptions)
    match_companion: bool = True


def export_mesh(context: Context, path: Path, options: ExportOptions) -> ExportResult:
    """Writes an md5mesh file, and on request animations beside it.

    Raises Md5Error if the game would refuse the result and NothingToExportError if there is nothing to export, before
    anything is written. Raises OSError if a file cannot be written; existing files are unchanged.
    """
    report = Report()
    with kept_on_failure(report):
        return _export_mesh(context, path, options, report)


def _export_mesh(context: Context, path: Path, options: ExportOptions, report: Report) -> ExportResult:
    model_options = options.model
    with state.temporary_object_mode(context):
        source = find_source(context, model_options.scope, report)
        require_meshes(context, model_options.scope, source)
        warn_of_left_out(context, model_options.scope, report)
        warn_of_hidden(context, model_options.scope, source, report)
        clips = clips_by_file(context, source.armature, options.actions, path.parent, path.stem, report)
        beside = path.with_suffix(ANIMATION_SUFFIX)
        companion = _companion(beside, options, report)
        if model_options.target.writing.animation_beside and clips:
            clips = arrange(clips, beside, companion, options.animation, report)
        elif options.actions in ("ALL", "ACTIVE"):
            warn_of_file_names(clips, report)
        with progress(len(source.meshes) + len(clips) + 1) as progress_bar:
            built = build(
                context,
                source,
                model_options,
                clips,
                options.animation,
                report,
                progress_bar,
                writes_meshes=True,
            )
            if model_options.target.writing.animation_beside and clips:
                join(built, beside, report)
            prepare(built, model_options.target, report)
            model = built.model
            _raise_findings(built, model_options, report, mesh=path)
            files = {path: format_mesh(model)}
            files |= {target: format_animation(one) for target, one in built.animations.items()}
            files |= scale_files(built, model_options.target, report)
            files |= animation_beside(path, model, model_options.target, files, report)
            told = {*files, beside} if model_options.target.writing.animation_beside else files
            require_own_files(built.animations, model.joints, path)
            warn_of_animations(path, model.joints, told, report)
            # The model last, so that its animations exist as soon as it does.
            atomic.write_files(dict(reversed(files.items())))
            progress_bar.step()
    tell_names(path, model, model_options.game, companion, report)
    report.count("joints", len(model.joints))
    report.count("meshes", len(model.meshes))
    report.count("vertices", model.vertex_count)
    report.count("triangles", sum(len(mesh.triangles) for mesh in model.meshes))
    return ExportResult(list(files), report)


def export_animations(context: Context, path: Path, options: ExportOptions) -> ExportResult:
    """Writes md5anim files: one at `path`, or with 'ALL' and 'LIST' one for each animation in the folder of
    `path`. Games that take only one get all of them in one, at `path`.

    The meshes are used for the bounds and to verify the poses, but not written. For the arguments and errors see
    `export_mesh`.
    """
    report = Report()
    with kept_on_failure(report):
        return _export_animations(context, path, options, report)


def _export_animations(context: Context, path: Path, options: ExportOptions, report: Report) -> ExportResult:
    model_options = options.model
    with state.temporary_object_mode(context):
        source = find_source(context, model_options.scope, report)
        if source.armature is None:
            raise NothingToExportError(
                "there is no armature to export, and an MD5 animation is the motion of bones. To export the motion of "
                "objects, parent them to the bones of an armature"
            )
        if not source.meshes:
            reasons = why_without_meshes(context, model_options.scope, source) or [
                f"{source.armature.name} moves none. Import the md5mesh too, so that games draw the model when only a "
                "part of it is in view"
            ]
            report.warn(f"the bounds are those of the joints alone, without meshes: {'; '.join(reasons)}")
        clip_report = Report()
        clips = clips_by_file(context, source.armature, options.actions, path.parent, path.stem, clip_report)
        if not clips:
            raise NothingToExportError("; ".join(clip_report.warnings))
        report.merge(clip_report)
        is_one = model_options.target.writing.animation_beside
        if is_one:
            clips = arrange(clips, path, _companion(path, options, report), options.animation, report)
        elif options.actions == "ALL":
            warn_of_file_names(clips, report)
        elif options.actions != "LIST":
            clips = {path: next(iter(clips.values()))}
        with progress(len(source.meshes) + len(clips)) as progress_bar:
            built = build(
                context,
                source,
                model_options,
                clips,
                options.animation,
                report,
                progress_bar,
                writes_meshes=False,
            )
            if is_one:
                join(built, path, report)
            prepare(built, model_options.target, report)
            _raise_findings(built, model_options, report)
            files = {target: format_animation(one) for target, one in built.animations.items()}
            files |= scale_files(built, model_options.target, report)
            require_own_files(built.animations, built.model.joints, None)
            warn_of_meshes(next(iter(built.animations)), built.model.joints, report)
            atomic.write_files(files)
    return ExportResult(list(files), report)


def _companion(path: Path, options: ExportOptions, report: Report) -> Companion | None:
    """The model that the game replaces by the animation at `path`, if the export has to fit it."""
    target = options.model.target
    if not target.writing.animation_beside or not options.match_companion:
        return None
    companion, problem = find_companion(path, Search(options.model.game_folders, TEXTURE_RULES))
    if problem:
        report.warn(f"its sequences are not compared: {problem}")
    return companion if companion is not None and companion.game is target.game else None


def _raise_findings(built: Build, options: ModelOptions, report: Report, *, mesh: Path | None = None) -> None:
    """Checks all files before any is written: warnings are reported, and all errors are raised at once, as an Md5Error.

    `mesh` is the file of the mesh; None if only animations are written.
    """
    findings = {}
    if mesh is not None:
        animations = list(built.animations.values())
        found = check_model(built.model, options.game, has_animation=True, animations=animations)
        findings[mesh.name] = [with_object_name(one, built) for one in found]
    for path, animation in built.animations.items():
        findings[path.name] = check_animation(
            animation, built.model.joints, options.game, scales=built.scales.get(path)
        )
    raise_all(findings, Md5Error, report)
