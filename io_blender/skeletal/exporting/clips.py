"""The clips of an export, each written to one animation file, or all to the one that some games take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from bpy.types import Action, Context, Object, Scene

from ....io_common import names
from ....io_common.skeletal.model import Floats
from ....io_common.texts import UnknownFieldError, distinct_file_names
from ... import versions
from ...clips import clip as scene_clips
from ...clips.actions import is_imported_for, missing_bones, suitable_actions, warn_of_reasons
from ...clips.clip import AnimationList, Row, Source, action_clip, animation_list
from ...reports import Report, listing
from ...scene.objects import NothingToExportError
from ...state import frame_rate
from ..options import AnimationProperties
from ..records import StoredAction, load_action
from .source import Source as ExportSource


@dataclass(frozen=True)
class AnimationOptions(AnimationProperties):
    """The options of animations."""

    # Sampled, of which every N-th frame is exported; 0 for the rate of the action, else of the scene.
    frame_rate: float = 0.0
    scene_rate: float = 0.0  # if actions are sampled as Blender plays them; 0 for their own rate
    compares_speed: bool = True  # warn if the game plays an animation slower or faster than Blender


@dataclass(frozen=True)
class Clip(scene_clips.Clip):
    """A clip with its frames per second and what an imported action stores; the scene's name is empty."""

    # `to_scene` goes from frames of the action to frames of the scene, if they differ, as in NLA tweak mode.

    rate: float = 0.0
    stored: StoredAction | None = None
    to_scene: Callable[[float], float] | None = None

    def action_frames(self, frames: Floats) -> Floats | None:
        """The frames of the action that play on frames of the scene, (F,); None if only Blender knows them."""
        if self.strip is None:
            return frames if self.to_scene is None else None
        offset = scene_clips.plain_offset(self.strip)
        return None if offset is None else frames + offset

    def samples(self, options: AnimationOptions) -> tuple[Floats, float]:
        """The frames of the scene to sample, (F,), and the frame rate of the file."""
        clip_rate = options.scene_rate or self.rate
        # NaN is not above 0 either.
        rate = (options.frame_rate if options.frame_rate > 0.0 else clip_rate) / options.frame_step
        step = clip_rate / rate
        count = scene_clips.sample_count(self.end - self.start, step)
        frames = self.start + np.arange(count, dtype=np.float64) * step
        if self.to_scene is not None:
            frames = np.array([self.to_scene(frame) for frame in frames.tolist()])
        return frames, rate


def listed_clip(clip: scene_clips.Clip, scene: Scene) -> Clip:
    """A clip with its stored data. An action without a stored frame rate has that of the scene."""
    stored = load_action(clip.action) if clip.action is not None else None
    fields = vars(clip) | {"stored": stored}
    fields["rate"] = (stored.frame_rate if stored is not None else None) or frame_rate(scene)
    if clip.source is Source.SCENE:
        fields["name"] = ""
    elif clip.action is not None and clip.strip is None:
        fields["start"], fields["end"] = action_range(clip.action, clip.slot)
    return Clip(**fields)


def action_range(action: Action, slot: Any) -> tuple[float, float]:
    """The frames of an action that are exported: its manual range, else that of the keys of a slot."""
    # A manual range that the import set is extended to keys outside of it.
    start, end = versions.frame_range(action, slot)
    if not action.use_frame_range or (start, end) != load_action(action).frame_range:
        return start, end
    first, last = versions.key_range(action, slot)
    return min(start, first), max(end, last)


def active_clip(armature: Object, scene: Scene) -> Clip:
    """The active action of an armature; raises NothingToExportError if there is none or it has no slot."""
    data = armature.animation_data
    if data is None or data.action is None:
        raise NothingToExportError(
            f"{armature.name} has no active action: choose one in the Action Editor, or set Actions to All Actions. If "
            "NLA strips or constraints move the armature, set it to Scene Playback"
        )
    if versions.plays_nothing(data):
        raise NothingToExportError(
            f"{armature.name}: no slot of the action {data.action.name} is assigned, so it has no effect; "
            "choose a slot in the Action Editor, or another action"
        )
    to_scene = data.nla_tweak_strip_time_to_scene if data.use_tweak_mode else None
    clip = listed_clip(action_clip(data.action, versions.assigned_slot(data)), scene)
    return replace(clip, is_alone=False, to_scene=to_scene)


def all_clips(armature: Object, scene: Scene, report: Report, attached: Sequence[Object] = ()) -> list[Clip]:
    """The armature's own actions, by name; those that are left out are warned about."""
    actions = suitable_actions(armature)
    # What armatures on its bones play is part of every animation.
    played = {data.action.name for one in attached if (data := one.animation_data) is not None and data.action}
    left_out = {name: reason for name, reason in actions.left_out.items() if name not in played}
    warn_of_reasons(actions.reasons, left_out, report)
    if actions.uncertain:
        others = listing(list(dict.fromkeys(actions.uncertain.values())))
        report.warn(
            f"exported as {armature.name}'s, though they may be {others}'s, which has the same bones: "
            f"{listing(list(actions.uncertain))}. Choose with Actions: Choose"
        )
    return [listed_clip(action_clip(action, slot), scene) for action, slot in actions.chosen]


def listed_clips(found: AnimationList, rows: list[Row], stem: str) -> dict[str, Clip]:
    """The clips of rows, by the name of the file without suffix; NothingToExportError for an unknown field of names."""
    # `stem` names the scene as a whole.
    clips = [listed_clip(row.animation, found.scene) for row in rows]
    stems = []
    for row, clip in zip(rows, clips, strict=True):
        fields = {}
        if found.source is Source.SCENE and found.pattern == found.source.default_pattern and stem:
            fields["scene"] = stem
        if clip.stored is not None and clip.action is not None:
            # An imported action has the name of its file.
            fields["action"] = clip.stored.name
            # Names of strips may be shorter than those of actions.
            if row.animation.name == names.for_blender(clip.action.name, versions.MAX_NAME, ""):
                fields["strip"] = clip.stored.name
        try:
            stems.append(found.name(row, fields))
        except UnknownFieldError as error:
            raise NothingToExportError(str(error)) from error
    unique = distinct_file_names(names.for_files(name, "animation") for name in stems)
    return dict(zip(unique, clips, strict=True))


def clips_by_file(context: Context, source: ExportSource, actions: str, path: Path, report: Report) -> dict[Path, Clip]:
    """The clip of each file; raises NothingToExportError if there is no such action or none is checked."""
    # `actions` is 'NONE', 'ACTIVE', 'ALL', 'LIST' or 'SCENE'; `path` is an animation with the name that the user chose.
    if actions == "NONE":
        return {}
    armature, scene = source.armature, context.scene
    if armature is None and not source.joint_objects:
        report.warn("animations are not exported, because there is no armature, and no object moves")
        return {}
    if actions == "SCENE" or armature is None:
        return {path: listed_clip(scene_clips.scene_clip(scene), scene)}
    if actions == "LIST":
        found = animation_list(armature, scene)
        rows = found.require_checked(report, "Actions", "animate its bones", "animation")
        return {path.with_name(name + path.suffix): clip for name, clip in listed_clips(found, rows, path.stem).items()}
    if actions == "ACTIVE":
        clips = [active_clip(armature, scene)]
    else:
        clips = all_clips(armature, scene, report, source.attached)
    if not clips:
        report.warn(f"no action moves {armature.name}: no animations were exported")
    stems: list[str] = []
    for clip in clips:
        name = _action_name(clip)
        # Copies of an imported action have their own names, not that of its file.
        stems.append(clip.name if name in stems else name)
    unique = distinct_file_names(names.for_files(name, "animation") for name in stems)
    return {path.with_name(name + path.suffix): clip for name, clip in zip(unique, clips, strict=True)}


def warn_of_missing_bones(clips: Iterable[Clip], armature: Object, report: Report) -> None:
    """Warns of imported actions that move bones of which the armature has none any more."""
    lost: dict[str, list[str]] = {}
    for clip in clips:
        if clip.action is not None and is_imported_for(clip.action, [armature]):
            for bone in missing_bones(clip.action, clip.slot, armature):
                lost.setdefault(clip.name, []).append(bone)
    if lost:
        bones = listing(list(dict.fromkeys(chain(*lost.values()))))
        report.warn(
            f"{listing(list(lost))}: moves bones that {armature.name} does not have, which is left out: {bones}. "
            "Blender renames bones in the active action alone: rename them in the others as well"
        )


def warn_of_file_names(clips: dict[Path, Clip], report: Report) -> None:
    """Warns about actions whose files have other names than they: a game looks for the name."""
    for path, clip in clips.items():
        name = _action_name(clip)
        if path.name != name + path.suffix:
            is_taken = names.for_files(name, "") == name
            reason = "another file has this name" if is_taken else "file names cannot have all of its characters"
            report.warn(f"{name} is written to {path.name}, because {reason}")


def _action_name(clip: Clip) -> str:
    """The name of the action of a clip: an imported one has that of its file."""
    return clip.stored.name if clip.stored else clip.name
