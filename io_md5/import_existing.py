"""Actions that an armature already has under the name of an imported animation, and their replacement."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import bpy

from ..io_common.scene import action_users, names, versions
from ..io_common.scene.bone_curves import moves_bones
from ..io_common.scene.suitable_actions import ActionFinder
from .source.actions import load_action

if TYPE_CHECKING:
    from bpy.types import Action, Object


def existing_action(name: str, armature: Object, taken: Collection[Action]) -> Action | None:
    """The action that an armature already has for an animation; None if there is none.

    It is the armature's own, moves its bones, and has the name of the animation or was imported from a file of that
    name. The actions that the armature plays come first, then the one with exactly that name.

    Args:
        name: of the file without its extension.
        armature: gets the animation.
        taken: actions that are not considered: those of the same import, and those that it replaces.
    """
    blender_name = names.for_blender(name, versions.MAX_ID_NAME, "Action")
    found = [
        action
        for action in bpy.data.actions
        if action not in taken
        and action.library is None
        and (action.name == blender_name or load_action(action).name == name)
        and moves_bones(action, armature)
    ]
    finder = ActionFinder(armature) if found else None
    found = [action for action in found if finder is not None and finder.owns(action)]
    played = action_users.played_actions(armature)
    return min(found, key=lambda action: (action not in played, action.name != blender_name), default=None)


def replace_actions(pairs: Iterable[tuple[Action, Action]]) -> None:
    """Replaces actions by others, which take their names and users.

    Args:
        pairs: the old and the new one.
    """
    for old, new in pairs:
        name = old.name
        action_users.replace_action(old, new)
        new.name = name
