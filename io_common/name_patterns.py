"""Patterns for names: of exported animations, such as ``{object}_{action}``, and filters of lists of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

_FIELD = re.compile(r"\{([^{}]*)\}")

FIELDS = ("action", "object", "strip", "marker", "slot", "scene")
"""The fields that a pattern may have."""


class UnknownFieldError(ValueError):
    """A pattern has a field that does not exist."""


def expand(pattern: str, values: Mapping[str, str]) -> str:
    """A pattern with the values of its fields.

    Fields are in braces; one without a value is empty. Raises UnknownFieldError if a field is not in `FIELDS`.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in FIELDS:
            known = ", ".join(f"{{{field}}}" for field in FIELDS)
            raise UnknownFieldError(f"the name pattern has an unknown field {match[0]}: use {known}")
        return values.get(match[1], "")

    return _FIELD.sub(value, pattern)


def distinct_file_names(names: Iterable[str]) -> list[str]:
    """Names without suffix that differ in more than case, as many systems ignore it: repeated ones get a number."""
    taken: set[str] = set()
    result = []
    for name in names:
        unique, number = name, 1
        while unique.lower() in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique.lower())
        result.append(unique)
    return result


def matches(name: str, pattern: str) -> bool:
    """Whether a name is in a filtered list; the case of letters is ignored.

    The pattern is for the whole name, with `*`, `?` and `[...]`; without these, it is a part of the name. An empty one
    stands for all names.
    """
    folded, wanted = name.lower(), pattern.strip().lower()
    return fnmatchcase(folded, wanted) if any(letter in wanted for letter in "*?[") else wanted in folded
