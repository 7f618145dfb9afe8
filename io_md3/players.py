"""Quake III players in Blender: what they are made of, and their sequences, of which legs and torso play one each.

A player is `lower`, `upper` and `head`: empties with what hangs on them, or collections. Its sequences are actions that
bear the names of the game. They play as strips, each at its own rate and in its own loop (`CG_RunLerpFrame`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..io_blender import state, versions
from ..io_blender.clips.actions import is_of_others
from ..io_blender.clips.keyframes import SequenceActions, write_keyframes
from ..io_blender.clips.playing import PlayedData
from ..io_blender.frames.shape_keys import shape_keys, value_path
from ..io_blender.records import Number, Text
from ..io_common.names import without_copy_suffix
from .format.sequences import Sequence, in_order, is_played_by, missing_sequences, sequence_named
from .records import GROUP, PLAYER, has_file, root_of
from .tags import Tag, find_tags

if TYPE_CHECKING:
    from bpy.types import Action, Collection, Context, Object, Scene

LOWER, UPPER, HEAD = PARTS = ("lower", "upper", "head")

TAGS = {"tag_torso": LOWER, "tag_head": UPPER, "tag_weapon": UPPER, "tag_flag": UPPER}
"""The part that the game looks for a tag in; `tag_flag` is that of Team Arena alone."""

# What legs and torso play if nothing else was chosen.
_STANDING = {LOWER: "LEGS_IDLE", UPPER: "TORSO_STAND"}
_TRACK, _KEPT = "Sequence of Player", "Kept for Player"

# Custom properties of actions, which users can change.
_SPEED, _LOOPING, _REVERSED = Number("", "speed", 1e-3, 1e6), Number("", "looping", 0, 1e6), "reversed"
_IMPORTED = Text(GROUP, "imported")


@dataclass(eq=False)
class Part:
    """The legs, the torso or the head of a player."""

    name: str
    holder: Object | Collection
    objects: list[Object]
    tags: list[Tag] = field(default_factory=list)

    @property
    def root(self) -> Object | None:
        """The empty that the file is stored on, or that it begins at."""
        return self.holder if isinstance(self.holder, bpy.types.Object) else None

    @property
    def meshes(self) -> list[Object]:
        """What its surfaces are made of."""
        return [obj for obj in self.objects if obj.type == "MESH"]

    @property
    def owners(self) -> list[Any]:
        """What may have actions: armatures, shape keys and tags."""
        armatures = [one for obj in self.meshes if (one := obj.find_armature()) is not None]
        keys = [found for obj in self.meshes if (found := shape_keys(obj)) is not None]
        return list(dict.fromkeys([*armatures, *keys, *(tag.obj for tag in self.tags)]))


@dataclass(eq=False)
class Player:
    """A player, with at least legs and torso."""

    parts: dict[str, Part]

    @property
    def holder(self) -> Object | Collection:
        """What its settings are stored on."""
        return self.parts[LOWER].holder

    @cached_property
    def actions(self) -> dict[str, list[tuple[str, Action]]]:
        """The actions of each sequence; before Blender 4.4 some are for the one that is named in them."""
        found: dict[str, list[tuple[str, Action]]] = {}
        keys = [owner for part in self.parts.values() for owner in part.owners if isinstance(owner, bpy.types.Key)]
        for action in bpy.data.actions:
            name, _, owner = without_copy_suffix(action.name).partition(" ")
            if (known := sequence_named(name)) and not is_of_others(action, keys):
                found.setdefault(known, []).append((owner, action))
        return found

    @cached_property
    def sequences(self) -> list[Sequence]:
        """Its sequences in the order of the game, with the frames of the scene that their actions have."""
        return in_order(self._sequence(name, pairs[0][1]) for name, pairs in self.actions.items())

    def _sequence(self, name: str, action: Action) -> Sequence:
        first, last = (round(frame) for frame in versions.action_range(action))
        looping = _LOOPING.read(action)
        if looping is None:
            looping = last - first + 1 if action.use_cyclic else 0
        rate = _SPEED.read(action) or state.frame_rate(bpy.context.scene)
        return Sequence(name, first, last, rate, round(looping), bool(action.get(_REVERSED)))

    def plays(self, part: Part, sequence: str) -> list[tuple[Any, Action, Any]]:
        """What a sequence plays on what a part is made of: the owner, the action and its slot."""
        return [
            (owner, *found) for owner in part.owners if (found := self._action_of(owner, part, sequence)) is not None
        ]

    def _action_of(self, owner: Any, part: Part, sequence: str) -> tuple[Action, Any] | None:
        is_key = isinstance(owner, bpy.types.Key)
        own = {owner.name, part.holder.name} if is_key else {owner.name}
        pairs = sorted(self.actions.get(sequence, []), key=lambda pair: pair[0] not in own)
        for name, action in pairs:
            # An empty plays only what bears its name.
            is_free = is_key or owner.type == "ARMATURE"
            for slot in versions.slots_for(action, "KEY" if is_key else "OBJECT"):
                known = versions.slot_name(slot) or name
                if known in own or (
                    is_free and known not in self._names and versions.can_play(action, owner_type(owner))
                ):
                    return action, slot
        return None

    @cached_property
    def _names(self) -> set[str]:
        """The names of what may have slots."""
        owners = {owner.name for part in self.parts.values() for owner in part.owners}
        return owners | {part.holder.name for part in self.parts.values()}

    # Playing

    def _shown(self) -> dict[str, str]:
        """The sequence that legs and torso play, by the name of the part."""
        strips = [(part, strip.name) for part in self.parts.values() for one in part.owners for strip in _strips(one)]
        pairs = ((part.name, sequence_named(without_copy_suffix(name))) for part, name in strips)
        return {part: name for part, name in pairs if is_played_by(part, name)}

    def played(self, scene: Scene) -> list[int]:
        """Which of the sequences play."""
        shown = set(self._shown().values())
        return [index for index, one in enumerate(self.sequences) if one.name in shown]

    def show(self, operator: Any, context: Context, index: int) -> tuple[float, int, int]:
        """Plays a sequence on legs or torso, or both; returns the rate that the scene needs, and its range."""
        rows = {one.name: one for one in self.sequences}
        name, shown = self.sequences[index].name, self._shown()
        chosen = {part: name for part in _STANDING if is_played_by(part, name)}
        for part, standing in _STANDING.items():
            # What both played ends with it.
            other = shown.get(part, standing)
            chosen.setdefault(part, standing if other.startswith("BOTH_") else other)
        chosen = {part: one for part, one in chosen.items() if one in rows}
        played = [rows[one] for one in chosen.values()]
        rate, first = max(one.frame_rate for one in played), min(one.first for one in played)
        # A loop ends before it shows its first frame again.
        lasts = [
            one.frame_count / one.frame_rate * rate - (1 if one.looping else rate / one.frame_rate) for one in played
        ]
        last = first + math.ceil(max(lasts))
        self._stop()
        for part, one in chosen.items():
            for owner, action, slot in self.plays(self.parts[part], one):
                _keep_active(owner, self.actions)
                _add_strips(owner, action, slot, rows[one], rate, first, last)
        return rate, first, last

    def _stop(self) -> None:
        for part in self.parts.values():
            for owner in part.owners:
                for track in _tracks(owner, _TRACK):
                    owner.animation_data.nla_tracks.remove(track)

    def add_missing(self, frame: int) -> list[str]:
        """Makes an action of each sequence that is missing, with what is shown now on a frame; returns their names."""
        missing = missing_sequences(self.actions)
        for name in missing:
            # Surfaces of a part share a slot.
            actions, done = SequenceActions(), set[tuple[str, str, int]]()
            for part in self.parts.values():
                for owner in part.owners if is_played_by(part.name, name) else ():
                    player = part.holder.name if isinstance(owner, bpy.types.Key) else owner.name
                    for path, index, value in _shown_values(owner):
                        if (player, path, index) in done:
                            continue
                        done.add((player, path, index))
                        action = actions.get(name, player, frame, 1)
                        action.use_fake_user = True
                        curve = versions.ActionCurves(action, owner_type(owner), player).new(path, index, "Pose")
                        write_keyframes(curve, [frame, value])
        return missing

    # Import

    def begin(self, context: Context, rows: Iterable[Sequence]) -> tuple[float, int, int]:
        """Stores on the actions of imported sequences how they play, to notice changes; plays the first pair."""
        found = {one.name: one for one in rows}
        for name, pairs in self.actions.items():
            row = found[name]
            for _, action in pairs:
                _SPEED.write(action, row.frame_rate)
                if row.looping not in (0, row.frame_count):
                    _LOOPING.write(action, float(row.looping))
                action.use_cyclic = row.looping > 0
                if row.is_reversed:
                    action[_REVERSED] = True
                _IMPORTED.write(action, _fingerprint(action))
        names = [one.name for one in self.sequences]
        return self.show(None, context, names.index(_STANDING[LOWER]) if _STANDING[LOWER] in names else 0)

    def is_as_imported(self, rows: Iterable[Sequence]) -> bool:
        """Whether its actions are those of the imported sequences, and none of them was edited."""
        pairs = [action for found in self.actions.values() for _, action in found]
        return {one.name for one in rows} == self.actions.keys() and all(
            _IMPORTED.read(action) == _fingerprint(action) for action in pairs
        )


def owner_type(owner: Any) -> str:
    """The kind of data-block that a slot is for."""
    return "KEY" if isinstance(owner, bpy.types.Key) else "OBJECT"


def _shown_values(owner: Any) -> Iterator[tuple[str, int, float]]:
    """The data path, the index and the value of what a sequence sets."""
    if isinstance(owner, bpy.types.Key):
        yield from ((value_path(key.name), 0, key.value) for key in list(owner.key_blocks)[1:])
        return
    moving = [("", owner)] if owner.parent_type != "BONE" else []
    if owner.pose is not None:
        moving = [(f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].', bone) for bone in owner.pose.bones]
    for prefix, one in moving:
        turn = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
        for path in ("location", turn.get(one.rotation_mode, "rotation_euler"), "scale"):
            yield from ((prefix + path, index, value) for index, value in enumerate(getattr(one, path)))


def _fingerprint(action: Action) -> str:
    """Changes whenever what an action plays does."""
    digest = hashlib.sha256()
    for curve in versions.all_fcurves(action):
        points = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", points)
        digest.update(f"{curve.data_path} {curve.array_index} {curve.mute} {len(curve.modifiers)}".encode())
        digest.update(points.tobytes())
    values = [action.use_cyclic, _SPEED.read(action), _LOOPING.read(action), bool(action.get(_REVERSED))]
    digest.update(repr([*versions.action_range(action), *values]).encode())
    return digest.hexdigest()


# What a player is made of


def find_player(scene: Scene, obj: Object | None) -> Player | None:
    """The player that an object is a part of; None if it is of none."""
    if obj is None:
        return None
    found = _below_empties(scene, obj) or _in_collections(scene, obj)
    if not {LOWER, UPPER} <= found.keys():
        return None
    player = Player({name: found[name] for name in PARTS if name in found})
    _share_tags(player)
    return player


def _part_name(one: Object | Collection) -> str:
    """Which part an empty or a collection is by its import, else by its name; empty for none."""
    stored = PLAYER.read(one) if isinstance(one, bpy.types.Object) else None
    name = stored.part if stored is not None else without_copy_suffix(one.name).lower()
    is_holder = not isinstance(one, bpy.types.Object) or one.type == "EMPTY"
    return name if is_holder and name in PARTS else ""


def _above(obj: Object) -> Iterator[Object]:
    current: Object | None = obj
    while current is not None:
        yield current
        current = current.parent


def _below_empties(scene: Scene, obj: Object) -> dict[str, Part]:
    roots = [one for one in scene.objects if one.type == "EMPTY" and _part_name(one)]
    if not any(one in roots for one in _above(obj)) and not any(obj in _above(root) for root in roots):
        return {}
    # Those that are parented to each other belong together.
    *_, top = _above(obj)
    roots.sort(key=lambda root: top not in _above(root))
    parts: dict[str, Part] = {}
    for root in roots:
        parts.setdefault(_part_name(root), Part(_part_name(root), root, []))
    holders = {part.root: part for part in parts.values()}
    for one in scene.objects:
        # What has a file of its own, such as a weapon, is no part.
        holder = next((above for above in _above(one) if above in roots or has_file(above)), None)
        if holder in holders and one != holder:
            holders[holder].objects.append(one)
    return parts


def _in_collections(scene: Scene, obj: Object) -> dict[str, Part]:
    for above in (*scene.collection.children_recursive, scene.collection):
        found = {name: child for child in above.children if (name := _part_name(child))}
        if {LOWER, UPPER} <= found.keys() and obj in set(above.all_objects):
            return {name: Part(name, child, list(child.all_objects)) for name, child in found.items()}
    return {}


def _share_tags(player: Player) -> None:
    """Gives each part its tags: what is in it, else what the game looks for in it."""
    parts = list(player.parts.values())
    armatures = {part.name: {obj.find_armature() for obj in part.meshes} - {None} for part in parts}
    rigs = set().union(*armatures.values())
    everything = {obj for part in parts for obj in part.objects} | rigs
    everything |= {child for rig in rigs for child in rig.children_recursive}
    for tag in find_tags(sorted(everything, key=lambda obj: obj.name)):
        name = without_copy_suffix(tag.bone or tag.obj.name).lower()
        holders = [part for part in parts if tag.obj in part.objects or tag.obj in armatures[part.name]]
        if len(holders) != 1 or tag.obj.find_armature() is not None or not holders[0].root:
            holders = [player.parts[TAGS[name]]] if TAGS.get(name) in player.parts else holders
        if holders:
            holders[0].tags.append(tag)


# Strips


def _tracks(owner: Any, name: str) -> list[Any]:
    data = owner.animation_data
    return [track for track in data.nla_tracks if track.name.startswith(name)] if data is not None else []


def _strips(owner: Any) -> list[Any]:
    return [strip for track in _tracks(owner, _TRACK) for strip in track.strips]


def _keep_active(owner: Any, sequences: Mapping[str, Any]) -> None:
    """Puts the active action onto a muted track, as it would hide the strips."""
    data = owner.animation_data or owner.animation_data_create()
    data.use_tweak_mode = False
    action, slot = data.action, versions.assigned_slot(data)
    versions.play(data, None, None)
    data.use_nla = True
    if action is not None and sequence_named(action.name.partition(" ")[0]) not in sequences:
        for track in _tracks(owner, _KEPT):
            data.nla_tracks.remove(track)
        track = data.nla_tracks.new()
        track.name, track.mute = _KEPT, True
        versions.set_slot(track.strips.new(action.name, math.floor(action.frame_range[0]), action), slot)


def _add_strips(owner: Any, action: Action, slot: Any, row: Sequence, rate: float, first: int, last: int) -> None:
    """Plays a sequence from a frame on: once, then what it repeats up to the last frame."""
    step = rate / row.frame_rate
    looping = min(row.looping, row.frame_count)
    # The game goes on to the frame after the last one, which the action of a loop has.
    loop = (row.last + 1 - looping, row.last + 1)
    start = first + (row.frame_count - looping) * step
    if looping < row.frame_count:
        _add_strip(owner, action, slot, row, first, (row.first, row.last), step, 1.0)
    if looping:
        begin = start - step if row.is_reversed else start
        repeat = max((last - begin) // (looping * step) + 1.0, 1.0)
        _add_strip(owner, action, slot, row, begin, loop, step, repeat)


def _add_strip(
    owner: Any,
    action: Action,
    slot: Any,
    row: Sequence,
    start: float,
    span: tuple[int, int],
    step: float,
    repeat: float,
) -> None:
    track = owner.animation_data.nla_tracks.new()
    track.name = _TRACK
    strip = track.strips.new(row.name, round(start), action)
    strip.name = row.name
    versions.set_slot(strip, slot)
    # A strip has a length.
    end = max(span[1], span[0] + 1)
    strip.action_frame_end, strip.action_frame_start = end, span[0]
    strip.scale, strip.repeat = step, repeat
    strip.frame_start_raw, strip.frame_end_raw = start, start + (end - span[0]) * step * repeat
    strip.extrapolation, strip.use_reverse = "HOLD_FORWARD", row.is_reversed


@contextmanager
def all_frames(scene: Scene) -> Iterator[None]:
    """Plays all frames of imported parts of players while the block runs, as their files have them."""
    saved = []
    for obj in scene.objects if any(map(has_file, scene.objects)) else ():
        owners: tuple[Any, ...] = (obj, shape_keys(obj) if obj.type == "MESH" else None)
        for owner in owners:
            if owner is None or not _strips(owner) or root_of(obj) is None:
                continue
            data = owner.animation_data
            saved.append(PlayedData(owner))
            kept = [strip for track in _tracks(owner, _KEPT) for strip in track.strips]
            data.use_nla = False
            for strip in kept[:1]:
                versions.play(data, strip.action, versions.assigned_slot(strip))
    try:
        yield
    finally:
        for one in saved:
            one.restore()
