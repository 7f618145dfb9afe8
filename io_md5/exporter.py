"""The scene into files: everything is built, verified and checked before the first file is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..io_common.files import atomic
from ..io_common.reports import Report, progress
from ..io_common.scene import state
from ..io_common.scene.objects import NothingToExportError
from ..io_common.validation import raise_errors
from .building import Build, ModelOptions, build
from .clips import AnimationOptions
from .export_game import animation_beside, prepare
from .export_source import clips_by_file, find_source
from .format import Md5Error, format_animation, format_mesh
from .format.check import check_animation, check_model
from .importer import ANIMATION_SUFFIX

if TYPE_CHECKING:
    from bpy.types import Context


def export_model(
    context: Context,
    path: Path,
    options: ModelOptions,
    actions: str,
    animation_options: AnimationOptions,
    report: Report,
) -> list[Path]:
    """Writes an md5mesh file, and on request animations beside it.

    Args:
        context: of the scene and view layer.
        path: the md5mesh file.
        options: how the model is exported.
        actions: 'NONE', 'ACTIVE', 'ALL' or 'SCENE'.
        animation_options: how animations are exported.
        report: takes counts and warnings.

    Returns:
        The files that were written.

    Raises:
        Md5Error: a game would refuse the result; nothing was written.
        NothingToExportError: there is nothing to export; nothing was written.
        OSError: a file cannot be written; it is as it was.
    """
    with state.temporary_object_mode(context):
        source = find_source(context, options.scope, report)
        clips = clips_by_file(context, source.armature, actions, path.parent, path.stem, report)
        with progress(len(source.meshes) + len(clips) + 1) as shown:
            if options.target.writing.animation_beside and len(clips) == 1:
                clips = {path.with_suffix(ANIMATION_SUFFIX): clip for clip in clips.values()}
            built = build(context, source, options, clips, animation_options, report, shown)
            prepare(built, options.target, report)
            model = built.model
            raise_errors(check_model(model, options.game, has_animation=True), Md5Error, path.name, report)
            files = {path: format_mesh(model)}
            files |= _format_animations(built, options, report)
            files |= animation_beside(path, model, options.target, files, report)
            # The model last: whoever sees it finds its animations.
            atomic.write_files(dict(reversed(files.items())))
            shown.step()
    report.count("joints", len(model.joints))
    report.count("meshes", len(model.meshes))
    report.count("vertices", model.vertex_count)
    report.count("triangles", sum(len(mesh.triangles) for mesh in model.meshes))
    return list(files)


def export_animations(
    context: Context,
    path: Path,
    options: ModelOptions,
    actions: str,
    animation_options: AnimationOptions,
    report: Report,
) -> list[Path]:
    """Writes md5anim files: one at `path`, or for all actions one each, named after it, in the folder of `path`.

    The meshes are used for the bounds and to verify the poses, but not written. For the arguments and errors see
    `export_model`.
    """
    with state.temporary_object_mode(context):
        source = find_source(context, options.scope, report)
        if source.armature is None:
            raise NothingToExportError(
                "there is no armature, and an animation is the motion of its bones. To export the motion of objects, "
                "parent them to the bones of an armature"
            )
        told = Report()
        clips = clips_by_file(context, source.armature, actions, path.parent, path.stem, told)
        if not clips:
            raise NothingToExportError("; ".join(told.warnings))
        report.merge(told)
        if actions != "ALL":
            clips = {path: next(iter(clips.values()))}
        with progress(len(source.meshes) + len(clips)) as shown:
            built = build(context, source, options, clips, animation_options, report, shown)
            prepare(built, options.target, report)
            files = _format_animations(built, options, report)
            atomic.write_files(files)
    return list(files)


def _format_animations(built: Build, options: ModelOptions, report: Report) -> dict[Path, bytes]:
    """The bytes of the animation files.

    Raises:
        Md5Error: a game would refuse one of them.
    """
    files = {}
    for path, animation in built.animations.items():
        raise_errors(
            check_animation(animation, built.model.joints, options.game), Md5Error, path.name, report
        )
        files[path] = format_animation(animation)
    return files
