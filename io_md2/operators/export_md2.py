"""File > Export > id Tech 2 MD2 (.md2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, IntVectorProperty, StringProperty

from ...io_blender.clips.frame_plan import FrameOptions
from ...io_blender.clips.listed_frames import owner_of_list, sequence_frames
from ...io_blender.operators import animation_list as animation_list_panel
from ...io_blender.operators import blender_mixins, file_operators, game_check, game_option, preferences
from ...io_blender.operators.frame_rate_option import GAME, frame_rate_property
from ...io_blender.reports import Report
from ...io_blender.scene.objects import NothingToExportError, Scope
from ...io_common.counting import counted
from ...io_common.name_patterns import UnknownFieldError
from ..exporting.exporter import DEFAULT_SKIN_SIZE, ExportOptions, export_model
from ..exporting.listed_sequences import LABELS, list_of
from ..exporting.objects import find_meshes
from ..format import FRAMES_PER_SECOND, PROFILES, Game, Md2Error
from ..format.sequences import Template, match_template
from ..importing.sequence_names import sequence_names

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout

    from ...io_blender.operators.blender_mixins import OperatorResult

FAMILY, CHECK = "MD2", "object.md2_check_game"


def exported_meshes(context: Context, operator: Any) -> list[Object]:
    """The meshes that an export operator would export; `operator` may also be the operator's properties."""
    try:
        return find_meshes(context, animation_list_panel.scope_of_panel(context, operator))[0]
    except NothingToExportError:
        return []


def _list_when_chosen(operator: Any, context: Context) -> None:
    """Lists the animations when the user chooses to select them; scripts have no panel that shows them."""
    if operator.frames == "LIST" and context.space_data is not None:
        objects = exported_meshes(context, operator)
        animation_list_panel.update(owner_of_list(objects) if objects else None, context.scene)


class BuildOptions(file_operators.ExportTransform, file_operators.ExportScope, file_operators.ExportVerify):
    """The properties that decide what is exported, and the options made from them."""

    if TYPE_CHECKING:
        apply_modifiers: bool
        frames: str
        sequence_template: str
        frame_step: int
        frame_rate_from: str
        use_frame_range: bool
        frame_start: int
        frame_end: int
        split_sharp: bool
        one_box: bool
        skin_size_from: str
        skin_size: tuple[int, int]
        game: str
    else:
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
                    "LIST",
                    "Choose",
                    "Export the animations that are checked in the list, one sequence after the other: actions, "
                    "NLA strips, or ranges between markers",
                ),
                (
                    "SCENE",
                    "Scene Playback",
                    "Export the frame range of the scene, with armatures, modifiers and caches",
                ),
            ),
            default="AUTO",
            update=_list_when_chosen,
        )
        sequence_template: EnumProperty(
            name="Template",
            description="The sequences that a game expects. They are written in its order, and what is missing or has "
            "another number of frames is an error. Used with Choose",
            items=(
                (Template.NONE.value, "None", "Any sequences, in the order of the list"),
                (
                    Template.QUAKE2_PLAYER.value,
                    "Quake II Player",
                    "The 20 sequences of a player model in Quake II, 198 frames: stand, run, attack, pain1 to death3",
                ),
            ),
            default=Template.NONE.value,
        )
        frame_step: IntProperty(
            name="Frame Step",
            description="Export every N-th frame or shape key",
            default=1,
            min=1,
            soft_max=10,
        )
        frame_rate_from: frame_rate_property(
            "Frame for frame: the game shows 10 of them a second, whatever the scene plays", GAME
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
        split_sharp: BoolProperty(
            name="Split at Sharp Edges",
            description="Make a vertex for each side of sharp edges and flat faces, so that games shade them as "
            "Blender does. Quake II takes 2,048 vertices",
            default=False,
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

    def converted_objects(self, context: Context) -> list[Object]:
        """The meshes."""
        return exported_meshes(context, self)

    def default_game(self) -> str:
        """The default game in the preferences."""
        return preferences.game("md2")

    def export_options(self, context: Context) -> ExportOptions:
        """The options of the export."""
        return ExportOptions(
            scope=self.scope(),
            apply_modifiers=self.apply_modifiers,
            frames=self._frame_options(context),
            template=Template(self.sequence_template),
            split_sharp=self.split_sharp,
            one_box=self.one_box,
            skin_size=tuple(self.skin_size),
            force_skin_size=self.skin_size_from == "CUSTOM",
            game=Game(game_option.game_or_default(self, self.default_game())),
            verify=self.verification(),
            conversion=self.conversion(),
            game_folders=tuple(preferences.game_folders()),
        )

    def _frame_options(self, context: Context) -> FrameOptions:
        game_rate = FRAMES_PER_SECOND if self.frame_rate_from == GAME else 0.0
        return FrameOptions(self.frames, self.frame_step, self._frame_range(context), game_rate)

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


class EXPORT_SCENE_OT_md2(BuildOptions, file_operators.ExportFile, bpy.types.Operator):
    """Export meshes as one MD2 model, with frames from shape keys or from the scene"""

    bl_idname = "export_scene.md2"
    bl_label = "Export MD2"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md2"
    if TYPE_CHECKING:
        filter_glob: str
    else:
        filter_glob: StringProperty(default="*.md2", options={"HIDDEN"})

    def default_name(self, context: Context) -> str:
        """The name of the imported model that is active or alone, else of the active object."""
        active = find_meshes(context, Scope())[1] or context.view_layer.objects.active
        return active.name if active is not None else ""

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        """Opens the file browser; a list of animations that was shown before is brought up to date."""
        _list_when_chosen(self, context)
        return super().invoke(context, event)

    def execute(self, context: Context) -> OperatorResult:
        """Exports the file."""
        return file_operators.run(self, "Exported", Md2Error, lambda: self._export(context))

    def draw(self, context: Context) -> None:
        """Draws the options in the file browser or in a collection exporter."""
        layout = file_operators.panel_layout(self)
        self.draw_include(layout, context, "IO_MD2_export")
        self.draw_transform(layout, "IO_MD2_export")
        self._draw_frames(layout, context)
        self._draw_model(layout, context)

    def _export(self, context: Context) -> file_operators.Outcome:
        result = export_model(context, self.path(), self.export_options(context))
        return result.report, result.paths

    def _draw_frames(self, layout: UILayout, context: Context) -> None:
        header, body = blender_mixins.panel(layout, "IO_MD2_export_frames")
        header.label(text="Frames")
        if not body:
            return
        body.prop(self, "frames")
        if self.frames == "LIST":
            self._draw_list(body, context)
        body.prop(self, "frame_step")
        body.prop(self, "frame_rate_from")
        column = body.column()
        column.active = self.frames != "SHAPE_KEYS"
        if self.frames != "LIST":
            self._draw_range(column)
        body.prop(self, "one_box")

    def _draw_range(self, column: UILayout) -> None:
        column.prop(self, "use_frame_range")
        if self.use_frame_range:
            column.prop(self, "frame_start")
            column.prop(self, "frame_end")

    def _draw_list(self, layout: UILayout, context: Context) -> None:
        """The list of animations to choose from, and what is missing for the template."""
        objects = exported_meshes(context, self)
        if not objects:
            layout.label(text="There is no mesh to export", icon="INFO")
            return
        layout.prop(self, "sequence_template")
        found = list_of(objects, context.scene)
        options = self._frame_options(context)
        frames = [len(sequence_frames(row.animation, options, found.scene)) for row in found.rows]
        try:
            names = sequence_names([found.name(row) for row in found.rows], Report())
            error = ""
        except UnknownFieldError as problem:
            names, error = [row.animation.name for row in found.rows], str(problem)
        shown = [
            animation_list_panel.Shown(*parts)
            for parts in zip(frames, (None,) * len(names), names, strict=True)
        ]
        animation_list_panel.draw(layout, found, shown)
        chosen = [
            (name, count)
            for row, name, count in zip(found.rows, names, frames, strict=True)
            if row.is_checked
        ]
        total = sum(count for _, count in chosen)
        layout.label(text=f"{counted(total, 'frames')} in {counted(len(chosen), 'sequences')}", icon="INFO")
        path = file_operators.chosen_path(context, self)
        if path.exists():
            layout.label(text=f"Replaces {path.name}", icon="FILE_REFRESH")
        template = Template(self.sequence_template)
        problems = match_template(template, chosen).problems
        animation_list_panel.draw_problems(layout, "", [error] if error else [])
        animation_list_panel.draw_problems(layout, f"Not yet a {LABELS[template]}:", problems)

    def _draw_model(self, layout: UILayout, context: Context) -> None:
        header, body = blender_mixins.panel(layout, "IO_MD2_export_model")
        header.label(text="Model")
        if body:
            body.prop(self, "apply_modifiers")
            file_operators.draw_wide(body, self, "split_sharp")
            body.prop(self, "skin_size_from")
            fallback = "Fallback Size" if self.skin_size_from == "AUTO" else "Size"
            body.prop(self, "skin_size", text=fallback)
            body.prop(self, "game")
            game = Game(game_option.game_or_default(self, self.default_game()))
            game_check.draw_for_export(body, context, self, CHECK, game.value, PROFILES[game].label)
            body.prop(self, "verify")
