"""Actions that an armature already has under the name of an imported animation, and their replacement."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import bpy

from ...io_blender import versions
from ...io_blender.clips import action_users
from ...io_blender.clips.bone_curves import moves_bones
from ...io_blender.clips.suitable_actions import ActionFinder
from ...io_blender.scene import names
from ..records import load_action

if TYPE_CHECKING:
    from bpy.types import Action, Object

# What a name is: that in Blender, or that of the file.
_SHOWN, _OF_FILE = "shown", "file"


class ExistingActions:
    """The actions of an armature before an import; `new` are those that the import has made already.

    Attributes:
        in_strips: those that NLA strips of the armature play.
    """

    def __init__(self, armature: Object, new: Collection[Action]) -> None:
        self.in_strips = action_users.strip_actions(armature)
        self._armature = armature
        self._by_name: dict[tuple[str, str | None], list[Action]] = {}
        made, finder = set(new), ActionFinder(armature)
        for action in bpy.data.actions:
            is_local = action not in made and action.library is None
            if is_local and moves_bones(action, armature) and finder.owns(action):
                for key in ((_SHOWN, action.name), (_OF_FILE, load_action(action).name)):
                    self._by_name.setdefault(key, []).append(action)

    def find(self, name: str, replaced: Collection[Action]) -> Action | None:
        """The one for an animation; None if there is none.

        It has the name of the animation or was imported from a file of that name. The actions that the armature plays
        come first, then the one with exactly that name.

        `name` is that of the file without its extension. Actions in `replaced` are skipped, as others replace them.
        """
        blender_name = names.for_blender(name, versions.MAX_ID_NAME, "Action")
        named = [*self._by_name.get((_SHOWN, blender_name), ()), *self._by_name.get((_OF_FILE, name), ())]
        found = [action for action in dict.fromkeys(named) if action not in replaced]
        if len(found) < 2:
            return next(iter(found), None)
        played = action_users.played_actions(self._armature)
        return min(found, key=lambda action: (action not in played, action.name != blender_name))


def replace_actions(pairs: Mapping[Action, Action]) -> None:
    """Replaces actions by others, which take their names and users. `pairs` maps each old one to its new one."""
    names_of = {new: old.name for old, new in pairs.items()}
    for old, new in pairs.items():
        action_users.replace_action(old, new)
    bpy.data.batch_remove(list(pairs))
    for new, name in names_of.items():
        new.name = name
