"""Actions where exporters look for them: in tracks, side by side or in a row, at the rate of the scene."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..io_common.scene import versions
from ..io_md5.source.actions import load_action
from ..io_md5.suitable_actions import suitable_actions


def armature_and_actions() -> tuple[Any, list[Any]]:
    """The only armature with the actions that move it; None if there is none, or several."""
    armatures = [obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"]
    if len(armatures) != 1:
        return None, []
    return armatures[0], [action for action, _ in suitable_actions(armatures[0]).chosen]


def retime(actions: list[Any], rate: float) -> None:
    """Has actions of imported animations last as long at another rate as they do at their own.

    Args:
        actions: each with the rate of its file.
        rate: frames per second.
    """
    for action in actions:
        factor = rate / (load_action(action).frame_rate or rate)
        if factor == 1.0:
            continue
        for curve in versions.action_fcurves(action, "OBJECT"):
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            points[::2] *= factor
            curve.keyframe_points.foreach_set("co", points)
            curve.update()
        action.frame_start, action.frame_end = (
            round(frame * factor) for frame in (action.frame_start, action.frame_end)
        )


def side_by_side(owner: Any, actions: list[Any], id_type: str) -> None:
    """Puts each action into a track of its own, in its own place.

    Args:
        owner: an object, or the shape keys of one.
        actions: that move it.
        id_type: 'OBJECT' or 'KEY'.
    """
    for action in actions:
        _add_strip(owner, action, round(action.frame_range[0]), id_type)
    versions.assign_action(owner.animation_data, None, id_type)


def one_after_the_other(armature: Any, actions: list[Any]) -> None:
    """Puts actions in a row over the range of the scene, a marker at the beginning of each."""
    scene = bpy.context.scene
    scene.timeline_markers.clear()
    start = 0
    for action in actions:
        _add_strip(armature, action, start, "OBJECT")
        scene.timeline_markers.new(action.name, frame=start)
        start += round(action.frame_range[1] - action.frame_range[0]) + 1
    versions.assign_action(armature.animation_data, None, "OBJECT")
    scene.frame_start, scene.frame_end = 0, start - 1


def _add_strip(owner: Any, action: Any, start: int, id_type: str) -> None:
    track = owner.animation_data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, start, action)
    versions.assign_slot(strip, action, id_type)
    # What plays in a row must not hold on when the next one begins.
    strip.extrapolation = "NOTHING"
