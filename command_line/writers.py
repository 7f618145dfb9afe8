"""The scene as a file of each format."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..io_common.files.regular_files import open_file
from ..io_common.operators import preferences
from ..io_common.reports import Report
from ..io_common.results import ExportResult
from ..io_common.scene import axes
from ..io_common.scene.frame_plan import FrameOptions
from ..io_common.verification import Verify
from ..io_md2 import exporter as md2_exporter
from ..io_md2.format import FRAMES_PER_SECOND
from ..io_md2.format.games import game_named as md2_game_named
from ..io_md5 import exporter as md5_exporter
from ..io_md5.export_build import ModelOptions
from ..io_md5.export_camera import CameraExportOptions, export_camera
from ..io_md5.format.games import game_named as md5_game_named
from .settings import NO_ANIMATIONS, Settings
from .tracks import armature_and_actions, one_after_the_other, retime, side_by_side

if TYPE_CHECKING:
    from bpy.types import Action


@dataclass(frozen=True)
class Scene:
    """What the scene of Blender holds.

    Attributes:
        ending: of the file that it came from.
        scale: the factor of lengths that is still to be applied.
        sequences: the actions of the sequences of an MD2.
    """

    ending: str
    scale: float = 1.0
    sequences: list[Action] = field(default_factory=list)


_BLEND, _SEEKABLE = b"BLENDER", (0x8F92EAB1).to_bytes(4, "little")
# The header of the last block of a .blend in any version.
_LONGEST_END = 64
# Bytes; a disk with less room was most likely full.
_LITTLE_ROOM = 64 << 20

Writer = Callable[[Path, Scene, Settings, Report], list[Path]]


def _write_blend(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del scene, settings, report
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True, check_existing=False)
        is_whole = _is_whole_blend(target)
    except RuntimeError as error:
        # Blender removes a file that did not become whole, and then misses it.
        if not str(error).strip().endswith(os.strerror(errno.ENOENT)):
            raise
        is_whole = False
    if not is_whole:
        is_full = shutil.disk_usage(target.parent).free < _LITTLE_ROOM
        number = errno.ENOSPC if is_full else errno.EIO
        raise OSError(number, os.strerror(number), str(target))
    return [target]


def _is_whole_blend(path: Path) -> bool:
    """Whether a .blend has its end. On a full disk, 4.5 and later say that they saved a compressed one and did not.

    The last block of a .blend is called ENDB; a compressed one ends with the mark of Zstandard's seekable format.
    """
    with open_file(path) as file:
        start = file.read(len(_BLEND))
        file.seek(max(0, path.stat().st_size - _LONGEST_END))
        end = file.read()
    return b"ENDB" in end if start == _BLEND else end.endswith(_SEEKABLE)


def _write_md5(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    conversion = axes.to_file(scene.scale, "Y", "Z")
    if scene.ending == ".md5camera":
        camera = CameraExportOptions(conversion=conversion, verify=Verify(settings.verify))
        return _merge(export_camera(bpy.context, target, camera), report)
    game = md5_game_named(settings.game or preferences.md5_game())
    model = ModelOptions(conversion=conversion, game=game, verify=Verify(settings.verify))
    if scene.ending == ".md5anim":
        options = md5_exporter.ExportOptions(model, "ACTIVE")
        return _merge(md5_exporter.export_animations(bpy.context, target, options), report)
    # Which armature is the active one, nobody sees on a command line: several are refused.
    bpy.context.view_layer.objects.active = None
    _warn_of_frames(report)
    actions = "NONE" if settings.animations == NO_ANIMATIONS else "ALL"
    options = md5_exporter.ExportOptions(model, actions)
    return _merge(md5_exporter.export_mesh(bpy.context, target, options), report)


def _merge(result: ExportResult, report: Report) -> list[Path]:
    """The paths of an export, whose counts and warnings go into a report."""
    report.merge(result.report)
    return result.paths


def _write_md2(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    armature, actions = armature_and_actions()
    retime(actions, FRAMES_PER_SECOND)
    frames = "AUTO"
    if armature is not None and len(actions) > 1 and settings.animations != NO_ANIMATIONS:
        one_after_the_other(armature, actions)
        frames = "SCENE"
    options = md2_exporter.ExportOptions(
        frames=FrameOptions(frames),
        game=md2_game_named(settings.game or preferences.md2_game()),
        verify=Verify(settings.verify),
        conversion=axes.to_file(scene.scale, "Y", "Z"),
    )
    report.merge(md2_exporter.export_model(bpy.context, target, options).report)
    return [target]


def _write_glb(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del settings, report
    armature, actions = armature_and_actions()
    _retime_to_scene(actions)
    # Blender's exporter looks for several actions in the tracks.
    if armature is not None and len(actions) > 1:
        side_by_side(armature, actions, "OBJECT")
    if scene.sequences:
        (obj,) = bpy.context.view_layer.objects
        side_by_side(obj.data.shape_keys, scene.sequences, "KEY")
    with _enabled("io_scene_gltf2"), _silent():
        bpy.ops.export_scene.gltf(
            filepath=str(target), export_format="GLB", export_cameras=True, check_existing=False
        )
    return [target]


def _write_fbx(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del scene, settings, report
    armature, actions = armature_and_actions()
    _retime_to_scene(actions)
    # Where actions are not those of one armature, the scene as it plays is all that Blender's exporter can write.
    has_actions = armature is not None
    with _enabled("io_scene_fbx"), _silent():
        bpy.ops.export_scene.fbx(
            filepath=str(target),
            add_leaf_bones=False,
            bake_anim_use_all_actions=has_actions,
            bake_anim_use_nla_strips=has_actions,
            check_existing=False,
        )
    return [target]


WRITERS: dict[str, Writer] = {
    "blend": _write_blend,
    "md5": _write_md5,
    "md2": _write_md2,
    "glb": _write_glb,
    "fbx": _write_fbx,
}
"""For each format what writes the scene to a file; it returns all files that it wrote."""


def _warn_of_frames(report: Report) -> None:
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.data.shape_keys is not None:
            report.warn("MD5 moves joints only: the frames of shape keys are left out", obj.name)


def _retime_to_scene(actions: list[Action]) -> None:
    """One file has one rate for all its animations."""
    render = bpy.context.scene.render
    retime(actions, render.fps / render.fps_base)


@contextlib.contextmanager
def _enabled(addon: str) -> Iterator[None]:
    """Blender's own add-on, enabled; users may have disabled it."""
    import addon_utils

    _, was_enabled = addon_utils.check(addon)
    if not was_enabled:
        addon_utils.enable(addon)
    try:
        yield
    finally:
        if not was_enabled:
            addon_utils.disable(addon)


def _silent() -> contextlib.AbstractContextManager[object]:
    """Keeps what exporters print off the lines of this command."""
    return contextlib.redirect_stdout(io.StringIO())
