"""Export of MD2 models: everything is built, verified and checked before the file is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Context, Depsgraph, Object

from ...io_blender.frames import models as frame_models
from ...io_blender.frames import verification
from ...io_blender.frames.frame_plan import FramePlan, Segment
from ...io_blender.frames.sampling import Samples, Sampling, blocks, sample_frames
from ...io_blender.frames.verification import GRID, POSITION, TRIANGULATION, UV
from ...io_blender.records import NONE
from ...io_blender.reports import FACES, VERTICES, Job, Location, Report
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.mesh_data import faces_of_corners
from ...io_blender.scene.objects import NothingToExportError, export_conversion, mesh_objects
from ...io_blender.verification import OTHER_TRIANGULATION, Differences, Verify, diagonal
from ...io_common.texts import counted
from ...io_common.triangles import flip_v
from .. import format as md2
from ..format import Finding, GlCommands, Md2Error, Model
from ..format.games import match_template
from ..format.source_data import FrameData, requantise, with_degenerate
from ..options import ExportOptions
from ..records import StoredModel, load_model
from . import mesh
from .mesh import Part, Topology

# By how much edits of frames may differ to be the same, as a fraction of the model's size.
_SAME_OFFSET = 1e-4

# The GL commands draw other triangles than the list has.
_COMMANDS = "COMMANDS"
# The kinds of differences that do not come from stored data of an imported file.
_UNSTORED = (TRIANGULATION, GRID)
_WARNINGS = {
    POSITION: (
        "vertices differ from Blender's by up to {amount} {where}. Likely cause: the model is too far from the origin, "
        "or too large, for the precision of the format"
    ),
    UV: "texture coordinates differ from Blender's by up to {distance:.3g} texels {where}. Likely cause: a modifier "
    "that moves UVs over time, which MD2 cannot hold, or UVs that are not finite or too far outside the skin",
    TRIANGULATION: OTHER_TRIANGULATION,
    _COMMANDS: "the GL commands draw other triangles than the list has. This is a bug: please report it",
    GRID: "vertices are rounded by up to {amount} {where}, which is visible: a frame has 256 steps on each axis. ",
}
# The tolerance in texels: half of one, and what coordinates at the edge of a texel are off in single precision.
_TEXELS = 0.5 + 0.01

# By how many texels the GL commands of an imported file may differ from its table, which holds whole texels.
_KEPT_TEXELS = 1.5


def build_model(context: Context, options: ExportOptions, report: Report) -> Job[frame_models.Built]:
    """Builds and verifies a model of objects, joined, in Object Mode; raises Md2Error or NothingToExportError."""
    # Stored data is used only where it reproduces what Blender shows. If the model still differs, none is used.
    objects = mesh_objects(context, options.scope, report)
    conversion = export_conversion(options.conversion, objects, report)
    if len(objects) > 1:
        report.count("objects", len(objects))
        report.hints.append(f"Objects: {', '.join(obj.name for obj in objects)}")
    scene = context.scene
    stored = {obj: one for obj in objects if (one := load_model(obj.data)) is not None}
    models = (one for data in bpy.data.meshes if (one := load_model(data)) is not None)
    arrange = partial(_in_template_order, template=options.sequence_template)
    plan = frame_models.plan_model(objects, stored, scene, options.frames, models, report, arrange)
    used = stored
    while True:
        builder = _Builder(context, objects, used, plan, options, conversion)
        model, parts, differences = yield from builder.build()
        if not used or all(kind in _UNSTORED for _, kind in differences):
            break
        used = {}
    if stored and not used:
        builder.report.warn("the stored data of the imported file does not match the mesh and was not used")
    report.merge(builder.report)
    _warn_of_differences(differences, model, parts, report)
    is_moving = model.vertex_count and (np.ptp(model.translate, axis=0).any() or np.ptp(model.vertices, axis=0).any())
    rate = md2.PROFILES[options.game].frame_rate
    if options.compares_speed and is_moving and rate is not None:
        frame_models.warn_of_model_speed(builder.plan, options.frames, rate, scene, report, plays_keys=plan.plays_keys)
    origin = next(iter(stored.values())) if len(stored) == 1 else None
    # The triangle of the parts, one part after the other, that each one is; -1 for those that Blender cannot hold.
    triangles = np.arange(model.triangle_count)
    if origin is not None and len(origin.degenerate):
        sources = np.concatenate([part.source for part in parts])
        keeps_commands = model.gl_commands is origin.model.gl_commands
        model, triangles = with_degenerate(
            model, origin.degenerate, sources, origin.model.st, keep_commands=keeps_commands
        )
    model = md2.prepare_model(model)[0]
    report.count("vertices", model.vertex_count)
    report.count("triangles", model.triangle_count)
    report.count("skins", len(model.skins))
    return frame_models.Built(
        md2.check_model(model, options.game, None if origin is None else origin.source),
        lambda: md2.format_model(model),
        lambda finding: _location(finding, parts, triangles),
        model.frame_names,
        model.skins[:1],
        "Skin 0",
    )


@dataclass(eq=False)
class _Builder:
    """Builds a model, with the stored data of some objects where it reproduces what Blender shows."""

    context: Context
    objects: list[Object]
    stored: dict[Object, StoredModel]
    plan: FramePlan
    options: ExportOptions
    conversion: Conversion
    report: Report = field(default_factory=Report)

    def build(self) -> Job[tuple[Model, list[Part], Differences]]:
        def read(depsgraph: Depsgraph) -> list[Part]:
            return [mesh.read_part(obj, self.stored.get(obj), depsgraph, self.report) for obj in self.objects]

        options, plan = self.options, self.plan
        sides = partial(mesh.sides_of, rotation=self.conversion.rotation, frame_count=plan.frame_count)
        what = Sampling(
            self.context, self.objects, plan, options, self.report, read, sides if options.split_sharp else None
        )
        parts, samples = yield from sample_frames(what)
        topology = mesh.join(parts)
        count = self.plan.moving_count(samples.positions, tolerance=0.0)
        if count < self.plan.frame_count:
            _warn_of_moving_uvs(parts, samples, self.report)
            self.plan = self.plan.first_frames(count, self.report)
            samples = samples.first_frames(count)
        normals = None
        if options.split_sharp:
            parts, samples, normals = mesh.split(parts, samples)
            topology = mesh.join(parts)
        else:
            mesh.warn_of_smoothing(parts, self.report)
        model = self._assemble(parts, topology, samples, normals)
        differences = Differences()
        if options.verify is not Verify.NONE:
            differences = _find_differences(model, parts, samples, self.conversion)
        return model, parts, differences

    def _assemble(
        self, parts: list[Part], topology: Topology, samples: Samples, normals: npt.NDArray[np.uint8] | None
    ) -> Model:
        options = self.options
        _require_finite(samples.positions, self.plan.names)
        frames = self._frames(self.conversion.points(samples.positions), normals, topology)
        is_chosen = options.skin_size_from == "CUSTOM"
        size = options.skin_size if is_chosen else mesh.skin_size(parts, options.skin_size)
        st, triangle_st = mesh.texture_coordinates(parts, topology, size)
        model = Model(
            skin_width=size[0],
            skin_height=size[1],
            skins=mesh.skin_names(parts, options.game_folders, self.report),
            # Values beyond 16 bits are left as they are for the check to find.
            st=st.astype(np.int16) if np.array_equal(st, st.astype(np.int16)) else st,
            triangles=topology.triangles,
            triangle_st=triangle_st,
            scale=frames.scale,
            translate=frames.translate,
            frame_names=self.plan.names,
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
            rows = np.maximum(self.plan.source, 0)
            block = np.ix_(rows, np.maximum(topology.source, 0))
            source = FrameData(model.scale[rows], model.translate[rows], model.vertices[block], model.normals[block])
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
                offsets = positions - md2.decompress(source.vertices, source.scale, source.translate)
                limit = _SAME_OFFSET * np.ptp(positions[0], axis=0).max()
                # An object that was moved has the same offset everywhere.
                if np.ptp(offsets, axis=0).max() <= limit < np.ptp(offsets[0], axis=0).max():
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
    if not np.isfinite(positions).all():
        counts = (~np.isfinite(positions)).any(axis=2).sum(axis=1)
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
            if md2.commands_match(kept, _KEPT_TEXELS):
                return stored.model.gl_commands
    return md2.generate_commands(model.triangles, model.triangle_st, model.st, model.skin_width, model.skin_height)


def _find_differences(model: Model, parts: list[Part], samples: Samples, conversion: Conversion) -> Differences:
    """The largest difference of each kind in each object; the triangles are those of the parts, in their order."""
    # Positions may be off by a step of the frame's grid on each axis, if that is small against the edges of the model,
    # texture coordinates by half a texel, those of GL commands of the imported file by `_KEPT_TEXELS`.
    # The largest step of the grid, and what rounding adds to it.
    allowed = np.abs(model.scale) + 2.0 * md2.grid_tolerance(model.scale, model.translate)
    texels = np.maximum((model.skin_width, model.skin_height), 1)
    ends = np.cumsum([len(part.triangles) for part in parts])[:-1]
    grids = np.stack([model.translate, model.translate + 255.0 * model.scale]).astype(np.float64)
    decoded = verification.Decoded(
        frame_names=model.frame_names,
        size=diagonal(grids.reshape(-1, 3)),
        vertices=lambda row: [md2.decompress(model.vertices[row], model.scale[row], model.translate[row])] * len(parts),
        allowed=lambda row: allowed[row],
        triangles=np.split(model.triangles, ends),
        uvs=np.split(flip_v((model.st + 0.5) / texels)[model.triangle_st], ends),
        texels=texels,
        uv_allowed=_TEXELS,
    )
    result = verification.compare_corners(parts, samples, conversion, decoded)
    # Those of the imported file were kept because they match.
    kept = any(part.stored is not None and part.stored.model.gl_commands is model.gl_commands for part in parts)
    if not kept and not md2.commands_match(model):
        result.note("", _COMMANDS, np.inf, "in all frames")
    return result


def _warn_of_differences(differences: Differences, model: Model, parts: list[Part], report: Report) -> None:
    """Warns of each difference, with its likely cause."""
    if len(model.scale) > 1 and (model.scale == model.scale[:1]).all():
        remedy = "Turn off Prevent Vertex Wobble"
    elif len(parts) > 1:
        remedy = "Move objects that are far away closer to the others"
    else:
        remedy = "Move parts that are far away closer to the others, or export them as a file of their own"
    verification.warn_of_differences(differences, _WARNINGS | {GRID: _WARNINGS[GRID] + remedy}, report)


def _in_template_order(segments: list[Segment], template: str) -> list[Segment]:
    """The sequences in the order of a template; raises NothingToExportError if they are not those that it has."""
    order, problems = match_template(template, [(one.name, len(one.frames)) for one in segments])
    if problems:
        raise NothingToExportError(
            f"the checked animations are not those of a Quake II player; {', '.join(problems)}. "
            "Rename, check or uncheck animations, or choose no template"
        )
    return [segments[index] for index in order]


def _location(finding: Finding, parts: list[Part], triangles: npt.NDArray[np.int64]) -> Location:
    """The object with most of the elements of a finding, and these elements."""
    best = Location(parts[0].obj if len(parts) == 1 else None)
    kind, chosen = VERTICES, np.array(finding.vertices, dtype=np.int64)
    if not len(chosen):
        kind, chosen = FACES, triangles[list(finding.triangles)]
    tables = [part.used if kind == VERTICES else part.loops[:, 0] for part in parts]
    for part, table, block in zip(parts, tables, blocks(map(len, tables)), strict=True):
        elements = np.unique(table[chosen[(chosen >= block.start) & (chosen < block.stop)] - block.start])
        if len(elements) <= len(best.elements):
            continue
        if part.vertex_count != len(part.obj.data.vertices):
            # Modifiers changed the vertices.
            best = Location(part.obj)
            continue
        if kind == FACES:
            elements = faces_of_corners(part.obj.data, elements)
        best = Location(part.obj, kind, tuple(elements.tolist()))
    return best
