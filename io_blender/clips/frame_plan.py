"""The frames of a vertex-animated model: shape keys, or frames of the scene. Each format names them itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from ...io_common.counting import counted
from .. import state
from ..records import NONE
from ..reports import listing
from ..scene.objects import NothingToExportError
from ..scene.shape_keys import frame_keys, has_effect, require_shape_keys, shape_keys
from ..scene.time_dependence import depends_on_time, has_frame_handlers, is_animated
from .animated_values import restored_frame_and_values
from .animation_list import ListedAnimation
from .playing_speed import sample_count
from .shape_key_playback import (
    Playback,
    SourceFrames,
    keys_at_frames,
    keys_in_all_frames,
    playback_of,
    played_range,
)

if TYPE_CHECKING:
    from bpy.types import Action, Object, Scene, ShapeKey

    from ..reports import Report

AUTO, SHAPE_KEYS, LIST, SCENE = "AUTO", "SHAPE_KEYS", "LIST", "SCENE"

MAX_FRAMES = 65_536
"""More frames than any game takes; a mistyped range would fill the memory."""

AnySource = TypeVar("AnySource", bound=SourceFrames)


@dataclass(frozen=True)
class FrameOptions:
    """Which frames are exported.

    Attributes:
        frames: 'SHAPE_KEYS' (each key a frame), 'SCENE' (what the scene shows over a range), 'LIST' (what is checked in
            the list of animations, see `listed_frames`), or 'AUTO': the keys of an
            imported model, or what they play if that was changed or other things move as well; else the range of the
            action of the armature, if it has a range of its own as imported ones do; else shape keys, if there are any
            and nothing moves; else the scene.
        frame_step: N for every N-th frame.
        frame_range: first and last frame of the scene; None for its own.
        game_rate: frames per second of the game, to sample the scene at so that it lasts as long as in Blender; 0 to
            export it frame for frame.
    """

    frames: str = AUTO
    frame_step: int = 1
    frame_range: tuple[int, int] | None = None
    game_rate: float = 0.0

    def step(self, scene: Scene) -> float:
        """The frames of the scene from one frame of the file to the next."""
        if not self.game_rate:
            return self.frame_step
        step = state.frame_rate(scene) / self.game_rate
        return round(step) if math.isclose(step, round(step), rel_tol=1e-4) else step

    def is_resampled(self, scene: Scene) -> bool:
        """Whether frames of the file are not those of the scene, because the game has another rate."""
        return bool(self.game_rate) and self.step(scene) != 1

    def between(self, first: int, last: int, scene: Scene) -> Sequence[float]:
        """The frames of the scene that are exported of a range; none if the end is before the start."""
        step = self.step(scene)
        if isinstance(step, int):
            return range(first, last + 1, step)
        return [
            first + index * step for index in range(sample_count(last - first, step) if last >= first else 0)
        ]


@dataclass(frozen=True)
class Segment:
    """Frames one after another that show one animation of a list.

    Attributes:
        name: of the sequence, as the user chose it.
        first: the index of its first frame.
        count: how many it has.
        animation: what is played.
    """

    name: str
    first: int
    count: int
    animation: ListedAnimation


@dataclass(eq=False)
class FramePlan:
    """The frames of an export, F of them.

    Attributes:
        key_names: the shape key that each frame shows alone; None where several are mixed or it is not known, (F,).
        source: the frame of the imported file that each is, or NONE, int64 (F,).
        scene_frames: the frame of the scene that each shows; None if they are shape keys.
        keys: for each object the index of its shape key in each frame; objects without keys are missing.
        may_be_single: whether frames of the scene that are all the same become one.
        segments: the animations of a list that the frames show, in order; none if they are not of a list.
    """

    key_names: list[str | None]
    source: npt.NDArray[np.int64]
    scene_frames: Sequence[float] | None
    keys: dict[Object, list[int]] = field(default_factory=dict)
    may_be_single: bool = False
    segments: tuple[Segment, ...] = ()

    @property
    def frame_count(self) -> int:
        """F."""
        return len(self.key_names)

    def first_frame(self, source: SourceFrames | None) -> FramePlan:
        """The plan with its first frame alone, which is the only one of the imported file if that has just one."""
        sources = self.source[:1]
        if source is not None and len(source.frame_names) == 1:
            sources = np.zeros(1, np.int64)
        frames = self.scene_frames[:1] if self.scene_frames is not None else None
        return replace(
            self, key_names=self.key_names[:1], source=sources, scene_frames=frames, may_be_single=False
        )


def plan_frames(
    objects: Sequence[Object],
    sources: Mapping[Object, SourceFrames],
    scene: Scene,
    options: FrameOptions,
    report: Report,
) -> FramePlan:
    """Decides which frames are exported.

    `sources` holds the frames of the files that some of the objects were imported from. Raises NothingToExportError if
    shape keys are asked for and there are none, or if there are no frames, or too many.
    """
    keyed = [obj for obj in objects if frame_keys(obj)]
    leader = leader_of(objects, sources)
    if options.frames == SHAPE_KEYS or (options.frames == AUTO and options.frame_range is None):
        if options.frames == SHAPE_KEYS and leader is None:
            raise NothingToExportError(
                "the exported objects have no shape keys: add some, or choose Scene as Frames"
            )
        if leader is not None and (
            options.frames == SHAPE_KEYS or _keys_are_frames(objects, keyed, sources, scene, options, report)
        ):
            if options.frame_range is not None:
                report.warn(
                    "Custom Range has no effect on shape keys: to export a part of them, mute the others"
                )
            if options.frames == SHAPE_KEYS and options.is_resampled(scene):
                report.warn("Frame Rate has no effect on shape keys: choose Scene Playback as Frames")
            return _plan_keys(leader, keyed, common_source(sources), options.frame_step)
    return _plan_scene(objects, leader, sources, scene, options, report)


def leader_of(objects: Sequence[Object], sources: Mapping[Object, SourceFrames]) -> Object | None:
    """The object whose shape keys name the frames: an imported one, else the one with most of them.

    `sources` holds the frames of the files that some of the objects were imported from.
    """
    keyed = [obj for obj in objects if frame_keys(obj)]
    imported = [obj for obj in keyed if obj in sources and sources[obj].key_names]
    if imported:
        return imported[0]
    return max(keyed, key=lambda obj: len(frame_keys(obj)), default=None)


def common_source(sources: Mapping[Object, AnySource]) -> AnySource | None:
    """The file that the frames come from, if it is one: parts of one model all have its frames."""
    models = list(sources.values())
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
    objects: Sequence[Object],
    keyed: list[Object],
    sources: Mapping[Object, SourceFrames],
    scene: Scene,
    options: FrameOptions,
    report: Report,
) -> bool:
    """Whether shape keys are the frames that Blender shows, so that the scene need not be played."""
    imported = [obj for obj in keyed if obj in sources and sources[obj].key_names]
    is_moving = any(depends_on_time(obj) for obj in objects)
    if not imported:
        is_playing = any(is_animated(keys) for obj in keyed if (keys := shape_keys(obj)) is not None)
        if is_moving or is_playing or has_frame_handlers() or _armature_range(objects) is not None:
            return False
        _warn_of_mixes(keyed, report)
        return True
    playbacks = {playback_of(obj, sources[obj], scene) for obj in imported}
    if len(imported) < len(keyed) or Playback.OTHER in playbacks or len(playbacks) > 1:
        return False
    first = sources[imported[0]]
    key_names = [key.name for key in frame_keys(imported[0])]
    for obj in imported[1:]:
        is_same = sources[obj].frame_start == first.frame_start
        if not is_same or [key.name for key in frame_keys(obj)] != key_names:
            return False
    if is_moving or (options.is_resampled(scene) and Playback.IN_ORDER in playbacks):
        return False
    _warn_of_order(key_names, first, playbacks, report)
    if Playback.STATIC in playbacks:
        _warn_of_mixes(keyed, report)
    else:
        _warn_of_pins(keyed, report)
    return True


def _warn_of_mixes(keyed: list[Object], report: Report) -> None:
    """Warns of objects that show a mix of shape keys, while each key alone is a frame."""
    _warn_of_pins(keyed, report)
    for obj in keyed:
        keys = require_shape_keys(obj)
        mixed = [key for key in frame_keys(obj) if key != keys.reference_key and key.value != 0.0]
        if keys.use_relative and not obj.show_only_shape_key and any(has_effect(key) for key in mixed):
            report.warn(
                "each shape key was exported alone as a frame, not the mix that the viewport shows. To export the mix, "
                "choose Scene as Frames",
                obj.name,
            )


def _warn_of_pins(keyed: list[Object], report: Report) -> None:
    """Warns of a pinned key, which is often left over from editing a frame."""
    for obj in keyed:
        if obj.show_only_shape_key:
            report.warn(
                "a shape key is pinned (Solo Active Shape Key); this was ignored, and all keys were exported. To "
                "export what the viewport shows, choose Scene as Frames",
                obj.name,
            )


def _warn_of_order(
    key_names: list[str], source: SourceFrames, playbacks: set[Playback], report: Report
) -> None:
    """Warns of keys that were deleted or moved in the list: the timeline plays them as before."""
    frames = {name: frame for frame, name in enumerate(source.key_names)}
    known = [frames[name] for name in key_names if name in frames]
    renamed = {position for position, name in enumerate(key_names) if name not in frames}
    missing = set(range(max(known, default=0))) - set(known) - renamed
    if Playback.IN_ORDER in playbacks and (missing or known != sorted(known)):
        report.warn(
            "shape keys were muted, deleted or reordered: the frames follow the list of shape keys, but the timeline "
            "still plays the old order. To export the timeline, choose Scene as Frames"
        )


def _plan_keys(leader: Object, keyed: list[Object], source: SourceFrames | None, step: int) -> FramePlan:
    """Every N-th shape key of one object, and the keys of the same names of the others."""
    key_names = [key.name for key in frame_keys(leader)]
    frames = frames_of_keys(key_names, source)
    # A key that was renamed still is the frame at its position.
    taken = set(frames.tolist())
    source_count = len(source.key_names) if source is not None else 0
    for position in np.flatnonzero(frames == NONE).tolist():
        if position < source_count and position not in taken:
            frames[position] = position
    keys = {obj: _key_indices(obj, key_names)[::step] for obj in keyed}
    return FramePlan(list(key_names[::step]), frames[::step], None, keys)


def frames_of_keys(key_names: Sequence[str | None], source: SourceFrames | None) -> npt.NDArray[np.int64]:
    """The frame of the imported file whose shape key has each name, or NONE, (F,)."""
    known = {name: frame for frame, name in enumerate(source.key_names)} if source is not None else {}
    return np.array([NONE if name is None else known.get(name, NONE) for name in key_names], dtype=np.int64)


def _key_indices(obj: Object, key_names: list[str]) -> list[int]:
    """The index of an object's key for each name: of the same name, else at the same position, else the first."""
    own = [key.name for key in require_shape_keys(obj).key_blocks]
    index = {name: position for position, name in enumerate(own)}
    is_parallel = len(own) == len(key_names)
    return [index.get(name, position if is_parallel else 0) for position, name in enumerate(key_names)]


# Frames of the scene


def _armature_range(objects: Sequence[Object]) -> tuple[int, int] | None:
    """The manual range of the action that moves the armature of the objects, if it has one."""
    for obj in objects:
        armature = obj.find_armature()
        action = active_action(armature) if armature is not None else None
        if action is not None and action.use_frame_range:
            return round(action.frame_start), round(action.frame_end)
    return None


def _range(
    objects: Sequence[Object], sources: Mapping[Object, SourceFrames], scene: Scene, options: FrameOptions
) -> Sequence[float]:
    """The frames of the scene that are asked for."""
    first, last = options.frame_range or (scene.frame_start, scene.frame_end)
    if options.frames == AUTO and options.frame_range is None:
        played = [
            span
            for obj in objects
            if obj in sources and (span := played_range(obj, sources[obj])) is not None
        ]
        armature_range = _armature_range(objects)
        if played:
            first, last = min(start for start, _ in played), max(end for _, end in played)
        elif armature_range is not None:
            first, last = armature_range
    frames = options.between(first, last, scene)
    if not frames:
        raise NothingToExportError(
            f"there are no frames from {first} to {last}: choose an end that is not before the start"
        )
    if len(frames) > MAX_FRAMES:
        raise NothingToExportError(
            f"there are {len(frames):,} frames from {first} to {last}, more than the {MAX_FRAMES:,} that can be "
            "exported: choose a shorter range or a larger Frame Step"
        )
    return frames


def _plan_scene(
    objects: Sequence[Object],
    leader: Object | None,
    sources: Mapping[Object, SourceFrames],
    scene: Scene,
    options: FrameOptions,
    report: Report,
) -> FramePlan:
    frames = _range(objects, sources, scene, options)
    common = common_source(sources)
    source = np.full(len(frames), NONE)
    key_names: list[str | None] = [None] * len(frames)
    if common is not None and leader is not None and leader in sources and sources[leader].key_names:
        with restored_frame_and_values(scene):
            key_names = keys_at_frames(leader, frames, scene)
        source = frames_of_keys(key_names, common)
        if options.frames == AUTO and options.frame_range is None and options.step(scene) == 1:
            added = keys_in_all_frames(leader, common)
            if added:
                _warn_of_new_keys(added, leader, report)
            else:
                _warn_of_left_out(common, key_names, report)
    elif common is not None and not common.key_names and len(frames) == 1:
        source[:] = 0
    may_be_single = options.frames == AUTO and options.frame_range is None
    return FramePlan(key_names, source, frames, may_be_single=may_be_single)


def _warn_of_new_keys(added: list[ShapeKey], obj: Object, report: Report) -> None:
    """Warns of new keys with the value that Blender 5 gives them, which are probably meant to be frames."""
    full = [key.name for key in added if key.value == 1.0]
    if full:
        report.warn(
            f"new shape keys have the value 1 and no keyframes, so they change every frame: {listing(full)}. To export "
            "them as frames of their own, set their values to 0",
            obj.name,
            is_important=True,
        )


def _warn_of_left_out(source: SourceFrames, key_names: list[str | None], report: Report) -> None:
    """Warns of frames of an imported model that the timeline does not play; a single one has no timeline."""
    known = set(source.key_names)
    left_out = len(known - set(key_names))
    if left_out and len(known) > 1:
        report.warn(
            f"{counted(left_out, 'frames', 'were')} left out, because the timeline does not play all {len(known)} of "
            "the imported model. To export all of them, choose Shape Keys as Frames"
        )


def playing_action(objects: Sequence[Object]) -> Action | None:
    """The first action that moves any of the objects: that of an armature, its own, of its keys, of its parent."""
    for obj in objects:
        for owner in (obj.find_armature(), obj, shape_keys(obj), obj.parent):
            action = active_action(owner) if owner is not None else None
            if action is not None:
                return action
    return None


def active_action(owner: Object) -> Action | None:
    """The active action of an object or of shape keys."""
    return owner.animation_data.action if owner.animation_data is not None else None
