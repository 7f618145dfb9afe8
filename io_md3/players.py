"""Quake III players in Blender: what they are made of, and their sequences, of which legs and torso play one each.

A player is `lower`, `upper` and `head`: empties with their children, or collections. Its sequences are actions with the
game's names. They play as NLA strips, each at its own rate and in its own loop (`CG_RunLerpFrame`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bpy
from bpy.types import Action, Collection, Context, Object, Scene

from ..io_blender import state, versions
from ..io_blender.clips import playing
from ..io_blender.clips.actions import is_imported_for
from ..io_blender.clips.clip import Clip, Source
from ..io_blender.clips.keyframes import SequenceActions, write_keyframes
from ..io_blender.frames.shape_keys import shape_keys, value_path
from ..io_blender.records import Number, Text
from ..io_blender.scene import mesh_data
from ..io_blender.scene.objects import rig_of
from ..io_common.names import without_copy_suffix
from . import records
from .format.sequences import CONFIG_NAME, Sequence, in_order, is_played_by, missing_sequences, sequence_of_action
from .records import GROUP, PLAYER, SLOT, PlayerFiles, has_file, load_model, load_sequences, root_of, with_parents
from .tags import Tag, find_tags

LOWER, UPPER, HEAD = PARTS = ("lower", "upper", "head")

JOINTS = {UPPER: (LOWER, "tag_torso"), HEAD: (UPPER, "tag_head")}
"""The part that another one hangs on, and the tag that it hangs on."""

TAGS = {"tag_torso": LOWER, "tag_head": UPPER, "tag_weapon": UPPER, "tag_flag": UPPER}
"""The part in which the game looks for each tag; only Team Arena uses `tag_flag`."""

# What legs and torso play if nothing else was chosen.
STANDING = {LOWER: "LEGS_IDLE", UPPER: "TORSO_STAND"}
_TRACK, _KEPT = "Sequence of Player", "Kept for Player"
_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}

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
        """The empty that stores the file, or that is its origin; None for a collection."""
        return self.holder if isinstance(self.holder, bpy.types.Object) else None

    @property
    def files(self) -> PlayerFiles:
        """What the import found of it; of no part if it is not imported."""
        return PLAYER.read(self.holder) or PlayerFiles()

    @property
    def meshes(self) -> list[Object]:
        """What its surfaces are made of."""
        return [obj for obj in self.objects if obj.type == "MESH"]

    @property
    def armatures(self) -> list[Object]:
        """What moves its meshes."""
        return list(dict.fromkeys(one for obj in self.meshes if (one := rig_of(obj)) is not None))

    @property
    def owners(self) -> list[Any]:
        """What may have actions: armatures, else meshes, shape keys and tags."""
        keys = [found for obj in self.meshes if (found := shape_keys(obj)) is not None]
        moving = self.armatures or [obj for obj in self.meshes if obj.animation_data is not None]
        return list(dict.fromkeys([*moving, *keys, *(tag.obj for tag in self.tags)]))

    def find_tag(self, name: str) -> Tag | None:
        """Its tag of a name."""
        return next((tag for tag in self.tags if tag.shown_name.lower() == name), None)

    def needs_tag(self, name: str) -> bool:
        """Whether it is not imported from a file that lacks a tag of that name."""
        file = load_model(self.root)
        return file is None or name in map(str.lower, file.model.tag_names)


@dataclass(eq=False)
class Player:
    """A player, with at least legs and torso."""

    parts: dict[str, Part]
    unused: dict[str, set[str]] = field(default_factory=dict)  # actions of a sequence that others were preferred to

    @property
    def holder(self) -> Object | Collection:
        """What its settings are stored on."""
        return self.parts[LOWER].holder

    @property
    def config(self) -> str:
        """The imported `animation.cfg`; empty if there is none."""
        return dict(self.parts[LOWER].files.texts).get(CONFIG_NAME, "")

    @property
    def owners(self) -> list[Any]:
        """What may have actions of all parts."""
        return list(dict.fromkeys(owner for part in self.parts.values() for owner in part.owners))

    @cached_property
    def actions(self) -> dict[str, list[tuple[str, Action]]]:
        """The actions of each sequence, each with the owner that its name ends with, if any (before Blender 4.4)."""
        own: dict[str, list[tuple[str, Action]]] = {}
        made: dict[str, list[tuple[str, Action]]] = {}
        keys = [owner for owner in self.owners if isinstance(owner, bpy.types.Key)]
        for action in bpy.data.actions:
            if known := sequence_of_action(action.name):
                is_own = is_imported_for(action, keys)
                found = made if is_own is None else own if is_own else {}
                found.setdefault(known, []).append((action.name.partition(" ")[2], action))
        # Imported actions, else the user's own. Actions of tags have no mark of the import, but the tag's name.
        for name, pairs in made.items():
            own[name] = own.get(name, []) + [pair for pair in pairs if pair[0] or name not in own]
        return own

    @cached_property
    def sequences(self) -> list[Sequence]:
        """Its sequences in the order of the game, with the frames of the scene that their actions have."""
        return in_order(_sequence_of(name, self._action_of(name)) for name in self.actions)

    def _action_of(self, sequence: str) -> Action:
        """An action of a sequence: one that the player plays, if there is one."""
        first, *others = (action for _, action in self.actions[sequence])
        if not others:
            return first
        parts = [part for part in self.parts.values() if is_played_by(part.name, sequence)]
        played = (action for part in parts for _, action, _ in self.plays(part, sequence))
        return next(played, first)

    def plays(self, part: Part, sequence: str) -> list[tuple[Any, Action, Any]]:
        """What a sequence plays on a part: each owner with its action and slot."""
        # By the name of the action or slot; armatures and shape keys also take one for no owner.
        known = {owner.name for owner in self.owners} | {one.holder.name for one in self.parts.values()}
        result = []
        for owner in part.owners:
            kind = owner.id_type
            is_key = kind == "KEY"
            stored = "" if is_key else SLOT.read(owner)
            own = (owner.name, part.holder.name) if is_key else (stored, owner.name) if stored else (owner.name,)
            found = [
                (versions.slot_name(slot) or name, action, slot)
                for name, action in self.actions.get(sequence, [])
                for slot in versions.slots_for(action, kind)
                if versions.can_play(action, kind)
            ]
            is_free = is_key or owner.type != "EMPTY"
            groups = [[one for one in found if one[0] == name] for name in own]
            # Copies of a player play the actions of the first one.
            bases = set() if stored else set(map(without_copy_suffix, own))
            groups.append([one for one in found if one[0] not in known and without_copy_suffix(one[0]) in bases])
            groups.append([one for one in found if one[0] not in known and is_free])
            fitting = sorted(next(filter(None, groups), []), key=lambda one: _preference(owner, own[-1], one[1]))
            result += [(owner, action, slot) for _, action, slot in fitting[:1]]
            for _, action, _ in fitting[1:]:
                # That of another copy is not in doubt.
                is_of_copy = without_copy_suffix(own[-1]) + _copy_suffix(action.name) in bpy.data.objects
                if action != fitting[0][1] and not is_of_copy:
                    self.unused.setdefault(fitting[0][1].name, set()).add(action.name)
        return result

    # Playing

    def _shown(self) -> dict[str, str]:
        """The sequence that legs and torso play, by the name of the part."""
        strips = [
            (part.name, sequence_of_action(strip.name))
            for part in self.parts.values()
            for owner in part.owners
            for strip in _strips(owner, _TRACK)
        ]
        return {part: name for part, name in strips if is_played_by(part, name)}

    def played(self, scene: Scene) -> list[int]:
        """Which of the sequences play."""
        shown = set(self._shown().values())
        return [index for index, one in enumerate(self.sequences) if one.name in shown]

    def show(self, operator: Any, context: Context, index: int) -> tuple[float, int, int]:
        """Plays a sequence on legs or torso, or both; returns the rate that the scene needs, and its range."""
        rows = {one.name: one for one in self.sequences}
        name, shown = self.sequences[index].name, self._shown()
        chosen: dict[str, Sequence] = {}
        for part, standing in STANDING.items():
            # A sequence of both parts ends on both.
            other = shown.get(part, standing)
            wanted = name if is_played_by(part, name) else standing if other.startswith("BOTH_") else other
            if wanted in rows:
                chosen[part] = rows[wanted]
        rate, first = max(one.frame_rate for one in chosen.values()), min(one.first for one in chosen.values())
        # A loop ends before it shows its first frame again.
        steps = [(one, rate / one.frame_rate) for one in chosen.values()]
        last = first + math.ceil(max(one.frame_count * step - (1 if one.looping else step) for one, step in steps))
        rate_before = state.frame_rate(context.scene)
        for action in bpy.data.actions if rate != rate_before else ():
            # The scene changes its rate, which others go on to have.
            if sequence_of_action(action.name) and _SPEED.read(action) is None and action.is_editable:
                _SPEED.write(action, rate_before)
        for owner in self.owners:
            for track in _tracks(owner, _TRACK):
                owner.animation_data.nla_tracks.remove(track)
        for part, one in chosen.items():
            for owner, action, slot in self.plays(self.parts[part], one.name):
                _keep_active(owner)
                _add_strips(owner, action, slot, one, rate / one.frame_rate, first, last)
        return rate, first, last

    def add_missing(self, frame: int) -> list[str]:
        """Makes an action of the current pose, on one frame, for each missing sequence; returns their names."""
        missing = missing_sequences(self.actions)
        for name in missing:
            slots: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
            for part in self.parts.values():
                for owner in part.owners if is_played_by(part.name, name) else ():
                    # Surfaces of a part share a slot.
                    name_of_slot = part.holder.name if owner.id_type == "KEY" else owner.name
                    slots.setdefault((name_of_slot, owner.id_type), {}).update(_shown_values(owner))
            actions = SequenceActions()
            for (player, kind), values in slots.items():
                action = actions.get(name, player, frame, 1)
                action.use_fake_user = True
                curves = versions.ActionCurves(action, kind, player)
                for (path, index), value in values.items():
                    write_keyframes(curves.new(path, index, "Pose"), [frame, value])
        return missing

    # Import

    @property
    def imported(self) -> dict[str, Sequence]:
        """The sequences of those of its parts that are imported, by name."""
        rows: dict[str, Sequence] = {}
        for part in self.parts.values():
            found = load_sequences(part.root) if part.files.part else ()
            rows |= {one.name: one for one in found if is_played_by(part.name, one.name)}
        return rows

    def begin(self, context: Context) -> tuple[float, int, int]:
        """Stores on imported actions how they play, so that changes are noticed; plays the first pair."""
        for name, row in self.imported.items():
            for _, action in self.actions.get(name, ()):
                _SPEED.write(action, row.frame_rate)
                if row.looping not in (0, row.frame_count):
                    _LOOPING.write(action, float(row.looping))
                action.use_cyclic = row.looping > 0
                if row.is_reversed:
                    action[_REVERSED] = True
                _IMPORTED.write(action, _fingerprint(action))
        names = [one.name for one in self.sequences]
        return self.show(None, context, names.index(STANDING[LOWER]) if STANDING[LOWER] in names else 0)

    def _plays_all_frames(self, part: Part) -> bool:
        """Whether all frames of its file play while an imported part is exported."""
        source = records.load_frames(part.root)
        if source is None or len(source.frame_names) < 2:
            return True
        frames = (source.frame_start, source.frame_start + len(source.frame_names) - 1)
        for owner, _, _ in self.plays(part, STANDING.get(part.name, "")):
            data = owner.animation_data
            players = _strips(owner, _KEPT) if _strips(owner, _TRACK) else [data] if data is not None else []
            if [versions.action_range(one.action) for one in players if one.action is not None] != [frames]:
                return False
        return True

    def is_untouched(self) -> bool:
        """Whether all of it comes from files, and no sequence was edited, so that its files have the right frames."""
        actions = [action for found in self.actions.values() for _, action in found]
        return (
            len(self.parts) == len(PARTS)
            and all(part.files.part for part in self.parts.values())
            and all(map(self._plays_all_frames, self.parts.values()))
            and self.imported.keys() == self.actions.keys()
            and all(_IMPORTED.read(action) == _fingerprint(action) for action in actions)
        )


def _sequence_of(name: str, action: Action) -> Sequence:
    """How an action plays as a sequence."""
    first, last = (round(frame) for frame in versions.action_range(action))
    looping = _LOOPING.read(action)
    if looping is None:
        looping = last - first + 1 if action.use_cyclic else 0
    rate = _SPEED.read(action) or state.frame_rate(bpy.context.scene)
    return Sequence(name, first, last, rate, round(looping), bool(action.get(_REVERSED)))


def _preference(owner: Any, name: str, action: Action) -> int:
    """How far an action is from that of an owner: the one that it plays, else the one with the number of its copy."""
    data = owner.animation_data
    played = [one.action for one in (data, *state.strips_of(data))] if data is not None else []
    is_other = _copy_suffix(action.name) != _copy_suffix(name)
    return played.index(action) - len(played) if action in played else int(is_other)


def _shown_values(owner: Any) -> dict[tuple[str, int], float]:
    """What a sequence sets: values by data path and index."""
    if isinstance(owner, bpy.types.Key):
        return {(value_path(key.name), 0): key.value for key in list(owner.key_blocks)[1:]}
    # A rig stays where it is put.
    moving = [("", owner)] if owner.type != "ARMATURE" and owner.parent_type != "BONE" else []
    for bone in owner.pose.bones if owner.pose is not None else ():
        moving.append((f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].', bone))
    return {
        (prefix + path, index): value
        for prefix, one in moving
        for path in ("location", _ROTATIONS.get(one.rotation_mode, "rotation_euler"), "scale")
        for index, value in enumerate(getattr(one, path))
    }


def _fingerprint(action: Action) -> str:
    """A hash of what an action plays."""
    digest = hashlib.sha256()
    for curve in versions.all_fcurves(action):
        points = mesh_data.read_array(curve.keyframe_points, "co", 2)
        digest.update(f"{curve.data_path} {curve.array_index} {curve.mute} {len(curve.modifiers)}".encode())
        digest.update(points.tobytes())
    values = [action.use_cyclic, _SPEED.read(action), _LOOPING.read(action), bool(action.get(_REVERSED))]
    digest.update(repr([*versions.action_range(action), *values]).encode())
    return digest.hexdigest()


# What a player is made of


def find_player(scene: Scene, obj: Object | None) -> Player | None:
    """The player that an object belongs to; None if there is none."""
    parts = (_below_empties(scene, obj) or _in_collections(scene, obj)) if obj is not None else []
    player = Player({name: part for name in PARTS for part in parts if part.name == name})
    if not {LOWER, UPPER} <= player.parts.keys():
        return None
    _share_tags(player)
    return player


def _copy_suffix(name: str) -> str:
    return name[len(without_copy_suffix(name)) :]


def _part_name(one: Object | Collection) -> str:
    """Which part an empty or a collection is by its import, else by its name; empty for none."""
    stored = PLAYER.read(one)
    name = stored.part if stored is not None else without_copy_suffix(one.name).lower()
    return name if name in PARTS else ""


def _below_empties(scene: Scene, obj: Object) -> list[Part]:
    roots = [one for one in scene.objects if one.type == "EMPTY" and _part_name(one)]
    found = [*with_parents(obj), *(root for root in roots if obj in with_parents(root))]
    own = next((one for one in found if one in roots), None)
    if own is None:
        return []
    # Those that share most parents belong together, of these copies of the same number.
    above, number = set(with_parents(own)), _copy_suffix(own.name)
    shared = {root: len(above.intersection(with_parents(root))) for root in roots}
    nearest = sorted(roots, key=lambda root: (-shared[root], _copy_suffix(root.name) != number))
    chosen = {_part_name(root): root for root in reversed(nearest)}
    parts = {root: Part(name, root, []) for name, root in chosen.items()}
    for one in scene.objects:
        # What has a file of its own, such as a weapon, is no part.
        holder = next((above for above in with_parents(one) if above in roots or has_file(above)), None)
        if holder in parts and one != holder:
            parts[holder].objects.append(one)
    return list(parts.values())


def _in_collections(scene: Scene, obj: Object) -> list[Part]:
    for above in (*scene.collection.children_recursive, scene.collection):
        found = [Part(name, child, list(child.all_objects)) for child in above.children if (name := _part_name(child))]
        if {LOWER, UPPER} <= {part.name for part in found} and obj in set(above.all_objects):
            return found
    return []


def _share_tags(player: Player) -> None:
    """Gives each part its tags: those below its empty, else those that the game looks for in it."""
    parts = list(player.parts.values())
    rigs = {rig for part in parts for rig in part.armatures}
    everything = {obj for part in parts for obj in part.objects} | rigs
    everything |= {child for rig in rigs for child in rig.children_recursive}
    for tag in find_tags(sorted(everything, key=lambda obj: obj.name)):
        # What hangs on a rig is where the rig is: in each part that it moves.
        owner = tag.obj.parent if tag.obj.parent in rigs else tag.obj
        holders = [part for part in parts if owner in part.objects or owner in part.armatures]
        wanted = player.parts.get(TAGS.get(tag.shown_name.lower(), ""))
        if wanted is not None and (len(holders) != 1 or not holders[0].root):
            holders = [wanted]
        for part in holders[:1]:
            part.tags.append(tag)


# Strips


def _tracks(owner: Any, name: str) -> list[Any]:
    data = owner.animation_data
    return [track for track in data.nla_tracks if track.name.startswith(name)] if data is not None else []


def _strips(owner: Any, name: str) -> list[Any]:
    return [strip for track in _tracks(owner, name) for strip in track.strips]


def _keep_active(owner: Any) -> None:
    """Puts the active action onto a muted track unless it is a sequence, as it would hide the strips."""
    data = owner.animation_data or owner.animation_data_create()
    data.use_tweak_mode = False
    action, slot = data.action, versions.assigned_slot(data)
    versions.play(data, None, None)
    data.use_nla = True
    if action is None:
        return
    # Nothing else may use it now; on the track is what plays all frames.
    action.use_fake_user = True
    if sequence_of_action(action.name) or _tracks(owner, _KEPT):
        return
    track = data.nla_tracks.new()
    track.name, track.mute = _KEPT, True
    versions.set_slot(track.strips.new(action.name, math.floor(action.frame_range[0]), action), slot)


def _add_strips(owner: Any, action: Action, slot: Any, row: Sequence, step: float, first: int, last: int) -> None:
    """Plays a sequence from a frame on, with a step from one of its frames to the next: once, then what it repeats."""
    looping = min(row.looping, row.frame_count)
    # Where it starts, the first and last frame of the action, of which there must be two, and how often it plays.
    runs = [(float(first), row.first, max(row.last, row.first + 1), 1.0)] if looping < row.frame_count else []
    if looping:
        start = first + (row.frame_count - looping) * step - (step if row.is_reversed else 0.0)
        repeat = max((last - start) // (looping * step) + 1.0, 1.0)
        # After the last frame, the game blends into the next one of the loop: the action has it, too.
        runs.append((start, row.last + 1 - looping, row.last + 1, repeat))
    for start, begin, end, repeat in runs:
        track = owner.animation_data.nla_tracks.new()
        track.name = _TRACK
        strip = track.strips.new(row.name, round(start), action)
        strip.name = row.name
        versions.set_slot(strip, slot)
        strip.action_frame_end, strip.action_frame_start = end, begin
        strip.scale, strip.repeat = step, repeat
        strip.frame_start_raw, strip.frame_end_raw = start, start + (end - begin) * step * repeat
        strip.extrapolation, strip.use_reverse = "HOLD_FORWARD", row.is_reversed


@contextmanager
def all_frames(context: Context) -> Iterator[None]:
    """While the block runs, imported parts of players play all frames of their files."""
    kept = [
        (owner, strip.action, versions.assigned_slot(strip))
        for obj in context.scene.objects
        for owner in (obj, shape_keys(obj) if obj.type == "MESH" else None)
        if owner is not None and _strips(owner, _TRACK) and root_of(obj) is not None
        for strip in _strips(owner, _KEPT)
    ]
    clip = Clip(Source.ACTIONS, "", 0, 0, is_alone=True, plays=tuple(kept))
    with playing.Player(context, [owner for owner, _, _ in kept], [clip]) as player:
        if kept:
            player.play(clip)
        yield
