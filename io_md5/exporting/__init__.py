"""The export of meshes and animations: everything is built, verified and checked before the first file is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from bpy.types import Context

from ...io_blender import state
from ...io_blender.reports import ExportResult, Job, Progress, Report, kept_on_failure, listing, raise_all
from ...io_blender.scene.objects import NothingToExportError
from ...io_blender.skeletal.exporting.build import Build, Builder
from ...io_blender.skeletal.exporting.clips import Clip, clips_by_file, warn_of_file_names
from ...io_blender.skeletal.exporting.source import Source, find_model, find_source, why_without_meshes
from ...io_common.files import write_files
from ...io_common.game_tree.archives import listed_files
from ..format import AnimationHeader, Joints, Md5Error, format_mesh
from ..format.files import FORMAT
from ..format.model import ANIMATION_SUFFIX, MESH_SUFFIX
from . import game
from .game import ExportOptions

_Skeleton = tuple[list[str], list[int]]  # the names and parents of joints


def export_mesh(context: Context, path: Path, options: ExportOptions) -> Job[ExportResult]:
    """Writes a model and its animations; raises Md5Error or NothingToExportError before it writes."""
    # Raises OSError if a file cannot be written; existing files are unchanged.
    report = Report()
    model_options = options.model
    with kept_on_failure(report), state.temporary_object_mode(context):
        source = find_model(context, model_options.scope, report, model_options)
        animation_path = path.with_suffix(ANIMATION_SUFFIX)
        clips = clips_by_file(context, source, options.actions, animation_path, report)
        companion = game.companion_of(animation_path, options, report)
        if model_options.writing.needs_animation and clips:
            clips = game.arrange(clips, animation_path, companion, options.animation, report)
        elif options.actions in ("ALL", "ACTIVE"):
            warn_of_file_names(clips, report)
        built = yield from _build_checked(context, source, clips, animation_path, options, report, mesh=path)
        model = built.model
        files = {path: format_mesh(model)} | game.animation_files(built, model_options.game, report)
        files |= game.rest_animation(path, built, model_options, files, report)
        expected = {*files, animation_path} if model_options.writing.needs_animation else files
        _require_files_of_model(built.animations, _skeleton(model.joints), path)
        _warn_of_animations(path, _skeleton(model.joints), expected, report)
        # The model last, so that its animations exist as soon as it does.
        write_files(dict(reversed(files.items())))
        game.hint_names(path, model, model_options.game, companion, report)
    return ExportResult(list(files), report)


def export_animations(context: Context, path: Path, options: ExportOptions) -> Job[ExportResult]:
    """Writes md5anim files: at `path`, or with 'ALL' and 'LIST' one for each animation in its folder."""
    # Games that take only one animation get all in one, at `path`. The meshes are used for the bounds and to verify the
    # poses, but not written. Raises what `export_mesh` raises.
    report = Report()
    model_options = options.model
    with kept_on_failure(report), state.temporary_object_mode(context):
        source = find_source(context, model_options.scope, report, model_options)
        if source.armature is None and not source.joint_objects:
            raise NothingToExportError(
                "there is no armature to export, and an MD5 animation is the motion of bones. To export the motion of "
                "objects, turn on Objects as Joints"
            )
        if not source.meshes:
            reasons = why_without_meshes(context, model_options.scope, source) or [
                "the armature moves none. Import the md5mesh too, so that games draw the model when only a "
                "part of it is in view"
            ]
            report.warn(f"the bounds are those of the joints alone, without meshes: {'; '.join(reasons)}")
        clip_report = Report()
        clips = clips_by_file(context, source, options.actions, path, clip_report)
        if not clips:
            raise NothingToExportError("; ".join(clip_report.warnings))
        report.merge(clip_report)
        if model_options.writing.needs_animation:
            clips = game.arrange(clips, path, game.companion_of(path, options, report), options.animation, report)
        elif options.actions == "ALL":
            warn_of_file_names(clips, report)
        elif options.actions != "LIST":
            clips = {path: next(iter(clips.values()))}
        built = yield from _build_checked(context, source, clips, path, options, report)
        files = game.animation_files(built, model_options.game, report)
        _require_files_of_model(built.animations, _skeleton(built.model.joints), None)
        _warn_of_meshes(next(iter(built.animations)), _skeleton(built.model.joints), report)
        write_files(files)
    return ExportResult(list(files), report)


def _build_checked(
    context: Context,
    source: Source,
    clips: dict[Path, Clip],
    joined: Path,
    options: ExportOptions,
    report: Report,
    *,
    mesh: Path | None = None,
) -> Job[Build]:
    """What is written; raises all that the game refuses at once, as an Md5Error."""
    # Without `mesh`, the model is not. Games that take only one animation get it at `joined`.
    progress = Progress(len(source.meshes) + len(clips))
    is_written = mesh is not None
    builder = Builder(context, source, options.model, options.animation, report, progress, writes_meshes=is_written)
    built = yield from builder.build(clips)
    if options.model.writing.needs_animation and clips:
        game.join(built, joined, report)
    game.prepare(built, options.model.game, report, make_names_safe=options.model.make_names_safe)
    by_file = game.find_by_file(built, options.model.game, mesh)
    findings = {path.name: [game.with_object_name(one, built) for one in found] for path, found in by_file.items()}
    raise_all(findings, Md5Error, report)
    return built


def _require_files_of_model(animations: Iterable[Path], new: _Skeleton, mesh: Path | None) -> None:
    """Raises Md5Error if an animation of another model would be replaced."""
    # An animation that fits the mesh that is replaced with it is of the same model. So is one that no mesh of the
    # folder fits, if one fits the export: the mesh was exported first. `mesh` is None if only animations are written.
    for path in animations:
        old = _read_skeleton(path) if path.exists() else None
        if old is None or old == new or (mesh is not None and _read_skeleton(mesh) == old):
            continue
        meshes = _skeletons(path.parent, MESH_SUFFIX).values()
        if new not in meshes or old in meshes:
            raise Md5Error(
                f"the animation {path.name} in this folder has other joints: it is of another model, or from "
                "before the skeleton was changed. Choose another folder or name, or delete it",
                path=str(path),
            )


def _warn_of_meshes(animation: Path, new: _Skeleton, report: Report) -> None:
    """Warns if there are meshes in the folder of an animation, and none has the joints that are written."""
    found = _skeletons(animation.parent, MESH_SUFFIX)
    if found and new not in found.values():
        report.warn(
            f"games refuse it with {listing([path.name for path in found])} in its folder, as the joints differ: "
            "export both from the same armature, with the same Game, Deform Bones Only and Add Root Bone",
            animation.name,
            is_important=True,
        )


def _warn_of_animations(mesh: Path, new: _Skeleton, others: Collection[Path], report: Report) -> None:
    """Warns of animations beside a mesh that fit it before, and will not when it is replaced."""
    # The mesh need not exist. `others` are files that are written or warned of already.
    old = _read_skeleton(mesh)
    if old is None or old == new:
        return
    found = _skeletons(mesh.parent, ANIMATION_SUFFIX, others)
    unfit = [path.name for path, skeleton in found.items() if skeleton == old]
    if unfit:
        report.warn(
            f"its joints have changed, so games refuse the animations {listing(unfit)} with it: export them again",
            mesh.name,
            is_important=True,
        )


def _skeletons(folder: Path, suffix: str, others: Collection[Path] = ()) -> dict[Path, _Skeleton]:
    """The skeletons of the files of a folder that can be read, without those of some others."""
    paths = [path for path in listed_files(folder, suffix) if path not in others]
    return {path: skeleton for path in paths if (skeleton := _read_skeleton(path)) is not None}


def _read_skeleton(path: Path) -> _Skeleton | None:
    """The skeleton of a mesh or animation file; None if it cannot be read."""
    try:
        is_animation = path.suffix.lower() == ANIMATION_SUFFIX
        return _skeleton(FORMAT.read_header(path) if is_animation else FORMAT.read_joints(path))
    except (Md5Error, OSError):
        return None


def _skeleton(joints: Joints | AnimationHeader) -> _Skeleton:
    return list(joints.names), joints.parents.tolist()
