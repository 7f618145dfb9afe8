"""The joints that a channel of Doom 3's model declarations names.

From id's `Anim_Blend.cpp` (`idDeclModelDef::GetJointList`): words in any order, without regard to case; `*` before a
joint takes all below it as well, `-` takes the joints out again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"(?:(-)\s*)?(?:(\*)\s*)?([^\s,*()\-][^\s,*()]*)")


def channel_joints(
    expression: str, names: Sequence[str], parents: Sequence[int]
) -> tuple[list[int], list[str]]:
    """The joints that an expression names, in the order of the skeleton, and the names that no joint has.

    An expression is one such as ``*Waist -*lleg``. A parent of -1 marks a root.
    """
    index = {name.lower(): joint for joint, name in reversed(list(enumerate(names)))}
    children: dict[int, list[int]] = {}
    for child, parent in enumerate(parents):
        children.setdefault(parent, []).append(child)
    chosen: set[int] = set()
    unknown: list[str] = []
    # Of equal words the last decides.
    for minus, star, word in reversed(dict.fromkeys(reversed(_WORD.findall(expression)))):
        joint = index.get(word.lower())
        if joint is None:
            unknown.append(word)
            continue
        named = _with_children(joint, children) if star else {joint}
        chosen = chosen - named if minus else chosen | named
    return sorted(chosen), unknown


def _with_children(joint: int, children: dict[int, list[int]]) -> set[int]:
    """A joint and all below it."""
    found: set[int] = set()
    stack = [joint]
    while stack:
        current = stack.pop()
        if current not in found:
            found.add(current)
            stack += children.get(current, [])
    return found
