"""Export of MD3 models: everything is built, verified and checked before the file is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Context, Depsgraph, Object

from ...io_blender import state
from ...io_blender.clips.playing import restored_frame_and_values
from ...io_blender.frames import models as frame_models
from ...io_blender.frames import verification
from ...io_blender.frames.frame_plan import FramePlan, Segment
from ...io_blender.frames.sampling import Samples, Sampling, Sides, blocks, sample_frames
from ...io_blender.frames.verification import GRID, POSITION, TRIANGULATION, UV
from ...io_blender.records import NONE
from ...io_blender.reports import Job, Location, Report, listing
from ...io_blender.scene import objects as scene_objects
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.objects import NothingToExportError, Scope
from ...io_blender.scene.time_dependence import depends_on_time
from ...io_blender.verification import OTHER_TRIANGULATION, Differences, Verify, diagonal
from ...io_common.companions import Companion, match_sequences
from ...io_common.texts import counted
from ...io_common.textures.search import Search
from ...io_common.triangles import drop_degenerate, flip_v
from ...io_md5.format.companions import find_companion
from .. import format as md3
from ..format import Game, Md3Error, Model, Surface
from ..format.games import TEXTURE_RULES, surface_limits, turn_steps
from ..options import ExportOptions
from ..players import all_frames
from ..records import StoredModel, load_frames, load_model, root_of
from ..tags import Tag, find_tags, nearest_rotations, tag_tables
from . import surfaces
from .surfaces import Part, SurfaceBuilder

Floats = npt.NDArray[np.floating]

_WARNINGS = {
    POSITION: "vertices differ from Blender's by up to {amount} {where}. This is a bug: please report it",
    UV: "texture coordinates differ from Blender's by up to {distance:.3g} of the image {where}. Likely cause: a "
    "modifier that moves UVs over time, which MD3 cannot hold, or UVs that are not finite",
    TRIANGULATION: OTHER_TRIANGULATION,
    GRID: "vertices are rounded by up to {amount} {where}, which is visible: positions have steps of 1/64 unit. Make "
    "the model larger with Scale",
}


def build_model(context: Context, options: ExportOptions, report: Report) -> Job[frame_models.Built]:
    """Builds and verifies a model of meshes and tags in Object Mode; raises Md3Error or NothingToExportError."""
    builder = _find_objects(context, options, report)
    with all_frames(context):
        model = yield from builder.build()
    source = builder.source.model if builder.source is not None else None
    report.count("surfaces", len(model.surfaces))
    report.count("vertices", model.vertex_count)
    report.count("triangles", model.triangle_count)
    report.count("tags", len(model.tag_names))
    report.count("frames", model.frame_count)
    findings = md3.check_model(model, options.game, source)
    skins = {}
    if options.write_skins and options.game is Game.QUAKE:
        skins = _skin_files(model, builder.parts, options.game_folders, report)
        # The value of a finding about a surface without a shader is empty.
        findings = [finding for finding in findings if finding.code != "image_not_found" or not finding.found]
    images = [next(iter(surface.shaders), "") for surface in model.surfaces]
    return frame_models.Built(
        findings, lambda: md3.format_model(model), lambda finding: Location(), model.frame_names, images,
        "SurfaceSkin 0 N", skins,
    )  # fmt: skip


def _find_objects(context: Context, options: ExportOptions, report: Report) -> Builder:
    """What is exported; raises NothingToExportError if there are no meshes and tags."""
    active = context.view_layer.objects.active
    chosen = root_of(active) if options.scope == Scope() else None
    candidates = scene_objects.collect(context, options.scope)
    if chosen is None or any(obj.type == "MESH" and root_of(obj) == chosen for obj in candidates):
        found, model = scene_objects.find_meshes(context, options.scope)
        tags = find_tags(candidates if model is None else scene_objects.objects_hanging_on(model, context))
        # A file may have tags alone, such as those of hands in Quake III.
        meshes = []
        if found or not tags:
            meshes = scene_objects.mesh_objects(
                context, options.scope, report, lambda obj: root_of(obj) is None and bool(find_tags([obj]))
            )
    else:
        meshes, tags = [], find_tags(scene_objects.objects_hanging_on(chosen, context))
    return Builder(context, options, report, meshes, tags)


@dataclass(eq=False)
class Builder:
    """Builds a model of meshes and tags."""

    context: Context
    options: ExportOptions
    report: Report
    meshes: list[Object]
    tags: list[Tag]
    origin: Tag | None = None  # what the file has the model in relation to; None for the scene
    keeps_surfaces: bool = False  # whether those that are as in the file stay whole, as no game stops at all limits
    root: Object | None = field(init=False)  # the parent of the only imported model
    source: StoredModel | None = field(init=False)  # the only imported model
    parts: list[Part] = field(default_factory=list)  # of each surface that was built
    noise: float = 0.0  # what the 32 bits of Blender's transforms lose of places relative to the origin

    def __post_init__(self) -> None:
        objects = [*self.meshes, *(tag.obj for tag in self.tags)]
        roots = {obj: root for obj in objects if (root := root_of(obj)) is not None}
        models = {root: one for root in dict.fromkeys(roots.values()) if (one := load_model(root)) is not None}
        self.root, self.source = next(iter(models.items())) if len(models) == 1 else (None, None)
        # Of each mesh, the model that it is a surface of.
        self.stored = {obj: models[roots[obj]] for obj in self.meshes if roots.get(obj) in models}
        if len(objects) > 1:
            self.report.count("objects", len(objects))
        self.conversion = scene_objects.export_conversion(self.options.conversion, self.meshes or models, self.report)
        if self.root is not None and root_of(self.root.parent) is not None:
            # It hangs on a tag of another model, so that its file has it where that tag is.
            self.origin = Tag(self.root)

    def build(self, plan: FramePlan | None = None) -> Job[Model]:
        """The model, with the frames of a plan, else those that the options choose."""
        options, report, scene = self.options, self.report, self.context.scene
        sources = self.stored
        if not self.meshes and self.root is not None and self.source is not None:
            sources = {self.root: self.source}
        replaced = _find_replaced(options, report)
        if plan is None:
            models = (one for obj in bpy.data.objects if (one := load_frames(obj)) is not None)
            first = 0 if options.game is Game.SRB2 else 1
            plan = frame_models.plan_model(
                self.meshes, sources, scene, options.frames, models, report,
                lambda segments: _in_order(segments, replaced, report), first_number=first,
            )  # fmt: skip
        builders, samples, tags, turns = yield from self._sample(plan)
        parts = [builder.part for builder in builders]
        if not parts and not self.tags:
            raise NothingToExportError(f"there are no faces to export: {listing([obj.name for obj in self.meshes])}")
        # Far below the grid of the file.
        count = plan.moving_count(samples.positions, tags, tolerance=1e-4)
        if plan.may_be_single:
            plan, samples, tags = plan.first_frames(count, report), samples.first_frames(count), tags[:count]
        if replaced is not None and plan.frame_count != len(replaced.frame_names):
            counts = f"it has {counted(plan.frame_count, 'frames')}, {replaced.name} has {len(replaced.frame_names)}"
            report.warn(f"{counts}, which the game counts. Choose its sequences", is_important=True)
        self._place(builders, samples.positions)
        rows, sides = np.arange(plan.frame_count), samples.sides
        needed = np.any([builder.needs_normals() for builder in builders], axis=0)
        if not sides and np.any(needed):
            rows = rows if plan.segments else np.flatnonzero(needed)
            sides = yield from self._sample_sides(plan.some_frames(rows), builders, turns[rows], rows)
        built = [builder.build(sides[number] if sides else None, rows) for number, builder in enumerate(builders)]
        model = self._assemble(plan, builders, built, tags)
        self.parts = parts
        if options.verify is not Verify.NONE:
            verification.warn_of_differences(
                _find_differences(model, parts, samples, self.conversion), _WARNINGS, report
            )
        if options.split_surfaces:
            keeps = self.keeps_surfaces or options.game is Game.ANY
            is_kept = [keeps and bool(one.is_same.all()) for one in builders]
            limits = surface_limits(options.game)
            pieces = [
                [one] if kept else surfaces.split_surface(one, *limits)
                for one, kept in zip(model.surfaces, is_kept, strict=True)
            ]
            self.parts = [part for part, split in zip(parts, pieces, strict=True) for _ in split]
            report.hint_split({one.name: len(split) for one, split in zip(model.surfaces, pieces, strict=True)})
            model = replace(model, surfaces=[piece for split in pieces for piece in split])
        # Others play an `animation.cfg`, or do not play models of maps at all.
        rate = md3.PROFILES[options.game].frame_rate
        if options.compares_speed and rate is not None:
            frame_models.warn_of_model_speed(plan, options.frames, rate, scene, report)
        return model

    def _sample(self, plan: FramePlan) -> Job[tuple[list[SurfaceBuilder], Samples, Floats, Floats]]:
        """What is built, what it shows in each frame, and in the axes of the file the transforms of tags, (F, N, 4, 4),
        and what turns normals, (F, 3, 3)."""
        stored = self.stored
        followed = self.tags if self.origin is None else [*self.tags, self.origin]
        first, rows = int(plan.source[0]), np.arange(plan.frame_count)
        turns: Floats = np.broadcast_to(self.conversion.rotation, (len(rows), 3, 3))
        builders: dict[Part, SurfaceBuilder] = {}

        def read(depsgraph: Depsgraph) -> list[Part]:
            objects = [
                surfaces.read_part(obj, stored.get(obj), depsgraph, first, self.conversion, self.report)
                for obj in self.meshes
            ]
            parts = surfaces.surface_parts(objects, self.report)
            builders.update({part: SurfaceBuilder(part, plan.source, turn_steps(self.options.game)) for part in parts})
            return parts

        def sides(part: Part) -> Sides:
            return builders[part].sides(turns, rows)

        # What Blender shades takes longer to read, and turns with the model that this one hangs on.
        is_new = not stored and self.origin is None
        what = Sampling(
            self.context, self.meshes, plan, self.options, self.report, read, sides if is_new else None,
            shows_keys=True, followed=[one.matrix for one in followed],
        )  # fmt: skip
        _, samples = yield from sample_frames(what)
        matrices = self._matrices_of_keys(plan, followed) if samples.matrices is None else samples.matrices
        if self.origin is not None:
            place = matrices[:, -1].copy()
            if find_tags([self.origin.obj]):
                # The game draws what hangs on a tag without its scale.
                place[:, :3, :3] = nearest_rotations(place[:, None, :3, :3])[0][:, 0]
            inverse = np.linalg.inv(place)
            self.noise = 8.0 * float(np.finfo(np.float32).eps * np.abs(inverse[:, :3, 3]).max(initial=0.0))
            samples, matrices = _moved(samples, inverse), inverse[:, None] @ matrices[:, :-1]
            turns = turns @ inverse[:, :3, :3]
        return list(builders.values()), samples, matrices, turns

    def _matrices_of_keys(self, plan: FramePlan, followed: list[Tag]) -> npt.NDArray[np.float64]:
        """The transforms of tags where shape keys are exported, (F, n, 4, 4): the scene is on one frame."""
        scene, graph = self.context.scene, self.context.evaluated_depsgraph_get()
        now = np.array([one.matrix(graph) for one in followed]).reshape(len(followed), 4, 4)
        matrices = np.tile(now, (plan.frame_count, 1, 1, 1))
        if self.source is not None and any(depends_on_time(one.obj) for one in followed):
            with restored_frame_and_values(scene):
                for row in np.flatnonzero(plan.source != NONE).tolist():
                    state.set_frame(scene, self.source.frame_start + int(plan.source[row]))
                    graph = self.context.evaluated_depsgraph_get()
                    matrices[row] = [one.matrix(graph) for one in followed]
        return matrices

    def _sample_sides(
        self, plan: FramePlan, builders: list[SurfaceBuilder], turns: Floats, rows: npt.NDArray[np.int64]
    ) -> Job[list[Sides]]:
        """The normals of surfaces on some rows of the frames, which a plan has alone."""
        of_part = {builder.part: builder for builder in builders}
        options = replace(self.options, verify=Verify.NONE)
        what = Sampling(
            self.context, self.meshes, plan, options, self.report, lambda depsgraph: list(of_part),
            lambda part: of_part[part].sides(turns, rows), shows_keys=True,
        )  # fmt: skip
        _, samples = yield from sample_frames(what)
        return samples.sides

    def _place(self, builders: list[SurfaceBuilder], sampled: Floats) -> None:
        """Places surfaces where they were sampled, (F, U, 3)."""
        for builder, block in zip(builders, blocks(len(builder.part.used) for builder in builders), strict=True):
            vertices = np.empty((len(sampled), block.stop - block.start, 3), np.int16)
            for row, points in enumerate(sampled[:, block]):
                try:
                    vertices[row] = md3.quantise(self.conversion.points(points.astype(np.float64)))
                except Md3Error as error:
                    raise Md3Error(f"{builder.part.obj.name}: {error.reason}: scale it down, or set Scale",
                                   found=error.found, expected=error.expected) from error  # fmt: skip
            builder.place(vertices)

    def _assemble(self, plan: FramePlan, builders: list[SurfaceBuilder], built: list[Surface], tags: Floats) -> Model:
        source = self.source.model if self.source is not None else None
        named, taken = [], list[str]()
        for builder, surface in zip(builders, built, strict=True):
            part = builder.part
            taken.append(surfaces.surface_name(part, taken, self.report))
            shaders = surfaces.shader_names(part, self.options.game_folders, self.report)
            flags = part.stored.flags if part.stored is not None else 0
            named.append(replace(surface, name=taken[-1], shaders=shaders, flags=flags))
        is_same = np.zeros(plan.frame_count, dtype=bool)
        if source is not None and len(named) == len(source.surfaces):
            is_same = np.logical_and.reduce([plan.source != NONE, *(builder.is_same for builder in builders)])
        bounds, origins, radii = _frame_bounds(named, source, plan.source, is_same)
        origins_of_tags, axes_of_tags = tag_tables(
            self.tags, tags, source, plan.source, self.conversion, self.report, noise=self.noise
        )
        return Model(
            name=source.name if source is not None else "",
            frame_names=plan.names,
            bounds=bounds,
            origins=origins,
            radii=radii,
            tag_names=[tag.name(source, self.report) for tag in self.tags],
            tag_origins=origins_of_tags,
            tag_axes=axes_of_tags,
            surfaces=named,
            flags=source.flags if source is not None else 0,
            # An equal model is written with all bytes of its file.
            preserved=source.preserved if source is not None else None,
        )


# What Quake needs besides a model: the frames of the MDL that it replaces, in order, and .skin files


def _find_replaced(options: ExportOptions, report: Report) -> Companion | None:
    """The MDL that the game replaces by the model, if the export has to fit it."""
    if options.game is not Game.QUAKE or not options.match_companion or options.path is None:
        return None
    found, problem = find_companion(options.path, Search(options.game_folders, TEXTURE_RULES))
    if problem:
        report.warn(f"its sequences are not compared: {problem}")
    return found


def _in_order(segments: list[Segment], replaced: Companion | None, report: Report) -> list[Segment]:
    """The sequences in the order of the replaced model; raises Md3Error for all that do not fit."""
    if replaced is None:
        return segments
    order, problems, left_out = match_sequences(replaced, [((one.name,), len(one.frames)) for one in segments])
    if problems:
        raise Md3Error(replaced.misfit(listing(problems, 40), "Match MDL"))
    if left_out:
        report.warn(f"no sequences of {replaced.name}, so not exported: {listing(left_out)}")
    return [segments[index] for index in order]


def _skin_files(model: Model, parts: list[Part], game_folders: Sequence[str], report: Report) -> dict[str, bytes]:
    """The .skin files of a model: a line for each surface, with its shader or one of its further skins."""
    # The engines take no file in which a surface has no line.
    skins = [
        [*surface.shaders[:1], *surfaces.further_skins(part, parts, game_folders, report)] or [surface.name]
        for surface, part in zip(model.surfaces, parts, strict=True)
    ]
    texts = [
        "".join(
            f"{surface.name},{names[min(number, len(names) - 1)]}\n"
            for surface, names in zip(model.surfaces, skins, strict=True)
        )
        for number in range(max(map(len, skins), default=0))
    ]
    return {f"_{number}.skin": text.encode("latin-1") for number, text in enumerate(texts)}


# Samples and frames


def _moved(samples: Samples, matrices: npt.NDArray[np.float64]) -> Samples:
    """Samples moved by a transform in each frame, (F, 4, 4)."""
    verified = {
        row: [replace(one, vertices=one.vertices @ matrices[row, :3, :3].T + matrices[row, :3, 3]) for one in shown]
        for row, shown in samples.verified.items()
    }
    moved = samples.positions @ np.swapaxes(matrices[:, :3, :3], 1, 2) + matrices[:, None, :3, 3]
    return replace(samples, positions=moved, verified=verified)


def _frame_bounds(
    built: list[Surface], source: Model | None, frames: npt.NDArray[np.int64], is_same: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.float32], ...]:
    """Boxes, origins and radii: those of the file's frames where all surfaces are the same, else new ones."""
    new = np.flatnonzero(~is_same)
    empty = np.zeros((0, 3), np.int16)
    # Frame by frame, as all of them would fill the memory.
    points = (np.concatenate([empty, *(surface.vertices[frame] for surface in built)]) for frame in new.tolist())
    of_frames = zip(*(md3.frame_bounds(md3.positions(one)[None]) for one in points), strict=True)
    computed = tuple(np.concatenate(table) for table in of_frames) or md3.frame_bounds(np.zeros((0, 0, 3)))
    if source is None or not is_same.any():
        return computed
    tables = tuple(table[frames] for table in (source.bounds, source.origins, source.radii))
    for table, values in zip(tables, computed, strict=True):
        table[new] = values
    return tables


def _find_differences(model: Model, parts: list[Part], samples: Samples, conversion: Conversion) -> Differences:
    """The largest difference of each kind in each object; `parts`, surfaces and samples are in one order."""
    # Triangles of the file that lie on one line where vertices are merged are not in Blender.
    triangles = [drop_degenerate(surface.triangles)[0] for surface in model.surfaces]
    points = [md3.positions(surface.vertices[0]) for surface in model.surfaces]
    decoded = verification.Decoded(
        frame_names=model.frame_names,
        size=diagonal(np.concatenate([np.zeros((0, 3)), *points])),
        vertices=lambda frame: [md3.positions(surface.vertices[frame]) for surface in model.surfaces],
        allowed=lambda frame: 0.5 / md3.UNITS + 1e-3,
        triangles=[
            found if len(found) == len(part.loops) else None for found, part in zip(triangles, parts, strict=True)
        ],
        uvs=[flip_v(surface.st[found]) for surface, found in zip(model.surfaces, triangles, strict=True)],
    )
    return verification.compare_corners(parts, samples, conversion, decoded)
