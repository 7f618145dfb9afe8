"""Check for Game: the problems of an armature, its meshes and actions in a game, without writing a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty

from ...io_common import reports
from ...io_common.operators import game_check, game_option, preferences
from ...io_common.scene.objects import NothingToExportError
from ..format.games import PROFILES, Game
from ..game_findings import find

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_common.operators.blender_mixins import OperatorResult

FAMILY, IDENTIFIER = "MD5", "object.md5_check_game"


class OBJECT_OT_md5_check_game(bpy.types.Operator):
    """List the problems that a game would have with the active armature, its meshes and its actions"""

    bl_idname = IDENTIFIER
    bl_label = "Check for Game (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        game: str
        make_names_safe: bool
    else:
        game: game_option.game_property(PROFILES)
        make_names_safe: BoolProperty(
            name="Make Names Safe",
            description="List names that export replaces as warnings instead of errors",
            default=True,
        )

    def execute(self, context: Context) -> OperatorResult:
        """Checks, and stores the findings for the panel and for scripts."""
        game = Game(game_option.game_or_default(self, preferences.game("md5")))
        try:
            found = find(
                context,
                game,
                make_names_safe=self.make_names_safe,
                folder=_folder(),
                game_folders=tuple(preferences.game_folders()),
            )
        except NothingToExportError as error:
            reports.report_message(self, "ERROR", str(error))
            return {"CANCELLED"}
        label = PROFILES[game].label
        game_check.store(context, FAMILY, label, found)
        game_check.report(self, label, found)
        return {"FINISHED"}


def _folder() -> Path:
    return Path(bpy.path.abspath("//")) if bpy.data.filepath else Path()


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
        game_check.draw(self.layout, context, FAMILY, IDENTIFIER)
