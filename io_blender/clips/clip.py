"""Clips: what an export plays. A clip is an action with its slot, an NLA strip, a range between markers, or the scene.

The clips in a list come from the scene. The object stores what users decide: which are checked, their order and names.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bpy.types import Action, Key, NlaStrip, Object, Scene, TimelineMarker

from ...io_common.texts import counted, expand
from .. import versions
from ..frames.shape_keys import shape_keys
from ..reports import Report
from ..scene.objects import NothingToExportError
from ..state import strips_of
from .actions import suitable_actions, warn_of_reasons

PROPERTY = "io_idtech_animations"  # the property of objects that stores what users decide
_STORED = ("name", "source", "action", "slot", "occurrence", "is_checked", "export_name")

_RATE_TOLERANCE = 1e-3  # rates are made of two numbers of 32 bits

_END_SLACK = 1e-4  # in steps: a last sample that is past the end by less than this still counts


class Source(Enum):
    """What a clip is made of."""

    ACTIONS = "ACTIONS"
    STRIPS = "STRIPS"
    MARKERS = "MARKERS"
    SCENE = "SCENE"

    @property
    def default_pattern(self) -> str:
        """The pattern of names, unless the user sets one, such as {action}."""
        return f"{{{self.value.lower().rstrip('s')}}}"


@dataclass(frozen=True)
class Clip:
    """An action, an NLA strip, a range between markers, or the scene."""

    source: Source
    name: str
    start: float  # frame of the action, else of the scene
    end: float  # the last frame
    action: Action | None = None
    slot: Any = None  # None before Blender 4.4
    strip: NlaStrip | None = None
    is_alone: bool = False  # played alone, with all other bones or keys at rest; else the scene plays as it is
    occurrence: int = 0  # how many markers of the same name are before it
    is_preferred: bool = True  # checked unless the user decides otherwise
    foreign: str = ""  # for an action of another owner, why it is not this one's
    # For what plays on several owners at once, each owner with its action and slot.
    plays: tuple[tuple[Any, Action, Any], ...] | None = None

    def played_on(self, owner: Any) -> tuple[Action | None, Any]:
        """The action and the slot that an owner plays."""
        if self.plays is None:
            return self.action, self.slot
        return next(((action, slot) for one, action, slot in self.plays if one == owner), (None, None))

    @property
    def slot_name(self) -> str:
        """The name of the slot; empty for markers, the scene, and before Blender 4.4."""
        return versions.slot_name(self.slot)


@dataclass(frozen=True)
class Row:
    """A clip of a list, and what the user decided about it."""

    animation: Clip
    is_checked: bool
    export_name: str = ""  # empty for that of the pattern
    item: Any = None  # the stored row; None if nothing is stored


@dataclass(frozen=True)
class AnimationList:
    """The clips of an object, in order."""

    owner: Object
    scene: Scene  # whose markers and range are used
    source: Source
    rows: list[Row]
    pattern: str
    prefix: str = ""  # put before each name
    left_out: dict[str, str] = field(default_factory=dict)  # the reason, by name

    @property
    def checked(self) -> list[Row]:
        """The rows that are exported, in order."""
        return [row for row in self.rows if row.is_checked]

    def name(self, row: Row, names: dict[str, str] | None = None) -> str:
        """The user's name, else prefix and pattern, with `names` as further fields. Raises UnknownFieldError."""
        if row.export_name:
            return row.export_name
        clip = row.animation
        fields = {
            "action": clip.action.name if clip.action is not None else "",
            "object": self.owner.name,
            "strip": clip.name if clip.source is Source.STRIPS else "",
            "marker": clip.name if clip.source is Source.MARKERS else "",
            "slot": clip.slot_name,
            "scene": self.scene.name,
        }
        return self.prefix + (expand(self.pattern, fields | (names or {})) or clip.name)

    def require_checked(self, report: Report, option: str, remedy: str, unit: str) -> list[Row]:
        """The rows that are exported. Raises NothingToExportError if there are none."""
        # The user has seen stored rows in the list.
        unseen = [row.animation for row in self.rows if row.animation.foreign and row.item is None]
        warn_of_reasons({clip.name: clip.foreign for clip in unseen}, self.left_out, report)
        if self.checked:
            return self.checked
        owner = self.owner.name
        if self.rows:
            raise NothingToExportError(
                f"nothing is checked in the list of animations of {owner}: check some, or change {option}"
            )
        missing = {
            Source.ACTIONS: f"no action moves {owner}: {remedy}",
            Source.STRIPS: f"{owner} has no NLA strips: push down its actions",
            Source.MARKERS: f"the timeline has no markers: add one where each {unit} begins",
        }
        raise NothingToExportError(f"{missing[self.source]}, or choose another source")


def animation_list(owner: Object, scene: Scene) -> AnimationList:
    """The list of an object, with what is stored about it."""
    # Rows that the user has seen come first, in the user's order; new ones follow, checked. Actions of other
    # owners come last, unchecked.
    stored: Any = getattr(owner, PROPERTY, None)
    value = stored.source if stored is not None else ""
    source = next((one for one in Source if one.value == value), Source.ACTIONS)
    left_out: dict[str, str] = {}
    clips = list(_list_clips(owner, scene, source, left_out))
    items = _items(owner, source)
    known = {
        _key(source, item.name, item.action, item.slot, item.occurrence): position
        for position, item in reversed(list(enumerate(items)))
    }
    found = [(known.get(_key(source, clip.name, clip.action, clip.slot_name, clip.occurrence)), clip) for clip in clips]
    found.sort(key=lambda pair: (bool(pair[1].foreign), len(known) if pair[0] is None else pair[0]))
    rows = [
        Row(clip, clip.is_preferred)
        if position is None
        else Row(clip, items[position].is_checked, items[position].export_name, items[position])
        for position, clip in found
    ]
    pattern = (stored.pattern if stored is not None else "") or source.default_pattern
    prefix = stored.prefix if stored is not None else ""
    return AnimationList(owner, scene, source, rows, pattern, prefix, left_out)


def store_rows(found: AnimationList) -> None:
    """Stores the rows of a list, so that users can edit them; rows of other sources are kept."""
    stored: Any = getattr(found.owner, PROPERTY)
    rows = []
    for row in found.rows:
        clip = row.animation
        values = clip.name, clip.source.value, clip.action, clip.slot_name, clip.occurrence
        rows.append((*values, row.is_checked, row.export_name))
    others = [
        tuple(getattr(item, name) for name in _STORED) for item in stored.rows if item.source != found.source.value
    ]
    stored.rows.clear()
    for values in [*rows, *others]:
        item = stored.rows.add()
        for name, value in zip(_STORED, values, strict=True):
            setattr(item, name, value)
    stored.active_row = min(max(stored.active_row, 0), max(len(rows) - 1, 0))


def can_store(owner: Object) -> bool:
    """Whether rows can be stored on an object: it is neither linked nor an override of a linked one."""
    return bool(owner.is_editable) and owner.override_library is None


def is_stored(found: AnimationList) -> bool:
    """Whether each row of a list is stored, and nothing else of that source."""
    stored = [(item.name, item.action) for item in _items(found.owner, found.source)]
    rows = [(row.animation.name, row.animation.action) for row in found.rows if row.item is not None]
    return rows == stored and len(stored) == len(found.rows)


def _items(owner: Object, source: Source) -> list[Any]:
    stored: Any = getattr(owner, PROPERTY, None)
    return [item for item in stored.rows if item.source == source.value] if stored is not None else []


def _key(source: Source, name: str, action: Action | None, slot: str, occurrence: int) -> tuple[Any, ...]:
    """What identifies a clip: an action itself, as it may be renamed; anything else by its name."""
    if source is Source.ACTIONS:
        return action, slot
    return name if source is not Source.SCENE else "", occurrence


def action_clip(action: Action, slot: Any, *, is_preferred: bool = True, foreign: str = "") -> Clip:
    """An action that is played alone."""
    start, end = versions.frame_range(action, slot)
    return Clip(
        Source.ACTIONS, action.name, start, end, action, slot,
        is_alone=True, is_preferred=is_preferred, foreign=foreign,
    )  # fmt: skip


def scene_clip(scene: Scene) -> Clip:
    """The scene over its range."""
    return Clip(Source.SCENE, scene.name, scene.frame_start, scene.frame_end)


def _list_clips(owner: Object, scene: Scene, source: Source, left_out: dict[str, str]) -> Iterator[Clip]:
    """What is in the list of a source; `left_out` gets the reasons why others are not, by name."""
    if source is Source.SCENE:
        yield scene_clip(scene)
    elif source is Source.MARKERS:
        yield from _list_markers(scene, left_out)
    else:
        animated = shape_keys(owner) if owner.type == "MESH" else owner if owner.type == "ARMATURE" else None
        if animated is not None:
            yield from (_list_actions if source is Source.ACTIONS else _list_strips)(animated, left_out)


def _list_actions(animated: Object | Key, left_out: dict[str, str]) -> Iterator[Clip]:
    found = suitable_actions(animated)
    left_out.update(found.left_out)
    for action, chosen in found.chosen:
        for slot in (chosen, *found.other_slots[action]):
            yield action_clip(action, slot, is_preferred=slot == chosen)
    for action, slot, reason in found.foreign:
        yield action_clip(action, slot, is_preferred=False, foreign=reason)


def _list_strips(animated: Object | Key, left_out: dict[str, str]) -> Iterator[Clip]:
    for strip in strips_of(animated.animation_data):
        if strip.type == "CLIP" and (strip.action is None or versions.plays_nothing(strip)):
            left_out[strip.name] = "no slot of its action is assigned, so it has no effect"
        elif strip.type in ("CLIP", "META"):
            end = strip.frame_start if _is_pose(strip) else strip.frame_end
            slot = versions.assigned_slot(strip)
            yield Clip(Source.STRIPS, strip.name, strip.frame_start, end, strip.action, slot, strip, is_alone=True)


def plain_offset(strip: NlaStrip) -> float | None:
    """What to add to a frame of the scene to get that of the action; None if the strip changes more than the time."""
    is_plain = (
        strip.type == "CLIP"
        and strip.blend_type == "REPLACE"
        and strip.scale == 1.0
        and strip.repeat == 1.0
        # A longer strip plays its action again.
        and strip.frame_end - strip.frame_start <= strip.action_frame_end - strip.action_frame_start
        and strip.blend_in == strip.blend_out == 0.0
        and not strip.use_reverse
        and not strip.use_animated_influence
        and not strip.use_animated_time
        and not strip.modifiers
    )
    return strip.action_frame_start - strip.frame_start if is_plain else None


def _is_pose(strip: NlaStrip) -> bool:
    """Whether a strip plays an action of one frame: in Blender, a strip is at least two frames long."""
    if strip.action is None or plain_offset(strip) is None:
        return False
    first, last = versions.action_range(strip.action)
    return bool(first == last and strip.frame_end - strip.frame_start == 1.0)


def range_markers(scene: Scene) -> list[TimelineMarker]:
    """The markers where clips begin, by frame; markers that bind cameras are cuts instead."""
    markers = [marker for marker in scene.timeline_markers if marker.camera is None]
    return sorted(markers, key=lambda marker: marker.frame)


def _list_markers(scene: Scene, left_out: dict[str, str]) -> Iterator[Clip]:
    """Each range goes on to the frame before the next marker, the last one to the end of the scene."""
    markers = range_markers(scene)
    ends = [marker.frame - 1 for marker in markers[1:]]
    if markers:
        ends.append(max(scene.frame_end, markers[-1].frame))
    counts: Counter[str] = Counter()
    for marker, end in zip(markers, ends, strict=True):
        if end < marker.frame:
            left_out[marker.name] = "another marker is on the same frame, so its range is empty"
            continue
        yield Clip(Source.MARKERS, marker.name, marker.frame, end, occurrence=counts[marker.name])
        counts[marker.name] += 1


@dataclass(frozen=True)
class Played:
    """A clip that is exported; it has a name if there are several."""

    name: str
    frames: int
    step: float  # frames of the scene from one frame of the file to the next
    rate: float  # frames per second of the file, in the game


def sample_count(span: float, step: float) -> int:
    """How many samples, `step` apart, there are from a first frame to one `span` frames later."""
    return max(int(span / step + _END_SLACK) + 1, 1)


def warn_of_speed(clips: Iterable[Played], scene_rate: float, report: Report, *, is_fixed: bool) -> None:
    """Warns once of clips that last longer or shorter in the game; with `is_fixed`, it plays all files at one rate."""
    found = [
        one
        for one in clips
        if one.frames > 1 and not math.isclose(one.rate * one.step, scene_rate, rel_tol=_RATE_TOLERANCE)
    ]
    if not found:
        return
    frames = sum(one.frames for one in found)
    in_blender = sum(one.frames * one.step for one in found) / scene_rate
    in_game = sum(one.frames / one.rate for one in found)
    times = f"{counted(frames, 'frames')}: {_seconds(in_blender)} in Blender, {_seconds(in_game)} in the game"
    if is_fixed:
        rate, step = found[0].rate, found[0].step
        # Every frame of the file is `step` frames of the scene.
        stepped = f" with Frame Step {step:g}" if step != 1 else ""
        sampled = sum(sample_count((one.frames - 1) * one.step, scene_rate / rate) for one in found)
        text = (
            f"the game plays at {rate:g} fps, the scene at {scene_rate:g}{stepped}. {times}. To keep the time, set "
            f"Frame Rate to Game's ({counted(sampled, 'frames')}), or the scene to {rate * step:g} fps"
        )
    else:
        rates = ", ".join(dict.fromkeys(f"{one.rate * one.step:g}" for one in found))
        text = (
            f"the frame rate of the imported file, {rates}, is kept, but the scene plays at {scene_rate:g} fps. "
            f"{times}. To write what Blender plays, set Frame Rate to Scene's"
        )
    for one in found:
        report.warn(text, one.name, is_important=True)


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s" if seconds >= 0.01 else f"{seconds:.1g} s"
