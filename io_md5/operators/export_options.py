"""Options and panels that the exports of meshes and animations share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, FloatProperty, IntProperty

from ...io_common.operators import file_operators, game_option, preferences
from ...io_common.results import ExportResult
from .. import exporter
from ..clips import AnimationOptions
from ..export_build import ModelOptions
from ..format import Md5Error
from ..format.encoding import ORIENTATION_PRECISION, POSITION_PRECISION
from ..format.games import PROFILES, Game
from ..vertex_groups import WeightOptions

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

ACTIONS = (
    ("ACTIVE", "Active Action", "The active action of the armature"),
    (
        "ALL",
        "All Actions",
        "Every action that moves the armature or its bones, a file each, named after the action",
    ),
    ("SCENE", "Scene", "The scene over its range as it plays: constraints, IK, drivers, NLA"),
)


class ExportOptions(file_operators.ExportFile, file_operators.ExportScope, file_operators.ExportVerify):
    """Properties of an export operator, and the options that they stand for."""

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
        description="Put a joint named origin above several roots, or above one that is not there. Doom 3 wants one "
        "root, at the origin",
        default=False,
    )
    max_influences: IntProperty(
        name="Max Weights",
        description="How many weights a vertex may have; the largest are kept. 0 keeps all, Doom 3 BFG uses 4",
        default=0,
        min=0,
        soft_max=8,
    )
    min_weight: FloatProperty(
        name="Min Weight",
        description="Leave out smaller weights",
        default=0.0,
        min=0.0,
        max=1.0,
        precision=4,
    )
    game: game_option.game_property(PROFILES)
    make_names_safe: BoolProperty(
        name="Make Names Safe",
        description="Replace names of joints that the game cannot take, alike in mesh and animations. Off, they are "
        "errors",
        default=True,
    )
    frame_step: IntProperty(
        name="Frame Step", description="Export every N-th frame", default=1, min=1, soft_max=10
    )
    frame_rate: FloatProperty(
        name="Frame Rate",
        description="Frames per second to sample at, before every N-th is taken; "
        "0 for the action's own, else the scene's",
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

    def default_game(self) -> str:
        """The one of the preferences."""
        return preferences.md5_game()

    def model_options(self) -> ModelOptions:
        """The options of the model."""
        operator: Any = self
        return ModelOptions(
            scope=self.scope(),
            conversion=self.conversion(),
            apply_modifiers=operator.apply_modifiers,
            deform_only=operator.deform_only,
            add_origin=operator.add_origin,
            weights=WeightOptions(operator.max_influences, operator.min_weight),
            game=Game(game_option.chosen(self, self.default_game())),
            make_names_safe=operator.make_names_safe,
            verify=self.verification(),
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

    def run(
        self, context: Context, export: Callable[[Context, Path, exporter.ExportOptions], ExportResult]
    ) -> set[str]:
        """Runs an export with the operator's options and tells the user how it went.

        Args:
            context: the operator's.
            export: `export_mesh` or `export_animations`.
        """
        operator: Any = self

        def job() -> file_operators.Outcome:
            options = exporter.ExportOptions(self.model_options(), operator.actions, self.animation_options())
            result = export(context, self.path(), options)
            return result.report, result.paths

        return file_operators.run(self, "Exported", Md5Error, job)

    def draw_panels(self, context: Context, prefix: str) -> None:
        """Draws the panels of the file browser, or of a collection's exporter."""
        layout = file_operators.begin(self)
        self.draw_include(layout, context, prefix)
        self.draw_transform(layout, prefix)
        _game(layout, self, prefix)
        _mesh(layout, self, prefix)
        _armature(layout, self, prefix)
        _animation(layout, self, prefix)
        layout.prop(self, "verify")


def armature_of(context: Context) -> Any:
    """The active armature, or that of the active mesh, or the first one; None if there is none."""
    objects = context.view_layer.objects
    active = objects.active
    if active is not None and active.type == "MESH":
        active = active.find_armature()
    if active is None or active.type != "ARMATURE":
        active = next((obj for obj in objects if obj.type == "ARMATURE"), None)
    return active


def _game(layout: UILayout, operator: Any, prefix: str) -> None:
    header, body = layout.panel(f"{prefix}_game")
    header.label(text="Game")
    if body:
        body.prop(operator, "game")
        body.prop(operator, "make_names_safe")


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
