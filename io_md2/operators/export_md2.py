"""File > Export > id Tech 2 MD2 (.md2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, IntVectorProperty, StringProperty

from ...io_common.operators import blender_mixins, file_operators, game_check, game_option, preferences
from ...io_common.scene.frame_plan import FrameOptions
from ..exporter import DEFAULT_SKIN_SIZE, ExportOptions, export_model
from ..format import PROFILES, Game, Md2Error
from . import check_game

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

    from ...io_common.operators.blender_mixins import OperatorResult


class EXPORT_SCENE_OT_md2(
    file_operators.ExportFile, file_operators.ExportScope, file_operators.ExportVerify, bpy.types.Operator
):
    """Export meshes as one MD2 model, with frames from shape keys or from the scene"""

    bl_idname = "export_scene.md2"
    bl_label = "Export MD2"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md2"
    if TYPE_CHECKING:
        filter_glob: str
        apply_modifiers: bool
        frames: str
        frame_step: int
        use_frame_range: bool
        frame_start: int
        frame_end: int
        one_box: bool
        skin_size_from: str
        skin_size: tuple[int, int]
        game: str
    else:
        filter_glob: StringProperty(default="*.md2", options={"HIDDEN"})

        apply_modifiers: BoolProperty(
            name="Apply Modifiers",
            description="Export meshes with modifiers applied. Armature modifiers are always applied",
            default=True,
        )
        frames: EnumProperty(
            name="Frames",
            description="Source of the frames",
            items=(
                (
                    "AUTO",
                    "Automatic",
                    "The frames of an imported MD2 or armature action as they play now; "
                    "else shape keys if nothing else is animated; else the scene",
                ),
                ("SHAPE_KEYS", "Shape Keys", "Export each shape key as a frame"),
                (
                    "SCENE",
                    "Scene Playback",
                    "Export the frame range of the scene, with armatures, modifiers and caches",
                ),
            ),
            default="AUTO",
        )
        frame_step: IntProperty(
            name="Frame Step",
            description="Export every N-th frame of the scene",
            default=1,
            min=1,
            soft_max=10,
        )
        use_frame_range: BoolProperty(
            name="Custom Range",
            description="Export other frames than those of the scene's range",
            default=False,
        )
        frame_start: IntProperty(
            name="Start",
            description="First frame. Setting it in a script enables the custom range",
            default=0,
        )
        frame_end: IntProperty(
            name="End", description="Last frame. Setting it in a script enables the custom range", default=0
        )
        one_box: BoolProperty(
            name="Shared Grid",
            description="Round the vertices of all frames to the same grid, so that parts that do not move stay still. "
            "It is coarser than a grid for each frame",
            default=False,
        )
        skin_size_from: EnumProperty(
            name="Skin Size",
            description="Source of the skin size. Texture coordinates are stored in pixels of the skin",
            items=(
                (
                    "AUTO",
                    "Automatic",
                    "Size of the material's image; else of the imported file; else the size below",
                ),
                ("CUSTOM", "Custom", "Size below"),
            ),
            default="AUTO",
        )
        skin_size: IntVectorProperty(
            name="Size",
            description="Width and height of the skin, in pixels",
            size=2,
            default=DEFAULT_SKIN_SIZE,
            min=1,
            soft_max=1024,
        )
        game: game_option.game_property(PROFILES)

    def default_game(self) -> str:
        """The default game in the preferences."""
        return preferences.game("md2")

    def default_name(self, context: Context) -> str:
        """The name of the active object."""
        active = context.view_layer.objects.active
        return active.name if active is not None else ""

    def execute(self, context: Context) -> OperatorResult:
        """Exports the file."""
        return file_operators.run(self, "Exported", Md2Error, lambda: self._export(context))

    def draw(self, context: Context) -> None:
        """Draws the options in the file browser or in a collection exporter."""
        layout = file_operators.panel_layout(self)
        self.draw_include(layout, context, "IO_MD2_export")
        self.draw_transform(layout, "IO_MD2_export")
        self._draw_frames(layout)
        self._draw_model(layout, context)

    def _export(self, context: Context) -> file_operators.Outcome:
        result = export_model(context, self.path(), self._options(context))
        return result.report, result.paths

    def _draw_frames(self, layout: UILayout) -> None:
        header, body = blender_mixins.panel(layout, "IO_MD2_export_frames")
        header.label(text="Frames")
        if not body:
            return
        body.prop(self, "frames")
        column = body.column()
        column.active = self.frames != "SHAPE_KEYS"
        column.prop(self, "frame_step")
        column.prop(self, "use_frame_range")
        if self.use_frame_range:
            column.prop(self, "frame_start")
            column.prop(self, "frame_end")
        body.prop(self, "one_box")

    def _draw_model(self, layout: UILayout, context: Context) -> None:
        header, body = blender_mixins.panel(layout, "IO_MD2_export_model")
        header.label(text="Model")
        if body:
            body.prop(self, "apply_modifiers")
            body.prop(self, "skin_size_from")
            fallback = "Fallback Size" if self.skin_size_from == "AUTO" else "Size"
            body.prop(self, "skin_size", text=fallback)
            body.prop(self, "game")
            game = Game(game_option.game_or_default(self, self.default_game()))
            game_check.draw_for_export(
                body, context, check_game.FAMILY, check_game.IDENTIFIER, game.value, PROFILES[game].label
            )
            body.prop(self, "verify")

    def _options(self, context: Context) -> ExportOptions:
        return ExportOptions(
            scope=self.scope(),
            apply_modifiers=self.apply_modifiers,
            frames=FrameOptions(self.frames, self.frame_step, self._frame_range(context)),
            one_box=self.one_box,
            skin_size=tuple(self.skin_size),
            force_skin_size=self.skin_size_from == "CUSTOM",
            game=Game(game_option.game_or_default(self, self.default_game())),
            verify=self.verification(),
            conversion=self.conversion(),
            game_folders=tuple(preferences.game_folders()),
        )

    def _frame_range(self, context: Context) -> tuple[int, int] | None:
        """The custom range, with the scene's start or end for what a script has not set; None for the scene's range."""
        has_start, has_end = (self.properties.is_property_set(name) for name in ("frame_start", "frame_end"))
        if self.use_frame_range:
            return self.frame_start, self.frame_end
        if self.properties.is_property_set("use_frame_range") or not (has_start or has_end):
            return None
        scene = context.scene
        return (
            self.frame_start if has_start else scene.frame_start,
            self.frame_end if has_end else scene.frame_end,
        )
