"""The filter of a list of names, in the interface and for scripts. Needs no Blender."""

from __future__ import annotations

from fnmatch import fnmatchcase

_WILDCARDS = "*?["


def matches(name: str, pattern: str) -> bool:
    """Whether a name is in a filtered list; the case of letters is ignored.

    The pattern is for the whole name, with `*`, `?` and `[...]`; without these, it is a part of the name. An empty one
    stands for all names.
    """
    folded, wanted = name.lower(), pattern.strip().lower()
    if any(letter in wanted for letter in _WILDCARDS):
        return fnmatchcase(folded, wanted)
    return wanted in folded
