"""What an import stores in the property group ``iqm``, besides what all skeletal models store, and how it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..io_blender.records import Bytes, Integer, Text
from .format import Iqm, IqmError, animations_alone, format_iqm, parse_iqm

GROUP = "iqm"
"""The name of the property group."""

# Of armatures the file, of actions the one with only their animation.
_FILE = Bytes(GROUP, "file", "u1")
# Of actions: the number in the file of the armature, and the names that the import gave them and that they had there.
NUMBER = Integer(GROUP, "number")
NAME, _NAME_IN_FILE = Text(GROUP, "name", is_quoted=False), Text(GROUP, "name_in_file", is_quoted=False)


def store_file(owner: Any, iqm: Iqm) -> None:
    """Stores a file on the armature or action that was made of it."""
    _FILE.write(owner, np.frombuffer(format_iqm(iqm), np.uint8))


def load_file(owner: Any) -> Iqm | None:
    """The stored file of a data-block; None if there is none, or it is not valid."""
    data = _FILE.read(owner) if owner is not None else None
    try:
        return None if data is None else parse_iqm(data.tobytes(), preserve=True)
    except IqmError:
        return None


def store_action(action: Any, name: str, iqm: Iqm, number: int, *, in_model: bool) -> None:
    """Stores which animation of a file an action was made of: its number if the armature stores the file, else it."""
    NAME.write(action, name)
    _NAME_IN_FILE.write(action, iqm.animations[number].name)
    NUMBER.write(action, number if in_model else None)
    if not in_model:
        is_alone = len(iqm.animations) == 1 and not iqm.holds_model
        store_file(action, iqm if is_alone else animations_alone(iqm, number))


def load_action(action: Any, imported: Iqm | None) -> tuple[Iqm | None, int | None]:
    """A file with only the animation that an action was, and its number in the armature's file, `imported`."""
    if action is None:
        return None, None
    alone, number = load_file(action), NUMBER.read(action)
    if alone is None and imported is not None and number is not None and number < len(imported.animations):
        # The action may be that of another armature.
        is_own = imported.animations[number].name == (_NAME_IN_FILE.read(action) or "")
        alone = animations_alone(imported, number) if is_own else None
    return (alone, number) if alone is not None and len(alone.animations) == 1 else (None, None)
