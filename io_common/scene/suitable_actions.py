"""The actions that are animations of an armature, and the reasons against others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy

from . import versions
from .shape_keys import value_path

if TYPE_CHECKING:
    from bpy.types import Action, Key, Object


@dataclass(eq=False)
class SuitableActions:
    """The actions of a .blend file, sorted for one armature.

    Attributes:
        chosen: actions that move the armature, by name, each with its slot.
        other_slots: further slots of these actions that move the armature too, by action.
        left_out: the reason against each other action for objects, by name.
    """

    chosen: list[tuple[Action, Any]] = field(default_factory=list)
    other_slots: dict[Action, list[Any]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def suitable_actions(armature: Object) -> SuitableActions:
    """The actions that move an armature.

    They are used by the armature, or animate its bones, or animate only its properties as an object (root motion) and
    are not used by another object.
    """
    # Blender's own operators address bones by name, scripts may do so by index.
    prefixes = tuple(
        prefix
        for index, bone in enumerate(armature.data.bones)
        for prefix in (f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]', f"pose.bones[{index}]")
    )
    played = {action for action, _slot in _plays(armature)}
    elsewhere = {pair for other in bpy.data.objects if other != armature for pair in _plays(other)}
    found = SuitableActions()
    for action in bpy.data.actions:
        slots = versions.slots_for(action, "OBJECT")
        suitable = [slot for slot in slots if _sets_bones(action, slot, prefixes)]
        suitable = suitable or (slots if action in played else [])
        reasons = []
        if not suitable:
            reasons = [_reason_against(armature, action, slot, elsewhere) for slot in slots]
            suitable = [slot for slot, reason in zip(slots, reasons, strict=True) if not reason]
        if suitable:
            chosen = _choose_slot(armature, action, suitable)
            found.chosen.append((action, chosen))
            found.other_slots[action] = [slot for slot in suitable if slot != chosen]
        elif reasons:
            found.left_out[action.name] = reasons[0]
    return found


def actions_of_keys(keys: Key) -> list[tuple[Action, Any]]:
    """The actions that set shape keys, by name, each with its first slot that does.

    Args:
        keys: of a mesh.
    """
    found = []
    for action in bpy.data.actions:
        slots = [slot for slot in versions.slots_for(action, "KEY") if sets_keys(action, slot, keys)]
        found += [(action, slots[0])] if slots else []
    return found


def sets_keys(action: Action | None, slot: Any, keys: Key) -> bool:
    """Whether an action sets values of shape keys.

    Args:
        action: the action; None for nothing.
        slot: of the action; None before Blender 4.4.
        keys: of a mesh.
    """
    if action is None:
        return False
    own = {value_path(key.name) for key in keys.key_blocks} | {"eval_time"}
    return any(curve.data_path in own for curve in versions.fcurves_of_slot(action, slot))


def _plays(obj: Object) -> list[tuple[Action, Any]]:
    """The active action of an object and those of its NLA strips, each with its slot."""
    data = obj.animation_data
    if data is None:
        return []
    plays = [(data.action, versions.assigned_slot(data))]
    plays += [
        (strip.action, versions.slot_of_strip(strip)) for track in data.nla_tracks for strip in track.strips
    ]
    return [(action, slot) for action, slot in plays if action is not None]


def _sets_bones(action: Action, slot: Any, prefixes: tuple[str, ...]) -> bool:
    """Whether an action sets anything of bones: their channels, properties or constraints."""
    return any(curve.data_path.startswith(prefixes) for curve in versions.fcurves_of_slot(action, slot))


def _reason_against(armature: Object, action: Action, slot: Any, elsewhere: set[tuple[Action, Any]]) -> str:
    """Why a slot that sets no bones of an armature is not for it; empty if it is."""
    paths = [curve.data_path for curve in versions.fcurves_of_slot(action, slot)]
    if not paths:
        return "it has no keyframes for an object"
    if any(path.startswith("pose.bones[") for path in paths):
        return f"it moves bones that {armature.name} does not have"
    if not any(_has(armature, path) for path in paths):
        return f"it sets nothing that {armature.name} has"
    if (action, slot) in elsewhere:
        return "it plays on another object"
    name = versions.slot_name(slot)
    if name not in ("", armature.name, versions.SLOT_NAME) and name in bpy.data.objects:
        return "its slot is for another object"
    return ""


def _has(obj: Object, path: str) -> bool:
    try:
        obj.path_resolve(path)
    except ValueError:
        return False
    return True


def _choose_slot(armature: Object, action: Action, slots: list[Any]) -> Any:
    """Of several slots the one that is assigned, else the one that Blender would choose, else the first."""
    data = armature.animation_data
    assigned = versions.assigned_slot(data) if data is not None and data.action == action else None
    if assigned in slots:
        return assigned
    last = versions.last_slot_name(data) if data is not None else ""
    by_name = {versions.slot_name(slot): slot for slot in reversed(slots)}
    return by_name.get(last) or by_name.get(armature.name) or slots[0]
