"""File > Export > id Tech 2 MD2 (.md2), and Check for Game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.clips.frame_names import list_of, sequence_names
from ...io_blender.clips.frame_plan import FrameOptions, owner_of_list, sequence_frames
from ...io_blender.operators import animation_list as animation_list_panel
from ...io_blender.operators import file_operators, game_check
from ...io_blender.options import GAME, game_option, mixin_of, option, properties, values_of
from ...io_blender.reports import ExportResult, Job, Report
from ...io_blender.scene.model_objects import find_meshes
from ...io_blender.scene.objects import NothingToExportError, Scope
from ...io_common.texts import UnknownFieldError, counted
from ..exporting.exporter import ExportOptions, export_model, find_game_findings
from ..exporting.sequences import LABELS
from ..format import FRAMES_PER_SECOND, PROFILES, Game, Md2Error
from ..format.sequences import Template, match_template
from ..options import FrameProperties, ModelProperties


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


if TYPE_CHECKING:
    from bpy.types import Context, Event, Object, UILayout

    from ...io_blender.operators.panel_parts import OperatorResult

    class _Options(ModelProperties, FrameProperties):
        """The options of an export."""

else:
    _Options = mixin_of(ModelProperties, FrameProperties, frames={"update": _list_when_chosen})


@properties
class BuildOptions(_Options, file_operators.ModelExport):
    """The properties that decide what is exported, and the options made from them."""

    family, profiles = "md2", PROFILES
    game: str = game_option(PROFILES)

    def converted_objects(self, context: Context) -> list[Object]:
        """The meshes."""
        return exported_meshes(context, self)

    def export_options(self, context: Context) -> ExportOptions:
        """The options of the export."""
        return ExportOptions(
            **values_of(self, ModelProperties),
            **self.shared_options(),
            frames=self._frame_options(context),
            template=Template(self.sequence_template),
            force_skin_size=self.skin_size_from == "CUSTOM",
            game=Game(self.game_or_default()),
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


@properties
class EXPORT_SCENE_OT_md2(BuildOptions, file_operators.ExportFile, bpy.types.Operator):
    """Export meshes as one MD2 model, with frames from shape keys or from the scene"""

    bl_idname = "export_scene.md2"
    bl_label = "Export MD2"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md2"
    bad_data = Md2Error
    filter_glob: str = option("*.md2", options={"HIDDEN"})

    def default_name(self, context: Context) -> str:
        """The name of the imported model that is active or alone, else of the active object."""
        active = find_meshes(context, Scope())[1] or context.view_layer.objects.active
        return active.name if active is not None else ""

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        # A list that was shown before is brought up to date.
        _list_when_chosen(self, context)
        return super().invoke(context, event)

    def save(self, context: Context, path: Path) -> Job[ExportResult]:
        return export_model(context, path, self.export_options(context))

    def draw(self, context: Context) -> None:
        draw_panel, prefix = file_operators.draw_panel, "IO_MD2_export"
        layout = file_operators.panel_layout(self)
        self.draw_game(layout, context)
        game_check.draw_for_export(layout, context, self, OBJECT_OT_md2_check_game)
        layout.prop(self, "frames")
        if self.frames == "LIST":
            self._draw_list(layout, context)
        layout.prop(self, "verify")
        self.draw_include(layout, context, prefix)
        self.draw_transform(layout, prefix)
        body = draw_panel(layout, f"{prefix}_frames", "Frames", self, "frame_step", "frame_rate_from")
        if body:
            if self.frames != "LIST":
                column = body.column()
                column.active = self.frames != "SHAPE_KEYS"
                column.prop(self, "use_frame_range")
                if self.use_frame_range:
                    column.prop(self, "frame_start")
                    column.prop(self, "frame_end")
            file_operators.draw_wide(body, self, "one_box")
        body = draw_panel(layout, f"{prefix}_model", "Model", self, "apply_modifiers")
        if body:
            file_operators.draw_wide(body, self, "split_sharp")
            body.prop(self, "skin_size_from")
            body.prop(self, "skin_size", text="Fallback Size" if self.skin_size_from == "AUTO" else "Size")

    def _draw_list(self, layout: UILayout, context: Context) -> None:
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


@properties
class OBJECT_OT_md2_check_game(BuildOptions, game_check.GameCheck, bpy.types.Operator):
    """List the problems that a game would have with the visible meshes as an MD2 model"""

    bl_idname = "object.md2_check_game"
    bl_label = "Check for Game (MD2)"
    bl_options = {"REGISTER", "UNDO"}
    bad_data = Md2Error

    def draw(self, context: Context) -> None:
        # The other options are those of an export.
        del context
        self.layout.prop(self, "game")

    def find(self, context: Context) -> list[game_check.LocatedFinding]:
        return find_game_findings(context, self.export_options(context))


class DATA_PT_md2_game(game_check.GamePanel, bpy.types.Panel):
    """The check in the properties of a mesh."""

    bl_label = "Game (MD2)"
    check = OBJECT_OT_md2_check_game
    kinds = ("MESH",)
