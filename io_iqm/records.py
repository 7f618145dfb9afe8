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
# Of actions: the number in the file of the armature, and the name that the import gave them.
NUMBER = Integer(GROUP, "number")
NAME = Text(GROUP, "name", is_quoted=False)


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


def store_action(action: Any, number: int, name: str, alone: Iqm | None) -> None:
    """Stores which animation an action was made of: that of a file, else that with a number in the armature's."""
    NAME.write(action, name)
    NUMBER.write(action, number if alone is None else None)
    if alone is not None:
        store_file(action, alone)


def load_action(action: Any, imported: Iqm | None) -> tuple[Iqm | None, int | None]:
    """A file with only the animation that an action was, and its number in the armature's file, `imported`."""
    if action is None:
        return None, None
    alone, number = load_file(action), NUMBER.read(action)
    if alone is None and imported is not None and number is not None and number < len(imported.animations):
        # The action may be that of another armature.
        is_own = imported.animations[number].name in ("", NAME.read(action))
        alone = animations_alone(imported, number) if is_own else None
    return (alone, number) if alone is not None and len(alone.animations) == 1 else (None, None)
