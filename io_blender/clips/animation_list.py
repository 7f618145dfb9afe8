"""The animations that an export chooses from: actions, NLA strips, ranges between markers, or the scene.

What is in a list follows from the scene. An object stores only what users decide: which animations are checked, their
order and their names. The object is the armature, or a mesh that has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from ...io_common.name_patterns import expand
from .. import versions
from ..scene.shape_keys import shape_keys
from .suitable_actions import suitable_actions

if TYPE_CHECKING:
    from bpy.types import Action, NlaStrip, Object, Scene

PROPERTY = "io_idtech_animations"
"""The property of objects that stores what users decide."""


class Source(Enum):
    """What an animation is made of."""

    ACTIONS = "ACTIONS"
    STRIPS = "STRIPS"
    MARKERS = "MARKERS"
    SCENE = "SCENE"

    @property
    def default_pattern(self) -> str:
        """The pattern of names, unless the user sets one."""
        return {"ACTIONS": "{action}", "STRIPS": "{strip}", "MARKERS": "{marker}", "SCENE": "{scene}"}[
            self.value
        ]


@dataclass(frozen=True)
class ListedAnimation:
    """An action, an NLA strip, a range between markers, or the scene.

    Attributes:
        source: which of these.
        name: of the action, strip, marker or scene.
        start: the first frame: of the action, else of the scene.
        end: the last frame, included.
        occurrence: how many markers of the same name are before it.
        action: of an action or strip.
        slot: of the action; None before Blender 4.4.
        strip: of an object of the list.
        is_preferred: whether it is checked unless the user decides otherwise.
        foreign: for an action of another owner, whose it is; else empty. It comes last.
    """

    source: Source
    name: str
    start: float
    end: float
    occurrence: int = 0
    action: Action | None = None
    slot: Any = None
    strip: NlaStrip | None = None
    is_preferred: bool = True
    foreign: str = ""

    @property
    def slot_name(self) -> str:
        """The name of the slot; empty for markers, the scene, and before Blender 4.4."""
        return versions.slot_name(self.slot)

    @property
    def length(self) -> float:
        """The number of frames at their own rate."""
        return self.end - self.start + 1.0

    def names(self, owner: Object, scene: Scene) -> dict[str, str]:
        """The fields of the pattern for names in the list of `owner`."""
        return {
            "action": self.action.name if self.action is not None else "",
            "object": owner.name,
            "strip": self.name if self.source is Source.STRIPS else "",
            "marker": self.name if self.source is Source.MARKERS else "",
            "slot": self.slot_name,
            "scene": scene.name,
        }


@dataclass(frozen=True)
class Row:
    """An animation of a list, and what the user decided about it.

    Attributes:
        is_checked: whether it is exported.
        export_name: the name that the user chose for it; empty for that of the pattern.
        item: the stored row; None if nothing is stored about it.
    """

    animation: ListedAnimation
    is_checked: bool
    export_name: str = ""
    item: Any = None


@dataclass(frozen=True)
class AnimationList:
    """The list of an object.

    Attributes:
        owner: the object.
        scene: whose markers and range are used.
        source: what is listed.
        rows: all animations, in order.
        pattern: of names.
        prefix: of all names.
        left_out: the reason against each animation that is not listed, by name.
    """

    owner: Object
    scene: Scene
    source: Source
    rows: list[Row]
    pattern: str
    prefix: str = ""
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def unseen(self) -> dict[str, str]:
        """Whose each action of another owner is, by name; without those that the user has seen in the list."""
        rows = [row for row in self.rows if row.animation.foreign and row.item is None]
        return {row.animation.name: row.animation.foreign for row in rows}

    @property
    def checked(self) -> list[Row]:
        """The rows that are exported, in order."""
        return [row for row in self.rows if row.is_checked]

    def name(self, row: Row, names: dict[str, str] | None = None) -> str:
        """The name under which a row is exported: the one that the user chose, else the prefix and the pattern.

        `names` holds fields that differ from those of the animation. Raises UnknownFieldError if the pattern has a
        field that does not exist.
        """
        if row.export_name:
            return row.export_name
        fields = row.animation.names(self.owner, self.scene) | (names or {})
        return self.prefix + (expand(self.pattern, fields) or row.animation.name)


def animation_list(owner: Object, scene: Scene, source: Source | None = None) -> AnimationList:
    """The list of an object, with what is stored about it.

    Rows that the user has seen come first, in the order that the user chose; new ones follow, checked. Actions of other
    owners come last, unchecked.

    The owner is an armature, or a mesh without one. The scene gives markers and range. If `source` is None, the stored
    choice is used.
    """
    stored = getattr(owner, PROPERTY, None)
    if source is None:
        source = stored_source(owner)
    left_out: dict[str, str] = {}
    animations = list(_LISTERS[source](owner, scene, left_out))
    items = [item for item in stored.rows if item.source == source.value] if stored is not None else []
    known = {_key_of_item(item): position for position, item in reversed(list(enumerate(items)))}
    found = [(known.get(_key(animation)), animation) for animation in animations]
    found.sort(key=lambda pair: (bool(pair[1].foreign), len(known) if pair[0] is None else pair[0]))
    rows = [
        Row(animation, animation.is_preferred)
        if position is None
        else Row(animation, items[position].is_checked, items[position].export_name, items[position])
        for position, animation in found
    ]
    pattern = (stored.pattern if stored is not None else "") or source.default_pattern
    return AnimationList(
        owner, scene, source, rows, pattern, stored.prefix if stored is not None else "", left_out
    )


def stored_source(owner: Object) -> Source:
    """What the list of an object shows; actions unless something valid is stored."""
    stored: Any = getattr(owner, PROPERTY, None)
    value = stored.source if stored is not None else ""
    return next((source for source in Source if source.value == value), Source.ACTIONS)


def store_rows(found: AnimationList) -> None:
    """Stores the rows of a list, so that users can edit them; rows of other sources are kept."""
    stored: Any = getattr(found.owner, PROPERTY)
    others = [_values(item) for item in stored.rows if item.source != found.source.value]
    rows = [_row_values(row) for row in found.rows]
    stored.rows.clear()
    for values in [*rows, *others]:
        item = stored.rows.add()
        for name, value in values.items():
            setattr(item, name, value)
    stored.active_row = min(max(stored.active_row, 0), max(len(rows) - 1, 0))


def can_store(owner: Object) -> bool:
    """Whether rows can be stored on an object: it is neither linked nor an override of a linked one."""
    return bool(owner.is_editable) and owner.override_library is None


def is_stored(found: AnimationList) -> bool:
    """Whether each row of a list is stored, and nothing else of that source."""
    stored: Any = getattr(found.owner, PROPERTY, None)
    items = [item for item in stored.rows if item.source == found.source.value] if stored is not None else []
    names = [(item.name, item.action) for item in items]
    return [
        (row.animation.name, row.animation.action) for row in found.rows if row.item is not None
    ] == names and len(names) == len(found.rows)


def _row_values(row: Row) -> dict[str, Any]:
    animation = row.animation
    return {
        "name": animation.name,
        "source": animation.source.value,
        "action": animation.action,
        "slot": animation.slot_name,
        "occurrence": animation.occurrence,
        "is_checked": row.is_checked,
        "export_name": row.export_name,
    }


def _values(item: Any) -> dict[str, Any]:
    names = ("name", "source", "action", "slot", "occurrence", "is_checked", "export_name")
    return {name: getattr(item, name) for name in names}


# An action is known by itself, as it may be renamed; other things by name.


def _key(animation: ListedAnimation) -> tuple[Any, ...]:
    if animation.source is Source.ACTIONS:
        return animation.action, animation.slot_name
    return animation.name if animation.source is not Source.SCENE else "", animation.occurrence


def _key_of_item(item: Any) -> tuple[Any, ...]:
    if item.source == Source.ACTIONS.value:
        return item.action, item.slot
    return item.name if item.source != Source.SCENE.value else "", item.occurrence


def _actions(owner: Object, scene: Scene, left_out: dict[str, str]) -> Iterator[ListedAnimation]:
    del scene
    animated = _animated(owner)
    if animated is None:
        return
    found = suitable_actions(animated)
    left_out.update(found.left_out)
    for action, chosen in found.chosen:
        for slot in (chosen, *found.other_slots[action]):
            yield _action(action, slot, is_preferred=slot == chosen)
    for one in found.foreign:
        yield _action(one.action, one.slot, is_preferred=False, foreign=one.reason)


def _action(action: Action, slot: Any, *, is_preferred: bool, foreign: str = "") -> ListedAnimation:
    start, end = versions.frame_range(action, slot)
    return ListedAnimation(
        Source.ACTIONS,
        action.name,
        start,
        end,
        action=action,
        slot=slot,
        is_preferred=is_preferred,
        foreign=foreign,
    )


def _strips(owner: Object, scene: Scene, left_out: dict[str, str]) -> Iterator[ListedAnimation]:
    del scene
    animated = _animated(owner)
    if animated is None or animated.animation_data is None:
        return
    for track in animated.animation_data.nla_tracks:
        for strip in track.strips:
            if strip.type not in ("CLIP", "META"):
                continue
            if strip.type == "CLIP" and (strip.action is None or versions.strip_plays_nothing(strip)):
                left_out[strip.name] = "no slot of its action is assigned, so it has no effect"
                continue
            yield ListedAnimation(
                Source.STRIPS,
                strip.name,
                strip.frame_start,
                strip.frame_start if _is_pose(strip) else strip.frame_end,
                action=strip.action,
                slot=versions.slot_of_strip(strip),
                strip=strip,
            )


def plain_offset(strip: NlaStrip) -> float | None:
    """What is added to a scene frame to get the frame of the action; None if a strip changes more than its time."""
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
    """Whether a strip plays an action of one frame: Blender makes no strips shorter than two."""
    if strip.action is None or plain_offset(strip) is None:
        return False
    in_scene: Any = strip.action
    first, last = in_scene.frame_range
    return bool(first == last and strip.frame_end - strip.frame_start == 1.0)


def _animated(owner: Object) -> Any:
    """What plays the animations of a list: an armature itself, the shape keys of a mesh; None if there is nothing."""
    if owner.type == "MESH":
        return shape_keys(owner)
    return owner if owner.type == "ARMATURE" else None


def _markers(owner: Object, scene: Scene, left_out: dict[str, str]) -> Iterator[ListedAnimation]:
    """Each range goes on to the frame before the next marker, the last one to the end of the scene."""
    del owner
    # Markers that bind cameras are cuts of a film.
    markers = [marker for marker in scene.timeline_markers if marker.camera is None]
    markers.sort(key=lambda marker: marker.frame)
    counts: Counter[str] = Counter()
    for position, marker in enumerate(markers):
        is_last = position == len(markers) - 1
        end = (
            max(scene.frame_end, marker.frame)
            if is_last
            else max(markers[position + 1].frame - 1, marker.frame)
        )
        if not is_last and markers[position + 1].frame == marker.frame:
            left_out[marker.name] = "another marker is on the same frame, so its range is empty"
            continue
        yield ListedAnimation(Source.MARKERS, marker.name, marker.frame, end, counts[marker.name])
        counts[marker.name] += 1


def _scene(owner: Object, scene: Scene, left_out: dict[str, str]) -> Iterator[ListedAnimation]:
    del owner, left_out
    yield ListedAnimation(Source.SCENE, scene.name, scene.frame_start, scene.frame_end)


_Lister = Callable[["Object", "Scene", dict[str, str]], Iterator[ListedAnimation]]
_LISTERS: dict[Source, _Lister] = {
    Source.ACTIONS: _actions,
    Source.STRIPS: _strips,
    Source.MARKERS: _markers,
    Source.SCENE: _scene,
}
