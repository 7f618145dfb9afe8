"""The list of a game's characters in the dialog of the import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...io_common.catalogue import CatalogueEntry, Kind
from ...io_common.operators.row_list import RowList
from ...io_common.reports import printable

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_ICONS = {
    Kind.ENTITY: "OUTLINER_OB_ARMATURE",
    Kind.MODEL: "ARMATURE_DATA",
    Kind.PLAYER: "OUTLINER_OB_ARMATURE",
    Kind.CONFIG: "ARMATURE_DATA",
    Kind.LOOSE: "MESH_DATA",
}
_MESHES_WIDTH, _ANIMATIONS_WIDTH = 0.2, 0.65


class IO_IDTECH_PG_character(bpy.types.PropertyGroup):
    """A character, model or player of a game."""

    if TYPE_CHECKING:
        name: str
        kind: str
        path: str
        meshes: str
        animations: str
        skins: str
        is_missing: bool
    else:
        name: StringProperty(name="Name", description="Name of the entity, model, player or file")
        kind: StringProperty(name="Kind", description="What declares it")
        path: StringProperty(name="Path", description="File or folder in the game")
        meshes: StringProperty(name="Meshes", description="Model files found and missing")
        animations: StringProperty(name="Animations", description="Animations found and missing")
        skins: StringProperty(name="Skins", description="Skins found and missing")
        is_missing: BoolProperty(name="Missing", description="Files that it names are missing")


class IO_IDTECH_UL_characters(RowList, bpy.types.UIList):
    """The list of characters of a game."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        """Draws one character with its counts."""
        del index
        split = layout.split(factor=0.5)
        split.label(text=item.name, icon=_ICONS.get(item.kind, "DOT"))
        numbers = split.split(factor=_MESHES_WIDTH)
        numbers.label(text=item.meshes)
        numbers = numbers.split(factor=_ANIMATIONS_WIDTH)
        numbers.label(text=item.animations)
        numbers.label(text=item.skins)

    def filter_items(self, context: Context, data: Any, attribute: str) -> Any:
        """The flags of the items: shown are those with all words of the search in their name, path or kind."""
        del context
        words = data.search.lower().split()
        shown = [
            self.bitflag_filter_item
            if all(word in f"{item.name} {item.path} {item.kind}".lower() for word in words)
            else 0
            for item in getattr(data, attribute)
        ]
        return shown, []

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """Draws nothing: the search is an option of the operator."""


def draw_heading(layout: Any) -> None:
    """Draws the titles of the columns."""
    heading = layout.split(factor=0.5)
    heading.label(text="Name")
    heading = heading.split(factor=_MESHES_WIDTH)
    heading.label(text="Meshes")
    heading = heading.split(factor=_ANIMATIONS_WIDTH)
    heading.label(text="Animations")
    heading.label(text="Skins")


def fill_row(item: Any, entry: CatalogueEntry) -> None:
    """Shows an entry in a row."""
    item.name = printable(entry.name)
    item.kind, item.path = entry.kind.value, printable(entry.path)
    item.meshes, item.animations, item.skins = str(entry.meshes), str(entry.animations), str(entry.skins)
    item.is_missing = bool(entry.meshes.missing or entry.animations.missing or entry.skins.missing)
