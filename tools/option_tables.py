"""Makes the tables of options in docs/options.md from the declarations of the operators.

    python tools/option_tables.py            prints them
    python tools/option_tables.py --write    writes them to the page

It needs Blender as a Python module. A test checks that the page is up to date.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import bpy
from game_rules import ROOT, table, write

PAGE = ROOT / "docs" / "options.md"
NAME = "options: made by tools/option_tables.py"
OF_BLENDER = ("rna_type", "filepath", "check_existing")
CHARACTER = "Game Character"


def options(operator: str) -> list[Any]:
    """The options that a panel shows."""
    module, _, name = operator.partition(".")
    found = getattr(getattr(bpy.ops, module), name).get_rna_type().properties
    return [one for one in found if not one.is_hidden and one.identifier not in OF_BLENDER]


def dialogs(package: str) -> tuple[dict[str, str], dict[str, str]]:
    """The operators of imports and of exports, with their names in the tables."""
    families = import_module(f"{package}.families").FAMILIES
    imports = {family.blender().importer.bl_idname: family.name.upper() for family in families}
    exporters = [one for family in families for one in family.blender().exporters]
    exports = {one.bl_idname: one.bl_label.removeprefix("Export ").removesuffix(" Mesh") for one in exporters}
    imports["import_scene.idtech_character"] = exports["export_scene.idtech_character"] = CHARACTER
    return imports, exports


def default(option: Any) -> str:
    """The default as a dialog shows it."""
    if option.type == "ENUM":
        return option.enum_items[option.default].name
    if option.type == "BOOLEAN":
        return "on" if option.default else "off"
    if option.type == "STRING":
        return option.default or "empty"
    numbers = option.default_array if option.is_array else [option.default]
    return " × ".join(f"{number:g}" for number in numbers)


def description(option: Any) -> str:
    """What the option does, and what each choice does."""
    items = [] if option.type != "ENUM" or option.identifier == "game" else option.enum_items
    choices = (f"*{item.name}*: {item.description}" for item in items if item.description)
    return " ".join(f"{text}." for text in (option.description.replace("*", "\\*"), *choices))


def rows(operators: dict[str, str]) -> list[tuple[str, ...]]:
    """A row for each option. Dialogs that have the same option share it."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for operator, name in operators.items():
        for option in options(operator):
            found.setdefault((option.name, default(option), description(option)), []).append(name)
    return [(label, _of(names, operators), value, text) for (label, value, text), names in found.items()]


def _of(names: list[str], operators: dict[str, str]) -> str:
    """The dialogs that have an option; a format stands for its animations too."""
    if len(names) == len(operators):
        return "all"
    covered = {f"{name} Animation" for name in names}
    return ", ".join(name for name in names if name not in covered)


def tables(package: str = "io_idtech") -> str:
    """The tables as Markdown."""
    lines = []
    for heading, operators in zip(("Import", "Export"), dialogs(package), strict=True):
        lines += [f"## {heading}", "", *table(("option", "of", "default", "what it does"), *rows(operators))]
    return "\n".join(lines).rstrip()


def main() -> None:
    """Prints the tables, or writes them to the page."""
    import_module("io_idtech").register()
    if "--write" in sys.argv[1:]:
        write(PAGE, NAME, tables())
    else:
        print(tables())


if __name__ == "__main__":
    main()
