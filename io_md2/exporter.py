"""The scene into a file: everything is built and judged before it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common import atomic, axes, state
from ..io_common.reports import Report, progress
from ..io_common.scene_objects import NothingToExportError, Scope, collect
from . import frame_plan
from .export_frames import sample
from .export_topology import NONE, Part, Topology, join, read_part, texture_coordinates
from .format import (
    QUAKE2_LIMITS,
    Limits,
    Md2Error,
    Md2Model,
    check_model,
    format_model,
    generate_commands,
)
from .format.requantise import FrameData, requantise
from .frame_plan import FrameOptions, Plan, make_plan
from .skins import skin_names, skin_size

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
        limits: those of the game; None for only those of the format.
        conversion: scale and axes.
    """

    scope: Scope = field(default_factory=Scope)
    apply_modifiers: bool = True
    frames: FrameOptions = field(default_factory=FrameOptions)
    one_box: bool = False
    skin_size: tuple[int, int] = DEFAULT_SKIN_SIZE
    force_skin_size: bool = False
    limits: Limits | None = QUAKE2_LIMITS
    conversion: axes.Conversion = field(default_factory=axes.unchanged)


def export_file(context: Context, path: Path, options: ExportOptions, report: Report) -> Md2Model:
    """Writes objects, joined, as an MD2 model.

    Args:
        context: of the scene and view layer.
        path: the file.
        options: what the user asks for.
        report: takes counts and warnings.

    Returns:
        What was written.

    Raises:
        Md2Error: the game would refuse the result, or the format cannot hold it; nothing was written.
        NothingToExportError: there is nothing to export; nothing was written.
        OSError: the file cannot be written; it is as it was.
    """
    with state.out_of_edit_mode(context):
        model = build_model(context, options, report)
    _judge(model, options.limits, path.name, report)
    model.gl_commands = generate_commands(
        model.triangles, model.triangle_st, model.st, model.skin_width, model.skin_height
    )
    atomic.write_file(path, format_model(model))
    report.count("frames", model.num_frames)
    report.count("vertices", model.num_vertices)
    report.count("triangles", model.num_triangles)
    report.count("skins", len(model.skins))
    return model


def _judge(model: Md2Model, limits: Limits | None, name: str, report: Report) -> None:
    """Passes warnings on.

    Raises:
        Md2Error: there are errors.
    """
    findings = check_model(model, limits)
    for finding in findings:
        if finding.severity == "warning":
            report.warn(finding.message, name)
    errors = [finding.message for finding in findings if finding.severity == "error"]
    if errors:
        raise Md2Error("; ".join(errors), path=name)


def build_model(context: Context, options: ExportOptions, report: Report) -> Md2Model:
    """Makes a model of objects in Object Mode, without GL commands; for the arguments and errors see `export_file`."""
    objects = _mesh_objects(context, options)

    def hides(modifier: Modifier) -> bool:
        return not options.apply_modifiers and modifier.type != "ARMATURE"

    plan = make_plan(objects, context.scene, options.frames, report)
    with state.hidden_modifiers(objects, hides), progress(len(plan.names)) as shown:
        if plan.scene_frames is None:
            parts = _read(context, objects, report)
            positions = sample(context, parts, plan, shown)
        else:
            with state.kept_frame(context.scene):
                context.scene.frame_set(plan.scene_frames[0])
                parts = _read(context, objects, report)
                positions = sample(context, parts, plan, shown)
    topology = join(parts)
    if plan.may_be_still and (positions == positions[:1]).all():
        plan, positions = frame_plan.still(plan, topology.memory), positions[:1]
    frames = _frames(options.conversion.points(positions), topology, plan, options, report)
    size = options.skin_size
    if not options.force_skin_size:
        size = skin_size(parts, topology.memory, options.skin_size)
    st, triangle_st = texture_coordinates(parts, topology, size)
    return Md2Model(
        skin_width=size[0],
        skin_height=size[1],
        skins=skin_names(parts, topology.memory, report),
        # Beyond 16 bits they are left as they are: the check says so.
        st=st.astype(np.int16) if np.array_equal(st, st.astype(np.int16)) else st,
        triangles=topology.triangles,
        triangle_st=triangle_st,
        scale=frames.scale,
        translate=frames.translate,
        frame_names=plan.names,
        vertices=frames.vertices,
        normals=frames.normals,
    )


def _mesh_objects(context: Context, options: ExportOptions) -> list[Object]:
    objects = collect(context, options.scope)
    meshes = [obj for obj in objects if obj.type == "MESH"]
    if not meshes:
        raise NothingToExportError("there is no mesh to export")
    return meshes


def _read(context: Context, objects: list[Object], report: Report) -> list[Part]:
    depsgraph = context.evaluated_depsgraph_get()
    return [read_part(obj, depsgraph, report) for obj in objects]


def _frames(
    positions: npt.NDArray[np.float64],
    topology: Topology,
    plan: Plan,
    options: ExportOptions,
    report: Report,
) -> FrameData:
    """The frames, as they were where nothing changed."""
    former = is_former = None
    if topology.memory is not None and topology.memory.frames.normals.size:
        is_former = plan.former != NONE
        # What has no former self takes any; it does not agree with it.
        former = topology.memory.frames.take(
            np.maximum(plan.former, 0), np.maximum(topology.former, 0).astype(np.int64)
        )
    frames, same = requantise(
        positions,
        topology.triangles,
        former,
        is_former=is_former,
        keep_normals=topology.is_former,
        shared=options.one_box,
    )
    report.count("unchanged frames", int(same.sum()))
    return frames
