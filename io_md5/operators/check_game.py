"""Check for Game: the problems of an armature, its meshes and actions in a game, without writing a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...io_blender import reports
from ...io_blender.operators import game_check
from ...io_blender.scene.objects import NothingToExportError
from ...io_common.error_messages import message_for
from ..exporting.build import ExportOptions
from ..exporting.game import find
from ..format import Md5Error
from ..format.games import PROFILES
from .export_options import ACTIONS, CHECK, FAMILY, BuildOptions

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_blender.operators.blender_mixins import OperatorResult


class OBJECT_OT_md5_check_game(BuildOptions, game_check.GameCheck, bpy.types.Operator):
    """List the problems that a game would have with the active armature, its meshes and its actions"""

    bl_idname = CHECK
    bl_label = "Check for Game (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        actions: str
        has_mesh: bool
    else:
        actions: EnumProperty(
            name="Actions",
            description="Animations to check",
            items=(("NONE", "None", "Check no animations"), *ACTIONS),
            default="ALL",
        )
        has_mesh: BoolProperty(
            name="Mesh",
            description="Check the mesh too, not only animations",
            default=True,
            options={"HIDDEN", "SKIP_SAVE"},
        )

    def draw(self, context: Context) -> None:
        """Draws the game and how it is checked: the other options are those of an export."""
        del context
        layout: Any = self.layout
        layout.prop(self, "game")
        layout.prop(self, "make_names_safe")

    def execute(self, context: Context) -> OperatorResult:
        """Checks, and stores the findings for the panel and for scripts."""
        options = ExportOptions(
            self.model_options(), self.actions, self.animation_options(), self.match_companion
        )
        path = Path(bpy.path.abspath(self.filepath)) if self.filepath else None
        try:
            found = find(context, options, path=path, has_mesh=self.has_mesh)
        except (NothingToExportError, Md5Error, OSError, MemoryError) as error:
            message = message_for(error, (NothingToExportError, Md5Error))
            reports.report_message(self, "ERROR", message)
            return {"CANCELLED"}
        label = PROFILES[options.model.game].label
        game_check.store(context, FAMILY, label, found, game_check.options_key(self))
        game_check.report(self, label, found)
        return {"FINISHED"}


class DATA_PT_md5_game(bpy.types.Panel):
    """The check in the properties of an armature or a mesh."""

    bl_label = "Game (MD5)"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is an armature or a mesh."""
        return context.object is not None and context.object.type in ("ARMATURE", "MESH")

    def draw(self, context: Context) -> None:
        """Draws the check and its findings."""
        game_check.draw(self.layout, context, FAMILY, CHECK)
