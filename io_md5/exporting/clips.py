"""Clips, each exported to one animation file: an action, an NLA strip or the scene, with a frame range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_blender import versions
from ...io_blender.clips.animation_list import ListedAnimation, Source, plain_offset
from ...io_blender.clips.playing_speed import sample_count
from ...io_blender.clips.suitable_actions import suitable_actions, warn_of_reasons
from ...io_blender.reports import Report, listing
from ...io_blender.scene.objects import NothingToExportError
from ...io_blender.state import frame_rate
from ..format import skeleton as encoding
from ..format.model import Floats
from ..records import StoredAction, load_action

if TYPE_CHECKING:
    from bpy.types import Action, NlaStrip, Object, Scene


class PlaybackMode(Enum):
    """What is evaluated while a clip is sampled."""

    ACTIVE = "ACTIVE"
    """Everything as in Blender: the active action, NLA tracks, unkeyed poses, constraints and drivers."""

    ISOLATED = "ALONE"
    """One action on bones that are otherwise at rest, without NLA tracks."""

    STRIP = "STRIP"
    """One NLA strip, muted or not, on bones that are otherwise at rest."""

    SCENE = "SCENE"
    """Everything, over a range of the scene."""


@dataclass(frozen=True)
class AnimationOptions:
    """The options of animations.

    Attributes:
        frame_step: N for every N-th frame.
        frame_rate: frames per second to sample, of which every N-th is exported; 0 for the rate of the action, else of
            the scene.
        scene_rate: frames per second of the scene, if actions are sampled as Blender plays them; 0 for their own rate.
        compares_speed: warn if the game plays an animation slower or faster than Blender.
        position_precision: see `format.encoding`.
        orientation_precision: see `format.encoding`.
    """

    frame_step: int = 1
    frame_rate: float = 0.0
    scene_rate: float = 0.0
    compares_speed: bool = True
    position_precision: float = encoding.POSITION_PRECISION
    orientation_precision: float = encoding.ORIENTATION_PRECISION


@dataclass(frozen=True)
class Clip:
    """An action, an NLA strip or the scene, with a frame range.

    Attributes:
        name: of the action, strip or marker; empty for the scene.
        playing: what is evaluated.
        start: the first frame: of the action, else of the scene.
        end: the last.
        rate: frames per second.
        action: the action, or that of the strip; None for the scene.
        slot: of the action; None before Blender 4.4, or for the scene.
        stored: the stored data of an imported action.
        to_scene: from frames of the action to frames of the scene, if they differ, as in NLA tweak mode.
        strip: the NLA strip, if that is played.
    """

    name: str
    playing: PlaybackMode
    start: float
    end: float
    rate: float
    action: Action | None = None
    slot: Any = None
    stored: StoredAction | None = None
    to_scene: Callable[[float], float] | None = None
    strip: NlaStrip | None = None

    @property
    def is_alone(self) -> bool:
        """Whether it plays on bones that are otherwise at rest."""
        return self.playing in (PlaybackMode.ISOLATED, PlaybackMode.STRIP)

    def action_frames(self, frames: Floats) -> Floats | None:
        """The frames of the action, (F,), that play on frames of the scene; None if only Blender knows them.

        `frames` are as `samples` returns them.
        """
        if self.strip is None:
            return frames if self.to_scene is None else None
        offset = plain_offset(self.strip)
        return None if offset is None else frames + offset

    def samples(self, options: AnimationOptions) -> tuple[Floats, float]:
        """The frames of the scene to sample, (F,), and the frame rate of the file."""
        own = options.scene_rate or self.rate
        # NaN is not above 0 either.
        rate = (options.frame_rate if options.frame_rate > 0.0 else own) / options.frame_step
        step = own / rate
        frames = self.start + np.arange(sample_count(self.end - self.start, step), dtype=np.float64) * step
        if self.to_scene is not None:
            frames = np.array([self.to_scene(frame) for frame in frames.tolist()])
        return frames, rate


def scene_clip(scene: Scene) -> Clip:
    """The scene over its range."""
    return Clip("", PlaybackMode.SCENE, scene.frame_start, scene.frame_end, frame_rate(scene))


def listed_clip(animation: ListedAnimation, scene: Scene) -> Clip:
    """The clip of a listed animation: an action, a strip, a range between markers, or the scene.

    An action without a stored frame rate has that of the scene.
    """
    if animation.source is Source.SCENE:
        return scene_clip(scene)
    if animation.source is Source.MARKERS:
        rate = frame_rate(scene)
        return Clip(animation.name, PlaybackMode.SCENE, animation.start, animation.end, rate)
    if animation.action is not None and animation.strip is None:
        return _action_clip(animation.action, animation.slot, PlaybackMode.ISOLATED, scene)
    stored = load_action(animation.action) if animation.action is not None else None
    rate = (stored.frame_rate if stored is not None else None) or frame_rate(scene)
    return Clip(
        animation.name,
        PlaybackMode.STRIP,
        animation.start,
        animation.end,
        rate,
        animation.action,
        animation.slot,
        stored,
        strip=animation.strip,
    )


def active_clip(armature: Object, scene: Scene) -> Clip:
    """The active action of an armature, with the slot that is assigned.

    Raises NothingToExportError if there is none, or if none of its slots is assigned.
    """
    data = armature.animation_data
    if data is None or data.action is None:
        raise NothingToExportError(
            f"{armature.name} has no active action: choose one in the Action Editor, or set Actions to All Actions. If "
            "NLA strips or constraints move the armature, set it to Scene Playback"
        )
    if versions.plays_nothing(data):
        raise NothingToExportError(
            f"{armature.name}: no slot of the action {data.action.name} is assigned, so it has no effect; "
            "choose a slot in the Action Editor, or another action"
        )
    clip = _action_clip(data.action, versions.assigned_slot(data), PlaybackMode.ACTIVE, scene)
    if not data.use_tweak_mode:
        return clip
    return replace(clip, to_scene=data.nla_tweak_strip_time_to_scene)


def all_clips(armature: Object, scene: Scene, report: Report) -> list[Clip]:
    """The armature's own actions, by name; those that are left out are warned about.

    An action without a stored frame rate has that of the scene.
    """
    actions = suitable_actions(armature)
    warn_of_reasons(actions.reasons, actions.left_out, report)
    if actions.uncertain:
        others = listing(list(dict.fromkeys(actions.uncertain.values())))
        report.warn(
            f"exported as {armature.name}'s, though they may be {others}'s, which has the same bones: "
            f"{listing(list(actions.uncertain))}. Choose with Actions: Choose"
        )
    return [_action_clip(action, slot, PlaybackMode.ISOLATED, scene) for action, slot in actions.chosen]


def _action_clip(action: Action, slot: Any, playing: PlaybackMode, scene: Scene) -> Clip:
    stored = load_action(action)
    start, end = action_range(action, slot)
    return Clip(
        action.name, playing, start, end, stored.frame_rate or frame_rate(scene), action, slot, stored
    )


def action_range(action: Action, slot: Any) -> tuple[float, float]:
    """The frames of an action that are exported: its manual range, else that of the keys of a slot.

    A manual range that the import set is extended to keys that were added outside of it.
    """
    start, end = versions.frame_range(action, slot)
    if not action.use_frame_range or (start, end) != load_action(action).frame_range:
        return start, end
    first, last = versions.key_range(action, slot)
    return min(start, first), max(end, last)
