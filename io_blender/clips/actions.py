"""Actions: which are animations of an armature or of shape keys, why others are not, and what plays them.

Evidence, strongest first: it plays on the owner; it was imported for its model; its slot bears its name; nothing else
claims it and most of what it animates exists there. Equal names of bones prove nothing: all humans of a game have them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count, islice
from typing import Any

import bpy
from bpy.types import Action, Key, Object

from ...io_common import names
from ...io_common.texts import counted
from .. import versions
from ..frames.shape_keys import value_path
from ..records import Text, group_on
from ..reports import Report, listing
from ..scene.mesh_data import read_array
from ..state import strips_of

_MODEL, _NAME = Text("io_idtech", "model"), Text("io_idtech", "animation")
# Blender's own operators address bones by name, scripts may do so by index.
_BONE = re.compile(r'pose\.bones\[(?:"((?:[^"\\]|\\.)*)"|(\d+))\]')
_MOST = 0.5  # of the channels of an action that nothing claims, more than this part has to exist in its owner
# Judged by about as many of them, as panels are drawn often.
_LOOKED_AT = 64
_MOST_NAMED = 40


@dataclass(eq=False)
class SuitableActions:
    """The actions of a .blend file, sorted for one owner."""

    # By name, each with its slot, None before Blender 4.4.
    chosen: list[tuple[Action, Any]] = field(default_factory=list)
    # Further slots of these actions that are its own.
    other_slots: dict[Action, list[Any]] = field(default_factory=dict)
    # What would animate something of it: each with its slot, and whose it is, or what is missing.
    foreign: list[tuple[Action, Any, str]] = field(default_factory=list)
    uncertain: dict[str, str] = field(default_factory=dict)  # another owner of a chosen action, by its name
    left_out: dict[str, str] = field(default_factory=dict)  # the reason, by name of the action

    @property
    def reasons(self) -> dict[str, str]:
        """Whose each action is that is not the owner's, by name."""
        chosen = {action for action, _ in self.chosen}
        return {action.name: reason for action, _, reason in reversed(self.foreign) if action not in chosen}


class ActionFinder:
    """Finds the actions of an armature object or of shape keys; made for each search."""

    def __init__(self, owner: Object | Key) -> None:
        self._owner = owner
        self._id_type = "OBJECT" if isinstance(owner, bpy.types.Object) else "KEY"
        self._all: Any = bpy.data.objects if self._id_type == "OBJECT" else bpy.data.shape_keys
        self._model = _load_model(owner)
        self._players: dict[tuple[Action, Any], list[Any]] = defaultdict(list)
        for player in self._all:
            for play in _plays(player):
                self._players[play].append(player)
        self._copies = Counter(mark for action in bpy.data.actions if (mark := _load_mark(action)))
        self._names = {model: _shown_name(one) for one in self._all if (model := _load_model(one))}
        self._is_target = _targets_of(owner)

    def sort(self) -> SuitableActions:
        """All actions of the .blend file, sorted for the owner."""
        found = SuitableActions()
        for action in bpy.data.actions:
            slots = versions.slots_for(action, self._id_type)
            useful = [
                (slot, self._reason_against(action, slot))
                for slot in slots
                if self._animates(action, slot) or self._plays_here(action, slot)
            ]
            suitable = [slot for slot, reason in useful if not reason]
            found.foreign += [(action, slot, reason) for slot, reason in useful if reason]
            if suitable:
                chosen = self._choose_slot(action, suitable)
                found.chosen.append((action, chosen))
                found.other_slots[action] = [slot for slot in suitable if slot != chosen]
                rival = self._uncertain(action, chosen)
                found.uncertain |= {action.name: rival} if rival else {}
            elif slots and not useful:
                found.left_out[action.name] = self._why_useless(action, slots[0])
        return found

    def owns(self, action: Action) -> bool:
        """Whether an action is one of the owner's own and animates it."""
        return any(
            not self._reason_against(action, slot) and self._animates(action, slot)
            for slot in versions.slots_for(action, self._id_type)
        )

    def _reason_against(self, action: Action, slot: Any) -> str:
        if self._plays_here(action, slot):
            return ""
        others = [other for other in self._players[action, slot] if not _are_same_model(other, self._owner)]
        mark = _load_mark(action)
        if mark is not None and mark[0] != self._model:
            return f"imported for {self._names.get(mark[0], 'a model that is not in this file')}"
        # A character that was duplicated has copies of the actions that it played.
        is_copy = mark is not None and bool(others) and self._copies[mark] > 1
        name = versions.slot_name(slot)
        if (mark is not None and not is_copy) or name == self._owner.name:
            return ""
        if others:
            return f"plays on {_shown_name(others[0])}"
        named = self._all.get(name) if name not in ("", versions.SLOT_NAME) else None
        if named is not None and not _are_same_model(named, self._owner):
            return f"its slot is for {_shown_name(named)}"
        share = _share(action, slot, self._is_target)
        if share <= _MOST:
            return f"most of what it animates is not in {_shown_name(self._owner)}"
        rival, rival_share = self._rival(action, slot)
        return f"fits {rival} better" if rival_share > share else ""

    @cached_property
    def _rivals(self) -> list[tuple[str, Callable[[str], bool]]]:
        """The names of the other owners, and what each has; only actions that nothing claims need them."""
        return [
            (_shown_name(one), _targets_of(one))
            for one in self._all
            if not _are_same_model(one, self._owner) and (self._id_type == "KEY" or one.type == "ARMATURE")
        ]

    def _rival(self, action: Action, slot: Any) -> tuple[str, float]:
        """Of the other owners the one that an action fits best, and which part of its channels is there."""
        shares = [(name, _share(action, slot, is_target)) for name, is_target in self._rivals]
        return max(shares, key=lambda pair: pair[1], default=("", 0.0))

    def _uncertain(self, action: Action, slot: Any) -> str:
        """The name of another owner that an action fits as well, if nothing shows whose it is."""
        is_claimed = self._plays_here(action, slot) or _load_mark(action) is not None
        if is_claimed or versions.slot_name(slot) == self._owner.name:
            return ""
        rival, share = self._rival(action, slot)
        return rival if share >= _share(action, slot, self._is_target) else ""

    def _animates(self, action: Action, slot: Any) -> bool:
        return any(self._is_target(curve.data_path) for curve in versions.fcurves_of_slot(action, slot))

    def _plays_here(self, action: Action, slot: Any) -> bool:
        return self._owner in self._players[action, slot]

    def _why_useless(self, action: Action, slot: Any) -> str:
        paths = [curve.data_path for curve in versions.fcurves_of_slot(action, slot)]
        if not paths:
            return f"no keyframes for {'an object' if self._id_type == 'OBJECT' else 'shape keys'}"
        name = _shown_name(self._owner)
        if any(path.startswith("pose.bones[") for path in paths):
            return f"moves bones that {name} does not have"
        return f"sets nothing that {name} has"

    def _choose_slot(self, action: Action, slots: list[Any]) -> Any:
        """Of several slots the assigned one, else the one that Blender would choose, else the first."""
        data = self._owner.animation_data
        assigned = versions.assigned_slot(data) if data is not None and data.action == action else None
        if assigned in slots:
            return assigned
        last = versions.last_slot_identifier(data)[2:] if data is not None else ""
        by_name = {versions.slot_name(slot): slot for slot in reversed(slots)}
        return by_name.get(last) or by_name.get(self._owner.name) or slots[0]


def suitable_actions(owner: Object | Key) -> SuitableActions:
    """The actions of the .blend file, sorted for an armature object or shape keys."""
    return ActionFinder(owner).sort()


def warn_of_reasons(foreign: Mapping[str, str], left_out: Mapping[str, str], report: Report) -> None:
    """Warns once about animations that an export leaves out, those of other owners and others, by name."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in (*foreign.items(), *left_out.items()):
        by_reason.setdefault(reason, []).append(name)
    if by_reason:
        groups = "; ".join(f"{listing(named, _MOST_NAMED)} ({reason})" for reason, named in by_reason.items())
        total = counted(sum(map(len, by_reason.values())), "animations", "were")
        remedy = ". To export actions of another model, check them in the list of Choose" if foreign else ""
        report.warn(f"{total} not exported: {groups}{remedy}")


def store_owner(action: Action, owner: Object | Key, name: str) -> None:
    """Stores on an imported action the owner that it was imported for, and its name in the file."""
    model = _load_model(owner)
    if not model:
        model = _new_model(owner)
        _MODEL.write(_data_of(owner), model)
    _MODEL.write(action, model)
    group_on(action, _NAME.group)[_NAME.key] = name.encode("utf-8", "surrogateescape")


def _new_model(owner: Object | Key) -> str:
    """The same whenever a model is imported, but another for each import into one .blend file."""
    digest = hashlib.sha256()
    if isinstance(owner, bpy.types.Object):
        bones = owner.data.bones
        parts = [owner.data.name, *bones.keys()]
        digest.update(read_array(bones, "matrix_local", 16).tobytes())
        everything = [*bpy.data.objects, *bpy.data.armatures]
    else:
        parts = [owner.user.name, *owner.key_blocks.keys()]
        everything = [*bpy.data.shape_keys]
    digest.update("\n".join([names.without_copy_suffix(parts[0]), *parts[1:]]).encode())
    taken = {_load_model(one) for one in everything}
    taken |= {mark[0] for action in bpy.data.actions if (mark := _load_mark(action)) is not None}
    name = digest.hexdigest()[:16]
    return next(one for number in count(1) if (one := f"{name}-{number}") not in taken)


def _load_model(owner: Any) -> str:
    """The mark of the model that an owner is; empty if nothing was imported for it."""
    # What is linked keeps no mark that is set here, nor does what overrides it: its name there is one.
    data = _data_of(owner)
    if data is None:
        return ""
    model = _MODEL.read(data)
    linked = data.override_library.reference if data.override_library is not None else data
    if model or linked.library is None:
        return model or ""
    name = f"{linked.library.name}/{linked.name}".encode("utf-8", "surrogateescape")
    return f"linked-{hashlib.sha256(name).hexdigest()[:16]}"


def _load_mark(action: Action) -> tuple[str, str] | None:
    model = _MODEL.read(action)
    return (model, _NAME.read(action) or "") if model else None


def is_imported_for(action: Action, owners: Iterable[Object | Key]) -> bool | None:
    """Whether an action was imported for the model that one of some owners is; None if it was not imported."""
    mark = _load_mark(action)
    return None if mark is None else mark[0] in map(_load_model, owners)


def _data_of(owner: Any) -> Any:
    return owner.data if isinstance(owner, bpy.types.Object) else owner


def _are_same_model(one: Any, other: Any) -> bool:
    data = _data_of(one)
    return bool(one == other or (data is not None and data == _data_of(other)))


def _shown_name(owner: Any) -> str:
    return str(owner.name if isinstance(owner, bpy.types.Object) else owner.user.name)


def sets_keys(action: Action | None, slot: Any, keys: Key) -> bool:
    """Whether an action sets values of shape keys."""
    if action is None:
        return False
    is_target = _targets_of(keys)
    return any(is_target(curve.data_path) for curve in versions.fcurves_of_slot(action, slot))


def bone_slot(action: Action, armature: Object) -> tuple[bool, Any]:
    """Whether an action moves bones, judged by few F-curves, and the slot that does, the assigned first."""
    data = armature.animation_data
    assigned = versions.assigned_slot(data) if data is not None and data.action == action else None
    slots = versions.slots_for(action, "OBJECT")
    for slot in sorted(slots, key=lambda slot: slot != assigned):
        for curve in islice(versions.fcurves_of_slot(action, slot), _LOOKED_AT):
            match = _BONE.match(curve.data_path)
            if match and match[1] and bpy.utils.unescape_identifier(match[1]) in armature.data.bones:
                return True, slot
    return False, None


def missing_bones(action: Action, slot: Any, armature: Object) -> list[str]:
    """The names of bones that an action moves and an armature does not have."""
    paths = dict.fromkeys(curve.data_path for curve in versions.fcurves_of_slot(action, slot))
    found = [bpy.utils.unescape_identifier(match[1]) for path in paths if (match := _BONE.match(path)) and match[1]]
    return [name for name in dict.fromkeys(found) if name not in armature.data.bones]


def own_animations(armature: Object) -> list[Action]:
    """An armature's own actions that move bones, by name."""
    finder = ActionFinder(armature)
    return [action for action in bpy.data.actions if bone_slot(action, armature)[0] and finder.owns(action)]


def active_action(owner: Any) -> Action | None:
    """The action that is assigned to an object or other data-block, which may be None."""
    return owner.animation_data.action if owner is not None and owner.animation_data is not None else None


def _targets_of(owner: Any) -> Callable[[str], bool]:
    """Whether a data path leads to something that an owner has. Many actions have the same paths."""
    if isinstance(owner, bpy.types.Key):
        return {*(value_path(key.name) for key in owner.key_blocks), "eval_time"}.__contains__
    bones = set(owner.data.bones.keys())

    @cache
    def is_target(path: str) -> bool:
        match = _BONE.match(path)
        if match is None:
            try:
                owner.path_resolve(path)
            except ValueError:
                return False
            return True
        if match[1] is None:
            return int(match[2]) < len(bones)
        return bpy.utils.unescape_identifier(match[1]) in bones

    return is_target


def _share(action: Action, slot: Any, is_target: Callable[[str], bool]) -> float:
    """Which part of the bone channels of an action exists, or of all its channels if it has none of bones."""
    curves: Any = versions.fcurves_of_slot(action, slot)
    sample = [curves[index].data_path for index in range(0, len(curves), max(len(curves) // _LOOKED_AT, 1))]
    sample = [path for path in sample if path.startswith("pose.bones[")] or sample
    return sum(map(is_target, sample)) / max(len(sample), 1)


def _plays(owner: Any) -> Iterator[tuple[Action, Any]]:
    data = owner.animation_data
    if data is None:
        return
    pairs = [(data.action, versions.assigned_slot(data))]
    if data.use_tweak_mode:
        pairs.append(versions.action_behind_tweak(data))
    pairs += [(strip.action, versions.assigned_slot(strip)) for strip in strips_of(data)]
    yield from ((action, slot) for action, slot in pairs if action is not None)


def played_actions(obj: Object) -> set[Action]:
    """The actions that play on an object, or are in its NLA strips."""
    return {action for action, _ in _plays(obj)}


def add_muted_strip(obj: Object, action: Action, frame_start: int, name: str) -> None:
    """Puts an action of an object or its bones onto an NLA track as a muted strip; both get the same name."""
    data = obj.animation_data or obj.animation_data_create()
    track = data.nla_tracks.new()
    track.name = name
    strip = track.strips.new(name, frame_start, action)
    strip.name = name
    versions.assign_slot(strip, action, "OBJECT")
    strip.mute = True


def replace_actions(pairs: Mapping[Action, Action]) -> None:
    """Replaces actions by others, which take their names and users, by pairs of an old and a new one."""
    # New ones need a slot for objects. Strips that play an old one as a whole then play the whole new one.
    names_of = {new: old.name for old, new in pairs.items()}
    for old, new in pairs.items():
        _replace_action(old, new)
    bpy.data.batch_remove(list(pairs))
    for new, name in names_of.items():
        new.name = name


def _replace_action(old: Action, new: Action) -> None:
    players = [obj.animation_data for obj in bpy.data.objects if obj.animation_data is not None]
    for data in players:
        if data.use_tweak_mode and any(strip.action == old for strip in strips_of(data)):
            # The action of a strip cannot be changed while it is tweaked.
            data.use_tweak_mode = False
    active = [data for data in players if data.action == old]
    strips = [strip for data in players for strip in strips_of(data) if strip.action == old]
    old_range = versions.action_range(old)
    whole = [strip for strip in strips if (strip.action_frame_start, strip.action_frame_end) == old_range]
    old.user_remap(new)
    for data in active:
        versions.assign_action(data, new, "OBJECT")
    for strip in strips:
        versions.assign_slot(strip, new, "OBJECT")
    first, last = versions.action_range(new)
    for strip in whole:
        # The start may not be after the end at any moment.
        strip.action_frame_end = max(last, strip.action_frame_end)
        strip.action_frame_start = first
        strip.action_frame_end = last
