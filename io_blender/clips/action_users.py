"""The objects and NLA strips that play an action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from .. import versions

if TYPE_CHECKING:
    from bpy.types import Action, AnimData, NlaStrip, Object


def strip_actions(obj: Object) -> set[Action]:
    """The actions of the NLA strips of an object."""
    data = obj.animation_data
    strips = _strips(data) if data is not None else []
    return {strip.action for strip in strips if strip.action is not None}


def played_actions(obj: Object) -> set[Action]:
    """The active action of an object and those of its NLA strips."""
    data = obj.animation_data
    active = {data.action} if data is not None and data.action is not None else set()
    return active | strip_actions(obj)


def add_muted_strip(obj: Object, action: Action, frame_start: int, name: str) -> None:
    """Puts an action onto an NLA track of its own, as a muted strip.

    The action may also move the bones of the object. `frame_start` is the scene frame at which the strip starts. The
    track and the strip get the same name.
    """
    data = obj.animation_data or obj.animation_data_create()
    track = data.nla_tracks.new()
    track.name = name
    strip = track.strips.new(name, frame_start, action)
    strip.name = name
    versions.assign_slot(strip, action, "OBJECT")
    strip.mute = True


def replace_action(old: Action, new: Action) -> None:
    """Lets everything that uses an action use another one; the action itself stays.

    NLA strips that play the old one as a whole then play the new one as a whole. The old one has no users afterwards.
    The new one needs a slot for objects.
    """
    players = [obj.animation_data for obj in bpy.data.objects if obj.animation_data is not None]
    for data in players:
        if data.use_tweak_mode and any(strip.action == old for strip in _strips(data)):
            # The action of a strip cannot be changed while it is tweaked.
            data.use_tweak_mode = False
    active = [data for data in players if data.action == old]
    strips = [strip for data in players for strip in _strips(data) if strip.action == old]
    whole = [strip for strip in strips if _plays_whole(strip)]
    old.user_remap(new)
    for data in active:
        versions.assign_action(data, new, "OBJECT")
    for strip in strips:
        versions.assign_slot(strip, new, "OBJECT")
    first, last = _range(new)
    for strip in whole:
        # The start may not be after the end at any moment.
        strip.action_frame_end = max(last, strip.action_frame_end)
        strip.action_frame_start = first
        strip.action_frame_end = last


def _strips(data: AnimData) -> list[NlaStrip]:
    return [strip for track in data.nla_tracks for strip in track.strips]


def _plays_whole(strip: NlaStrip) -> bool:
    return (strip.action_frame_start, strip.action_frame_end) == _range(strip.action)


def _range(action: Action) -> tuple[float, float]:
    # The stubs say that a range is a Vector, which has no iterator there.
    in_scene: Any = action
    start, end = in_scene.frame_range
    return start, end
