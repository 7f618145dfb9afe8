"""The objects of an imported character in a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..io_common.declarations.characters import Character
from .source.characters import load_character, load_first, load_part

if TYPE_CHECKING:
    from bpy.types import Context, Object


@dataclass(eq=False)
class SceneCharacter:
    """An imported character.

    Attributes:
        first: the root object of its first part.
        character: as it was imported.
        roots: the root object of each part that is in the scene, by its index.
    """

    first: Object
    character: Character
    roots: dict[int, Object]


def find_character(context: Context, obj: Object | None = None) -> SceneCharacter | None:
    """The character that an object, by default the active one, belongs to; None if there is none.

    The object may be a root object, a mesh of the character, or something that hangs on it.
    """
    current = obj if obj is not None else context.view_layer.objects.active
    # A chain of parents has an end.
    while current is not None:
        if load_part(current) is not None:
            found = _character_of(context, current)
            if found is not None:
                return found
        current = current.parent
    return None


def _character_of(context: Context, root: Object) -> SceneCharacter | None:
    first = load_first(root)
    character = load_character(first) if first is not None else None
    if first is None or character is None:
        return None
    roots: dict[int, Object] = {}
    for obj in context.scene.objects:
        index = load_part(obj)
        if index is not None and index < len(character.parts) and load_first(obj) == first:
            roots.setdefault(index, obj)
    return SceneCharacter(first, character, roots)


def meshes_of(root: Object) -> list[Object]:
    """The mesh objects of a part: its root object if that is a mesh, else the meshes that it is the parent of."""
    if root.type == "MESH":
        return [root]
    return [child for child in root.children if child.type == "MESH" and child.parent_type == "OBJECT"]


def all_meshes(found: SceneCharacter) -> list[Object]:
    """The mesh objects of all parts."""
    return [mesh for root in found.roots.values() for mesh in meshes_of(root)]
