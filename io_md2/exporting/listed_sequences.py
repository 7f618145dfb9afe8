"""The sequences of a model that are chosen from a list of animations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...io_blender.clips.animation_list import AnimationList, Source, animation_list
from ...io_blender.clips.listed_frames import ChosenSequence, chosen_sequences, owner_of_list
from ...io_blender.scene.objects import NothingToExportError
from ...io_common.name_patterns import UnknownFieldError
from ..format.sequences import Template, match_template
from ..importing.sequence_names import sequence_names

if TYPE_CHECKING:
    from bpy.types import Object, Scene

    from ...io_blender.clips.frame_plan import FrameOptions
    from ...io_blender.reports import Report


def list_of(objects: Sequence[Object], scene: Scene) -> AnimationList:
    """The animation list of objects that are exported together; there must be at least one."""
    return animation_list(owner_of_list(objects), scene)


def sequences_of_list(
    found: AnimationList, options: FrameOptions, template: Template, report: Report
) -> list[ChosenSequence]:
    """The checked animations of a list as sequences: in the order of the template, else of the list.

    Raises NothingToExportError if nothing is checked, if the pattern of names has an unknown field, or if the sequences
    are not those of the template.
    """
    try:
        chosen = chosen_sequences(found, options, report, nothing_checked(found))
    except UnknownFieldError as error:
        raise NothingToExportError(str(error)) from error
    names = sequence_names([sequence.name for sequence in chosen], report)
    chosen = [replace(sequence, name=name) for sequence, name in zip(chosen, names, strict=True)]
    match = match_template(template, [(one.name, len(one.frames)) for one in chosen])
    if match.problems:
        raise NothingToExportError(
            f"the checked animations are not those of a {LABELS[template]}; {'; '.join(match.problems)}. Rename, "
            "check or uncheck animations, or choose no template"
        )
    return [chosen[index] for index in match.order]


LABELS = {Template.NONE: "model", Template.QUAKE2_PLAYER: "Quake II player"}
"""What the models of each template are called."""


def nothing_checked(found: AnimationList) -> str:
    """Why a list of which nothing is checked has nothing to export, and what to do."""
    owner = found.owner.name
    if found.rows:
        return f"nothing is checked in the list of animations of {owner}: check some, or choose other Frames"
    missing = {
        Source.ACTIONS: f"no action moves {owner}: animate it, or choose another source",
        Source.STRIPS: f"{owner} has no NLA strips: push down its actions, or choose another source",
        Source.MARKERS: "the timeline has no markers: add one where each sequence begins, or choose another source",
    }
    return missing[found.source]
