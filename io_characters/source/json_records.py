"""Frozen dataclasses from JSON: every value is checked against the type of its field. Needs no Blender."""

from __future__ import annotations

import sys
import types
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

_Record = TypeVar("_Record")


class MistakeError(ValueError):
    """A value does not have the type of its field."""


def record_from(cls: type[_Record], value: object) -> _Record:
    """The record that `dataclasses.asdict` and JSON made a dictionary of; fields that are missing get their defaults.

    `cls` is a dataclass of texts, numbers, other dataclasses, tuples and None. Raises MistakeError if a value does not
    fit its field.
    """
    assert is_dataclass(cls)
    if not isinstance(value, dict):
        raise MistakeError(f"{cls.__name__}: not a dictionary")
    hints = get_type_hints(cls)
    known = {field.name for field in fields(cls)}
    arguments = {name: _value(hints[name], one) for name, one in value.items() if name in known}
    try:
        return cls(**arguments)
    except TypeError as error:
        raise MistakeError(str(error)) from error


def _value(hint: Any, value: Any) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _value(next(one for one in arguments if one is not type(None)), value)
    if origin is tuple:
        if not isinstance(value, list):
            raise MistakeError("not a list")
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_value(arguments[0], one) for one in value)
        if len(value) != len(arguments):
            raise MistakeError(f"{len(value)} values instead of {len(arguments)}")
        return tuple(_value(one, item) for one, item in zip(arguments, value, strict=True))
    if is_dataclass(hint):
        return record_from(hint, value)  # type: ignore[arg-type] # a class, not a record
    # This is false for NaN too, and `math.isfinite` fails for integers beyond the range of a float.
    if hint is float and type(value) in (int, float) and abs(value) <= sys.float_info.max:
        return float(value)
    if hint is not float and type(value) is hint:
        return value
    raise MistakeError(f"{type(value).__name__} instead of {hint}")
