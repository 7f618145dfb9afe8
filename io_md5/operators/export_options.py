"""Options and panels that the exports of meshes and animations share."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...io_common import axes, panels, reports
from ...io_common.scene_objects import NothingToExportError
from ..export_anim import AnimationOptions
from ..export_mesh import WeightOptions
from ..exporter import ModelOptions, Scope
from ..format import Md5Error
from ..format.check import Game
from ..format.encoding import ORIENTATION_PRECISION, POSITION_PRECISION

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

ACTIONS = (
    ("ACTIVE", "Active Action", "The active action of the armature"),
    (
        "ALL",
        "All Actions",
        "Every action that moves bones of the armature, a file each, named after the action",
    ),
    ("SCENE", "Scene", "The scene over its range as it plays: constraints, IK, drivers, NLA"),
)


class ExportOptions:
    """Properties of an export operator, and the options that they stand for."""

    use_selection: BoolProperty(
        name="Selected Only",
        description="Export the selected armature with the selected meshes; with an armature alone, all its meshes",
        default=False,
    )
    use_active_collection: BoolProperty(
        name="Active Collection", description="Export only what is in the active collection", default=False
    )
    collection: StringProperty(
        name="Source Collection",
        description="Export only what is in the collection of this name",
        default="",
        options={"HIDDEN"},
    )
    global_scale: FloatProperty(
        name="Scale",
        description="Factor of all lengths",
        default=1.0,
        min=1e-6,
        max=1e6,
        soft_min=0.001,
        soft_max=1000.0,
    )
    apply_modifiers: BoolProperty(
        name="Apply Modifiers",
        description="Export the meshes as modifiers other than the Armature make them",
        default=True,
    )
    deform_only: BoolProperty(
        name="Deform Bones Only", description="Leave out bones that do not deform", default=False
    )
    add_origin: BoolProperty(
        name="Add Origin",
        description="Put a joint named origin above several roots, as Doom 3 wants one root",
        default=False,
    )
    max_influences: IntProperty(
        name="Weights per Vertex",
        description="Keep the largest so many weights of a vertex; 0 keeps all, Doom 3 BFG uses 4",
        default=0,
        min=0,
        soft_max=8,
    )
    min_weight: FloatProperty(
        name="Smallest Weight",
        description="Leave out smaller weights",
        default=0.0,
        min=0.0,
        max=1.0,
        precision=4,
    )
    game: EnumProperty(
        name="Game",
        description="Whose limits count: what the game would refuse is an error",
        items=(
            (Game.ANY.value, "Any", "Only what no game could read is an error"),
            (Game.DOOM3.value, "Doom 3", "Doom 3, Prey, Quake 4 and their kin"),
            (
                Game.DOOM3_BFG.value,
                "Doom 3 BFG",
                "Doom 3 BFG Edition: fewer than 256 joints, 4 weights per vertex",
            ),
            (Game.QUAKE.value, "Quake re-release", "The re-releases of Quake and Quake II"),
            (Game.SAUERBRATEN.value, "Sauerbraten", "Sauerbraten, Red Eclipse and their kin"),
        ),
        default=Game.ANY.value,
    )
    frame_step: IntProperty(
        name="Frame Step", description="Export every so manieth frame", default=1, min=1, soft_max=10
    )
    frame_rate: FloatProperty(
        name="Frame Rate",
        description="Frames per second of the file, sampled anew; 0 for the action's own, else the scene's",
        default=0.0,
        min=0.0,
        soft_max=120.0,
    )
    position_precision: FloatProperty(
        name="Position Precision",
        description="Units that a joint may be off by. A position that changes by less is not animated; "
        "id's exporter has 0.125",
        default=POSITION_PRECISION,
        min=0.0,
        soft_max=0.125,
        precision=6,
    )
    orientation_precision: FloatProperty(
        name="Orientation Precision",
        description="What the quaternion of a joint may be off by. One that changes by less is not animated; "
        "id's exporter has 0.000122",
        default=ORIENTATION_PRECISION,
        min=0.0,
        soft_max=0.001,
        precision=7,
    )

    def model_options(self) -> ModelOptions:
        """The options of the model."""
        operator: Any = self
        return ModelOptions(
            scope=Scope(operator.use_selection, operator.use_active_collection, operator.collection),
            conversion=axes.exporting(operator.global_scale, operator.axis_forward, operator.axis_up),
            apply_modifiers=operator.apply_modifiers,
            deform_only=operator.deform_only,
            add_origin=operator.add_origin,
            weights=WeightOptions(operator.max_influences, operator.min_weight),
            game=Game(operator.game),
        )

    def animation_options(self) -> AnimationOptions:
        """The options of animations."""
        operator: Any = self
        return AnimationOptions(
            frame_step=operator.frame_step,
            frame_rate=operator.frame_rate,
            position_precision=operator.position_precision,
            orientation_precision=operator.orientation_precision,
        )


def run(operator: Any, context: Context, export: Callable[..., list[Path]]) -> set[str]:
    """Runs an export with an operator's options and tells the user how it went.

    Args:
        operator: with the properties of `ExportOptions`.
        context: the operator's.
        export: `export_model` or `export_animations`.
    """
    started = time.perf_counter()
    report = reports.Report()
    path = Path(bpy.path.abspath(operator.filepath))
    try:
        written = export(
            context, path, operator.model_options(), operator.actions, operator.animation_options(), report
        )
    except (Md5Error, NothingToExportError, OSError) as error:
        reports.tell(operator, "ERROR", str(error))
        return {"CANCELLED"}
    reports.deliver(
        operator, report, "Exported", reports.listing([file.name for file in written], 2), started
    )
    return {"FINISHED"}


def draw_panels(operator: Any, context: Context, prefix: str) -> None:
    """Draws the panels of the file browser, or of a collection's exporter."""
    layout = operator.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    if context.space_data is not None and context.space_data.type == "FILE_BROWSER":
        # A collection's own exporter has no choice.
        _include(layout, operator, prefix)
    panels.transform(layout, operator, prefix)
    _mesh(layout, operator, prefix)
    _armature(layout, operator, prefix)
    _animation(layout, operator, prefix)


def _include(layout: UILayout, operator: Any, prefix: str) -> None:
    header, body = layout.panel(f"{prefix}_include")
    header.label(text="Include")
    if body:
        body.prop(operator, "use_selection")
        body.prop(operator, "use_active_collection")


def _mesh(layout: UILayout, operator: Any, prefix: str) -> None:
    header, body = layout.panel(f"{prefix}_mesh")
    header.label(text="Mesh")
    if body:
        body.prop(operator, "apply_modifiers")
        body.prop(operator, "max_influences")
        body.prop(operator, "min_weight")


def _armature(layout: UILayout, operator: Any, prefix: str) -> None:
    header, body = layout.panel(f"{prefix}_armature")
    header.label(text="Armature")
    if body:
        body.prop(operator, "deform_only")
        body.prop(operator, "add_origin")
        body.prop(operator, "game")


def _animation(layout: UILayout, operator: Any, prefix: str) -> None:
    header, body = layout.panel(f"{prefix}_animation")
    header.label(text="Animation")
    if body:
        body.prop(operator, "actions")
        sampling = body.column()
        sampling.active = operator.actions != "NONE"
        sampling.prop(operator, "frame_step")
        sampling.prop(operator, "frame_rate")
        sampling.prop(operator, "position_precision")
        sampling.prop(operator, "orientation_precision")
