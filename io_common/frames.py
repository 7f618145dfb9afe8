"""Sequences of frames, derived from the frames' names, names for new frames, and the frames that a time lies between.

A frame's name is the sequence's name and a number: ``stand01``. Sequences may themselves end in a digit, so the number
has a greatest length, which is the same in the whole model: two digits in id's models, where ``pain101`` is frame 1 of
``pain1``, and three or more in models that pad their numbers (``run000``, ``pain1000``) or count on past 99. id's own
models write as few digits as the sequence needs, but two where the sequence itself ends in one (three if the model's
numbers have three, so that they are found again).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .errors import FormatError

FRAME_NAME_SIZE = 16
"""Bytes of a frame's name in the file."""

ID_DIGITS = 2  # the greatest length of a frame's number in id's models
_DIGITS = "0123456789"


@dataclass(frozen=True)
class FrameSequence:
    """Frames one after another that belong together."""

    name: str  # may be empty
    first: int  # index of the first frame
    last: int  # index of the last frame, included

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return self.last - self.first + 1

    @property
    def following(self) -> int | None:
        """The frame that a loop goes on with after the last one; None if it does not loop."""
        return None


def split_frame_name(name: str, digits: int = ID_DIGITS) -> tuple[str, int | None]:
    """The name of a frame's sequence, and its number or None where the name has no number.

    ``stand01`` is ("stand", 1), ``pain101`` is ("pain1", 1), ``hold`` is ("hold", None). The number has at most so many
    `digits`; those before are part of the sequence's name.
    """
    start = max(_number_start(name), len(name) - digits)
    return (name[:start], int(name[start:])) if start < len(name) else (name, None)


def number_digits(names: Iterable[str]) -> int:
    """How many digits the number of a frame has at most, decided over all frames of a model.

    Two as in id's models, unless more than half of the numbers have more digits and those begin with 0 in at least half
    of them (``run000``, ``pain1000``), or a sequence counts on past 99 (``walk99`` and ``walk100``).
    """
    numbers = {(name[:start], name[start:]) for name in names if (start := _number_start(name)) < len(name)}
    result = max([ID_DIGITS, *(_changed_digits(stem, number, numbers) for stem, number in numbers)])
    for digits in range(result + 1, max((len(number) for _, number in numbers), default=0) + 1):
        long = [number for _, number in numbers if len(number) >= digits]
        padded = sum(number[-digits] == "0" for number in long)
        if 2 * len(long) > len(numbers) and 2 * padded >= len(long):
            result = digits
    return result


def find_sequences(names: Iterable[str]) -> list[FrameSequence]:
    """The runs of consecutive frames whose names belong to the same sequence.

    Every frame is in exactly one of them, in the order of the frames. The numbers are ignored, as they repeat and
    have gaps in real files. A name that comes up again after another sequence is listed twice, and a frame whose
    name no neighbor shares is a sequence of its own. Frames without names form a sequence whose name is empty.

    Zeros that all names of a group have before their numbers are padding, not part of its name: ``run001`` to
    ``run006`` in a model whose other numbers have two digits are ``run``.
    """
    belongs = _sequence_names(tuple(names))
    firsts = [index for index, name in enumerate(belongs) if index == 0 or name != belongs[index - 1]]
    ends = [*firsts[1:], len(belongs)]
    return [FrameSequence(belongs[first], first, end - 1) for first, end in zip(firsts, ends, strict=False)]


@lru_cache(16)
def _sequence_names(names: tuple[str, ...]) -> list[str]:
    digits = number_digits(names)
    stems = [name[: _number_start(name)] for name in names]
    # The digits before the number are part of the sequence's name.
    leads = [name[len(stem) : -digits] for name, stem in zip(names, stems, strict=True)]
    groups: dict[str, set[str]] = {}
    for stem, lead in zip(stems, leads, strict=True):
        groups.setdefault(stem, set()).add(lead)
    padded = {stem for stem, found in groups.items() if len(found) == 1 and not min(found).strip("0")}
    return [stem if stem in padded else stem + lead for stem, lead in zip(stems, leads, strict=True)]


def _number_start(name: str) -> int:
    return len(name.rstrip(_DIGITS))


def _changed_digits(stem: str, number: str, numbers: set[tuple[str, str]]) -> int:
    """How many digits of a number are others in the next one, if the model has that: 3 of 99 and 100."""
    if not number.endswith("99"):
        return 0
    following = str(int(number) + 1).zfill(len(number))
    if (stem, following) not in numbers:
        return 0
    return len(number) - len(number.rstrip("9")) + 1


MAX_FRAME_NAME = FRAME_NAME_SIZE - 1  # characters of a name, without the NUL that ends it
MAX_SEQUENCE_NAME = MAX_FRAME_NAME - 1  # characters of the name of a sequence, if its frames have one digit
DEFAULT_SEQUENCE = "frame"  # the prefix of frames without any name
DEFAULT_DIGITS = 3  # the digits of their numbers, if no other sequence is numbered with them
_UNFIT = re.compile(r"[\x00-\x20\x7f-\xa0]+")


def clean_name(name: str, size: int = MAX_FRAME_NAME) -> str:
    """A name that fits into the file: Latin-1 without blanks and control characters, cut to size."""
    return _UNFIT.sub("_", to_latin1(name.strip()))[:size]


def to_latin1(name: str) -> str:
    """A name with an underscore for each character that is not in Latin-1, the encoding of names."""
    return "".join(character if ord(character) < 0x100 else "_" for character in name)


def number_frames(sequences: Sequence[str], digits: int = ID_DIGITS, first: int = 1) -> list[str]:
    """A name for each frame: that of its sequence, and a number from `first`.

    The numbers of a sequence that comes up again continue. An empty one stands for ``DEFAULT_SEQUENCE``; `digits` are
    the most of a number in the rest of the model, as ``number_digits`` finds.
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
        names.append(_numbered(prefix, counted[prefix] - 1 + first, max(least, len(str(totals[prefix])))))
    return names


def _numbered(prefix: str, number: int, digits: int = 1) -> str:
    """A name of at most 15 characters; the prefix is cut if needed."""
    suffix = str(number).zfill(digits)
    return prefix[: MAX_FRAME_NAME - len(suffix)] + suffix


def make_unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names of at most 15 characters, none of them twice or taken: repeated and empty ones get a number."""
    used = set(taken)
    result = []
    for name in names:
        unique = name
        prefix, number = (name.rstrip(_DIGITS), 0) if name else (DEFAULT_SEQUENCE, 0)
        while not unique or unique in used:
            number += 1
            unique = _numbered(prefix or DEFAULT_SEQUENCE, number, 1 if prefix else DEFAULT_DIGITS)
        used.add(unique)
        result.append(unique)
    return result


Wrap = Literal["blend", "jump", "hold"]
"""What follows the last frame.

``"blend"``: it moves on to the first one, so F frames last F / rate: for loops that end one step before their first
frame (Quake II repeats sequences like this). ``"jump"``: it is reached and at once replaced by the first one, so F
frames last (F - 1) / rate: for loops whose last frame repeats the first (Doom 3's cycles, and ``Animate`` of the MD2
specification). ``"hold"``: it stays.
"""


def find_frame_pair(
    seconds: npt.ArrayLike, first: int, last: int, frame_rate: float, wrap: Wrap, error: type[FormatError]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """The function of each family; `error` is what it raises."""
    if last < first:
        raise error("there are no frames", found=f"{first} to {last}")
    if wrap not in ("blend", "jump", "hold"):
        raise error("unknown wrap", found=repr(wrap), expected="'blend', 'jump' or 'hold'")
    if not (np.isfinite(frame_rate) and frame_rate > 0):
        raise error("the frame rate is not valid", found=f"{frame_rate}", expected="a number above 0")
    with np.errstate(over="ignore", invalid="ignore"):
        position: Any = np.asarray(seconds, dtype=np.float64) * frame_rate
    if not np.isfinite(position).all():
        raise error("a time is not finite", expected="seconds")
    steps = last - first
    if wrap == "hold":
        position = np.clip(position, 0.0, steps)
    else:
        period = steps + 1 if wrap == "blend" else max(steps, 1)
        position = np.mod(position, period)
        # The remainder of a tiny negative number rounds up to the period itself.
        position = np.where(position >= period, 0.0, position)
    if not steps:
        position = np.zeros_like(position)
    before = np.floor(position)
    after = np.where(before + 1 > steps, 0.0 if wrap == "blend" else steps, before + 1)
    return (first + before).astype(np.int32), (first + after).astype(np.int32), position - before
