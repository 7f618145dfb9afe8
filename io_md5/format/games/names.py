"""Names of joints that a game can take, and unambiguous ones in place of those that it cannot."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..text.printing import is_writable

_UNWRITABLE = re.compile("[\r\n\0\ud800-\udc7f\udd00-\udfff]")
_REPLACEMENT = "_"


@dataclass(frozen=True)
class NameRule:
    """What a game asks of the names of joints, besides what no string of the format can hold.

    Attributes:
        most_bytes: the longest name in UTF-8; 0 for any length.
        forbidden: the letters, as a class of a regular expression; nothing for none.
        complaint: what is wrong with a name that it does not take, for messages.
    """

    most_bytes: int = 0
    forbidden: str = ""
    complaint: str = ""

    def takes(self, name: str) -> bool:
        """Whether the game takes a name."""
        fits = not self.most_bytes or len(name.encode("utf-8", "surrogateescape")) <= self.most_bytes
        return fits and not (self.forbidden and re.search(self.forbidden, name))


ANY_NAME = NameRule()
"""What the format itself can hold."""


def safe_names(names: list[str], rule: NameRule) -> list[str]:
    """Names that a game takes: those that it takes already as they are, others replaced, each by one of its own.

    The result depends on the names alone, so that mesh and animations of one skeleton get the same.

    Args:
        names: of all joints, in their order.
        rule: what the game asks.
    """
    # Some engines compare names without regard to case.
    taken = {name.casefold() for name in names if is_writable(name) and rule.takes(name)}
    result = []
    for name in names:
        if is_writable(name) and rule.takes(name):
            result.append(name)
            continue
        clean = _UNWRITABLE.sub(_REPLACEMENT, name.replace('"', "'"))
        clean = re.sub(rule.forbidden, _REPLACEMENT, clean) if rule.forbidden else clean
        number, safe = 1, _cut(clean, "", rule)
        while safe.casefold() in taken:
            number += 1
            safe = _cut(clean, f"{_REPLACEMENT}{number}", rule)
        taken.add(safe.casefold())
        result.append(safe)
    return result


def _cut(name: str, suffix: str, rule: NameRule) -> str:
    """A name with a suffix, no longer than the rule allows; no letter is cut in two."""
    if not rule.most_bytes:
        return name + suffix
    room = rule.most_bytes - len(suffix)
    end = 0
    for letter in name:
        room -= len(letter.encode("utf-8", "surrogateescape"))
        if room < 0:
            break
        end += 1
    return name[:end] + suffix
