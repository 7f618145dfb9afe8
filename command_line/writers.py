"""The scene as a file of each format."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..io_common.batch import Loaded, SaveOptions
from ..io_common.family import Family
from ..io_common.files.regular_files import open_file
from ..io_common.operators import preferences
from ..io_common.reports import Report
from ..io_common.scene import axes
from ..io_common.verification import Verify
from .formats import FAMILY_FORMATS
from .settings import NO_ANIMATIONS, Settings
from .tracks import armature_and_actions, one_after_the_other, retime, side_by_side

if TYPE_CHECKING:
    from bpy.types import Action


@dataclass(frozen=True)
class Scene:
    """What the scene of Blender holds.

    Attributes:
        loaded: what was imported; None for a .blend.
        scale: the factor of lengths that is still to be applied.
    """

    loaded: Loaded | None
    scale: float = 1.0


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


def _write_family(
    family: Family, target: Path, scene: Scene, settings: Settings, report: Report
) -> list[Path]:
    with_animations = settings.animations != NO_ANIMATIONS
    armature, actions = armature_and_actions()
    if family.frame_rate is not None:
        retime(actions, family.frame_rate)
    in_a_row = family.has_one_file and with_animations and len(actions) > 1
    if in_a_row:
        one_after_the_other(armature, actions)
    options = SaveOptions(
        conversion=axes.exporting(scene.scale, "Y", "Z"),
        game=settings.game or preferences.game(family.name),
        verify=Verify(settings.verify),
        with_animations=with_animations,
        use_scene_range=in_a_row,
    )
    result = family.blender().save(bpy.context, target, options)
    for text in result.report.warnings:
        report.warn(text)
    return result.paths


def _write_glb(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del settings, report
    loaded = scene.loaded
    if loaded is not None and loaded.owner is not None:
        _retime_to_scene(loaded.actions)
        # Blender's exporter looks for several actions in the tracks.
        if len(loaded.actions) > 1 or loaded.owner.animation_data.action not in loaded.actions:
            side_by_side(loaded.owner, loaded.actions)
    with _enabled("io_scene_gltf2"), _silent():
        bpy.ops.export_scene.gltf(
            filepath=str(target), export_format="GLB", export_cameras=True, check_existing=False
        )
    return [target]


def _write_fbx(target: Path, scene: Scene, settings: Settings, report: Report) -> list[Path]:
    del settings, report
    loaded = scene.loaded
    # Where actions are not those of one armature, the scene as it plays is all that Blender's exporter can write.
    has_actions = loaded is not None and isinstance(loaded.owner, bpy.types.Object)
    if loaded is not None and has_actions:
        _retime_to_scene(loaded.actions)
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
"""For each format what writes the scene to a file; it returns all files that it wrote."""


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
