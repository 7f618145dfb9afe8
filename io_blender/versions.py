"""Differences between Blender 4.2 and 5.3; no other module asks for the version.

Since 4.4 an action has a layer, a strip and a channel bag of F-curves for each slot, which has a type of data-block.
Before, the curves are in the action itself, which 5.0 has removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy
from bpy.types import Action, AnimData, FCurve, NlaStrip

_HAS_SLOTS = bpy.app.version >= (4, 4, 0)
_IS_5 = bpy.app.version >= (5, 0, 0)

SHARES_ACTIONS = _HAS_SLOTS  # whether an action can hold the F-curves of several data-blocks

SLOT_NAME = "Slot"
"""The name of every slot, the same as in Blender's own importers: switching actions then keeps the slot."""

MAX_ID_NAME = 255 if _IS_5 else 63  # bytes that the name of a data-block may have
MAX_NAME = 63  # bytes that the name of a bone, a vertex group, a shape key or a marker may have
PATH_OPTIONS: set[str] = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
"""The options of a property that holds a path."""


def _newer(data: object) -> Any:
    """The same without a type: the stubs are those of 4.2, which has no slots."""
    return data


class ActionCurves:
    """The F-curves of an action for a kind of data-block: 'OBJECT' (bones too), 'KEY' or 'CAMERA'."""

    # `name` is that of a slot for one of several data-blocks.
    def __init__(self, action: Action, id_type: str, name: str = "") -> None:
        self.action = action
        self.slot: Any = None
        self._bag: Any = action
        if not _HAS_SLOTS:
            # Else only its first use sets it, and until then Blender prints a warning whenever it is read.
            _newer(action).id_root = id_type
        else:
            self.slot = _slot_for(action, id_type, name) or _newer(action).slots.new(id_type, name or SLOT_NAME)
            layers = _newer(action).layers
            layer = layers[0] if layers else layers.new("Layer")
            strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
            self._bag = strip.channelbag(self.slot, ensure=True)

    def new(self, data_path: str, index: int, group: str) -> FCurve:
        """A new, empty F-curve in a group of that name."""
        if not _HAS_SLOTS:
            return self._bag.fcurves.new(data_path, index=index, action_group=group)
        if _IS_5:
            return self._bag.fcurves.new(data_path, index=index, group_name=group)
        curve = self._bag.fcurves.new(data_path, index=index)
        curve.group = self._bag.groups.get(group) or self._bag.groups.new(group)
        return curve


def _slot_for(action: Action, id_type: str, name: str = "") -> Any:
    slots = (slot for slot in _newer(action).slots if slot.target_id_type == id_type)
    return next((slot for slot in slots if name in ("", slot.name_display)), None)


def fcurves_of_slot(action: Action, slot: Any) -> Iterable[FCurve]:
    """The F-curves of a slot of an action; before 4.4, which has no slots, all of them."""
    if not _HAS_SLOTS:
        return action.fcurves
    layers = _newer(action).layers
    if slot is None or not layers or not layers[0].strips:
        return ()
    bag = layers[0].strips[0].channelbag(slot)
    return bag.fcurves if bag is not None else ()


def action_fcurves(action: Action, id_type: str) -> Iterable[FCurve]:
    """The F-curves of the first slot of an action for a kind of data-block; none if it has no such slot."""
    return fcurves_of_slot(action, _slot_for(action, id_type) if _HAS_SLOTS else None)


def all_fcurves(action: Action) -> Iterator[FCurve]:
    """The F-curves of all slots of an action."""
    for slot in _newer(action).slots if _HAS_SLOTS else (None,):
        yield from fcurves_of_slot(action, slot)


def played_fcurves(animation_data: AnimData) -> Iterable[FCurve]:
    """The F-curves of the active action that play: those of the slot that is assigned."""
    action = animation_data.action
    return () if action is None else fcurves_of_slot(action, assigned_slot(animation_data))


def action_range(action: Action) -> tuple[float, float]:
    """The manual range of an action, else that of all its keys."""
    return _range(action.frame_range)


def frame_range(action: Action, slot: Any) -> tuple[float, float]:
    """The manual range of an action, else that of the keys of a slot."""
    return action_range(action) if action.use_frame_range else key_range(action, slot)


def key_range(action: Action, slot: Any) -> tuple[float, float]:
    """The range of the keys of a slot of an action, or of the whole action if the slot has none."""
    if _HAS_SLOTS and len(_newer(action).slots) > 1:
        curves = fcurves_of_slot(action, slot)
        ranges = [_range(curve.range()) for curve in curves if curve.keyframe_points or curve.sampled_points]
        if ranges:
            return min(start for start, _ in ranges), max(end for _, end in ranges)
    return _range(action.curve_frame_range)


def _range(limits: Any) -> tuple[float, float]:
    # The stubs say that a range is a Vector, which has no iterator there.
    start, end = limits
    return start, end


def slots_for(action: Action, id_type: str) -> list[Any]:
    """The slots that a kind of data-block can play; before 4.4 a single None for the whole action."""
    if not _HAS_SLOTS:
        return [None]
    return [slot for slot in _newer(action).slots if slot.target_id_type in (id_type, "UNSPECIFIED")]


def can_play(action: Action, id_type: str) -> bool:
    """Whether an action is for a kind of data-block."""
    if not _HAS_SLOTS:
        return action.id_root in (id_type, "")
    return bool(slots_for(action, id_type))


def has_slot(action: Action, id_type: str, name: str) -> bool:
    """Whether an action has a slot of that name; before 4.4 it has none."""
    return _HAS_SLOTS and _slot_for(action, id_type, name) is not None


def assigned_slot(player: AnimData | NlaStrip) -> Any:
    """The slot that is played by animation data or a strip; None before 4.4."""
    return _newer(player).action_slot if _HAS_SLOTS else None


def plays_nothing(player: AnimData | NlaStrip) -> bool:
    """Whether the action of animation data or a strip has no slot assigned, so that it moves nothing."""
    return _HAS_SLOTS and _newer(player).action_slot is None


def slot_name(slot: Any) -> str:
    """The name of a slot as users see it; empty before 4.4."""
    return slot.name_display if slot is not None else ""


def last_slot_identifier(animation_data: AnimData) -> str:
    """The slot that was assigned last, by which Blender finds one in the next action; empty before 4.4."""
    return _newer(animation_data).last_slot_identifier if _HAS_SLOTS else ""


def set_last_slot_identifier(animation_data: AnimData, identifier: str) -> None:
    """Sets what `last_slot_identifier` returns."""
    if _HAS_SLOTS and _newer(animation_data).last_slot_identifier != identifier:
        _newer(animation_data).last_slot_identifier = identifier


def prepare_slot(animation_data: AnimData) -> None:
    """Lets Blender pick the slot of imported actions, even for the first one that is assigned."""
    if _HAS_SLOTS and not _newer(animation_data).last_slot_identifier:
        _newer(animation_data).last_slot_identifier = f"OB{SLOT_NAME}"


def action_behind_tweak(animation_data: AnimData) -> tuple[Action | None, Any]:
    """The action, and its slot, that are active again after NLA tweak mode; None outside of it."""
    action = _newer(animation_data).action_tweak_storage
    if action is None or not _HAS_SLOTS:
        return action, None
    handle = _newer(animation_data).action_slot_handle_tweak_storage
    return action, next((slot for slot in action.slots if slot.handle == handle), None)


def play(animation_data: AnimData, action: Action | None, slot: Any) -> None:
    """Makes an action, or none, the active one, with that slot."""
    if animation_data.use_tweak_mode:
        # The active action cannot be changed while that of a strip is tweaked.
        animation_data.use_tweak_mode = False
    animation_data.action = action
    if _HAS_SLOTS and action is not None:
        _newer(animation_data).action_slot = slot


def assign_action(animation_data: AnimData, action: Action | None, id_type: str, name: str = "") -> None:
    """Makes an action the active one, and its first slot for that kind of data-block, or of that name, with it."""
    play(animation_data, action, _slot_for(action, id_type, name) if _HAS_SLOTS and action is not None else None)


def assign_slot(strip: NlaStrip, action: Action, id_type: str, name: str = "") -> None:
    """Lets an NLA strip play the slot of its action of that name, else the first for that kind of data-block."""
    set_slot(strip, (_slot_for(action, id_type, name) or _slot_for(action, id_type)) if _HAS_SLOTS else None)


def set_slot(strip: NlaStrip, slot: Any) -> None:
    """Lets an NLA strip play a slot of its action."""
    if _HAS_SLOTS:
        _newer(strip).action_slot = slot


def is_packed(library: bpy.types.Library) -> bool:
    """Whether what is linked from a library is in the .blend file itself."""
    return library.packed_file is not None or (_IS_5 and _newer(library).is_archive)


def enable_nodes(material: bpy.types.Material) -> None:
    """Gives a new material its node tree; from 5.0 every material has one."""
    if not _IS_5:
        material.use_nodes = True


def set_green_down(normal_map: Any) -> bool:
    """Sets a Normal Map node to green down ('DirectX'); False where Blender has no such setting."""
    if not hasattr(normal_map, "convention"):
        return False
    normal_map.convention = "DIRECTX"
    return True
