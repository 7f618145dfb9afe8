"""Switching the skin that a character shows: the materials of its objects' slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import CharacterError
from .records import load_skins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpy.types import Object


def skin_names(objects: Iterable[Object]) -> list[str]:
    """The names of all skins of some mesh objects, in the order of their declaration."""
    return list(dict.fromkeys(name for obj in objects for name in load_skins(obj)))


def show_skin(objects: Iterable[Object], skin: str) -> int:
    """Shows a skin on some mesh objects, or with an empty name their own materials; returns how many it changes.

    The material of the mesh stays as it is: the skin's is that of the object's slot. Raises CharacterError if an object
    is linked.
    """
    changed = 0
    for obj in objects:
        if not obj.material_slots:
            continue
        slot, skins = obj.material_slots[0], load_skins(obj)
        material = skins.get(skin) if skin else None
        shows_other = slot.link == "OBJECT" and bool(skins)
        if obj.library is not None and (material is not None or shows_other):
            raise CharacterError(
                f"{obj.name} is linked, so its skin cannot be switched: use Object > Library Override > Make first"
            )
        if material is not None:
            slot.link = "OBJECT"
            slot.material = material
            changed += 1
        elif shows_other:
            slot.link = "DATA"
            changed += 1
    return changed


def shown_skin(objects: Iterable[Object]) -> str:
    """The name of the skin that some mesh objects show; empty for their own materials."""
    for obj in objects:
        if obj.material_slots and obj.material_slots[0].link == "OBJECT":
            shown = obj.material_slots[0].material
            found = next((name for name, material in load_skins(obj).items() if material == shown), None)
            if found is not None:
                return found
    return ""
