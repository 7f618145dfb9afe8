"""What the exports of all formats with frames of vertices share: their options, the plan of the frames, their speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import state
from .clips.clip import Played, warn_of_speed
from .clips.frame_names import list_of, segments_of_list
from .clips.frame_plan import LIST, FrameOptions, FramePlan, Planner, Segment, plan_sequences
from .options import FrameModelProperties
from .scene import axes
from .scene.axes import Conversion
from .scene.objects import ChosenConversion, Scope
from .verification import Verify

if TYPE_CHECKING:
    from bpy.types import Object, Scene

    from .records import SourceFrames
    from .reports import Report


@dataclass(frozen=True)
class ExportOptions(FrameModelProperties):
    """The options of an export; each format adds its own."""

    scope: Scope = field(default_factory=Scope)
    frames: FrameOptions = field(default_factory=FrameOptions)
    verify: Verify = Verify.SOME  # the frames that are compared with Blender before the file is written
    # From the scene to the file; what is not set is that of the import.
    conversion: Conversion | ChosenConversion = field(default_factory=axes.identity)
    game_folders: tuple[str, ...] = ()  # the user's, to which the paths of images are relative
    compares_speed: bool = True  # warn if the game plays the model slower or faster than Blender


def plan_model(
    objects: Sequence[Object],
    sources: Mapping[Object, SourceFrames],
    scene: Scene,
    options: FrameOptions,
    report: Report,
    arrange: Callable[[list[Segment]], list[Segment]] = list,
) -> FramePlan:
    """The frames of a model; `arrange` orders those of a list. Raises NothingToExportError if there are none."""
    if options.frames != LIST:
        return Planner(objects, sources, scene, options, report).plan()
    found = list_of(objects, scene)
    return plan_sequences(objects, sources, found, arrange(segments_of_list(found, options, report)))


def warn_of_model_speed(plan: FramePlan, frames: int, step: float, rate: float, scene: Scene, report: Report) -> None:
    """Warns if the game, at a fixed rate, plays the frames slower or faster than the scene."""
    counts = [len(segment.frames) for segment in plan.segments] or [frames]
    warn_of_speed([Played("", count, step, rate) for count in counts], state.frame_rate(scene), report, is_fixed=True)
