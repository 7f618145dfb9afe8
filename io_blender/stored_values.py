"""Values in custom property groups, which anyone can edit: each is validated, and returned as None if it is not valid.

An import stores what Blender has no place for in one property group for each data-block. Scripts, appended data and the
Custom Properties panel can change it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from bpy.types import bpy_struct

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LARGEST = float(np.finfo(np.float32).max)
"""Larger numbers fit neither into Blender nor into the files."""

_LARGEST_INTEGER = 2**31 - 1


def read_group(owner: bpy_struct, key: str) -> Any:
    """The property group of that name; an empty dictionary if there is none."""
    group = owner.get(key)
    return group if hasattr(group, "to_dict") else {}


def own_group(owner: Any, key: str) -> Any:
    """The property group of that name, created if there is none; a value of another kind is replaced."""
    if not hasattr(owner.get(key), "to_dict"):
        owner[key] = {}
    return owner[key]


def read_integer(group: Any, key: str, *, highest: int = _LARGEST_INTEGER) -> int | None:
    """An integer from 0 to `highest`."""
    value = group.get(key)
    return value if type(value) is int and 0 <= value <= highest else None


def read_number(group: Any, key: str, *, lowest: float, highest: float) -> float | None:
    """A number in a range; NaN is not valid."""
    value = group.get(key)
    return float(value) if type(value) in (int, float) and lowest <= value <= highest else None


def read_text(group: Any, key: str) -> str | None:
    """A text as `names.store_text` stored it; None if it cannot be quoted on one line of a file."""
    value = group.get(key)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) and is_quotable(value) else None


def is_quotable(text: str) -> bool:
    """Whether a text could stand between double quotes on one line."""
    return '"' not in text and not any(letter < " " and letter != "\t" for letter in text)


def read_floats(group: Any, key: str, width: int) -> Floats | None:
    """A table of finite numbers (n, `width`) that fit into 32 bits."""
    values = _read_array(group, key, width, "fd")
    if values is None or not (np.abs(values) <= LARGEST).all():
        return None
    return values.astype(np.float64, copy=False)


def read_integers(group: Any, key: str, width: int) -> Integers | None:
    """A table of integers that are not negative, (n, `width`)."""
    values = _read_array(group, key, width, "i")
    if values is None or (values < 0).any():
        return None
    return values.astype(np.int64)


def _read_array(group: Any, key: str, width: int, kinds: str) -> npt.NDArray[Any] | None:
    value = group.get(key)
    if getattr(value, "typecode", "-") not in kinds or len(value) % width:
        return None
    return np.array(value).reshape(-1, width)
