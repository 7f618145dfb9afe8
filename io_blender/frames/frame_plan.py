"""The frames of a vertex-animated model: shape keys, or frames of the scene. Each format names them itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Action, Object, Scene

from ...io_common.texts import counted
from .. import state
from ..clips.actions import active_action
from ..clips.clip import Clip, sample_count
from ..clips.playing import Player, restored_frame_and_values
from ..records import NONE, SourceFrames
from ..reports import Report, listing
from ..scene.objects import NothingToExportError, rig_of
from ..scene.time_dependence import depends_on_time, has_frame_handlers, is_animated
from .shape_keys import (
    Playback,
    frame_keys,
    has_effect,
    keyed_ranges,
    keys_at_frames,
    keys_in_all_frames,
    playback_of,
    played_range,
    shape_keys,
)

AUTO, SHAPE_KEYS, LIST = "AUTO", "SHAPE_KEYS", "LIST"

MAX_FRAMES = 65_536  # more frames than any game takes; a mistyped range would fill the memory

AnySource = TypeVar("AnySource", bound=SourceFrames)


@dataclass(frozen=True)
class FrameOptions:
    """Which frames are exported."""

    # 'SHAPE_KEYS', 'SCENE', 'LIST' (what is checked in the list of animations), or 'AUTO': the keys of an
    # imported model, or what they play if that was changed or other things move as well; else the range of
    # the armature's action, if it has one of its own; else shape keys, if nothing moves; else the scene.
    frames: str = AUTO
    frame_step: int = 1  # N for every N-th frame
    frame_range: tuple[int, int] | None = None  # of the scene; None for its own
    # To sample at, so that the scene lasts as long as in Blender; 0 for frame by frame.
    game_rate: float = 0.0

    @property
    def is_automatic(self) -> bool:
        """Whether the range follows from what plays."""
        return self.frames == AUTO and self.frame_range is None

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
        return [first + index * step for index in range(sample_count(last - first, step) if last >= first else 0)]

    def of_clip(self, clip: Clip, scene: Scene) -> Sequence[float]:
        """The frames of a clip of a list."""
        return self.between(round(clip.start), round(clip.end), scene)


@dataclass(frozen=True)
class Segment:
    """Frames in a row that show one clip of a list, of the scene or of the action that is played alone."""

    name: str
    frames: Sequence[float]
    clip: Clip


@dataclass(eq=False)
class FramePlan:
    """The frames of an export, F of them."""

    key_names: list[str | None]  # the one that each frame shows alone, (F,); None if mixed or unknown
    source: npt.NDArray[np.int64]  # the frame of the imported file, or NONE, (F,)
    scene_frames: Sequence[float] | None  # None if they are shape keys
    keys: dict[Object, list[int]] = field(default_factory=dict)  # the index of an object's key in each frame
    may_be_single: bool = False  # frames of the scene that are all the same become one
    # How many of its frames, those of the scene's range, the keyframes reach; None if all are exported that differ.
    keyed_count: int | None = None
    segments: Sequence[Segment] = ()  # what the frames show, if they are of a list
    owners: Sequence[Any] = ()  # the armature or shape keys that play it
    file: SourceFrames | None = None  # that the frames come from, if it is one
    plays_keys: bool = False  # they are shape keys that the timeline plays in order
    names: list[str] = field(default_factory=list)  # in the file that is written, (F,)

    @property
    def frame_count(self) -> int:
        """F."""
        return len(self.key_names)

    @property
    def clips(self) -> list[Clip]:
        """The clips of the list that the frames show."""
        return [segment.clip for segment in self.segments]

    def some_frames(self, rows: npt.NDArray[np.int64]) -> FramePlan:
        """The plan with some of its frames alone; segments go on to have all."""
        chosen = rows.tolist()
        return replace(
            self,
            key_names=[self.key_names[row] for row in chosen],
            source=self.source[rows],
            scene_frames=None if self.scene_frames is None else [self.scene_frames[row] for row in chosen],
            keys={obj: [indices[row] for row in chosen] for obj, indices in self.keys.items()},
        )

    def moving_count(self, *tables: npt.NDArray[np.floating], tolerance: float) -> int:
        """How many of its frames show something new, with what was sampled in them, (F, …)."""
        if not self.may_be_single:
            return self.frame_count
        count = self.frame_count
        while count > 1 and all(np.allclose(one[count - 2], one[-1], rtol=0.0, atol=tolerance) for one in tables):
            count -= 1
        if count == 1:
            return 1
        return self.frame_count if self.keyed_count is None else max(count, self.keyed_count)

    def first_frames(self, count: int, report: Report) -> FramePlan:
        """The plan with its first frames alone; a single one is that of the imported file if it has just one."""
        names = self.names[:count]
        if count == 1 and self.file is not None and len(self.file.frame_names) == 1:
            names = list(self.file.frame_names)
        if 1 < count < self.frame_count and self.scene_frames is not None:
            report.hints.append(
                f"Nothing moves after frame {self.scene_frames[count - 1]:g}, so the export ends there. Scene Playback "
                "exports the whole range of the scene"
            )
        return replace(self.some_frames(np.arange(count)), may_be_single=False, names=names)


def plan_sequences(
    objects: Sequence[Object],
    sources: Mapping[Object, SourceFrames],
    scene: Scene,
    owners: Sequence[Any],
    segments: Sequence[Segment],
) -> FramePlan:
    """The frames of clips that owners play, one after the other. Raises NothingToExportError if there are too many."""
    frames = [frame for segment in segments for frame in segment.frames]
    if len(frames) > MAX_FRAMES:
        raise NothingToExportError(
            f"there are {len(frames):,} frames, more than the {MAX_FRAMES:,} that can be exported: check fewer "
            "animations, or choose a larger Frame Step"
        )
    clips = [segment.clip for segment in segments]
    # Else the scene plays as it is.
    owners = owners if any(clip.is_alone for clip in clips) else ()
    key_names: list[str | None] = [None] * len(frames)
    common, imported = common_source(sources), _imported(objects, sources)
    if common is not None and imported:
        key_names = []
        with restored_frame_and_values(scene), Player(bpy.context, owners, clips) as player:
            for segment in segments:
                player.play(segment.clip)
                key_names += keys_at_frames(imported[0], segment.frames, scene)
    source = frames_of_keys(key_names, common)
    return FramePlan(key_names, source, frames, segments=segments, owners=owners, file=common)


def owner_of_list(objects: Sequence[Object]) -> Object:
    """The object with the list of animations of meshes: the first armature, the first with shape keys, or the first."""
    armatures = (armature for obj in objects if (armature := obj.find_armature()) is not None)
    keyed = (obj for obj in objects if frame_keys(obj))
    # What has frames of its own may be a weapon that a rig holds.
    rigs = (rig for obj in objects if (rig := rig_of(obj)) is not None)
    return next(armatures, None) or next(keyed, None) or next(rigs, objects[0])


def common_source(sources: Mapping[Object, AnySource]) -> AnySource | None:
    """The file that the frames come from, if it is one: parts of one model all have its frames."""
    models = list(sources.values())
    kinds = {(tuple(one.frame_names), tuple(one.key_names), one.frame_start) for one in models}
    return models[0] if len(kinds) == 1 else None


def frames_of_keys(key_names: Sequence[str | None], source: SourceFrames | None) -> npt.NDArray[np.int64]:
    """The frame of the imported file whose shape key has each name, or NONE, (F,)."""
    known = {name: frame for frame, name in enumerate(source.key_names)} if source is not None else {}
    return np.array([NONE if name is None else known.get(name, NONE) for name in key_names], dtype=np.int64)


def _imported(objects: Iterable[Object], sources: Mapping[Object, SourceFrames]) -> list[Object]:
    """The objects with shape keys that an import made; the first one's name the frames."""
    return [obj for obj in objects if obj in sources and sources[obj].key_names and frame_keys(obj)]


@dataclass(frozen=True, eq=False)
class Planner:
    """Decides which frames are exported, without a list."""

    objects: Sequence[Object]
    sources: Mapping[Object, SourceFrames]
    scene: Scene
    options: FrameOptions
    report: Report

    def plan(self) -> FramePlan:
        """The frames. Raises NothingToExportError if there are none, or too many."""
        options = self.options
        most = max(self._keyed, key=lambda obj: len(frame_keys(obj)), default=None)
        leader = next(iter(_imported(self.objects, self.sources)), most)
        wants_keys = options.frames == SHAPE_KEYS
        if wants_keys and leader is None:
            raise NothingToExportError("the exported objects have no shape keys: add some, or choose Scene as Frames")
        if leader is None or not (wants_keys or (options.is_automatic and self._keys_are_frames())):
            return self._plan_scene()
        if options.frame_range is not None:
            self.report.warn("Custom Range has no effect on shape keys: to export a part of them, mute the others")
        if wants_keys and options.is_resampled(self.scene):
            self.report.warn("Frame Rate has no effect on shape keys: choose Scene Playback as Frames")
        return self._plan_keys(leader)

    @cached_property
    def _keyed(self) -> list[Object]:
        return [obj for obj in self.objects if frame_keys(obj)]

    @cached_property
    def _playbacks(self) -> dict[Object, Playback]:
        imported = _imported(self.objects, self.sources)
        return {obj: playback_of(obj, self.sources[obj], self.scene) for obj in imported}

    def _keys_are_frames(self) -> bool:
        """Whether shape keys are the frames that Blender shows, so that the scene need not be played."""
        sources, keyed = self.sources, self._keyed
        imported = _imported(keyed, sources)
        is_moving = any(depends_on_time(obj) for obj in self.objects)
        if not imported:
            is_playing = any(is_animated(keys) for obj in keyed if (keys := shape_keys(obj)) is not None)
            if is_moving or is_playing or has_frame_handlers() or self._armature_range() is not None:
                return False
            self._warn_of_mixes()
            return True
        playbacks = set(self._playbacks.values())
        if len(imported) < len(keyed) or Playback.OTHER in playbacks or len(playbacks) > 1:
            return False
        first, key_names = sources[imported[0]], [key.name for key in frame_keys(imported[0])]
        for obj in imported[1:]:
            if sources[obj].frame_start != first.frame_start or [key.name for key in frame_keys(obj)] != key_names:
                return False
        plays_in_order = Playback.IN_ORDER in playbacks
        if is_moving or (plays_in_order and self.options.is_resampled(self.scene)):
            return False
        if plays_in_order:
            self._warn_of_order(key_names, first)
            self._warn_of_pins()
        else:
            self._warn_of_mixes()
        return True

    def _warn_of_mixes(self) -> None:
        self._warn_of_pins()
        for obj in self._keyed:
            keys = shape_keys(obj)
            mixed = [key for key in frame_keys(obj) if key != keys.reference_key and key.value != 0.0]
            if keys.use_relative and not obj.show_only_shape_key and any(has_effect(key) for key in mixed):
                self.report.warn(
                    "each shape key was exported alone as a frame, not the mix that the viewport shows. To export the "
                    "mix, choose Scene as Frames",
                    obj.name,
                )

    def _warn_of_pins(self) -> None:
        """Warns of a pinned key, which is often left over from editing a frame."""
        for obj in self._keyed:
            if obj.show_only_shape_key:
                self.report.warn(
                    "a shape key is pinned (Solo Active Shape Key); this was ignored, and all keys were exported. To "
                    "export what the viewport shows, choose Scene as Frames",
                    obj.name,
                )

    def _warn_of_order(self, key_names: list[str], source: SourceFrames) -> None:
        """Warns of keys that were deleted or moved in the list: the timeline plays them as before."""
        frames = {name: frame for frame, name in enumerate(source.key_names)}
        known = [frames[name] for name in key_names if name in frames]
        renamed = {position for position, name in enumerate(key_names) if name not in frames}
        missing = set(range(max(known, default=0))) - set(known) - renamed
        if missing or known != sorted(known):
            self.report.warn(
                "shape keys were muted, deleted or reordered: the frames follow the list of shape keys, but the "
                "timeline still plays the old order. To export the timeline, choose Scene as Frames"
            )

    def _plan_keys(self, leader: Object) -> FramePlan:
        source, step = common_source(self.sources), self.options.frame_step
        key_names = [key.name for key in frame_keys(leader)]
        frames = frames_of_keys(key_names, source)
        # A key that was renamed still is the frame at its position.
        taken = set(frames.tolist())
        source_count = len(source.key_names) if source is not None else 0
        for position in np.flatnonzero(frames == NONE).tolist():
            if position < source_count and position not in taken:
                frames[position] = position
        keys = {}
        for obj in self._keyed:
            # The key of the same name, else at the same position, else the first.
            names = [key.name for key in shape_keys(obj).key_blocks]
            index = {name: position for position, name in enumerate(names)}
            is_parallel = len(names) == len(key_names)
            indices = [index.get(name, position if is_parallel else 0) for position, name in enumerate(key_names)]
            keys[obj] = indices[::step]
        plays_keys = not self.options.is_resampled(self.scene) and Playback.IN_ORDER in self._playbacks.values()
        return FramePlan(list(key_names[::step]), frames[::step], None, keys, file=source, plays_keys=plays_keys)

    def _armature_range(self) -> tuple[int, int] | None:
        """The manual range of the action of the first armature whose action has one."""
        for obj in self.objects:
            action = active_action(rig_of(obj))
            if action is not None and action.use_frame_range:
                return round(action.frame_start), round(action.frame_end)
        return None

    def _range(self) -> tuple[Sequence[float], bool]:
        """The frames, and whether nothing but the scene says where they end."""
        options, sources, is_open = self.options, self.sources, False
        first, last = options.frame_range or (self.scene.frame_start, self.scene.frame_end)
        if options.is_automatic:
            ranges = [played_range(obj, sources[obj]) for obj in self.objects if obj in sources]
            played = [span for span in ranges if span is not None]
            file = common_source(sources)
            if played:
                first, last = min(start for start, _ in played), max(end for _, end in played)
            elif not self.objects and file is not None:
                first, last = file.frame_start, file.frame_start + len(file.frame_names) - 1
            else:
                found = self._armature_range()
                is_open = found is None
                first, last = found or (first, last)
        frames = options.between(first, last, self.scene)
        if not frames:
            raise NothingToExportError(
                f"there are no frames from {first} to {last}: choose an end that is not before the start"
            )
        if len(frames) > MAX_FRAMES:
            raise NothingToExportError(
                f"there are {len(frames):,} frames from {first} to {last}, more than the {MAX_FRAMES:,} that can be "
                "exported: choose a shorter range or a larger Frame Step"
            )
        return frames, is_open

    def _keyed_count(self, frames: Sequence[float]) -> int:
        """How many frames the keyframes of what moves the objects reach."""
        owners = {owner for obj in self.objects for owner in _owners(obj) if owner is not None}
        data = [owner.animation_data for owner in owners if owner.animation_data is not None]
        ends = [end for one in data for _, end in keyed_ranges(one)]
        actions = [one.action for one in data if one.action is not None and one.action.use_frame_range]
        end = max([*ends, *(action.frame_end for action in actions)], default=frames[0])
        return min(int(np.searchsorted(np.array(frames), end)) + 1, len(frames))

    def _plan_scene(self) -> FramePlan:
        options, scene = self.options, self.scene
        frames, is_open = self._range()
        common = common_source(self.sources)
        source = np.full(len(frames), NONE)
        key_names: list[str | None] = [None] * len(frames)
        imported = _imported(self.objects, self.sources)
        if common is not None and imported:
            with restored_frame_and_values(scene):
                key_names = keys_at_frames(imported[0], frames, scene)
                left_out = set(common.key_names) - set(key_names)
                for obj in imported[1:] if left_out else ():
                    # The keys of one part may have been renamed or deleted.
                    left_out -= set(keys_at_frames(obj, frames, scene))
            source = frames_of_keys(key_names, common)
            if options.is_automatic and options.step(scene) == 1:
                self._warn_of_keys(imported[0], common, len(left_out))
        elif common is not None and not self.objects:
            # Nothing but the time tells which frame of the file it is; its number stands for the name of a key.
            known = range(len(common.frame_names))
            times = [frame - common.frame_start for frame in frames]
            source = np.array([time if time in known else NONE for time in times], dtype=np.int64)
            key_names = [None if row == NONE else str(row) for row in source.tolist()]
        if common is not None and len(common.frame_names) == 1:
            source[:] = 0
        may_be_single = options.is_automatic and (common is None or bool(self.objects))
        keyed_count = self._keyed_count(frames) if is_open else None
        return FramePlan(key_names, source, frames, may_be_single=may_be_single, keyed_count=keyed_count, file=common)

    def _warn_of_keys(self, leader: Object, source: SourceFrames, left_out: int) -> None:
        """Warns of new keys that change every frame, else of imported frames that are not played."""
        added = keys_in_all_frames(leader, source)
        # The value that Blender 5 gives new keys, which are probably meant to be frames.
        full = [key.name for key in added if key.value == 1.0]
        known = set(source.key_names)
        if full:
            self.report.warn(
                f"new shape keys have the value 1 and no keyframes, so they change every frame: {listing(full)}. To "
                "export them as frames of their own, set their values to 0",
                leader.name,
                is_important=True,
            )
        if not added and left_out and len(known) > 1:
            self.report.warn(
                f"the timeline does not play {counted(left_out, 'frames')} of the {len(known)} of the imported model. "
                "To export all of them, choose Shape Keys as Frames"
            )


def playing_action(objects: Sequence[Object]) -> Action | None:
    """The first action that moves any of the objects: of an armature, its own, of its keys, of its parent."""
    owners = (owner for obj in objects for owner in _owners(obj))
    return next((action for owner in owners if (action := active_action(owner)) is not None), None)


def _owners(obj: Object) -> tuple[Any, ...]:
    """What may have an action that moves an object, or None."""
    return rig_of(obj), obj, shape_keys(obj), obj.parent
