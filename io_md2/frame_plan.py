"""Which frames a model gets: shape keys, or frames of the scene; and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common.scene.objects import NothingToExportError
from ..io_common.scene.time_dependence import depends_on_time
from . import source
from .format.naming import MAX_FRAME_NAME, clean_name, make_unique, number_frames
from .key_playback import (
    Playback,
    frame_keys,
    has_effect,
    is_animated,
    playback_of,
    played_range,
    shape_keys,
    shown_keys,
)
from .sequence_names import renamed_frames

if TYPE_CHECKING:
    from bpy.types import Action, Object, Scene

    from ..io_common.reports import Report
    from .source import StoredModel

AUTO, SHAPE_KEYS, SCENE = "AUTO", "SHAPE_KEYS", "SCENE"

NONE = -1

_MAX_FRAMES = 65_536


@dataclass(frozen=True)
class FrameOptions:
    """Which frames are exported.

    Attributes:
        frames: 'SHAPE_KEYS' (each key a frame), 'SCENE' (what the scene shows over a range), or 'AUTO': the keys of an
            imported MD2, or what they play if that was changed or other things move as well; else the range of the
            action of the armature, if it has a range of its own as imported ones do; else shape keys, if there are any
            and nothing moves; else the scene.
        frame_step: N for every N-th frame of the scene.
        frame_range: first and last frame of the scene; None for its own.
    """

    frames: str = AUTO
    frame_step: int = 1
    frame_range: tuple[int, int] | None = None


@dataclass(eq=False)
class Plan:
    """The frames.

    Attributes:
        names: of the frames in the file.
        source: the frame of the imported file that each is, or NONE, (F,).
        scene_frames: the frame of the scene that each shows; None if they are shape keys.
        keys: for each object the index of its shape key in each frame; objects without keys are missing.
        may_be_single: frames of the scene that are all the same are to become one.
    """

    names: list[str]
    source: npt.NDArray[np.int64]
    scene_frames: Sequence[int] | None
    keys: dict[Object, list[int]] = field(default_factory=dict)
    may_be_single: bool = False


def make_plan(
    objects: list[Object],
    stored: dict[Object, StoredModel],
    scene: Scene,
    options: FrameOptions,
    report: Report,
) -> Plan:
    """Decides on the frames.

    Args:
        objects: what is exported.
        stored: what those of them that were imported were imported as.
        scene: that shows them.
        options: what the user asks for.
        report: takes warnings.

    Raises:
        NothingToExportError: shape keys are asked for, and there are none; or there are no frames, or too many.
    """
    keyed = [obj for obj in objects if frame_keys(obj)]
    leader = _leader(keyed, stored)
    if options.frames == SHAPE_KEYS or (options.frames == AUTO and options.frame_range is None):
        if options.frames == SHAPE_KEYS and leader is None:
            raise NothingToExportError("there are no shape keys to make frames of")
        if leader is not None and (
            options.frames == SHAPE_KEYS or _keys_are_frames(objects, keyed, stored, scene, report)
        ):
            return _plan_keys(leader, keyed, _common(stored), scene, report)
    return _plan_scene(objects, leader, stored, scene, options, report)


def _leader(keyed: list[Object], stored: dict[Object, StoredModel]) -> Object | None:
    """The object whose shape keys name the frames: an imported one, else the one with most of them."""
    imported = [obj for obj in keyed if obj in stored and stored[obj].key_names]
    if imported:
        return imported[0]
    return max(keyed, key=lambda obj: len(frame_keys(obj)), default=None)


def _common(stored: dict[Object, StoredModel]) -> StoredModel | None:
    """The file that the frames come from, if it is one: parts of one model all have its frames."""
    models = list(stored.values())
    if not models:
        return None
    first = models[0]
    is_common = all(
        other.frame_names == first.frame_names
        and other.key_names == first.key_names
        and other.frame_start == first.frame_start
        for other in models[1:]
    )
    return first if is_common else None


# Shape keys


def _keys_are_frames(
    objects: list[Object],
    keyed: list[Object],
    stored: dict[Object, StoredModel],
    scene: Scene,
    report: Report,
) -> bool:
    """Whether shape keys are the frames that Blender shows, so that the scene need not be played."""
    imported = [obj for obj in keyed if obj in stored and stored[obj].key_names]
    is_moving = any(depends_on_time(obj) for obj in objects)
    if not imported:
        is_playing = any(is_animated(keys) for obj in keyed if (keys := shape_keys(obj)) is not None)
        if is_moving or is_playing or _own_range(objects) is not None:
            return False
        _warn_of_mixes(keyed, report)
        return True
    playbacks = {playback_of(obj, stored[obj], scene) for obj in imported}
    if len(imported) < len(keyed) or Playback.OTHERWISE in playbacks or len(playbacks) > 1:
        return False
    first = stored[imported[0]]
    names = [key.name for key in frame_keys(imported[0])]
    for obj in imported[1:]:
        is_same = stored[obj].frame_start == first.frame_start
        if not is_same or [key.name for key in frame_keys(obj)] != names:
            return False
    if is_moving:
        return False
    _warn_of_order(names, first, playbacks, report)
    if Playback.STILL in playbacks:
        _warn_of_mixes(keyed, report)
    else:
        _warn_of_pins(keyed, report)
    return True


def _warn_of_mixes(keyed: list[Object], report: Report) -> None:
    """Tells of shape keys that are shown mixed, or one alone, while the frames are each of them alone."""
    _warn_of_pins(keyed, report)
    for obj in keyed:
        keys = shape_keys(obj)
        assert keys is not None
        shown = [key for key in frame_keys(obj) if key != keys.reference_key and key.value != 0.0]
        if keys.use_relative and not obj.show_only_shape_key and any(has_effect(key) for key in shown):
            report.warn(
                "each shape key alone is a frame, and not the mix of them that is shown. Choose Scene to export what "
                "is shown",
                obj.name,
            )


def _warn_of_pins(keyed: list[Object], report: Report) -> None:
    """Tells of a pinned key, which is often left over from editing a frame."""
    for obj in keyed:
        if obj.show_only_shape_key:
            report.warn(
                "a shape key is pinned (Solo Active Shape Key), which was ignored: all keys are frames. Choose Scene "
                "to export what is shown",
                obj.name,
            )


def _warn_of_order(names: list[str], stored: StoredModel, playbacks: set[Playback], report: Report) -> None:
    """Tells of keys that were deleted or moved in the list: the timeline plays them as before."""
    stored_names = set(stored.key_names)
    known = [name for name in names if name in stored_names]
    if Playback.IN_ORDER in playbacks and known != stored.key_names[: len(known)]:
        report.warn(
            "shape keys were deleted or reordered: frames are the keys in the order of their list, while the timeline "
            "plays them as before. Choose Scene for the frames of the timeline"
        )


def _plan_keys(
    leader: Object, keyed: list[Object], stored: StoredModel | None, scene: Scene, report: Report
) -> Plan:
    """The keys of one object; those of others that have the same names go along."""
    key_names = [key.name for key in frame_keys(leader)]
    known = {name: frame for frame, name in enumerate(stored.key_names)} if stored is not None else {}
    sources = np.array([known.get(name, NONE) for name in key_names])
    new = np.flatnonzero(sources == NONE).tolist()
    cleaned = [""] * len(key_names)
    for position in new:
        name = key_names[position]
        cleaned[position] = clean_name(name)
        # That blanks become underscores need not be mentioned.
        if cleaned[position] != "_".join(name.split()):
            report.warn(
                f"frame names have up to {MAX_FRAME_NAME} Latin characters: this one was changed", name
            )
    naming = sources.copy()
    start = stored.frame_start if stored is not None else 0
    renamed = renamed_frames(stored, sources.tolist(), (sources + start).tolist(), scene, report)
    for position, name in renamed.items():
        naming[position], cleaned[position] = NONE, name
    names = _frame_names(naming, cleaned, stored)
    # A key that was renamed still is the frame at its position.
    taken = set(sources.tolist())
    for position in new:
        if position < len(known) and position not in taken:
            sources[position] = position
    return Plan(names, sources, None, {obj: _key_indices(obj, key_names) for obj in keyed})


def _key_indices(obj: Object, names: list[str]) -> list[int]:
    """The index of an object's key for each name: of the same name, else at the same position, else the first."""
    keys = shape_keys(obj)
    assert keys is not None
    there = [key.name for key in keys.key_blocks]
    index = {name: position for position, name in enumerate(there)}
    is_parallel = len(there) == len(names)
    return [index.get(name, position if is_parallel else 0) for position, name in enumerate(names)]


# Frames of the scene


def _own_range(objects: list[Object]) -> tuple[int, int] | None:
    """The range of the action that moves the armature of the objects, if it was given one."""
    for obj in objects:
        armature = obj.find_armature()
        action = _action_of(armature) if armature is not None else None
        if action is not None and action.use_frame_range:
            return round(action.frame_start), round(action.frame_end)
    return None


def _range(
    objects: list[Object], stored: dict[Object, StoredModel], scene: Scene, options: FrameOptions
) -> range:
    """The frames of the scene that are asked for."""
    first, last = options.frame_range or (scene.frame_start, scene.frame_end)
    if options.frames == AUTO and options.frame_range is None:
        played = [
            span for obj in objects if obj in stored and (span := played_range(obj, stored[obj])) is not None
        ]
        own = _own_range(objects)
        if played:
            first, last = min(start for start, _ in played), max(end for _, end in played)
        elif own is not None:
            first, last = own
    frames = range(first, last + 1, options.frame_step)
    if not frames:
        raise NothingToExportError(f"there are no frames from {first} to {last}")
    if len(frames) > _MAX_FRAMES:
        raise NothingToExportError(
            f"there are {len(frames)} frames from {first} to {last}: an MD2 model has at most 512 in Quake II"
        )
    return frames


def _plan_scene(
    objects: list[Object],
    leader: Object | None,
    stored: dict[Object, StoredModel],
    scene: Scene,
    options: FrameOptions,
    report: Report,
) -> Plan:
    frames = _range(objects, stored, scene, options)
    common = _common(stored)
    sources = np.full(len(frames), NONE)
    key_names: list[str | None] = [None] * len(frames)
    if common is not None and leader in stored and stored[leader].key_names:
        known = {name: frame for frame, name in enumerate(common.key_names)}
        key_names = shown_keys(leader, list(frames))
        sources[:] = [NONE if name is None else known.get(name, NONE) for name in key_names]
        if options.frames == AUTO and options.frame_range is None and options.frame_step == 1:
            _warn_of_left_out(known, key_names, report)
    elif common is not None and not common.key_names and len(frames) == 1:
        sources[:] = 0
    return Plan(
        names=_scene_frame_names(objects, scene, list(frames), sources, key_names, common, report),
        source=sources,
        scene_frames=frames,
        may_be_single=options.frames == AUTO,
    )


def _warn_of_left_out(known: dict[str, int], key_names: list[str | None], report: Report) -> None:
    """Tells of frames of an imported model that the timeline does not play."""
    left_out = len(known.keys() - set(key_names))
    if left_out:
        report.warn(
            f"the timeline does not play {left_out} of the {len(known)} frames of the imported model, which were left "
            "out. Choose Shape Keys to export all of them"
        )


def _scene_frame_names(
    objects: list[Object],
    scene: Scene,
    frames: list[int],
    sources: npt.NDArray[np.int64],
    key_names: list[str | None],
    stored: StoredModel | None,
    report: Report,
) -> list[str]:
    """The names of frames of the scene: those in the file or of shape keys, else by marker or action and number.

    Each stands for one frame only, the first that shows it.
    """
    naming = sources.copy()
    generated = [""] * len(frames)
    taken: set[str] = set()
    for position, name in enumerate(key_names):
        if name is None or name in taken:
            naming[position] = NONE
        elif naming[position] == NONE:
            generated[position] = clean_name(name)
        taken.add(name or "")
    for position, name in renamed_frames(stored, naming.tolist(), frames, scene, report).items():
        naming[position], generated[position] = NONE, name
    new = [
        position for position in range(len(frames)) if naming[position] == NONE and not generated[position]
    ]
    sequences = _sequences(objects, scene, [frames[position] for position in new])
    for position, name in zip(new, number_frames(sequences), strict=True):
        generated[position] = name
    return _frame_names(naming, generated, stored)


def single_frame(plan: Plan, stored: StoredModel | None) -> Plan:
    """The plan with its first frame alone."""
    sources = plan.source[:1]
    names = plan.names[:1]
    if stored is not None and len(stored.frame_names) == 1:
        sources, names = np.zeros(1, np.int64), stored.frame_names
    frames = plan.scene_frames[:1] if plan.scene_frames is not None else None
    return Plan(names, sources, frames, plan.keys)


def _sequences(objects: list[Object], scene: Scene, frames: list[int]) -> list[str]:
    """The name of the sequence that each frame of the scene belongs to: that of the marker before it, or the action."""
    # Markers that bind cameras are cuts of a film.
    markers = sorted(
        ((marker.frame, marker.name) for marker in scene.timeline_markers if marker.camera is None),
        reverse=True,
    )
    action = _playing(objects)
    fallback = action.name if action is not None else ""
    return [next((name for start, name in markers if start <= frame), fallback) for frame in frames]


def _playing(objects: list[Object]) -> Action | None:
    """The first action that moves any of the objects: that of an armature, its own, of its keys, of its parent."""
    for obj in objects:
        for owner in (obj.find_armature(), obj, shape_keys(obj), obj.parent):
            action = _action_of(owner) if owner is not None else None
            if action is not None:
                return action
    return None


def _action_of(owner: Object) -> Action | None:
    return owner.animation_data.action if owner.animation_data is not None else None


# Names


def _frame_names(
    sources: npt.NDArray[np.int64], generated: list[str], stored: StoredModel | None
) -> list[str]:
    """The names that frames had in the file, and unique ones for the others."""
    stored_names = {
        position: stored.frame_names[frame]
        for position, frame in enumerate(sources.tolist())
        if stored is not None and frame != NONE
    }
    new = [position for position in range(len(sources)) if position not in stored_names]
    names = make_unique([generated[position] for position in new], stored_names.values())
    merged = {**stored_names, **dict(zip(new, names, strict=True))}
    return [name for _position, name in sorted(merged.items())]


def stored_models(objects: list[Object]) -> dict[Object, StoredModel]:
    """What those of some objects that were imported were imported as."""
    return {obj: stored for obj in objects if (stored := source.load_model(obj.data)) is not None}
