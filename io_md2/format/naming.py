"""Names for new frames.

A frame's name is the sequence's and a number, in 16 bytes with a NUL at the end (MD2 specification). id's own models
write as few digits as the sequence needs, but two where the sequence itself ends in one: ``run1``, ``stand01``,
``pain101``. Where a model's numbers have three digits, such sequences have three as well, so that ``sequences`` finds
them again by the rule for the whole model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from .model import FRAME_NAME_SIZE
from .sequences import ID_DIGITS

MAX_FRAME_NAME = FRAME_NAME_SIZE - 1
"""Characters of a name, without the NUL that ends it."""

MAX_SEQUENCE_NAME = MAX_FRAME_NAME - 1
"""Characters of the name of a sequence, if its frames have one digit."""

DEFAULT_SEQUENCE = "frame"
"""The prefix of frames without any name."""

DEFAULT_DIGITS = 3
"""The digits of their numbers, if no other sequence is numbered with them."""

_UNFIT = re.compile(r"[\x00-\x20\x7f-\xa0]+")


def clean_name(name: str, size: int = MAX_FRAME_NAME) -> str:
    """A name that fits into the file: Latin-1 without blanks and control characters, cut to size.

    Args:
        name: any text.
        size: the most characters.
    """
    return _UNFIT.sub("_", to_latin1(name.strip()))[:size]


def to_latin1(name: str) -> str:
    """A name with an underscore for each character that is not in Latin-1, the encoding of names."""
    return "".join(character if ord(character) < 0x100 else "_" for character in name)


def number_frames(sequences: Sequence[str], digits: int = ID_DIGITS) -> list[str]:
    """A name for each frame: that of its sequence, and a number from 1.

    The numbers of a sequence that comes up again continue.

    Args:
        sequences: for each frame; an empty one stands for ``DEFAULT_SEQUENCE``.
        digits: the most digits of a number in the rest of the model, as ``number_digits`` finds.
    """
    prefixes = [clean_name(sequence) or DEFAULT_SEQUENCE for sequence in sequences]
    totals = Counter(prefixes)
    longest = max([digits, *(len(str(total)) for total in totals.values())])
    # Only a model whose numbers all have three digits is read that way.
    is_default = set(totals) == {DEFAULT_SEQUENCE} and longest <= DEFAULT_DIGITS
    counted: Counter[str] = Counter()
    names = []
    for prefix in prefixes:
        counted[prefix] += 1
        least = longest if prefix[-1].isdigit() else DEFAULT_DIGITS if is_default else 1
        names.append(_numbered(prefix, counted[prefix], max(least, len(str(totals[prefix])))))
    return names


def _numbered(prefix: str, number: int, digits: int = 1) -> str:
    """A name of at most 15 characters; the prefix is cut if needed."""
    suffix = str(number).zfill(digits)
    return prefix[: MAX_FRAME_NAME - len(suffix)] + suffix


def make_unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Unique names, which are not among those taken elsewhere: repeated ones get another number.

    Names have at most 15 characters each; an empty one becomes ``DEFAULT_SEQUENCE`` and a number.
    """
    used = set(taken)
    result = []
    for name in names:
        unique = name
        prefix, number = (name.rstrip("0123456789"), 0) if name else (DEFAULT_SEQUENCE, 0)
        while not unique or unique in used:
            number += 1
            unique = _numbered(prefix or DEFAULT_SEQUENCE, number, 1 if prefix else DEFAULT_DIGITS)
        used.add(unique)
        result.append(unique)
    return result
