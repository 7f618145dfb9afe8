"""Joint names that a game accepts, and unique replacements for others."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..validation import is_writable

_UNWRITABLE = re.compile("[\r\n\0\ud800-\udc7f\udd00-\udfff]")
_REPLACEMENT = "_"


@dataclass(frozen=True)
class NameRule:
    """A game's limits on joint names, besides those of the format.

    Attributes:
        max_bytes: the longest name in UTF-8; 0 for no limit.
        forbidden: invalid characters, as a regular expression; empty for none.
        problem: the problem with other names, for messages.
    """

    max_bytes: int = 0
    forbidden: str = ""
    problem: str = ""

    def accepts(self, name: str) -> bool:
        """Whether the game accepts a name."""
        fits = not self.max_bytes or len(name.encode("utf-8", "surrogateescape")) <= self.max_bytes
        return fits and not (self.forbidden and re.search(self.forbidden, name))


ANY_NAME = NameRule()
"""The limits of the format alone."""


def safe_names(names: list[str], rule: NameRule) -> list[str]:
    """Names that a game accepts: valid names unchanged, each other one with a unique replacement.

    The result depends only on the names of all joints in order, so mesh and animations of one skeleton get the same
    names.
    """
    # Some engines compare names without regard to case.
    taken = {name.casefold() for name in names if is_writable(name) and rule.accepts(name)}
    result = []
    for name in names:
        if is_writable(name) and rule.accepts(name):
            result.append(name)
            continue
        clean = _UNWRITABLE.sub(_REPLACEMENT, name.replace('"', "'"))
        clean = re.sub(rule.forbidden, _REPLACEMENT, clean) if rule.forbidden else clean
        number, safe = 1, _shortened(clean, "", rule)
        while safe.casefold() in taken:
            number += 1
            safe = _shortened(clean, f"{_REPLACEMENT}{number}", rule)
        taken.add(safe.casefold())
        result.append(safe)
    return result


def _shortened(name: str, suffix: str, rule: NameRule) -> str:
    """A name with a suffix, shortened to the limit without splitting a character."""
    if not rule.max_bytes:
        return name + suffix
    room = rule.max_bytes - len(suffix)
    end = 0
    for letter in name:
        room -= len(letter.encode("utf-8", "surrogateescape"))
        if room < 0:
            break
        end += 1
    return name[:end] + suffix
