"""What an export takes from the scene: objects, tags, the imported file, and the frames with their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_blender import frame_export
from ...io_blender.clips.frame_names import frame_names
from ...io_blender.clips.frame_plan import FramePlan
from ...io_blender.records import NONE
from ...io_blender.reports import Report
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.model_objects import find_meshes, mesh_objects, objects_hanging_on
from ...io_blender.scene.objects import ChosenConversion, Scope, collect, export_conversion
from ..format import Game
from ..options import ModelProperties
from ..records import CONVERSION, StoredModel, load_frames, load_model, root_of
from .tags import Tag, find_tags

if TYPE_CHECKING:
    from bpy.types import Context, Object, Scene


@dataclass(frozen=True)
class ExportOptions(ModelProperties, frame_export.ExportOptions):
    """The options of an export."""

    game: Game = Game.ANY


@dataclass(eq=False)
class ExportScene:
    """What is exported."""

    meshes: list[Object]
    tags: list[Tag]
    root: Object | None  # the parent of the only imported model
    stored: dict[Object, StoredModel]  # of each mesh, the model that it is a surface of
    source: StoredModel | None  # the only imported model
    conversion: Conversion

    @property
    def follows_root(self) -> bool:
        """Whether the model hangs on a tag of another one, so that its file has it where that tag is."""
        parent = self.root.parent if self.root is not None else None
        return parent is not None and root_of(parent) is not None


def find_objects(context: Context, options: ExportOptions, report: Report) -> ExportScene:
    """The meshes and tags; raises NothingToExportError if there are none."""
    active = context.view_layer.objects.active
    chosen = root_of(active) if options.scope == Scope() else None
    candidates = collect(context, options.scope)
    if chosen is None or any(obj.type == "MESH" and root_of(obj) == chosen for obj in candidates):
        found, model = find_meshes(context, options.scope)
        tags = find_tags(candidates if model is None else objects_hanging_on(model, context))
        # A file may have tags alone, such as those of hands in Quake III.
        meshes = mesh_objects(context, options.scope, report) if found or not tags else []
    else:
        meshes, tags = [], find_tags(objects_hanging_on(chosen, context))
    objects = [*meshes, *(tag.obj for tag in tags)]
    roots = list(dict.fromkeys(root for obj in objects if (root := root_of(obj)) is not None))
    models = {root: stored for root in roots if (stored := load_model(root)) is not None}
    root, source = next(iter(models.items())) if len(models) == 1 else (None, None)
    surfaces = {obj: models[one] for obj in meshes if (one := root_of(obj)) is not None and one in models}
    if len(objects) > 1:
        report.count("objects", len(objects))
    if meshes or root is None or not isinstance(options.conversion, ChosenConversion):
        conversion = export_conversion(options.conversion, meshes, report)
    else:
        imported = CONVERSION.read(root)
        conversion = imported.inverse() if imported is not None else options.conversion.conversion
    return ExportScene(meshes, tags, root, surfaces, source, conversion)


def plan_of_scene(found: ExportScene, scene: Scene, options: ExportOptions, report: Report) -> FramePlan:
    """The frames of the meshes, else of the tags; raises NothingToExportError if there are none."""
    if not found.meshes:
        return _plan_tags(found, scene, options)
    return frame_export.plan_model(found.meshes, found.stored, scene, options.frames, report)


def names_of_frames(found: ExportScene, plan: FramePlan, scene: Scene, report: Report) -> list[str]:
    """The names of the frames: those of the file where they are its, else new ones."""
    if found.meshes:
        models = [one for obj in bpy.data.objects if (one := load_frames(obj)) is not None]
        return frame_names(plan, found.meshes, found.source, scene, models, report)
    names = found.source.frame_names if found.source is not None else []
    return [names[frame] if frame != NONE else f"frame{row + 1}" for row, frame in enumerate(plan.source.tolist())]


def _plan_tags(found: ExportScene, scene: Scene, options: ExportOptions) -> FramePlan:
    """The frames of a model without meshes: those of the file, else of the scene."""
    source = found.source
    if source is not None and options.frames.is_automatic:
        first, last = source.frame_start, source.frame_start + source.model.frame_count - 1
    else:
        first, last = options.frames.frame_range or (scene.frame_start, scene.frame_end)
    frames = options.frames.between(first, last, scene)
    of_file = np.full(len(frames), NONE)
    if source is not None:
        rows = np.array(frames, dtype=np.float64) - source.frame_start
        is_known = (rows >= 0) & (rows < source.model.frame_count) & (rows == np.rint(rows))
        of_file = np.where(is_known, rows, NONE).astype(np.int64)
    return FramePlan([None] * len(frames), of_file, frames, may_be_single=source is None)
