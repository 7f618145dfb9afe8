"""What the exports of all formats with frames of vertices share: their options, the plan of the frames, their speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import state
from .clips.clip import Played, warn_of_speed
from .clips.frame_names import frame_names, list_of, segments_of_list
from .clips.frame_plan import LIST, FrameOptions, FramePlan, Planner, Segment, plan_sequences
from .options import FrameModelProperties
from .scene import axes
from .scene.axes import Conversion
from .scene.objects import ChosenConversion, Scope
from .verification import Verify

if TYPE_CHECKING:
    from bpy.types import Object, Scene

    from ..io_common.rules import Finding
    from .operators.game_check import Location
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


@dataclass(frozen=True)
class Built:
    """A model that was built and verified, but not written yet."""

    findings: list[Finding]  # of the game
    to_bytes: Callable[[], bytes]
    locate: Callable[[Finding], Location]  # what a finding is about


def plan_model(
    objects: Sequence[Object],
    sources: Mapping[Object, SourceFrames],
    scene: Scene,
    options: FrameOptions,
    models: Iterable[SourceFrames],
    report: Report,
    arrange: Callable[[list[Segment]], list[Segment]] = list,
) -> FramePlan:
    """The frames of a model with their names; `arrange` orders those of a list. Raises NothingToExportError if none."""
    # `sources` are the imported models of the objects, `models` all in the file.
    if options.frames == LIST and objects:
        found = list_of(objects, scene)
        plan = plan_sequences(objects, sources, found, arrange(segments_of_list(found, options, report)))
    else:
        plan = Planner(objects, sources, scene, options, report).plan()
    plan.names = frame_names(plan, objects, scene, models, report)
    return plan


def warn_of_model_speed(
    plan: FramePlan, options: FrameOptions, rate: float, scene: Scene, report: Report, *, plays_keys: bool = False
) -> None:
    """Warns if the game, at a fixed rate, plays the frames slower or faster than the scene."""
    # Keys that the timeline does not play have no duration.
    if plan.scene_frames is None and not plays_keys:
        return
    step = options.step(scene) if plan.scene_frames is not None else options.frame_step
    counts = [len(segment.frames) for segment in plan.segments] or [plan.frame_count]
    warn_of_speed([Played("", count, step, rate) for count in counts], state.frame_rate(scene), report, is_fixed=True)
