"""Writers of the scene, one for each output format."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..io_blender.batch import Loaded, SaveOptions
from ..io_blender.reports import Report
from ..io_blender.scene import axes
from ..io_blender.scene.objects import ChosenConversion
from ..io_blender.state import frame_rate
from ..io_blender.verification import Verify
from ..io_common.family import Family
from ..io_common.files.regular_files import open_file
from .actions import add_consecutive_tracks, add_parallel_tracks, armature_and_actions, retime
from .formats import FAMILY_FORMATS
from .settings import NO_ANIMATIONS, Settings

if TYPE_CHECKING:
    from bpy.types import Action


@dataclass(frozen=True)
class Scene:
    """The loaded scene.

    Attributes:
        loaded: the result of the import; None for a .blend file.
        conversion: from the scene to the file.
    """

    loaded: Loaded | None
    conversion: axes.Conversion | ChosenConversion = field(default_factory=axes.identity)


_BLEND_MAGIC, _ZSTD_SEEKABLE_MAGIC = b"BLENDER", (0x8F92EAB1).to_bytes(4, "little")
# Bytes that hold the header of the last block of a .blend file in any version.
_END_SIZE = 64
# Bytes; with less free space, a failed write was most likely due to a full disk.
_LOW_DISK_SPACE = 64 << 20

Writer = Callable[[Path, Scene, Settings, Report], list[Path]]


def _write_blend(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del scene, settings, report
    # The file is written to a temporary folder in the folder that it will be in.
    _make_paths_relative(target.parent.parent)
    try:
        with _without_thumbnail():
            bpy.ops.wm.save_as_mainfile(
                filepath=str(target), copy=True, check_existing=False, relative_remap=False
            )
        is_complete = _is_complete_blend(target)
    except RuntimeError as error:
        # Blender removes an incomplete file, and then reports that it does not exist.
        if not str(error).strip().endswith(os.strerror(errno.ENOENT)):
            raise
        is_complete = False
    if not is_complete:
        is_full = shutil.disk_usage(target.parent).free < _LOW_DISK_SPACE
        number = errno.ENOSPC if is_full else errno.EIO
        raise OSError(number, os.strerror(number), str(target))
    return [target]


@contextlib.contextmanager
def _without_thumbnail() -> Iterator[None]:
    """Blender makes no image of a file for the file manager, which it would store in the user's home folder."""
    options = bpy.context.preferences.filepaths
    before = options.file_preview_type
    options.file_preview_type = "NONE"
    try:
        yield
    finally:
        options.file_preview_type = before


def _make_paths_relative(folder: Path) -> None:
    """Makes the paths of images relative to the folder of a .blend file, as Blender does when it saves a new one."""
    for image in bpy.data.images:
        path = image.filepath_raw
        if os.path.isabs(path) and not path.startswith("//"):
            # On Windows there is none to another drive.
            with contextlib.suppress(ValueError):
                image.filepath_raw = bpy.path.relpath(path, start=os.path.abspath(folder))


def _is_complete_blend(path: Path) -> bool:
    """Whether a .blend file is not cut off. On a full disk, 4.5 and later cut off compressed files without an error.

    The last block of a .blend file is called ENDB; a compressed one ends with the magic number of Zstandard's seekable
    format.
    """
    with open_file(path) as file:
        start = file.read(len(_BLEND_MAGIC))
        file.seek(max(0, path.stat().st_size - _END_SIZE))
        end = file.read()
    return b"ENDB" in end if start == _BLEND_MAGIC else end.endswith(_ZSTD_SEEKABLE_MAGIC)


def _write_family(
    family: Family, target: Path, scene: Scene, settings: Settings, report: Report
) -> list[Path]:
    with_animations = settings.animations != NO_ANIMATIONS
    armature, actions = armature_and_actions()
    # Files keep their time; a .blend is exported as it plays.
    keeps_time = scene.loaded is not None
    if family.frame_rate is not None:
        scene_rate = 0.0 if keeps_time else frame_rate(bpy.context.scene)
        keeps_time |= retime(actions, family.frame_rate, scene_rate)
    is_joined = family.has_one_file and with_animations and len(actions) > 1
    if is_joined:
        add_consecutive_tracks(armature, actions)
    options = SaveOptions(
        conversion=scene.conversion,
        game=settings.game,
        verify=Verify(settings.verify),
        with_animations=with_animations,
        use_scene_range=is_joined,
        game_folders=settings.game_folders,
        deform_only=settings.deform_only,
        add_origin=settings.add_origin,
        max_influences=settings.max_influences,
        compares_speed=not keeps_time,
    )
    result = family.blender().save(bpy.context, target, options)
    report.merge(result.report)
    return result.paths


def _write_glb(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del settings, report
    loaded = scene.loaded
    for owner, actions in loaded.animated if loaded is not None else ():
        _retime_to_scene(actions)
        # Blender's glTF exporter takes several actions from NLA tracks.
        if actions and (len(actions) > 1 or owner.animation_data.action not in actions):
            add_parallel_tracks(owner, actions)
    # Blender's exporter makes an address of the name, which it cannot do of one that is not UTF-8.
    exported = target.with_name("scene.glb")
    with _enabled("io_scene_gltf2"), _silent():
        bpy.ops.export_scene.gltf(
            filepath=str(exported), export_format="GLB", export_cameras=True, check_existing=False
        )
    exported.replace(target)
    return [target]


def _write_fbx(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del settings, report
    loaded = scene.loaded
    # Blender's FBX exporter writes several actions only for objects; shape keys are written as the scene plays.
    has_actions = loaded is not None and isinstance(loaded.owner, bpy.types.Object)
    for _, actions in loaded.animated if loaded is not None and has_actions else ():
        _retime_to_scene(actions)
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
    **{name: partial(_write_family, family) for name, family in FAMILY_FORMATS.items()},
    "glb": _write_glb,
    "fbx": _write_fbx,
}
"""The writer of each format. It returns all files that it wrote."""


BLENDERS_EXPORTERS = ("glb", "fbx")
"""The formats that Blender's own exporters write."""


def _retime_to_scene(actions: list[Action]) -> None:
    """Retimes actions to the scene's frame rate, as the file has one rate for all animations."""
    retime(actions, frame_rate(bpy.context.scene))


@contextlib.contextmanager
def _enabled(addon: str) -> Iterator[None]:
    """Enables one of Blender's own add-ons for the time of the block, as users may have disabled it."""
    import addon_utils

    # The stubs say that it returns nothing.
    check: Any = addon_utils.check
    _, was_enabled = check(addon)
    if not was_enabled:
        addon_utils.enable(addon)
    try:
        yield
    finally:
        if not was_enabled:
            addon_utils.disable(addon)


def _silent() -> contextlib.AbstractContextManager[object]:
    """Discards what exporters print, as it would mix with the output of this command."""
    return contextlib.redirect_stdout(io.StringIO())
