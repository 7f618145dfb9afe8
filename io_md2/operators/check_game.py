"""Check for Game: the problems of the visible meshes as an MD2 model in a game, without writing a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...io_common import reports
from ...io_common.operators import game_check, game_option, preferences
from ...io_common.scene.objects import NothingToExportError
from ..format import PROFILES, Game, Md2Error
from ..game_findings import find

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_common.operators.blender_mixins import OperatorResult

FAMILY, IDENTIFIER = "MD2", "object.md2_check_game"


class OBJECT_OT_md2_check_game(bpy.types.Operator):
    """List the problems that a game would have with the visible meshes as an MD2 model"""

    bl_idname = IDENTIFIER
    bl_label = "Check for Game (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        game: str
    else:
        game: game_option.game_property(PROFILES)

    def execute(self, context: Context) -> OperatorResult:
        """Checks, and stores the findings for the panel and for scripts."""
        game = Game(game_option.game_or_default(self, preferences.game("md2")))
        try:
            found = find(context, game, tuple(preferences.game_folders()))
        except (NothingToExportError, Md2Error) as error:
            reports.report_message(self, "ERROR", str(error))
            return {"CANCELLED"}
        label = PROFILES[game].label
        game_check.store(context, FAMILY, label, found)
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
        game_check.draw(self.layout, context, FAMILY, IDENTIFIER)
