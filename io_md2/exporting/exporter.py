"""Export of MD2 models: everything is built, verified and checked before the file is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import frame_export, state
from ...io_blender.clips.frame_names import frame_names, single_frame_name
from ...io_blender.clips.frame_plan import FrameOptions, FramePlan, Segment, common_source
from ...io_blender.clips.sampling import Samples, sample_frames
from ...io_blender.clips.shape_key_frames import Playback, playback_of
from ...io_blender.operators.game_check import FACES, VERTICES, LocatedFinding, Location
from ...io_blender.records import NONE
from ...io_blender.reports import ExportResult, Job, Report, finish, kept_on_failure, raise_errors
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.mesh_data import faces_of_corners
from ...io_blender.scene.model_objects import mesh_objects
from ...io_blender.scene.objects import NothingToExportError, export_conversion
from ...io_blender.verification import Differences, Verify
from ...io_common.files import atomic
from ...io_common.texts import counted
from ..format import (
    FRAMES_PER_SECOND,
    Counts,
    Finding,
    Game,
    GlCommands,
    Md2Error,
    Model,
    check_model,
    commands_match,
    decompress,
    format_model,
    generate_commands,
    prepare_model,
)
from ..format.games import Template, match_template
from ..format.source_data import FrameData, requantise, with_degenerate
from ..options import ModelProperties
from ..records import StoredModel, load_model
from . import verification
from .mesh import (
    Part,
    Topology,
    chosen_skin_size,
    join,
    read_part,
    skin_names,
    skin_size,
    split,
    texture_coordinates,
    warn_of_smoothing,
)

if TYPE_CHECKING:
    from bpy.types import Context, Depsgraph, Object, Scene


# By how much edits of frames may differ to be the same, as a fraction of the model's size.
_SAME_OFFSET = 1e-4


TEMPLATE_LABELS = {Template.NONE: "model", Template.QUAKE2_PLAYER: "Quake II player"}
"""What the models of each template are called."""


@dataclass(frozen=True)
class ExportOptions(ModelProperties, frame_export.ExportOptions):
    """The options of an export."""

    template: Template = Template.NONE  # the sequences that frames of a list must be
    force_skin_size: bool = False  # always use `skin_size`, not that of an image or the imported file
    game: Game = Game.ANY


@dataclass(eq=False)
class Build:
    """A model and the objects that it was made of."""

    model: Model  # as it is to be written
    parts: list[Part]  # the objects
    # The triangle of the parts, one part after the other, that each one is; -1 for those that Blender cannot hold,
    # (T,)
    triangles: npt.NDArray[np.int64]
    # Those of the file that the only imported object came from; None if there is no such object.
    source_counts: Counts | None


def export_model(context: Context, path: Path, options: ExportOptions) -> Job[ExportResult]:
    """Writes objects, joined; before it writes, it raises Md2Error or NothingToExportError."""
    # Raises OSError if the file cannot be written; it is as it was.
    report = Report()
    with kept_on_failure(report):
        with state.temporary_object_mode(context):
            built = yield from build_model(context, options, report)
        model = built.model
        raise_errors(check_model(model, options.game, built.source_counts), Md2Error, path.name, report)
        atomic.write_file(path, format_model(model))
    report.count("vertices", model.vertex_count)
    report.count("triangles", model.triangle_count)
    report.count("skins", len(model.skins))
    return ExportResult([path], report)


def build_model(context: Context, options: ExportOptions, report: Report) -> Job[Build]:
    """Builds and verifies a model of objects in Object Mode; raises what `export_model` raises."""
    # Stored data is used only where it reproduces what Blender shows. If the model still differs, none is used.
    objects = mesh_objects(context, options.scope, report)
    conversion = export_conversion(options.conversion, objects, report)
    if len(objects) > 1:
        report.count("objects", len(objects))
        report.hints.append(f"Objects: {', '.join(obj.name for obj in objects)}")
    scene = context.scene
    stored = {obj: one for obj in objects if (one := load_model(obj.data)) is not None}
    plan = frame_export.plan_model(
        objects, stored, scene, options.frames, report, lambda found: _in_template_order(found, options.template)
    )
    models = [one for mesh in bpy.data.meshes if (one := load_model(mesh)) is not None]
    names = frame_names(plan, objects, common_source(stored), scene, models, report)
    used = stored
    while True:
        builder = _Builder(context, objects, used, plan, names, options, conversion)
        model, parts, differences = yield from builder.build()
        if not used or all(kind in verification.UNSTORED for _, kind in differences):
            break
        used = {}
    if stored and not used:
        builder.report.warn("the stored data of the imported file does not match the mesh and was not used")
    report.merge(builder.report)
    verification.warn(differences, model, parts, report)
    if options.compares_speed:
        _warn_of_speed(model, plan, stored, scene, options.frames, report)
    origin = next(iter(stored.values())) if len(stored) == 1 else None
    triangles = np.arange(model.triangle_count)
    if origin is not None and len(origin.degenerate):
        sources = np.concatenate([part.source for part in parts])
        keeps_commands = model.gl_commands is origin.model.gl_commands
        model, triangles = with_degenerate(
            model, origin.degenerate, sources, origin.model.st, keep_commands=keeps_commands
        )
    return Build(prepare_model(model)[0], parts, triangles, None if origin is None else origin.counts)


def _warn_of_speed(
    model: Model,
    plan: FramePlan,
    stored: dict[Object, StoredModel],
    scene: Scene,
    options: FrameOptions,
    report: Report,
) -> None:
    # Keys that the timeline does not play have no duration.
    is_moving = model.vertex_count and (np.ptp(model.translate, axis=0).any() or np.ptp(model.vertices, axis=0).any())
    is_played = plan.scene_frames is not None or (
        not options.is_resampled(scene)
        and any(playback_of(obj, stored[obj], scene) is Playback.IN_ORDER for obj in plan.keys if obj in stored)
    )
    if is_moving and is_played:
        step = options.step(scene) if plan.scene_frames is not None else options.frame_step
        frame_export.warn_of_model_speed(plan, model.frame_count, step, FRAMES_PER_SECOND, scene, report)


@dataclass(eq=False)
class _Builder:
    """Builds a model, with the stored data of some objects where it reproduces what Blender shows."""

    context: Context
    objects: list[Object]
    stored: dict[Object, StoredModel]
    plan: FramePlan
    names: list[str]  # of the frames
    options: ExportOptions
    conversion: Conversion
    report: Report = field(default_factory=Report)

    def build(self) -> Job[tuple[Model, list[Part], Differences]]:
        def read(depsgraph: Depsgraph) -> list[Part]:
            return [read_part(obj, self.stored.get(obj), depsgraph, self.report) for obj in self.objects]

        options = self.options
        parts, samples = yield from sample_frames(
            self.context, self.objects, self.plan, options, self.report, read, with_normals=options.split_sharp
        )
        topology = join(parts)
        if self.plan.may_be_single and (samples.positions == samples.positions[:1]).all():
            _warn_of_moving_uvs(parts, samples, self.report)
            self.plan = self.plan.first_frame(topology.stored)
            self.names = single_frame_name(self.names, topology.stored)
            samples = samples.first_frame()
        normals = None
        if options.split_sharp:
            parts, samples, normals = split(parts, samples, self.conversion.rotation)
            topology = join(parts)
        else:
            warn_of_smoothing(parts, self.report)
        model = self._assemble(parts, topology, samples, normals)
        differences = Differences()
        if options.verify is not Verify.NONE:
            differences = verification.find_differences(model, parts, samples, self.conversion)
        return model, parts, differences

    def _assemble(
        self, parts: list[Part], topology: Topology, samples: Samples, normals: npt.NDArray[np.uint8] | None
    ) -> Model:
        options = self.options
        _require_finite(samples.positions, self.names)
        frames = self._frames(self.conversion.points(samples.positions), normals, topology)
        chosen_size = chosen_skin_size(parts)
        size = options.skin_size if options.force_skin_size else chosen_size or skin_size(parts, options.skin_size)
        st, triangle_st = texture_coordinates(parts, topology, size)
        model = Model(
            skin_width=size[0],
            skin_height=size[1],
            skins=skin_names(parts, options.game_folders, self.report),
            # Values beyond 16 bits are left as they are for the check to find.
            st=st.astype(np.int16) if np.array_equal(st, st.astype(np.int16)) else st,
            triangles=topology.triangles,
            triangle_st=triangle_st,
            scale=frames.scale,
            translate=frames.translate,
            frame_names=self.names,
            vertices=frames.vertices,
            normals=frames.normals,
        )
        model.gl_commands = _gl_commands(model, topology)
        return model

    def _frames(
        self, positions: npt.NDArray[np.float64], normals: npt.NDArray[np.uint8] | None, topology: Topology
    ) -> FrameData:
        source = is_source = None
        if topology.stored is not None and topology.stored.model.normals.size:
            model = topology.stored.model
            is_source = self.plan.source != NONE
            # Vertices and frames that are not in the file get the first one, which their positions do not match.
            source = FrameData(model.scale, model.translate, model.vertices, model.normals).take(
                np.maximum(self.plan.source, 0), np.maximum(topology.source, 0).astype(np.int64)
            )
        frames, same = requantise(
            positions,
            topology.triangles,
            source,
            is_source=is_source,
            same_faces=topology.same_faces,
            normals=normals,
            shared=self.options.one_box,
        )
        self.report.count("frames", len(same))
        if source is not None:
            changed = int((~same).sum())
            self.report.count("changed" if changed else "unchanged", changed or len(same))
            if changed == len(same) > 1 and positions.size:
                offsets = positions - decompress(source.vertices, source.scale, source.translate)
                if np.ptp(offsets, axis=0).max() <= _SAME_OFFSET * np.ptp(positions[0], axis=0).max():
                    self.report.warn(
                        "an edit of the basis changed all frames alike: to edit one frame, click Select Shape Key "
                        "first",
                        is_important=True,
                    )
        return frames


def _warn_of_moving_uvs(parts: list[Part], samples: Samples, report: Report) -> None:
    """Warns of modifiers that move texture coordinates, where no vertex moves and one frame is exported."""
    for number, part in enumerate(parts):
        for found in samples.verified.values():
            uvs = found[number].uvs
            if part.uvs is not None and uvs is not None and not np.allclose(uvs[part.loops], part.uvs, atol=1e-5):
                report.warn("modifiers move its UVs over time, which MD2 cannot hold", part.obj.name)


def _require_finite(positions: npt.NDArray[np.float64], names: list[str]) -> None:
    """Raises Md2Error if vertices are nowhere, as some operators of Blender leave them."""
    counts = (~np.isfinite(positions)).any(axis=2).sum(axis=1)
    if counts.any():
        frame = int(np.argmax(counts > 0))
        number = counted(int(counts[frame]), "vertices", "have no finite position")
        raise Md2Error(f"in frame {names[frame]}, {number}: delete every such vertex")


def _gl_commands(model: Model, topology: Topology) -> GlCommands:
    """The GL commands of the imported file if they still draw the model, else new ones."""
    stored = topology.stored
    if stored is not None and topology.is_source:
        size = model.skin_width, model.skin_height
        if size == stored.skin_size and np.array_equal(model.st, stored.model.st):
            kept = replace(model, gl_commands=stored.model.gl_commands)
            if commands_match(kept, verification.KEPT_TEXELS):
                return stored.model.gl_commands
    return generate_commands(model.triangles, model.triangle_st, model.st, model.skin_width, model.skin_height)


def _in_template_order(segments: list[Segment], template: Template) -> list[Segment]:
    """The sequences in the order of a template; raises NothingToExportError if they are not those that it has."""
    match = match_template(template, [(one.name, len(one.frames)) for one in segments])
    if match.problems:
        raise NothingToExportError(
            f"the checked animations are not those of a {TEMPLATE_LABELS[template]}; {'; '.join(match.problems)}. "
            "Rename, check or uncheck animations, or choose no template"
        )
    return [segments[index] for index in match.order]


def find_game_findings(context: Context, options: ExportOptions) -> list[LocatedFinding]:
    """The findings of a game about an export, unverified; raises Md2Error or NothingToExportError."""
    # Warnings of the export itself are not findings of the game.
    with state.temporary_object_mode(context):
        built = finish(build_model(context, replace(options, verify=Verify.NONE), Report()))
    findings = check_model(built.model, options.game, built.source_counts)
    return [
        LocatedFinding(finding.code, finding.is_error, finding.text, _location(finding, built)) for finding in findings
    ]


def _location(finding: Finding, built: Build) -> Location:
    """The object with most of the elements of a finding, and these elements."""
    best = Location(built.parts[0].obj if len(built.parts) == 1 else None)
    if finding.vertices:
        firsts = np.cumsum([0, *(len(part.used) for part in built.parts)])
        chosen = np.array(finding.vertices)
        for part, first in zip(built.parts, firsts[:-1].tolist(), strict=True):
            selected = chosen[(chosen >= first) & (chosen < first + len(part.used))] - first
            best = _better(best, part, VERTICES, np.unique(part.used[selected]))
    elif finding.triangles:
        firsts = np.cumsum([0, *(len(part.triangles) for part in built.parts)])
        chosen = built.triangles[np.array(finding.triangles)]
        for part, first in zip(built.parts, firsts[:-1].tolist(), strict=True):
            selected = chosen[(chosen >= first) & (chosen < first + len(part.triangles))] - first
            best = _better(best, part, FACES, part.loops[selected, 0])
    return best


def _better(best: Location, part: Part, kind: str, elements: np.ndarray) -> Location:
    """A location in a part, if it has more elements; the object alone if modifiers changed the vertices."""
    if len(elements) <= len(best.elements):
        return best
    if part.vertex_count != len(part.obj.data.vertices):
        return Location(part.obj)
    if kind == FACES:
        elements = faces_of_corners(part.obj.data, elements)
    return Location(part.obj, kind, tuple(elements.tolist()))
