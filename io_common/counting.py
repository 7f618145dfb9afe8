"""Numbers with what they count (``1 vertex has``, ``2,000 vertices have``), and lists that stay short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SINGULARS = {
    "vertices": "vertex", "indices": "index", "meshes": "mesh", "faces": "face", "boxes": "box",
    "entries": "entry", "bodies": "body", "have": "has", "are": "is", "do": "does", "were": "was",
}  # fmt: skip
_LISTED = 5


def counted(number: int, what: str, verb: str = "") -> str:
    """A number and what it counts, both in the singular for 1.

    `what` is the plural, such as `vertices`. `verb` is a plural too, such as `have`, and may go on with other words.
    """
    if number == 1:
        adjective, space, noun = what.rpartition(" ")
        what = adjective + space + _SINGULARS.get(noun, noun.removesuffix("s"))
        verb, space, rest = verb.partition(" ")
        verb = (_SINGULARS.get(verb, f"{verb}s") if verb else "") + space + rest
    return f"{number:,} {what} {verb}".rstrip()


def listing(names: Sequence[Any]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _LISTED
    return ", ".join(map(str, names[:_LISTED])) + (f" and {more} more" if more > 0 else "")
