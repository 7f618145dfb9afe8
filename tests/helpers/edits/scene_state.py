"""All that an export must leave as it was, as plain values that can be compared."""

from __future__ import annotations

import math

import bpy
from whole_state import whole_state

_CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
_ANIMATION = ("use_nla", "use_tweak_mode", "action_influence", "action_blend_type", "action_extrapolation")
_STRIP = ("frame_start", "frame_end", "mute", "influence", "blend_type")


def everything():
    """The whole state, with poses, slots, NLA, visibility and the values of animated properties."""
    bpy.context.view_layer.update()
    result = whole_state()
    layer = bpy.context.view_layer
    objects = bpy.data.objects
    result["places"] = {obj.name: _values(obj, *_CHANNELS) + _rows(obj.matrix_world) for obj in objects}
    result["poses"] = {
        f"{obj.name} {bone.name}": _values(bone, *_CHANNELS) for obj in objects if obj.pose for bone in obj.pose.bones
    }
    result["positions"] = {armature.name: armature.pose_position for armature in bpy.data.armatures}
    result["animation"] = {obj.name: _animation(obj.animation_data) for obj in objects if obj.animation_data}
    result["users of actions"] = {action.name: action.users for action in bpy.data.actions}
    result["maps"] = {
        mesh.name: (mesh.uv_layers.active_index, [(one.name, one.active_render) for one in mesh.uv_layers])
        for mesh in bpy.data.meshes
    }
    result["keys"] = {
        key.name: [(block.name, block.value, block.mute) for block in key.key_blocks] for key in bpy.data.shape_keys
    }
    result["visible"] = [
        (obj.name, obj.hide_get(), obj.hide_viewport, obj.hide_render, obj.visible_get()) for obj in layer.objects
    ]
    result["collections"] = [(one.name, one.exclude, one.hide_viewport) for one in _below(layer.layer_collection)]
    result["shown modifiers"] = [
        (obj.name, one.name, one.show_viewport, one.show_render, one.show_in_editmode)
        for obj in objects
        for one in obj.modifiers
    ]
    result["shapes"] = [(obj.name, obj.active_shape_key_index, obj.show_only_shape_key) for obj in objects]
    result["constraints"] = [
        (obj.name, owner.name, one.name, one.mute, one.influence)
        for obj in objects
        for owner in (obj, *(obj.pose.bones if obj.pose else ()))
        for one in owner.constraints
    ]
    return result


def differences(before, after) -> list[str]:
    """What differs between two states, as short texts."""
    return [f"{key}: {_shortened(before[key], after[key])}" for key in before if not same(before[key], after.get(key))]


def same(a, b) -> bool:
    """Whether two plain values are equal, numbers up to the rounding of 32-bit floats."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-5, abs_tol=2e-5)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(one, other) for one, other in zip(a, b, strict=True))
    return a == b


def _shortened(before, after) -> str:
    """The first value that differs, with where it is."""
    if isinstance(before, dict) and isinstance(after, dict):
        key = next(key for key in {**before, **after} if not same(before.get(key), after.get(key)))
        return f"{key}: {_shortened(before.get(key), after.get(key))}"
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)) and len(before) == len(after):
        number = next(n for n, pair in enumerate(zip(before, after, strict=True)) if not same(*pair))
        return f"{number}: {_shortened(before[number], after[number])}"
    return f"{before} became {after}"[:300]


def _below(layer_collection):
    yield layer_collection
    for child in layer_collection.children:
        yield from _below(child)


def _values(owner, *names):
    return [tuple(getattr(owner, name)) for name in names]


def _rows(matrix):
    return [tuple(row) for row in matrix]


def _animation(data):
    slot = getattr(data, "action_slot", None)
    return (
        data.action and data.action.name,
        data.action_tweak_storage and data.action_tweak_storage.name,
        slot and slot.identifier,
        getattr(data, "last_slot_identifier", None) if slot else None,
        [getattr(data, name) for name in _ANIMATION],
        [
            (
                track.name,
                track.mute,
                track.is_solo,
                [[getattr(strip, name) for name in _STRIP] for strip in track.strips],
            )
            for track in data.nla_tracks
        ],
        [(driver.data_path, driver.array_index, driver.mute) for driver in data.drivers],
    )
