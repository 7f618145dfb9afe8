"""The scene as a file of each format."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..io_common import axes, versions
from ..io_common.reports import Report
from ..io_md2 import exporter as md2_exporter
from ..io_md2.format import QUAKE2_LIMITS
from ..io_md2.frame_plan import FrameOptions
from ..io_md5 import exporter as md5_exporter
from ..io_md5.export_anim import AnimationOptions, fitting_actions
from ..io_md5.export_camera import CameraExportOptions, export_camera
from .settings import NO_ANIMATIONS, Settings

if TYPE_CHECKING:
    from bpy.types import Action, Object


@dataclass(frozen=True)
class Scene:
    """What the scene of Blender holds.

    Attributes:
        ending: of the file that it came from.
        scale: the factor of lengths that is still to be applied.
    """

    ending: str
    scale: float


Writer = Callable[[Path, Scene, Settings, Report], list[Path]]


def _write_blend(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del scene, settings, report
    with _unfinished(target) as path:
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False)
    return [target]


def _write_md5(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    conversion = axes.exporting(scene.scale, "Y", "Z")
    if scene.ending == ".md5camera":
        options = CameraExportOptions(conversion=conversion)
        for text in export_camera(bpy.context, target, options).warnings:
            report.warn(text)
        return [target]
    model = md5_exporter.ModelOptions(conversion=conversion)
    if scene.ending == ".md5anim":
        return md5_exporter.export_animations(
            bpy.context, target, model, "ACTIVE", AnimationOptions(), report
        )
    _warn_of_frames(report)
    actions = "NONE" if settings.animations == NO_ANIMATIONS else "ALL"
    return md5_exporter.export_model(bpy.context, target, model, actions, AnimationOptions(), report)


def _write_md2(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    armature, actions = _armature_and_actions()
    frames = "AUTO"
    if armature is not None and len(actions) > 1 and settings.animations != NO_ANIMATIONS:
        _one_after_the_other(armature, actions)
        frames = "SCENE"
    options = md2_exporter.ExportOptions(
        frames=FrameOptions(frames),
        limits=QUAKE2_LIMITS if settings.use_limits else None,
        conversion=axes.exporting(scene.scale, "Y", "Z"),
    )
    md2_exporter.export_file(bpy.context, target, options, report)
    return [target]


def _write_glb(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del scene, settings, report
    armature, actions = _armature_and_actions()
    if armature is not None and len(actions) > 1:
        # The exporter of Blender looks for actions in the tracks.
        _side_by_side(armature, actions)
    with _unfinished(target) as path, _enabled("io_scene_gltf2"), _silent():
        bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLB", check_existing=False)
    return [target]


def _write_fbx(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del scene, settings, report
    with _unfinished(target) as path, _enabled("io_scene_fbx"), _silent():
        bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False, check_existing=False)
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
    keyed = [obj.name for obj in bpy.data.objects if obj.type == "MESH" and obj.data.shape_keys is not None]
    for name in keyed:
        report.warn("MD5 moves joints only: the frames of shape keys are left out", name)


def _armature_and_actions() -> tuple[Object | None, list[Action]]:
    """The only armature with the actions that move its bones."""
    armatures = [obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"]
    if len(armatures) != 1:
        return None, []
    return armatures[0], fitting_actions(armatures[0])


def _side_by_side(armature: Object, actions: list[Action]) -> None:
    """Each action in a track of its own, in its own place."""
    for action in actions:
        _add_strip(armature, action, round(action.frame_range[0]))
    versions.assign_action(armature.animation_data, None, "OBJECT")


def _one_after_the_other(armature: Object, actions: list[Action]) -> None:
    """The actions in a row over the range of the scene, a marker at the beginning of each."""
    scene = bpy.context.scene
    scene.timeline_markers.clear()
    start = 0
    for action in actions:
        _add_strip(armature, action, start)
        scene.timeline_markers.new(action.name, frame=start)
        start += round(action.frame_range[1] - action.frame_range[0]) + 1
    versions.assign_action(armature.animation_data, None, "OBJECT")
    scene.frame_start, scene.frame_end = 0, start - 1


def _add_strip(armature: Object, action: Action, start: int) -> None:
    track = armature.animation_data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, start, action)
    versions.assign_slot(strip, action, "OBJECT")
    # What plays in a row must not hold on when the next one begins.
    strip.extrapolation = "NOTHING"


@contextlib.contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """A path to write to; what is there at the end becomes the target, which is whole or not there at all."""
    path = target.with_name(f".{target.stem}.part{target.suffix}")
    try:
        yield path
        os.replace(path, target)
    finally:
        path.unlink(missing_ok=True)


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
