"""Sequences of frames, derived from the names of the frames.

A frame's name is the sequence's name and a number: ``stand01``. With three or more digits only the last two
are the number, since sequences may themselves end in a digit: ``pain101`` is frame 1 of ``pain1``. The file
says nothing else about sequences; the games have the frame numbers built in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class FrameSequence:
    """Frames one after another that belong together.

    Attributes:
        name: the name, which may be empty.
        first: index of the first frame.
        last: index of the last frame, included.
    """

    name: str
    first: int
    last: int

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return self.last - self.first + 1


PLAYER_SEQUENCES = (
    FrameSequence("stand", 0, 39),
    FrameSequence("run", 40, 45),
    FrameSequence("attack", 46, 53),
    FrameSequence("pain1", 54, 57),
    FrameSequence("pain2", 58, 61),
    FrameSequence("pain3", 62, 65),
    FrameSequence("jump", 66, 71),
    FrameSequence("flip", 72, 83),
    FrameSequence("salute", 84, 94),
    FrameSequence("taunt", 95, 111),
    FrameSequence("wave", 112, 122),
    FrameSequence("point", 123, 134),
    FrameSequence("crstnd", 135, 153),
    FrameSequence("crwalk", 154, 159),
    FrameSequence("crattak", 160, 168),
    FrameSequence("crpain", 169, 172),
    FrameSequence("crdeath", 173, 177),
    FrameSequence("death1", 178, 183),
    FrameSequence("death2", 184, 189),
    FrameSequence("death3", 190, 197),
)
"""The sequences of a Quake II player model, which has 198 frames."""


def split_frame_name(name: str) -> tuple[str, int | None]:
    """The name of a frame's sequence, and its number or None where the name has no number.

    ``stand01`` is ("stand", 1), ``pain101`` is ("pain1", 1), ``hold`` is ("hold", None).

    Args:
        name: a frame's name.
    """
    for digits in (2, 1):
        number = name[-digits:]
        if number.isdecimal() and number.isascii():
            return name[:-digits], int(number)
    return name, None


def find_sequences(names: Iterable[str]) -> list[FrameSequence]:
    """The runs of consecutive frames whose names belong to the same sequence.

    Every frame is in exactly one of them, in the order of the frames. The numbers are ignored, as they repeat and
    have gaps in real files. A name that comes up again after another sequence is listed twice, and a frame whose
    name no neighbour shares is a sequence of its own. Frames without names form a sequence whose name is empty.

    Args:
        names: the names of all frames.
    """
    belongs = [split_frame_name(name)[0] for name in names]
    firsts = [index for index, name in enumerate(belongs) if index == 0 or name != belongs[index - 1]]
    ends = [*firsts[1:], len(belongs)]
    return [FrameSequence(belongs[first], first, end - 1) for first, end in zip(firsts, ends, strict=False)]
