"""The animations of an imported character: actions of all its parts that bear the same name play together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import bpy

from ..io_blender import versions
from .records import OWNER, load_animation

ALL_FRAMES = "all frames"
"""The name of the animation of an MD2 that plays all sequences in a row."""

if TYPE_CHECKING:
    from bpy.types import Action, Object


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
    """Plays an animation on all parts that have one of this declared name; the others stay as they are.

    Returns the actions that play now.
    """
    shown = []
    for root in roots:
        action = next((action for own, action in actions_of(root) if own == name), None)
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
