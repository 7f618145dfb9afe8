"""Check for Game: the problems of an MD2 model in a game, without writing a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender import reports
from ...io_blender.operators import game_check
from ...io_blender.scene.objects import NothingToExportError
from ...io_common.error_messages import message_for
from ..exporting.exporter import find_game_findings
from ..format import PROFILES, Md2Error
from .export_md2 import CHECK, FAMILY, BuildOptions

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_blender.operators.blender_mixins import OperatorResult


class OBJECT_OT_md2_check_game(BuildOptions, game_check.GameCheck, bpy.types.Operator):
    """List the problems that a game would have with the visible meshes as an MD2 model"""

    bl_idname = CHECK
    bl_label = "Check for Game (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    def draw(self, context: Context) -> None:
        """Draws the game alone: the other options are those of an export."""
        del context
        layout: Any = self.layout
        layout.prop(self, "game")

    def execute(self, context: Context) -> OperatorResult:
        """Checks, and stores the findings for the panel and for scripts."""
        options = self.export_options(context)
        try:
            found = find_game_findings(context, options)
        except (NothingToExportError, Md2Error, OSError, MemoryError) as error:
            message = message_for(error, (NothingToExportError, Md2Error))
            reports.report_message(self, "ERROR", message)
            return {"CANCELLED"}
        label = PROFILES[options.game].label
        game_check.store(context, FAMILY, label, found, game_check.options_key(self))
        game_check.report(self, label, found)
        return {"FINISHED"}


class DATA_PT_md2_game(bpy.types.Panel):
    """The check in the properties of a mesh."""

    bl_label = "Game (MD2)"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is a mesh."""
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context: Context) -> None:
        """Draws the check and its findings."""
        game_check.draw(self.layout, context, FAMILY, CHECK)
