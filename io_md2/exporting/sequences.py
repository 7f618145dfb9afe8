"""The sequences that are chosen from a list of animations, and what a game expects of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_blender.clips.frame_names import segments_of_list
from ...io_blender.scene.objects import NothingToExportError
from ..format.sequences import Template, match_template

if TYPE_CHECKING:
    from ...io_blender.clips.clip import AnimationList
    from ...io_blender.clips.frame_plan import FrameOptions, Segment
    from ...io_blender.reports import Report

LABELS = {Template.NONE: "model", Template.QUAKE2_PLAYER: "Quake II player"}
"""What the models of each template are called."""


def sequences_of_list(found: AnimationList, options: FrameOptions, template: Template, report: Report) -> list[Segment]:
    """The checked animations in the order of the template, else of the list; raises NothingToExportError."""
    segments = segments_of_list(found, options, report)
    match = match_template(template, [(one.name, len(one.frames)) for one in segments])
    if match.problems:
        raise NothingToExportError(
            f"the checked animations are not those of a {LABELS[template]}; {'; '.join(match.problems)}. Rename, "
            "check or uncheck animations, or choose no template"
        )
    return [segments[index] for index in match.order]
