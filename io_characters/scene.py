"""An imported character in the scene: its objects, and the skin and animation that they show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

from ..io_blender import versions
from ..io_common.declarations.characters import Character
from . import CharacterError
from .records import CHARACTER, FIRST, OWNER, PART, load_animation, load_skins

if TYPE_CHECKING:
    from bpy.types import Action, Context, Object

ALL_FRAMES = "all frames"
"""The name of the animation of an MD2 that plays all sequences in a row."""


@dataclass(eq=False)
class SceneCharacter:
    """An imported character."""

    first: Object  # the root object of its first part
    character: Character  # as it was imported
    roots: dict[int, Object]  # of the parts that are in the scene, by their index


def find_character(context: Context, obj: Object | None = None) -> SceneCharacter | None:
    """The character that an object is of or hangs on, by default the active one; None if there is none."""
    current = obj if obj is not None else context.view_layer.objects.active
    # A chain of parents has an end.
    while current is not None:
        first = FIRST.read(current) if PART.read(current) is not None else None
        character = CHARACTER.read(first) if first is not None else None
        if character is not None:
            roots: dict[int, Object] = {}
            for one in context.scene.objects:
                index = PART.read(one)
                if index is not None and index < len(character.parts) and FIRST.read(one) == first:
                    roots.setdefault(index, one)
            return SceneCharacter(first, character, roots)
        current = current.parent
    return None


def meshes_of(root: Object) -> list[Object]:
    """The mesh objects of a part: its root object if that is a mesh, else the meshes that it is the parent of."""
    if root.type == "MESH":
        return [root]
    return [child for child in root.children if child.type == "MESH" and child.parent_type == "OBJECT"]


def all_meshes(found: SceneCharacter) -> list[Object]:
    """The mesh objects of all parts."""
    return [mesh for root in found.roots.values() for mesh in meshes_of(root)]


# Skins: the materials of the objects' first slots


def skin_names(objects: Iterable[Object]) -> list[str]:
    """The names of all skins of some mesh objects, in the order of their declaration."""
    return list(dict.fromkeys(name for obj in objects for name in load_skins(obj)))


def show_skin(objects: Iterable[Object], skin: str) -> None:
    """Shows a skin, or with an empty name the mesh's own materials; CharacterError if an object is linked."""
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
        elif shows_other:
            slot.link = "DATA"


def shown_skin(objects: Iterable[Object]) -> str:
    """The name of the skin that some mesh objects show; empty for their own materials."""
    for obj in objects:
        if obj.material_slots and obj.material_slots[0].link == "OBJECT":
            shown = obj.material_slots[0].material
            found = next((name for name, material in load_skins(obj).items() if material == shown), None)
            if found is not None:
                return found
    return ""


# Animations: actions of all parts that bear the same name play together


def actions_of(root: Object) -> list[tuple[str, Action]]:
    """The actions of a part with their declared names, in the order of the declaration."""
    found = []
    for action in bpy.data.actions:
        stored = load_animation(action)
        if stored is not None and OWNER.read(action) == root:
            found.append((stored.index, stored.name, action))
    return [(name, action) for _, name, action in sorted(found, key=lambda one: one[:2])]


def animation_names(roots: Iterable[Object]) -> list[str]:
    """The names of the animations of some parts, each once."""
    return list(dict.fromkeys(name for root in roots for name, _ in actions_of(root)))


def show_animation(roots: Iterable[Object], name: str) -> list[Action]:
    """Plays an animation on all parts that have one of this declared name; returns its actions."""
    shown = []
    for root in roots:
        action = dict(reversed(actions_of(root))).get(name)
        if action is None:
            continue
        if root.type == "ARMATURE":
            versions.assign_action(root.animation_data_create(), action, "OBJECT")
        elif root.type == "MESH" and root.data.shape_keys is not None:
            versions.assign_action(root.data.shape_keys.animation_data_create(), action, "KEY")
        else:
            continue
        shown.append(action)
    return shown


def shown_animation(root: Object) -> str:
    """The declared name of the animation that a part plays; empty if it is none of the character's."""
    data = root.data.shape_keys if root.type == "MESH" else root
    action = data.animation_data.action if data is not None and data.animation_data is not None else None
    stored = load_animation(action) if action is not None else None
    return stored.name if stored is not None else ""
