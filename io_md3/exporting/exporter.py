"""Export of MD3 models: everything is built, verified and checked before the file is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import frame_export, state
from ...io_blender.clips.frame_names import frame_names, single_frame_name
from ...io_blender.clips.frame_plan import FramePlan
from ...io_blender.clips.playing import restored_frame_and_values
from ...io_blender.clips.sampling import Follow, Samples, sample_frames
from ...io_blender.frame_export import warn_of_model_speed
from ...io_blender.operators.game_check import LocatedFinding, Location
from ...io_blender.records import NONE
from ...io_blender.reports import ExportResult, Job, Report, finish, kept_on_failure, listing, raise_errors
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.objects import (
    ChosenConversion,
    NothingToExportError,
    Scope,
    collect,
    export_conversion,
    find_meshes,
    mesh_objects,
    objects_hanging_on,
)
from ...io_blender.scene.time_dependence import depends_on_time
from ...io_blender.verification import Verify
from ...io_common.files import atomic
from ..format import (
    FRAMES_PER_SECOND,
    Finding,
    Game,
    Md3Error,
    Model,
    Surface,
    check_model,
    format_model,
    frame_bounds,
    positions,
    quantise,
)
from ..format.games import surface_limits
from ..options import ModelProperties
from ..records import CONVERSION, FRAME_RATE, StoredModel, load_frames, load_model, root_of
from . import verification
from .surfaces import (
    Part,
    build_surface,
    needs_normals,
    read_part,
    shader_names,
    split_surface,
    surface_name,
    surface_parts,
)
from .tags import Tag, build_tags, find_tags

if TYPE_CHECKING:
    from bpy.types import Context, Depsgraph, Object


# Each surface, without names, and which frames are as in the file.
_Built = list[tuple[Surface, npt.NDArray[np.bool_]]]


@dataclass(frozen=True)
class ExportOptions(ModelProperties, frame_export.ExportOptions):
    """The options of an export."""

    game: Game = Game.ANY


@dataclass(eq=False)
class _Scene:
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


def export_model(context: Context, path: Path, options: ExportOptions) -> Job[ExportResult]:
    """Writes meshes and tags; before it writes, it raises Md3Error or NothingToExportError."""
    # Raises OSError if the file cannot be written; it is as it was.
    report = Report()
    with kept_on_failure(report):
        with state.temporary_object_mode(context):
            model, source = yield from build_model(context, options, report)
        raise_errors(check_model(model, options.game, source), Md3Error, path.name, report)
        # An equal model is written with all bytes of its file.
        untouched = source.preserved if source is not None and model == source else None
        atomic.write_file(path, untouched or format_model(model))
    report.count("surfaces", len(model.surfaces))
    report.count("vertices", model.vertex_count)
    report.count("triangles", model.triangle_count)
    report.count("tags", len(model.tag_names))
    report.count("frames", model.frame_count)
    return ExportResult([path], report)


def find_game_findings(context: Context, options: ExportOptions) -> list[LocatedFinding]:
    """The findings of a game about an export, unverified; raises Md3Error or NothingToExportError."""
    # Warnings of the export itself are not findings of the game.
    with state.temporary_object_mode(context):
        model, source = finish(build_model(context, replace(options, verify=Verify.NONE), Report()))
    findings: list[Finding] = check_model(model, options.game, source)
    return [LocatedFinding(one.code, one.is_error, one.text, Location()) for one in findings]


def _find_objects(context: Context, options: ExportOptions, report: Report) -> _Scene:
    """The meshes and tags; raises NothingToExportError if there are none."""
    active = context.view_layer.objects.active
    chosen = root_of(active) if options.scope == Scope() else None
    candidates = collect(context, options.scope)
    if chosen is None or any(obj.type == "MESH" and root_of(obj) == chosen for obj in candidates):
        found, model = find_meshes(context, options.scope)
        tags = find_tags(candidates if model is None else objects_hanging_on(model, context))
        # A file may have tags alone, such as those of hands in Quake III.
        meshes = mesh_objects(context, options.scope, report, _is_new_tag) if found or not tags else []
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
    return _Scene(meshes, tags, root, surfaces, source, conversion)


def _is_new_tag(obj: Object) -> bool:
    """Whether an object is a tag, or has some, and no part of an imported model."""
    return root_of(obj) is None and bool(find_tags([obj]))


def build_model(context: Context, options: ExportOptions, report: Report) -> Job[tuple[Model, Model | None]]:
    """The model as it is to be written, and the file that it was imported from; raises what `export_model` raises."""
    found = _find_objects(context, options, report)
    model = yield from _Builder(context, options, report, found).model()
    return model, found.source.model if found.source is not None else None


@dataclass(eq=False)
class _Builder:
    context: Context
    options: ExportOptions
    report: Report
    found: _Scene

    def model(self) -> Job[Model]:
        options, report, found = self.options, self.report, self.found
        scene = self.context.scene
        plan = self._plan()
        names = self._names(plan)
        parts, samples, shown = yield from self._sample(plan, report, with_normals=False)
        if not parts and not found.tags:
            raise NothingToExportError(f"there are no faces to export: {listing([obj.name for obj in found.meshes])}")
        if plan.may_be_single and _is_still(samples.positions) and _is_still(shown):
            plan = plan.first_frame(found.source)
            names, samples, shown = single_frame_name(names, found.source), samples.first_frame(), shown[:1]
        surfaces = self._surfaces(plan, parts, samples)
        needed = [needs_normals(part, *built) for part, built in zip(parts, surfaces, strict=True)]
        rows = np.flatnonzero(np.logical_or.reduce([np.zeros(plan.frame_count, dtype=bool), *needed]))
        if len(rows):
            # What Blender shades can only be read from evaluated meshes, which takes longer.
            rows = np.arange(plan.frame_count) if plan.segments else rows
            shaded_plan = plan if plan.segments else plan.some_frames(rows)
            _, shaded, _ = yield from self._sample(shaded_plan, Report(), with_normals=True)
            shaded = replace(samples, normals=shaded.normals)
            edited = self._surfaces(plan, parts, shaded, rows)
            surfaces = [new if one.any() else old for old, new, one in zip(surfaces, edited, needed, strict=True)]
        model = self._assemble(plan, names, parts, surfaces, shown)
        if options.verify is not Verify.NONE:
            differences = verification.find_differences(model, parts, samples, found.conversion)
            verification.warn(differences, model, report)
        if options.split_surfaces:
            limits = surface_limits(options.game)
            model = replace(model, surfaces=[piece for one in model.surfaces for piece in split_surface(one, *limits)])
        if options.compares_speed and plan.scene_frames is not None and model.frame_count > 1:
            rate = (FRAME_RATE.read(found.root) if found.root is not None else None) or FRAMES_PER_SECOND
            warn_of_model_speed(plan, model.frame_count, options.frames.step(scene), rate, scene, report)
        return model

    def _plan(self) -> FramePlan:
        """The frames of the meshes; of a model without meshes those of the file, else of the scene."""
        found, scene, frames, source = self.found, self.context.scene, self.options.frames, self.found.source
        if found.meshes:
            return frame_export.plan_model(found.meshes, found.stored, scene, frames, self.report)
        if source is not None and frames.is_automatic:
            first, last = source.frame_start, source.frame_start + source.model.frame_count - 1
        else:
            first, last = frames.frame_range or (scene.frame_start, scene.frame_end)
        in_scene = frames.between(first, last, scene)
        of_file = np.full(len(in_scene), NONE)
        if source is not None:
            rows = np.array(in_scene, dtype=np.float64) - source.frame_start
            is_known = (rows >= 0) & (rows < source.model.frame_count) & (rows == np.rint(rows))
            of_file = np.where(is_known, rows, NONE).astype(np.int64)
        return FramePlan([None] * len(in_scene), of_file, in_scene, may_be_single=source is None)

    def _names(self, plan: FramePlan) -> list[str]:
        """The names of the frames: those of the file where they are its, else new ones."""
        found = self.found
        if found.meshes:
            models = [one for obj in bpy.data.objects if (one := load_frames(obj)) is not None]
            return frame_names(plan, found.meshes, found.source, self.context.scene, models, self.report)
        names = found.source.frame_names if found.source is not None else []
        return [names[frame] if frame != NONE else f"frame{row + 1}" for row, frame in enumerate(plan.source.tolist())]

    def _sample(
        self, plan: FramePlan, report: Report, *, with_normals: bool
    ) -> Job[tuple[list[Part], Samples, npt.NDArray[np.float64]]]:
        """The parts, what they show in each frame, and the transforms of tags, (F, N, 4, 4), as the file has them."""
        context, found = self.context, self.found
        follow = [tag.matrix for tag in found.tags]
        if found.follows_root and found.root is not None:
            follow.append(Tag(found.root).matrix)
        first = int(plan.source[0])
        if plan.may_be_single and found.source is not None and found.source.model.frame_count == 1:
            first = 0

        def read(depsgraph: Depsgraph) -> list[Part]:
            stored, conversion = found.stored, found.conversion
            parts = [read_part(obj, stored.get(obj), depsgraph, first, conversion, report) for obj in found.meshes]
            return surface_parts(parts, report)

        parts, samples = yield from sample_frames(
            context, found.meshes, plan, self.options, report, read,
            shows_keys=True, with_normals=with_normals, followed=follow,
        )  # fmt: skip
        matrices = samples.matrices if samples.matrices is not None else self._sample_matrices(plan, follow)
        if found.follows_root:
            samples, matrices = _relative_to_root(samples, matrices)
        return parts, samples, matrices

    def _sample_matrices(self, plan: FramePlan, follow: Sequence[Follow]) -> npt.NDArray[np.float64]:
        """The transforms of what is followed on the frames whose shape keys are exported, (F, n, 4, 4)."""
        context, found = self.context, self.found
        graph = context.evaluated_depsgraph_get()
        now = np.array([one(graph) for one in follow]).reshape(len(follow), 4, 4)
        result = np.tile(now, (plan.frame_count, 1, 1, 1))
        is_moving = any(tag.moves for tag in found.tags) or (found.follows_root and depends_on_time(found.root))
        if found.source is None or not is_moving:
            return result
        with restored_frame_and_values(context.scene):
            for row, frame in enumerate(plan.source.tolist()):
                if frame != NONE:
                    state.set_frame(context.scene, found.source.frame_start + frame)
                    graph = context.evaluated_depsgraph_get()
                    result[row] = [one(graph) for one in follow]
        return result

    def _surfaces(
        self, plan: FramePlan, parts: list[Part], samples: Samples, rows: npt.NDArray[np.int64] | None = None
    ) -> _Built:
        """The surfaces of samples, whose normals are those of some rows alone."""
        conversion = self.found.conversion
        ends = np.cumsum([0, *(len(part.used) for part in parts)])
        corner_ends = np.cumsum([0, *(len(part.corners) for part in parts)])
        result = []
        for index, part in enumerate(parts):
            points = conversion.points(samples.positions[:, ends[index] : ends[index + 1]].astype(np.float64))
            normals = None
            if samples.normals is not None:
                normals = samples.normals[:, corner_ends[index] : corner_ends[index + 1]] @ conversion.rotation.T
            try:
                vertices = quantise(points)
            except Md3Error as error:
                raise Md3Error(f"{part.obj.name}: {error.reason}: scale it down, or set Scale", found=error.found,
                               expected=error.expected) from error  # fmt: skip
            result.append(build_surface(part, vertices, normals, rows, plan.source))
        return result

    def _assemble(
        self, plan: FramePlan, names: list[str], parts: list[Part], built: _Built, shown: npt.NDArray[np.float64]
    ) -> Model:
        found = self.found
        source = found.source.model if found.source is not None else None
        surfaces, taken = [], list[str]()
        for part, (surface, _) in zip(parts, built, strict=True):
            taken.append(surface_name(part, taken, self.report))
            shaders = shader_names(part, self.options.game_folders, self.report)
            flags = part.stored.flags if part.stored is not None else 0
            surfaces.append(replace(surface, name=taken[-1], shaders=shaders, flags=flags))
        is_same = np.zeros(plan.frame_count, dtype=bool)
        if source is not None and len(surfaces) == len(source.surfaces):
            is_same = np.logical_and.reduce([plan.source != NONE, *(same for _, same in built)])
        bounds, origins, radii = _frame_bounds(surfaces, source, plan.source, is_same)
        origins_of_tags, axes_of_tags = build_tags(found.tags, shown, source, plan.source, found.conversion)
        return Model(
            name=source.name if source is not None else "",
            frame_names=names,
            bounds=bounds,
            origins=origins,
            radii=radii,
            tag_names=[tag.name(source, self.report) for tag in found.tags],
            tag_origins=origins_of_tags,
            tag_axes=axes_of_tags,
            surfaces=surfaces,
            flags=source.flags if source is not None else 0,
        )


def _relative_to_root(samples: Samples, matrices: npt.NDArray[np.float64]) -> tuple[Samples, npt.NDArray[np.float64]]:
    """Samples in the space of the root, whose transforms are the last of (F, n, 4, 4)."""
    inverse = np.linalg.inv(matrices[:, -1])
    positions_in_root = samples.positions @ np.swapaxes(inverse[:, :3, :3], 1, 2) + inverse[:, None, :3, 3]
    normals = samples.normals
    if normals is not None:
        normals = normals @ np.swapaxes(inverse[:, :3, :3], 1, 2)
        normals = normals / np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), np.finfo(float).tiny)
    verified = {
        row: [replace(one, vertices=one.vertices @ inverse[row, :3, :3].T + inverse[row, :3, 3]) for one in shown]
        for row, shown in samples.verified.items()
    }
    moved = replace(samples, positions=positions_in_root, normals=normals, verified=verified)
    return moved, inverse[:, None] @ matrices[:, :-1]


def _is_still(values: npt.NDArray[np.floating]) -> bool:
    """Whether nothing moves over the frames, far below the grid of the file."""
    return np.allclose(values, values[:1], rtol=0.0, atol=1e-4)


def _frame_bounds(
    surfaces: list[Surface], source: Model | None, frames: npt.NDArray[np.int64], is_same: npt.NDArray[np.bool_]
) -> list[npt.NDArray[np.float32]]:
    """Boxes, origins and radii: those of the file's frames where all surfaces are the same, else new ones."""
    new, kept = np.flatnonzero(~is_same), np.flatnonzero(is_same)
    points = [positions(surface.vertices[new]) for surface in surfaces]
    computed = frame_bounds(np.concatenate([np.zeros((len(new), 0, 3)), *points], axis=1))
    result = []
    for name, values in zip(("bounds", "origins", "radii"), computed, strict=True):
        table = np.zeros((len(frames), *values.shape[1:]), np.float32)
        table[new] = values
        if source is not None:
            table[kept] = getattr(source, name)[frames[kept]]
        result.append(table)
    return result
