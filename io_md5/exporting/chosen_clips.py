"""The clips of an armature's list of animations, with the names of their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...io_blender import versions
from ...io_blender.clips.animation_list import AnimationList, Row, Source, animation_list
from ...io_blender.clips.suitable_actions import warn_of_reasons
from ...io_blender.scene import names
from ...io_blender.scene.objects import NothingToExportError
from ...io_common.name_patterns import UnknownFieldError, distinct_file_names
from .clips import Clip, listed_clip

if TYPE_CHECKING:
    from bpy.types import Object, Scene

    from ...io_blender.reports import Report


@dataclass(frozen=True)
class ListedClip:
    """A row of the list.

    Attributes:
        row: the animation, and what the user decided about it.
        clip: its frame range and rate, and how Blender plays it; `export_anim.sample_clip` evaluates it.
        name: of its file without the suffix; differs from the others of the same list.
    """

    row: Row
    clip: Clip
    name: str


def chosen_clips(armature: Object, scene: Scene, stem: str, report: Report) -> list[ListedClip]:
    """The checked rows of an armature's list, in the order of the list. Changes nothing.

    `stem` names the scene as a whole, if the user chose no name. Raises NothingToExportError if nothing is listed or
    checked, or if the pattern of names has an unknown field.
    """
    found = animation_list(armature, scene)
    warn_of_reasons(found.unseen, found.left_out, report)
    if not found.checked:
        raise NothingToExportError(nothing_checked(found))
    return listed_clips(found, found.checked, stem)


def listed_clips(found: AnimationList, rows: list[Row], stem: str) -> list[ListedClip]:
    """Rows of a list with their clips and names, in the order of `rows`.

    `stem` names the scene as a whole, if the user chose no name. Raises NothingToExportError if the pattern of names
    has an unknown field.
    """
    clips = [listed_clip(row.animation, found.scene) for row in rows]
    try:
        stems = [_name(found, row, clip, stem) for row, clip in zip(rows, clips, strict=True)]
    except UnknownFieldError as error:
        raise NothingToExportError(str(error)) from error
    unique = distinct_file_names(names.for_files(name, "animation") for name in stems)
    return [ListedClip(*parts) for parts in zip(rows, clips, unique, strict=True)]


def nothing_checked(found: AnimationList) -> str:
    """Why a list of which nothing is checked has nothing to export, and what to do."""
    owner = found.owner.name
    if found.rows:
        return f"nothing is checked in the list of animations of {owner}: check some, or choose other Actions"
    missing = {
        Source.ACTIONS: f"no action moves {owner}: animate its bones, or choose another source",
        Source.STRIPS: f"{owner} has no NLA strips: push down its actions, or choose another source",
        Source.MARKERS: "the timeline has no markers: add one where each animation begins, or choose another source",
    }
    return missing[found.source]


def _name(found: AnimationList, row: Row, clip: Clip, stem: str) -> str:
    """The name of a row before it is made fit for files: an imported action has that of its file."""
    fields = {}
    if found.source is Source.SCENE and found.pattern == found.source.default_pattern and stem:
        fields["scene"] = stem
    if clip.stored is not None and clip.action is not None:
        fields["action"] = clip.stored.name
        # Names of strips may be shorter than those of actions.
        if row.animation.name == names.for_blender(clip.action.name, versions.MAX_NAME, ""):
            fields["strip"] = clip.stored.name
    return found.name(row, fields)
