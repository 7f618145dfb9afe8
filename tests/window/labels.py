"""Runs inside Blender: notes what the panels and dialogs of the extension say when they are drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import bpy

drawn: dict[str, list[str]] = {}
"""The words of each class that was drawn, in their order; of its last drawing."""


class _Layout:
    """A layout that notes its words."""

    def __init__(self, layout: Any, words: list[str]) -> None:
        object.__setattr__(self, "_layout", layout)
        object.__setattr__(self, "_words", words)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._layout, name, value)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._layout, name)
        return self._noting(name, found) if callable(found) else found

    def _noting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any, **options: Any) -> Any:
            text = options.get("text", options.get("heading"))
            if name in ("prop", "prop_search", "prop_enum") and text is None:
                text = getattr(words[0], "properties", words[0]).bl_rna.properties[words[1]].name
            elif name in ("operator", "menu") and text is None:
                text = words[0]
            # Paths are those of this run.
            if text and "/" not in text:
                self._words.append(text)
            made = function(*words, **options)
            if isinstance(made, tuple):
                return tuple(part and _Layout(part, self._words) for part in made)
            return _Layout(made, self._words) if isinstance(made, bpy.types.UILayout) else made

        return call


def note_labels(package: str) -> None:
    """Notes the words of all panels and operators of a package, each time they are drawn."""
    for module in [module for name, module in sys.modules.items() if name.startswith(package)]:
        for found in list(vars(module).values()):
            if isinstance(found, type) and found.__module__ == module.__name__ and hasattr(found, "bl_rna"):
                _note(found)


def _note(cls: Any) -> None:
    if not hasattr(cls, "draw") or issubclass(cls, bpy.types.UIList):
        return
    draw, get = cls.draw, cls.__getattribute__

    def noting_draw(self: Any, context: bpy.types.Context) -> None:
        drawn[cls.__name__] = []
        draw(self, context)

    def noting_get(self: Any, name: str) -> Any:
        value = get(self, name)
        return _Layout(value, drawn[cls.__name__]) if name == "layout" and cls.__name__ in drawn else value

    cls.draw, cls.__getattribute__ = noting_draw, noting_get
