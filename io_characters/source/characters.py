"""The character that was imported, stored on the root object of each of its parts.

The first part's object holds the character as JSON; every part's object holds its index, and points at the first one.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...io_common.declarations.characters import Character
from ...io_common.scene import imported_conversion
from ...io_common.scene import stored_values as values
from ...io_common.scene.axes import Conversion, identity
from . import GROUP
from .json_records import MistakeError, record_from

if TYPE_CHECKING:
    from bpy.types import Object

_CHARACTER, _PART, _FIRST, _SCALE = "character", "part", "first", "scale"
_MAX_PARTS = 4096


def store_part(
    obj: Object, first: Object, index: int, conversion: Conversion, character: Character | None = None
) -> None:
    """Stores on the root object of a part, an armature or the mesh of an MD2, which part it is.

    `first` is the root object of the first part that was imported, on which `character` is stored if given; `index` is
    the part's in `Character.parts`.
    """
    # A mesh has its skins there already.
    if not values.read_group(obj, GROUP):
        obj[GROUP] = {}
    obj[GROUP][_PART] = index
    obj[GROUP][_FIRST] = first
    if not conversion.is_identity:
        imported_conversion.store_conversion(obj[GROUP], conversion, _SCALE)
    if character is not None:
        obj[GROUP][_CHARACTER] = json.dumps(asdict(character), ensure_ascii=True)


def load_part(obj: Object) -> int | None:
    """The index of the part whose root object this is; None if it is of no character."""
    return values.read_integer(values.read_group(obj, GROUP), _PART, highest=_MAX_PARTS)


def load_conversion(obj: Object) -> Conversion:
    """The scale and axes that a part was imported with; the identity if they are missing or not valid."""
    return imported_conversion.load_conversion(values.read_group(obj, GROUP), _SCALE) or identity()


def load_first(obj: Object) -> Object | None:
    """The root object of the first part of the character that a root object belongs to; None if there is none."""
    first = values.read_group(obj, GROUP).get(_FIRST)
    # Anything can be stored under that name, and objects can be removed.
    is_object = first is not None and getattr(getattr(first, "bl_rna", None), "identifier", "") == "Object"
    return first if is_object else None


def load_character(first: Object) -> Character | None:
    """The character that is stored on the root object of its first part; None if there is none, or not a valid one."""
    text: Any = values.read_group(first, GROUP).get(_CHARACTER)
    if not isinstance(text, str):
        return None
    try:
        return record_from(Character, json.loads(text))
    except (MistakeError, ValueError, RecursionError):
        return None
