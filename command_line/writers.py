"""Writers of the scene, one for each output format."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..families import FAMILIES
from ..io_blender import versions
from ..io_blender.clips.actions import suitable_actions
from ..io_blender.options import NO_ANIMATIONS, Scene, Settings
from ..io_blender.reports import Report
from ..io_blender.state import frame_rate
from ..io_common.family import Family
from ..io_common.files import open_file
from .tasks import ASSETS, FAMILY_FORMATS

BLENDERS_EXPORTERS = ("glb", "fbx")  # the formats that Blender's own exporters write, which many animations make slow
_BLEND_MAGIC, _ZSTD_SEEKABLE_MAGIC = b"BLENDER", (0x8F92EAB1).to_bytes(4, "little")
_END_SIZE = 64  # bytes that hold the header of the last block of a .blend file in any version
_LOW_DISK_SPACE = 64 << 20  # bytes; with less free space, a failed write was most likely due to a full disk


def _write_blend(
    target: Path, _scene: Scene, _settings: Settings, _report: Report, *, compress: bool = False
) -> list[Path]:
    # The file is written to a temporary folder in the folder that it will be in.
    _make_paths_relative(target.parent.parent)
    # Blender would make an image of the file for the file manager, and store it in the user's home folder.
    filepaths = bpy.context.preferences.filepaths
    preview, filepaths.file_preview_type = filepaths.file_preview_type, "NONE"
    try:
        bpy.ops.wm.save_as_mainfile(
            filepath=str(target), copy=True, check_existing=False, relative_remap=False, compress=compress
        )
        is_complete = _is_complete_blend(target)
    except RuntimeError as error:
        # Blender removes an incomplete file, and then reports that it does not exist.
        if not str(error).strip().endswith(os.strerror(errno.ENOENT)):
            raise
        is_complete = False
    finally:
        filepaths.file_preview_type = preview
    if not is_complete:
        is_full = shutil.disk_usage(target.parent).free < _LOW_DISK_SPACE
        number = errno.ENOSPC if is_full else errno.EIO
        raise OSError(number, os.strerror(number), str(target))
    return [target]


def _make_paths_relative(folder: Path) -> None:
    """Makes the paths of images relative to the folder of a .blend file, as Blender does when it saves a new one."""
    for image in bpy.data.images:
        path = image.filepath_raw
        if os.path.isabs(path) and not path.startswith("//"):
            # On Windows there is none to another drive.
            with contextlib.suppress(ValueError):
                image.filepath_raw = bpy.path.relpath(path, start=os.path.abspath(folder))


def _is_complete_blend(path: Path) -> bool:
    """Whether a .blend file ends with ENDB, or if compressed with the magic number of the seekable format."""
    # On a full disk, Blender 4.5 and later cut off compressed files without an error.
    with open_file(path) as file:
        start = file.read(len(_BLEND_MAGIC))
        file.seek(max(0, path.stat().st_size - _END_SIZE))
        end = file.read()
    return b"ENDB" in end if start == _BLEND_MAGIC else end.endswith(_ZSTD_SEEKABLE_MAGIC)


def _write_family(family: Family, target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    armatures = [obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"]
    actions = []
    if len(armatures) == 1:
        actions = [action for action, _ in suitable_actions(armatures[0]).chosen]
    # Files keep their time; a .blend is exported as it plays.
    keeps_time = scene.animated is not None
    game_rate = family.frame_rate(settings.game)
    if game_rate is not None:
        scene_rate = 0.0 if keeps_time else frame_rate(bpy.context.scene)
        keeps_time |= retime(actions, game_rate, scene_rate)
    scene.compares_speed = not keeps_time
    is_one = family.has_one_file and family.skeletal is None
    if is_one and settings.animations != NO_ANIMATIONS and len(actions) > 1:
        _play_one_after_the_other(armatures[0], actions)
        scene.use_scene_range = True
    result = family.blender().save(bpy.context, target, settings, scene)
    report.merge(result.report)
    return result.paths


def _write_glb(target: Path, scene: Scene, _settings: Settings, _report: Report) -> list[Path]:
    for owner, actions in scene.animated or ():
        retime(actions, frame_rate(bpy.context.scene))
        # Blender's glTF exporter takes several actions from NLA tracks.
        if actions and (len(actions) > 1 or owner.animation_data.action not in actions):
            for action in actions:
                _add_track(owner, action, round(action.frame_range[0]))
            versions.assign_action(owner.animation_data, None, owner.id_type)
    # Blender's exporter makes an address of the name, which it cannot do of one that is not UTF-8.
    file = target.with_name("scene.glb")
    with enabled("io_scene_gltf2"):
        bpy.ops.export_scene.gltf(filepath=str(file), export_format="GLB", export_cameras=True, check_existing=False)
    file.replace(target)
    return [target]


def _write_fbx(target: Path, scene: Scene, _settings: Settings, _report: Report) -> list[Path]:
    # Blender's FBX exporter writes several actions only for objects; shape keys are written as the scene plays.
    animated = scene.animated or []
    has_actions = bool(animated) and isinstance(animated[0][0], bpy.types.Object)
    for _, actions in animated if has_actions else ():
        retime(actions, frame_rate(bpy.context.scene))
    with enabled("io_scene_fbx"):
        bpy.ops.export_scene.fbx(
            filepath=str(target),
            add_leaf_bones=False,
            bake_anim_use_all_actions=has_actions,
            bake_anim_use_nla_strips=has_actions,
            check_existing=False,
        )
    return [target]


WRITERS: dict[str, Callable[[Path, Scene, Settings, Report], list[Path]]] = {
    "blend": _write_blend,
    **{name: partial(_write_family, family) for name, family in FAMILY_FORMATS.items()},
    "glb": _write_glb,
    "fbx": _write_fbx,
    # Its pictures would take most of the file.
    ASSETS: partial(_write_blend, compress=True),
}
"""The writer of each format. It returns all files that it wrote."""


@contextlib.contextmanager
def enabled(addon: str) -> Iterator[None]:
    """Enables one of Blender's own add-ons, as users may have disabled it, and discards what it prints."""
    import addon_utils

    # The stubs say that it returns nothing.
    check: Any = addon_utils.check
    _, was_enabled = check(addon)
    if not was_enabled:
        addon_utils.enable(addon)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        if not was_enabled:
            addon_utils.disable(addon)


def retime(actions: list[Any], rate: float, scene_rate: float = 0.0) -> bool:
    """Scales the keys of actions to a rate in frames a second; returns whether all their rates are known."""
    families = [family.blender() for family in FAMILIES]
    file_rates = [max(family.action_frame_rate(action) or 0.0 for family in families) for action in actions]
    for action, file_rate in zip(actions, file_rates, strict=True):
        factor = rate / (scene_rate or file_rate) if file_rate else 1.0
        if factor == 1.0:
            continue
        for curve in versions.all_fcurves(action):
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            for name in ("co", "handle_left", "handle_right"):
                curve.keyframe_points.foreach_get(name, points)
                points[::2] *= factor
                curve.keyframe_points.foreach_set(name, points)
            curve.update()
        action.frame_start, action.frame_end = (
            round(frame * factor) for frame in (action.frame_start, action.frame_end)
        )
    return bool(file_rates) and all(file_rates)


def _play_one_after_the_other(armature: Any, actions: list[Any]) -> None:
    """Adds an NLA track for each action from frame 0 on, with a marker at each start; the scene's range is all."""
    scene = bpy.context.scene
    scene.timeline_markers.clear()
    start = 0
    for action in actions:
        _add_track(armature, action, start)
        scene.timeline_markers.new(action.name, frame=start)
        start += round(action.frame_range[1] - action.frame_range[0]) + 1
    versions.assign_action(armature.animation_data, None, armature.id_type)
    scene.frame_start, scene.frame_end = 0, start - 1


def _add_track(owner: Any, action: Any, start: int) -> None:
    data = owner.animation_data or owner.animation_data_create()
    track = data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, start, action)
    versions.assign_slot(strip, action, owner.id_type, owner.name)
    # A strip must not hold its last pose while the next one plays.
    strip.extrapolation = "NOTHING"
