"""The panel of an imported character, and the operators that switch its skin and its animation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...io_blender import state
from ...io_blender.reports import Report, report_message
from ..animations import animation_names, show_animation, shown_animation
from ..errors import CharacterError
from ..records import SPEED
from ..scene import SceneCharacter, all_meshes, find_character
from ..skins import show_skin, shown_skin, skin_names

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_blender.operators.blender_mixins import OperatorResult

_COLUMN_LENGTH = 24


class OBJECT_OT_idtech_character_skin(bpy.types.Operator):
    """Show a skin of the active character on all its meshes. Without a name, show the materials of the model"""

    bl_idname = "object.idtech_character_skin"
    bl_label = "Show Skin"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        skin: str
    else:
        skin: StringProperty(
            name="Skin", description="Name of the skin; empty for the materials of the model"
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object belongs to a character."""
        return find_character(context) is not None

    def execute(self, context: Context) -> OperatorResult:
        """Switches the skin."""
        found = find_character(context)
        meshes = all_meshes(found) if found is not None else []
        if self.skin and self.skin not in skin_names(meshes):
            known = ", ".join(skin_names(meshes)) or "none"
            report_message(self, "ERROR", f"{self.skin}: the character has no such skin, only: {known}")
            return {"CANCELLED"}
        try:
            show_skin(meshes, self.skin)
        except CharacterError as error:
            report_message(self, "ERROR", str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class OBJECT_OT_idtech_character_animation(bpy.types.Operator):
    """Play an animation of the active character on all its parts, and set the frame range of the scene to it"""

    bl_idname = "object.idtech_character_animation"
    bl_label = "Play Animation"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        animation: str
        use_scene_timing: bool
    else:
        animation: StringProperty(name="Animation", description="Name of the animation in the game")
        use_scene_timing: BoolProperty(
            name="Set Frame Range & Rate",
            description="Set the scene's frame range to that of the animation, and its rate if the game has one for it",
            default=True,
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object belongs to a character."""
        return find_character(context) is not None

    def execute(self, context: Context) -> OperatorResult:
        """Switches the animation."""
        found = find_character(context)
        roots = list(found.roots.values()) if found is not None else []
        actions = show_animation(roots, self.animation)
        if not actions:
            report_message(self, "ERROR", f"{self.animation}: the character has no such animation")
            return {"CANCELLED"}
        if self.use_scene_timing:
            frames = actions[0].frame_range
            state.set_frame_range(context.scene, round(frames[0]), round(frames[1]))
            speed = SPEED.read(actions[0])
            if speed is not None:
                report = Report()
                state.set_frame_rate(context.scene, speed, report)
                for text in report.warnings:
                    report_message(self, "WARNING", text)
        return {"FINISHED"}


class IO_IDTECH_MT_character_animations(bpy.types.Menu):
    """The animations of the active character"""

    bl_idname = "IO_IDTECH_MT_character_animations"
    bl_label = "Animations"

    def draw(self, context: Context) -> None:
        """Draws an entry for each animation, in columns."""
        found = find_character(context)
        names = animation_names(found.roots.values()) if found is not None else []
        row: Any = self.layout.row()
        for first in range(0, len(names), _COLUMN_LENGTH):
            column = row.column()
            for name in names[first : first + _COLUMN_LENGTH]:
                entry = column.operator(OBJECT_OT_idtech_character_animation.bl_idname, text=name)
                entry.animation = name


class IO_IDTECH_PT_character(bpy.types.Panel):
    """The skins and animations of a character that was imported from a game."""

    bl_idname = "IO_IDTECH_PT_character"
    bl_label = "Game Character"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the object belongs to a character."""
        return find_character(context, context.object) is not None

    def draw(self, context: Context) -> None:
        """Draws the skins as buttons, and the animations as a menu."""
        found = find_character(context, context.object)
        if found is not None:
            draw_character(self.layout, found)


def draw_character(layout: Any, found: SceneCharacter) -> None:
    """Draws the skins and animations of a character."""
    character = found.character
    place = f" ({character.declaration.file})" if character.declaration is not None else ""
    layout.label(text=f"{character.name}{place}", icon="OUTLINER_OB_ARMATURE")
    meshes = all_meshes(found)
    names = skin_names(meshes)
    if names:
        shown = shown_skin(meshes)
        column = layout.column(align=True)
        column.label(text="Skin")
        for name in ("", *names):
            button = column.operator(
                OBJECT_OT_idtech_character_skin.bl_idname,
                text=name or "Materials of the Model",
                depress=name == shown,
            )
            button.skin = name
    if animation_names(found.roots.values()):
        row = layout.row()
        row.label(text="Animation")
        row.menu(IO_IDTECH_MT_character_animations.bl_idname, text=shown_animation(found.first) or "Choose…")
    layout.operator("export_scene.idtech_character", icon="EXPORT")
