"""What the imports and exports of all formats with frames of vertices share: options, files, frames, actions, speed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Collection, Context, Object, Scene

from ...io_common import names
from ...io_common.declarations import modeldef
from ...io_common.errors import FormatError
from ...io_common.frames import FrameSequence, find_sequences
from ...io_common.rules import Finding
from ...io_common.textures.conventions import TextureRules
from ...io_common.textures.search import Search
from ...io_common.triangles import is_degenerate
from .. import state, versions
from ..clips.clip import Played, animation_list, warn_of_speed
from ..clips.keyframes import SequenceActions, add_markers, build_frame_action
from ..materials.library import MaterialLibrary
from ..records import MaterialRecord, SourceFrames, store_warnings
from ..reports import ImportResult, Job, Location, Progress, Report, kept_on_failure
from .frame_names import FrameNamer, segments_of_list
from .frame_plan import LIST, FrameOptions, FramePlan, Planner, Segment, owner_of_list, plan_sequences
from .options import ExportOptions, ImportOptions
from .shape_keys import add_frame_keys, shape_keys

ABSOLUTE, NONE = "ABSOLUTE", "NONE"

# Many times the limit of any game. Blender's time grows with the square of their number.
_MAX_KEYS = 10_000


@dataclass(eq=False)
class ModelFile:
    """A file that was read."""

    path: Path
    model: Any  # of the format
    frame_rate: float | None = None  # None for that of the options


AnyFile = TypeVar("AnyFile", bound=ModelFile)


def import_models(
    context: Context,
    paths: Sequence[Path],
    options: ImportOptions,
    record: MaterialRecord,
    rules: TextureRules,
    read: Callable[[Path, Search], AnyFile],
    build: Callable[[Collection, AnyFile, MaterialLibrary, ImportResult], object],
    *,
    are_parts: bool = False,
) -> Job[ImportResult]:
    """Reads all files, then builds each in a collection; raises what `read` raises before anything is changed."""
    # The scene gets the range of the first animated file, or of the longest of files that `are_parts` of one model.
    result = ImportResult()
    report = result.report
    with kept_on_failure(report):
        progress = Progress(2 * len(paths))
        search = Search(options.game_folders, rules)
        files: list[AnyFile] = []
        for path in dict.fromkeys(paths):
            files.append(read(path, search))
            for text in files[-1].model.warnings:
                report.add_fact(text, path.name)
            yield progress.step()
        state.switch_to_object_mode(context)
        library = MaterialLibrary(record)
        for file in files:
            collection = bpy.data.collections.new(names.for_blender(file.path.stem, versions.MAX_ID_NAME, "Model"))
            state.target_collection(context).children.link(collection)
            build(collection, file, library, result)
            yield progress.step()
        library.add_to_report(report, search.warnings)
        animated = [file for file in files if file.model.frame_count > 1 and options.animation != NONE]
        if animated and options.use_scene_timing:
            counts = [file.model.frame_count for file in animated]
            last = options.frame_start + (max(counts) if are_parts else counts[0]) - 1
            state.set_frame_rate(context.scene, animated[0].frame_rate or options.fps, report)
            state.set_frame_range(context.scene, options.frame_start, last)
        meshes = [obj for obj in result.objects if obj.type == "MESH"]
        for obj in meshes:
            store_warnings(obj.data, record.group, report.other_warnings, report.facts)
        state.select_only(context, result.objects, next(iter([*meshes, *result.objects]), None))
    return result


def require_few_frames(count: int, path: Path, error: type[FormatError]) -> None:
    """Raises an error if a model has more frames than Blender can hold as shape keys."""
    if count > _MAX_KEYS:
        raise error(
            "too many frames for shape keys", path=str(path), found=str(count),
            expected=f"at most {_MAX_KEYS}: set Shape Keys to None to import the first frame alone",
        )  # fmt: skip


def warn_of_degenerate(triangles: npt.NDArray[np.integer], subject: str, report: Report, condition: str = "") -> None:
    """Warns of triangles that are left out, which an export restores on a `condition`."""
    degenerate = int(is_degenerate(triangles).sum())
    if degenerate:
        report.warn(
            f"degenerate triangles, which Blender cannot hold, were left out of the mesh: {degenerate}. An export "
            f"restores them{condition}",
            subject,
        )


def add_frames(
    scene: Scene,
    name: str,
    shapes: Mapping[Object, npt.NDArray[np.floating]],
    frames: Sequence[str],
    sequences: Sequence[FrameSequence],
    options: ImportOptions,
    result: ImportResult,
    actions: SequenceActions | None = None,
    player: str = "",
) -> list[str]:
    """Makes shape keys of all frames, actions that play them, and markers; returns the names of the keys."""
    # `shapes` has the positions of each object in the scene, (F, V, 3). The action of all frames is active on all
    # objects; each action begins at the first frame of the file. Others may play `actions` as well; `player` is the
    # name for the slots. A part that plays the sequences of several has no markers.
    if options.animation == NONE:
        return []
    start, key_names = options.frame_start, list[str]()
    for obj, positions in shapes.items():
        key_names = add_frame_keys(obj, frames, positions, relative=options.animation != ABSOLUTE)
    result.report.count("frames", len(frames))
    if len(frames) < 2:
        return key_names
    keys = [shape_keys(obj) for obj in shapes]
    if keys:
        whole = build_frame_action(FrameSequence(name, 0, len(frames) - 1), keys[0], start, actions, player)
        for one in keys:
            versions.assign_action(one.animation_data_create(), whole, "KEY")
        result.actions.append(whole)
        for sequence in sequences if options.sequence_actions else ():
            action = build_frame_action(sequence, keys[0], start, actions, player)
            action.use_fake_user = True
            result.add_action(action)
        if options.sequence_actions and sequences:
            result.divided.append(whole)
    if not player:
        add_markers(scene, [(sequence.name, start + sequence.first) for sequence in sequences])
    result.report.count("sequences", len(sequences))
    return key_names


@dataclass(frozen=True)
class Built:
    """A model that was built and verified, but not written yet."""

    findings: list[Finding]  # of the game
    to_bytes: Callable[[], bytes]
    locate: Callable[[Finding], Location]  # what a finding is about
    frame_names: Sequence[str]
    skins: Sequence[str]  # the image of each surface, which MODELDEF of GZDoom names with the `keyword`
    keyword: str
    beside: Mapping[str, bytes] = field(default_factory=dict)  # other files, by what follows the name of the model


def modeldef_of(built: Built, path: Path, options: ExportOptions, scene: Scene, report: Report) -> Mapping[Path, bytes]:
    """The file MODELDEF for a model, in the root of the mod; raises FormatError or OSError."""
    root, folder = modeldef.archive_folder(path)
    if not folder:
        report.warn("the model is not below a folder models: put the MODELDEF into the root of your mod", path.name)
    letters = re.sub(r"[^A-Z0-9]", "", path.stem.upper())
    actor = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    definition = modeldef.Definition(
        options.modeldef_actor.strip() or actor[:1].upper() + actor[1:],
        folder,
        path.name,
        tuple(built.skins),
        built.keyword,
        options.modeldef_sprite.strip().upper() or letters[:4].ljust(4, "A"),
        options.modeldef_held,
        tuple(find_sequences(built.frame_names)),
        state.frame_rate(scene) / options.frames.step(scene),
    )
    return modeldef.updated_file(root, actor.lower(), definition)


def plan_model(
    objects: Sequence[Object],
    sources: Mapping[Object, SourceFrames],
    scene: Scene,
    options: FrameOptions,
    models: Iterable[SourceFrames],
    report: Report,
    arrange: Callable[[list[Segment]], list[Segment]] = list,
    first_number: int = 1,
) -> FramePlan:
    """The frames of a model with their names; `arrange` orders those of a list. Raises NothingToExportError if none."""
    # `sources` are the imported models of the objects, `models` all in the file.
    if options.frames == LIST and objects:
        found = animation_list(owner_of_list(objects), scene)
        keys = [one for obj in objects if (one := shape_keys(obj)) is not None]
        owners = [found.owner] if found.owner.type == "ARMATURE" else keys
        plan = plan_sequences(objects, sources, scene, owners, arrange(segments_of_list(found, options, report)))
    else:
        plan = Planner(objects, sources, scene, options, report).plan()
    plan.names = FrameNamer(plan, objects, scene, models, report, first_number).find_names()
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
