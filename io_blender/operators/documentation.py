"""The documentation in Blender: a button that opens the help pages, and links for *Online Manual*.

The pages are HTML files in the folder ``help``, made by ``python tools/help_pages.py`` or ``python run.py build``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, UILayout

from ...io_common.family import Family
from ..options import option, properties

FOLDER = Path(__file__).resolve().parents[2] / "help"  # the folder of the pages
START = "index.html"

_LIST_OPERATORS = ("list_animations", "check_animations", "move_animation")

# The page of each operator, by its identifier for Python (`import_scene.md5`).
_pages: dict[str, str] = {}


@properties
class WM_OT_io_idtech_help(bpy.types.Operator):
    """Open the documentation of the id Tech formats in the web browser. No network is needed"""

    bl_idname = "wm.io_idtech_help"
    bl_label = "Documentation"
    bl_options = {"INTERNAL"}

    page: str = option(START, "Page", "File name of the page", options={"SKIP_SAVE"})

    def execute(self, context: Context) -> Any:
        page = FOLDER / self.page
        if not page.is_file() or not page.resolve().is_relative_to(FOLDER.resolve()):
            self.report({"ERROR"}, "The help page was not found. Install the add-on from its zip again")
            return {"CANCELLED"}
        # A browser may not open.
        self.report({"INFO"}, f"Documentation: {page}")
        if bpy.app.background:
            return {"FINISHED"}
        return bpy.ops.wm.url_open(url=page.as_uri())


def draw_button(layout: UILayout, page: str = START) -> None:
    """Draws the button *Documentation*, which opens the page with a file name."""
    row = layout.row()
    row.alignment = "RIGHT"
    row.operator(WM_OT_io_idtech_help.bl_idname, icon="HELP").page = page


def page_of(identifier: str) -> str:
    """The page of an operator, `IMPORT_SCENE_OT_md5` or `import_scene.md5`, such as ``md5.html``."""
    module, separator, name = identifier.partition("_OT_")
    return _pages.get(f"{module.lower()}.{name}" if separator else identifier, START)


def add_page(identifier: str, page: str) -> None:
    """Adds the page of an operator that belongs to no family, by its identifier for Python."""
    _pages[identifier] = page


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The pages of the operators and their options, for *Online Manual* in context menus and F1."""
    # Blender looks up an option by the name of its operator, in lower case.
    return f"{FOLDER.as_uri()}/", tuple((f"bpy.ops.{name.lower()}", page) for name, page in _pages.items())


def register(families: Sequence[Family]) -> None:
    """Registers the links: a page for each family; Check for Game is on the page on games."""
    for family in families:
        part = family.blender()
        for cls in part.classes:
            if issubclass(cls, bpy.types.Operator):
                is_check = cls.bl_idname.endswith("check_game")
                _pages[cls.bl_idname] = "games.html" if is_check else f"{family.name}.html"
        for cls in part.operators:
            _pages[cls.bl_idname] = f"{family.name}.html"
    for name in _LIST_OPERATORS:
        _pages[f"object.io_idtech_{name}"] = "choosing-animations.html"
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """Unregisters what `register` registered."""
    bpy.utils.unregister_manual_map(manual_map)
    _pages.clear()
