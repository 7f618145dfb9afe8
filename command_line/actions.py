"""Actions prepared for exporters: retimed to one frame rate, and placed on NLA tracks."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..families import FAMILIES
from ..io_blender import versions
from ..io_blender.clips.actions import suitable_actions


def armature_and_actions() -> tuple[Any, list[Any]]:
    """The only armature with the actions that move it; None if there is none, or several."""
    armatures = [obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"]
    if len(armatures) != 1:
        return None, []
    return armatures[0], [action for action, _ in suitable_actions(armatures[0]).chosen]


def _frame_rate(action: Any) -> float | None:
    """The frame rate that an action was imported with, by whichever family."""
    rates = (family.blender().action_frame_rate(action) for family in FAMILIES)
    return next((rate for rate in rates if rate), None)


def retime(actions: list[Any], rate: float, scene_rate: float = 0.0) -> bool:
    """Scales the keys of imported actions in time, so that they last as long at another frame rate as at their own.

    Rates are in frames per second. Actions without a known frame rate are left as they are. `scene_rate` is the rate at
    which Blender plays the actions; 0 for the frame rate of their files. Returns whether there are actions and the
    frame rates of all are known.
    """
    own_rates = [_frame_rate(action) for action in actions]
    for action, own_rate in zip(actions, own_rates, strict=True):
        factor = rate / (scene_rate or own_rate) if own_rate else 1.0
        if factor == 1.0:
            continue
        for curve in versions.all_fcurves(action):
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            for name in ("co", "handle_left", "handle_right"):
                curve.keyframe_points.foreach_get(name, points)
                points[::2] *= factor
                curve.keyframe_points.foreach_set(name, points)
            curve.update()
        action.frame_start, action.frame_end = (
            round(frame * factor) for frame in (action.frame_start, action.frame_end)
        )
    return bool(own_rates) and None not in own_rates


def add_parallel_tracks(owner: Any, actions: list[Any]) -> None:
    """Adds an NLA track for each action to an object or the shape keys of one, at the frames of the action."""
    data = owner.animation_data or owner.animation_data_create()
    for action in actions:
        _add_strip(owner, action, round(action.frame_range[0]))
    versions.assign_action(data, None, owner.id_type)


def add_consecutive_tracks(armature: Any, actions: list[Any]) -> None:
    """Adds an NLA track for each action, one after the other from frame 0, with a marker at each start.

    The range of the scene becomes that of all actions.
    """
    scene = bpy.context.scene
    scene.timeline_markers.clear()
    data = armature.animation_data or armature.animation_data_create()
    start = 0
    for action in actions:
        _add_strip(armature, action, start)
        scene.timeline_markers.new(action.name, frame=start)
        start += round(action.frame_range[1] - action.frame_range[0]) + 1
    versions.assign_action(data, None, armature.id_type)
    scene.frame_start, scene.frame_end = 0, start - 1


def _add_strip(owner: Any, action: Any, start: int) -> None:
    track = owner.animation_data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, start, action)
    versions.assign_slot(strip, action, owner.id_type)
    # A strip must not hold its last pose while the next one plays.
    strip.extrapolation = "NOTHING"
