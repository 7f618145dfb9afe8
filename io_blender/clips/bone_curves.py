"""The actions that move the bones of an armature, judged by few of their F-curves, as interfaces are drawn often."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import bpy

from .. import versions

if TYPE_CHECKING:
    from bpy.types import Action, Object

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_LOOKED_AT = 64


def bone_slot(action: Action, armature: Object) -> tuple[bool, Any]:
    """Whether an action moves bones of an armature, and the slot that does.

    The slot that is assigned to the armature is preferred. It is None before Blender 4.4, and if there is none.
    """
    data = armature.animation_data
    assigned = versions.assigned_slot(data) if data is not None and data.action == action else None
    slots = versions.slots_for(action, "OBJECT")
    for slot in sorted(slots, key=lambda slot: slot != assigned):
        for curve in islice(versions.fcurves_of_slot(action, slot), _LOOKED_AT):
            match = _BONE.match(curve.data_path)
            if match and bpy.utils.unescape_identifier(match[1]) in armature.data.bones:
                return True, slot
    return False, None


def moves_bones(action: Action, armature: Object) -> bool:
    """Whether an action moves bones of an armature, judged by the first of its F-curves."""
    return bone_slot(action, armature)[0]
