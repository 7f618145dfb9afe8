"""Texts that users see: numbers with what they count, and patterns for the names of animations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

_SINGULARS = {
    "vertices": "vertex", "indices": "index", "meshes": "mesh", "faces": "face", "boxes": "box",
    "entries": "entry", "bodies": "body", "have": "has", "are": "is", "do": "does", "were": "was",
}  # fmt: skip


def counted(number: int, what: str, verb: str = "") -> str:
    """A number and the plural that it counts, both singular for 1; `verb` may go on with other words."""
    if number == 1:
        adjective, space, noun = what.rpartition(" ")
        what = adjective + space + _SINGULARS.get(noun, noun.removesuffix("s"))
        verb, space, rest = verb.partition(" ")
        verb = (_SINGULARS.get(verb, f"{verb}s") if verb else "") + space + rest
    return f"{number:,} {what} {verb}".rstrip()


def listing(names: Sequence[Any], limit: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - limit
    return ", ".join(map(str, names[:limit])) + (f" and {more} more" if more > 0 else "")


_FIELD = re.compile(r"\{([^{}]*)\}")
FIELDS = ("action", "object", "strip", "marker", "slot", "scene")  # the fields that a pattern may have


class UnknownFieldError(ValueError):
    """A pattern has a field that does not exist."""


def expand(pattern: str, values: Mapping[str, str]) -> str:
    """A pattern with the values of its fields in braces; UnknownFieldError if one is not in `FIELDS`."""

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
    """Whether a name fits a pattern, in any case: the whole of it with `*`, `?` or `[...]`, else a part."""
    folded, wanted = name.lower(), pattern.strip().lower()
    return fnmatchcase(folded, wanted) if any(letter in wanted for letter in "*?[") else wanted in folded
