"""The scene into a file: everything is built, verified and checked before it is written."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common.files import atomic
from ..io_common.reports import Report, progress
from ..io_common.results import ExportResult
from ..io_common.scene import axes, state
from ..io_common.scene.animated_values import kept_frame_and_values
from ..io_common.scene.objects import NothingToExportError, Scope, collect
from ..io_common.verification import Verify, frames_to_verify
from . import frame_plan, verification
from .export_frames import Samples, first_keys_alone, sample
from .export_topology import NONE, Part, Topology, join, read_part, texture_coordinates
from .format import (
    Counts,
    Game,
    Md2Error,
    Md2Model,
    check_model,
    format_model,
    generate_commands,
    prepare_model,
)
from .format.degenerate import with_degenerate
from .format.requantise import FrameData, requantise
from .frame_plan import FrameOptions, Plan, make_plan
from .skins import skin_names, skin_size
from .source import StoredModel

if TYPE_CHECKING:
    from bpy.types import Context, Modifier, Object

DEFAULT_SKIN_SIZE = (256, 256)


@dataclass(frozen=True)
class ExportOptions:
    """What the user asks for.

    Attributes:
        scope: which objects.
        apply_modifiers: apply modifiers; the Armature is applied in any case, since it moves the frames.
        frames: which frames.
        one_box: one box for the grids of all frames.
        skin_size: width and height of the skin if neither an image nor an imported file says them.
        force_skin_size: use `skin_size` in any case.
        game: whose loader is to take the file.
        verify: which frames are compared with Blender before the file is written.
        conversion: scale and axes.
    """

    scope: Scope = field(default_factory=Scope)
    apply_modifiers: bool = True
    frames: FrameOptions = field(default_factory=FrameOptions)
    one_box: bool = False
    skin_size: tuple[int, int] = DEFAULT_SKIN_SIZE
    force_skin_size: bool = False
    game: Game = Game.ANY
    verify: Verify = Verify.SOME
    conversion: axes.Conversion = field(default_factory=axes.unchanged)


@dataclass(eq=False)
class Build:
    """A model and what it was made of.

    Attributes:
        model: as it is to be written.
        parts: the objects.
        triangles: of each triangle the one of the parts, one part after the other; -1 where Blender has none, (T,).
        former: the numbers of the file that the only imported object came from; None if there is no such object.
    """

    model: Md2Model
    parts: list[Part]
    triangles: npt.NDArray[np.int64]
    former: Counts | None


def export_model(context: Context, path: Path, options: ExportOptions) -> ExportResult:
    """Writes objects, joined, as an MD2 model.

    Args:
        context: of the scene and view layer.
        path: the file.
        options: what the user asks for.

    Returns:
        What was written.

    Raises:
        Md2Error: the game would refuse the result, or the format cannot hold it; nothing was written.
        NothingToExportError: there is nothing to export; nothing was written.
        OSError: the file cannot be written; it is as it was.
    """
    report = Report()
    with state.out_of_edit_mode(context):
        built = build_model(context, options, report)
    model = built.model
    _check(built, options.game, path.name, report)
    atomic.write_file(path, format_model(model))
    report.count("frames", model.num_frames)
    report.count("vertices", model.num_vertices)
    report.count("triangles", model.num_triangles)
    report.count("skins", len(model.skins))
    return ExportResult([path], report)


def _check(built: Build, game: Game, name: str, report: Report) -> None:
    """Passes warnings of the format and the game on.

    Raises:
        Md2Error: there are errors.
    """
    findings = check_model(built.model, game, built.former)
    for finding in findings:
        if not finding.is_error:
            report.warn(finding.text, name)
    errors = [finding.text for finding in findings if finding.is_error]
    if errors:
        raise Md2Error("; ".join(errors), path=name)


def build_model(context: Context, options: ExportOptions, report: Report) -> Build:
    """Makes a model of objects in Object Mode, and verifies it; for the arguments and errors see `export_file`.

    Stored data of an imported file only counts where it reproduces what Blender shows. Should a model with it still
    differ, it is built again without. Triangles that Blender cannot have are put back after that.
    """
    objects = _mesh_objects(context, options)
    stored = frame_plan.stored_models(objects)
    plan = make_plan(objects, stored, context.scene, options.frames, report)
    attempt = Report()
    model, parts, differences = _build(context, objects, stored, plan, options, attempt)
    if stored and any(difference.kind != verification.TRIANGULATION for difference in differences):
        attempt = Report()
        model, parts, differences = _build(context, objects, {}, plan, options, attempt)
        attempt.warn("the stored data of the imported file does not fit the mesh: it was not used")
    report.merge(attempt)
    verification.warn(differences, model, parts, report)
    origin = next(iter(stored.values())) if len(stored) == 1 else None
    triangles = np.arange(model.num_triangles)
    if origin is not None and len(origin.degenerate):
        sources = np.concatenate([part.source for part in parts])
        model, triangles = with_degenerate(model, origin.degenerate, sources, origin.st)
    return Build(prepare_model(model), parts, triangles, None if origin is None else origin.counts)


def _build(
    context: Context,
    objects: list[Object],
    stored: dict[Object, StoredModel],
    plan: Plan,
    options: ExportOptions,
    report: Report,
) -> tuple[Md2Model, list[Part], list[verification.Difference]]:
    """A model, what it is made of, and where it differs from that."""

    def hides(modifier: Modifier) -> bool:
        return not options.apply_modifiers and modifier.type != "ARMATURE"

    scene = context.scene
    with (
        state.hidden_modifiers(objects, hides),
        progress(len(plan.names)) as steps,
        kept_frame_and_values(scene) if plan.scene_frames is not None else nullcontext(),
    ):
        if plan.scene_frames is not None:
            scene.frame_set(plan.scene_frames[0])
        with first_keys_alone(plan):
            depsgraph = context.evaluated_depsgraph_get()
            parts = [read_part(obj, stored.get(obj), depsgraph, report) for obj in objects]
        frames = frames_to_verify(len(plan.names), options.verify)
        samples = sample(context, parts, plan, frames, steps)
    topology = join(parts)
    if plan.may_be_single and (samples.positions == samples.positions[:1]).all():
        plan = frame_plan.single_frame(plan, topology.stored)
        samples = samples.first_frame()
    model = _assemble(parts, topology, plan, samples, options, report)
    differences = []
    if options.verify is not Verify.NONE:
        differences = verification.find_differences(model, parts, samples, options.conversion)
    return model, parts, differences


def _assemble(
    parts: list[Part],
    topology: Topology,
    plan: Plan,
    samples: Samples,
    options: ExportOptions,
    report: Report,
) -> Md2Model:
    frames = _frames(options.conversion.points(samples.positions), topology, plan, options, report)
    size = options.skin_size if options.force_skin_size else skin_size(parts, options.skin_size)
    st, triangle_st = texture_coordinates(parts, topology, size)
    return Md2Model(
        skin_width=size[0],
        skin_height=size[1],
        skins=skin_names(parts, report),
        # Beyond 16 bits they are left as they are: the check says so.
        st=st.astype(np.int16) if np.array_equal(st, st.astype(np.int16)) else st,
        triangles=topology.triangles,
        triangle_st=triangle_st,
        scale=frames.scale,
        translate=frames.translate,
        frame_names=plan.names,
        vertices=frames.vertices,
        normals=frames.normals,
        gl_commands=generate_commands(topology.triangles, triangle_st, st, *size),
    )


def _mesh_objects(context: Context, options: ExportOptions) -> list[Object]:
    objects = collect(context, options.scope)
    meshes = [obj for obj in objects if obj.type == "MESH"]
    if not meshes:
        raise NothingToExportError("there is no mesh to export")
    return meshes


def _frames(
    positions: npt.NDArray[np.float64],
    topology: Topology,
    plan: Plan,
    options: ExportOptions,
    report: Report,
) -> FrameData:
    """The frames, as they were where nothing changed."""
    source = is_source = None
    if topology.stored is not None and topology.stored.frames.normals.size:
        is_source = plan.source != NONE
        # What is not in the file takes any vertex and frame of it, which its positions do not agree with.
        source = topology.stored.frames.take(
            np.maximum(plan.source, 0), np.maximum(topology.source, 0).astype(np.int64)
        )
    frames, same = requantise(
        positions,
        topology.triangles,
        source,
        is_source=is_source,
        same_faces=topology.same_faces,
        shared=options.one_box,
    )
    report.count("unchanged frames", int(same.sum()))
    return frames
