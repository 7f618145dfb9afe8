"""Which frames a model gets: shape keys, or frames of the scene; and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common.scene_objects import NothingToExportError
from . import kept
from .format.naming import MAX_FRAME_NAME, clean_name, make_unique, number_frames

if TYPE_CHECKING:
    from bpy.types import Action, Object, Scene, ShapeKey

    from ..io_common.reports import Report
    from .kept import Kept

AUTO, SHAPE_KEYS, SCENE = "AUTO", "SHAPE_KEYS", "SCENE"

NONE = -1


@dataclass(frozen=True)
class FrameOptions:
    """Which frames are exported.

    Attributes:
        frames: 'SHAPE_KEYS' (each key a frame), 'SCENE' (what the scene shows over a range), or 'AUTO': the keys of an
            imported MD2; else the range of the action of the armature, if it has a range of its own as imported
            ones do; else shape keys, if there are any; else the scene.
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
        former: the frame of the imported file that each is, or NONE, (F,).
        scene_frames: the frame of the scene that each shows; None if they are shape keys.
        keys: for each object the index of its shape key in each frame; objects without keys are missing.
        may_be_still: frames of the scene that are all the same are to become one.
    """

    names: list[str]
    former: npt.NDArray[np.int64]
    scene_frames: list[int] | None
    keys: dict[Object, list[int]]
    may_be_still: bool = False


def make_plan(objects: list[Object], scene: Scene, options: FrameOptions, report: Report) -> Plan:
    """Decides on the frames.

    Args:
        objects: what is exported.
        scene: that shows it.
        options: what the user asks for.
        report: takes warnings.

    Raises:
        NothingToExportError: shape keys are asked for, and there are none.
    """
    keyed = [obj for obj in objects if _key_blocks(obj)]
    memories = {obj: memory for obj in objects if (memory := kept.kept(obj.data)) is not None}
    imported = [obj for obj in keyed if obj in memories and memories[obj].key_names]
    memory = next(iter(memories.values())) if len(memories) == 1 else None
    own_range = _own_range(objects)
    choice = options.frames
    if choice == SHAPE_KEYS and not keyed:
        raise NothingToExportError("there are no shape keys to make frames of")
    if choice == AUTO:
        has_own = own_range is not None or options.frame_range is not None
        choice = SHAPE_KEYS if imported or (keyed and not has_own) else SCENE
    if choice == SHAPE_KEYS:
        leader = imported[0] if imported else max(keyed, key=lambda obj: len(_key_blocks(obj)))
        return _plan_keys(leader, keyed, memory, report)
    first, last = options.frame_range or (scene.frame_start, scene.frame_end)
    if options.frames == AUTO and options.frame_range is None and own_range is not None:
        first, last = own_range
    return _plan_scene(objects, scene, memory, range(first, last + 1, options.frame_step), options)


# Shape keys


def _key_blocks(obj: Object) -> list[ShapeKey]:
    """The shape keys of an object that are not muted."""
    keys = obj.data.shape_keys
    return [key for key in keys.key_blocks if not key.mute] if keys is not None else []


def _plan_keys(leader: Object, keyed: list[Object], memory: Kept | None, report: Report) -> Plan:
    """The keys of one object; those of others that have the same names go along."""
    shown = [key.name for key in _key_blocks(leader)]
    known = {name: frame for frame, name in enumerate(memory.key_names)} if memory is not None else {}
    former = np.array([known.get(name, NONE) for name in shown])
    cleaned = [clean_name(name) for name in shown]
    for place, name in enumerate(shown):
        # That blanks become underscores is nothing to speak of.
        if former[place] == NONE and cleaned[place] != "_".join(name.split()):
            report.warn(f"frames have names of up to {MAX_FRAME_NAME} Latin letters: it was changed", name)
    names = _frame_names(former, cleaned, memory)
    # A key that was renamed still is the frame that stood in its place.
    for place in np.flatnonzero(former == NONE).tolist():
        if place < len(known) and place not in former:
            former[place] = place
    return Plan(names, former, None, {obj: _key_indices(obj, shown) for obj in keyed})


def _key_indices(obj: Object, names: list[str]) -> list[int]:
    """The index of an object's key for each name: of the same name, else in the same place, else the first."""
    there = [key.name for key in obj.data.shape_keys.key_blocks]
    index = {name: place for place, name in enumerate(there)}
    in_step = len(there) == len(names)
    return [index.get(name, place if in_step else 0) for place, name in enumerate(names)]


# Frames of the scene


def _own_range(objects: list[Object]) -> tuple[int, int] | None:
    """The range of the action that moves the armature of the objects, if it was given one."""
    for obj in objects:
        armature = obj.find_armature()
        action = _action_of(armature) if armature is not None else None
        if action is not None and action.use_frame_range:
            return round(action.frame_start), round(action.frame_end)
    return None


def _plan_scene(
    objects: list[Object], scene: Scene, memory: Kept | None, frames: range, options: FrameOptions
) -> Plan:
    if not frames:
        raise NothingToExportError(f"there are no frames from {frames.start} to {frames.stop - 1}")
    former = np.full(len(frames), NONE)
    if memory is not None and memory.key_names:
        places = np.array(frames) - memory.frame_start
        former = np.where((places >= 0) & (places < len(memory.frame_names)), places, NONE)
    elif memory is not None and len(frames) == 1:
        former[:] = 0
    new = np.flatnonzero(former == NONE).tolist()
    generated = [""] * len(frames)
    for place, name in zip(
        new, number_frames(_sequences(objects, scene, [frames[i] for i in new])), strict=True
    ):
        generated[place] = name
    names = _frame_names(former, generated, memory)
    return Plan(names, former, list(frames), {}, may_be_still=options.frames == AUTO)


def still(plan: Plan, memory: Kept | None) -> Plan:
    """The plan with its first frame alone."""
    former = plan.former[:1]
    names = plan.names[:1]
    if memory is not None and len(memory.frame_names) == 1:
        former, names = np.zeros(1, np.int64), memory.frame_names
    frames = plan.scene_frames[:1] if plan.scene_frames is not None else None
    return Plan(names, former, frames, plan.keys)


def _sequences(objects: list[Object], scene: Scene, frames: list[int]) -> list[str]:
    """The name of the sequence that each frame of the scene belongs to: that of the marker before it, or the action."""
    # Markers of cameras are cuts of a film.
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
        for owner in (obj.find_armature(), obj, obj.data.shape_keys, obj.parent):
            action = _action_of(owner) if owner is not None else None
            if action is not None:
                return action
    return None


def _action_of(owner: Object) -> Action | None:
    return owner.animation_data.action if owner.animation_data is not None else None


# Names


def _frame_names(former: npt.NDArray[np.int64], generated: list[str], memory: Kept | None) -> list[str]:
    """The names that frames had in the file, and unique ones for the others."""
    kept_names = {
        place: memory.frame_names[frame]
        for place, frame in enumerate(former.tolist())
        if memory is not None and frame != NONE
    }
    new = [place for place in range(len(former)) if place not in kept_names]
    names = make_unique([generated[place] for place in new], kept_names.values())
    return [name for _place, name in sorted({**kept_names, **dict(zip(new, names, strict=True))}.items())]
