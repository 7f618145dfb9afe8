"""The frames of a vertex-animated model that are chosen from a list of animations, one animation after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import NONE
from ..reports import Report
from ..scene.objects import NothingToExportError
from ..scene.shape_keys import frame_keys, shape_keys
from .animated_state import AnimatedState, PlayedData, play_alone, play_strip_alone, reset_pose
from .animated_values import AnimatedValues, restored_frame_and_values
from .animation_list import AnimationList, ListedAnimation, Source
from .frame_plan import MAX_FRAMES, FrameOptions, FramePlan, Segment, common_source, frames_of_keys, leader_of
from .shape_key_playback import SourceFrames, keys_at_frames
from .suitable_actions import sets_keys, warn_of_reasons

if TYPE_CHECKING:
    from bpy.types import Object, Scene


@dataclass(frozen=True)
class ChosenSequence:
    """A checked animation of a list.

    Attributes:
        name: of the sequence.
        frames: of the scene, or of the action that is played alone.
    """

    name: str
    frames: Sequence[float]
    animation: ListedAnimation


def owner_of_list(objects: Sequence[Object]) -> Object:
    """The object whose list is used when several meshes, at least one, are exported together.

    It is the armature of the first mesh that has one, else the first mesh with shape keys, else the first.
    """
    armatures = (armature for obj in objects if (armature := obj.find_armature()) is not None)
    keyed = (obj for obj in objects if frame_keys(obj))
    return next(armatures, None) or next(keyed, objects[0])


def sequence_frames(animation: ListedAnimation, options: FrameOptions, scene: Scene) -> Sequence[float]:
    """The frames of an animation of a list."""
    return options.between(round(animation.start), round(animation.end), scene)


def plan_sequences(
    objects: Sequence[Object],
    sources: Mapping[Object, SourceFrames],
    found: AnimationList,
    sequences: Sequence[ChosenSequence],
) -> FramePlan:
    """The frames of sequences, one sequence after the other.

    `sources` holds the frames of the files that some of the objects were imported from. Raises NothingToExportError if
    there are too many frames.
    """
    count = sum(len(sequence.frames) for sequence in sequences)
    if count > MAX_FRAMES:
        raise NothingToExportError(
            f"there are {count:,} frames, more than the {MAX_FRAMES:,} that can be exported: check fewer animations, "
            "or choose a larger Frame Step"
        )
    common = common_source(sources)
    leader = leader_of(objects, sources)
    if common is None or leader is None or leader not in sources or not sources[leader].key_names:
        leader = None
    key_names: list[str | None] = []
    segments = []
    with restored_frame_and_values(found.scene), restored_playback(found, objects, sequences) as play:
        for sequence in sequences:
            segments.append(Segment(sequence.name, len(key_names), len(sequence.frames), sequence.animation))
            if leader is None:
                key_names += [None] * len(sequence.frames)
                continue
            play(sequence.animation)
            key_names += keys_at_frames(leader, sequence.frames, found.scene)
    source = frames_of_keys(key_names, common) if common is not None else np.full(len(key_names), NONE)
    frames = [frame for sequence in sequences for frame in sequence.frames]
    return FramePlan(key_names, source, frames, segments=tuple(segments))


Play = Callable[[ListedAnimation], None]


@contextmanager
def restored_playback(
    found: AnimationList, objects: Sequence[Object], sequences: Sequence[ChosenSequence | Segment]
) -> Iterator[Play]:
    """A function that plays an animation of a list alone, or the scene as it is; everything is restored at the end.

    `sequences` are all that will be played.
    """
    actions = [one.animation.action for one in sequences if one.animation.action is not None]
    if found.source not in (Source.ACTIONS, Source.STRIPS):
        # The scene plays as it is.
        yield lambda animation: None
    elif found.owner.type == "ARMATURE":
        yield from _armature_playback(found.owner, found.scene, actions)
    else:
        yield from _key_playback(objects, actions)


def _armature_playback(armature: Object, scene: Scene, actions: list[Any]) -> Iterator[Play]:
    saved = AnimatedState(scene, armature, actions)

    def play(animation: ListedAnimation) -> None:
        # The armature may be in Rest Position.
        armature.data.pose_position = "POSE"
        # Undoes values that another action has set and this one does not.
        saved.restore_values()
        reset_pose(armature)
        if animation.strip is not None:
            play_strip_alone(armature, animation.strip)
        else:
            play_alone(armature, animation.action, animation.slot)

    try:
        yield play
    finally:
        saved.restore()


def _key_playback(objects: Sequence[Object], actions: list[Any]) -> Iterator[Play]:
    """Plays actions on the shape keys of all objects that they set, while other keys are at 0."""
    keyed = [keys for obj in objects if (keys := shape_keys(obj)) is not None]
    values = AnimatedValues([(keys, action) for keys in keyed for action in actions])
    key_values = [(key, key.value) for keys in keyed for key in keys.key_blocks]
    had_data = [keys for keys in keyed if keys.animation_data is not None]
    played = [PlayedData(keys) for keys in had_data]

    def play(animation: ListedAnimation) -> None:
        for keys in keyed:
            strip = animation.strip
            owns = keys.animation_data is not None and any(
                strip in list(track.strips) for track in keys.animation_data.nla_tracks
            )
            if not owns and (strip is not None or not sets_keys(animation.action, animation.slot, keys)):
                continue
            for key in keys.key_blocks:
                key.value = 0.0
            if strip is not None:
                play_strip_alone(keys, strip)
            else:
                play_alone(keys, animation.action, animation.slot)

    try:
        yield play
    finally:
        for one in played:
            one.restore()
        for keys in keyed:
            if keys not in had_data and keys.animation_data is not None:
                keys.animation_data_clear()
        for key, value in key_values:
            key.value = value
        values.restore()


def chosen_sequences(
    found: AnimationList, options: FrameOptions, report: Report, missing: str
) -> list[ChosenSequence]:
    """The checked animations of a list, in its order. Changes nothing.

    Warns about each animation that cannot be listed.

    Raises NothingToExportError with the message `missing` if nothing is checked, and UnknownFieldError if the pattern
    of names has a field that does not exist.
    """
    warn_of_reasons(found.unseen, found.left_out, report)
    if not found.checked:
        raise NothingToExportError(missing)
    return [
        ChosenSequence(found.name(row), sequence_frames(row.animation, options, found.scene), row.animation)
        for row in found.checked
    ]
