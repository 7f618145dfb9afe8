"""The warnings of the last import, stored in the property group of a data-block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import stored_values as values

if TYPE_CHECKING:
    from bpy.types import ID

_KEY = "import_warnings"
_MOST, _LONGEST = 200, 2000


def store_warnings(data: ID, group: str, warnings: Sequence[str]) -> None:
    """Stores the warnings of an import, instead of those of an earlier one.

    A data-block that belongs to another .blend file is left alone. Each warning is one line; `group` is the name of the
    property group.
    """
    if data.library is not None or (data.override_library and data.override_library.is_system_override):
        return
    stored: Any = values.read_group(data, group)
    if not warnings:
        if _KEY in stored:
            del stored[_KEY]
        return
    lines = [" ".join(text.split())[:_LONGEST] for text in warnings[:_MOST]]
    values.own_group(data, group)[_KEY] = "\n".join(lines).encode("utf-8", "replace").decode("utf-8")


def load_warnings(data: ID, group: str) -> list[str]:
    """The warnings that `store_warnings` stored; none if there are none, or they are not valid."""
    value = values.read_group(data, group).get(_KEY)
    return [line[:_LONGEST] for line in value.split("\n")[:_MOST]] if isinstance(value, str) else []
