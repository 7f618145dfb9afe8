"""The sequences of players, which are those of Quake II's ``m_player.h``: it plays them by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ...io_common.frame_names import FrameSequence
from ...io_common.texts import counted

PLAYER_SEQUENCES = tuple(
    FrameSequence(*row)
    for row in (
        ("stand", 0, 39), ("run", 40, 45), ("attack", 46, 53), ("pain1", 54, 57), ("pain2", 58, 61),
        ("pain3", 62, 65), ("jump", 66, 71), ("flip", 72, 83), ("salute", 84, 94), ("taunt", 95, 111),
        ("wave", 112, 122), ("point", 123, 134), ("crstnd", 135, 153), ("crwalk", 154, 159), ("crattak", 160, 168),
        ("crpain", 169, 172), ("crdeath", 173, 177), ("death1", 178, 183), ("death2", 184, 189), ("death3", 190, 197),
    )
)  # fmt: skip
"""The sequences of a Quake II player model, which has 198 frames."""


class Template(Enum):
    """A kind of model."""

    NONE = "NONE"
    QUAKE2_PLAYER = "QUAKE2_PLAYER"

    @property
    def counts(self) -> dict[str, int]:
        """The frames of each sequence, by name in the order of the file; empty if any will do."""
        if self is Template.NONE:
            return {}
        return {sequence.name: sequence.frame_count for sequence in PLAYER_SEQUENCES}


@dataclass(frozen=True)
class TemplateMatch:
    """How sequences compare with a template."""

    order: tuple[int, ...]  # index of the given sequence for each of the template that is there
    missing: tuple[tuple[str, int], ...]  # names, with the frames that they need
    wrong: tuple[tuple[str, int, int], ...]  # names with another number of frames: theirs, the template's
    unknown: tuple[str, ...]  # not in the template, or there twice

    @property
    def problems(self) -> list[str]:
        """What is wrong, in words; empty if everything fits."""
        lines = []
        if self.missing:
            lines.append("missing, with frames: " + ", ".join(f"{name} {count}" for name, count in self.missing))
        lines += [f"{name} has {counted(count, 'frames')} instead of {wanted}" for name, count, wanted in self.wrong]
        if self.unknown:
            lines.append("not in the template, or there twice: " + ", ".join(self.unknown))
        return lines


def match_template(template: Template, sequences: Sequence[tuple[str, int]]) -> TemplateMatch:
    """Compares the names of sequences and their numbers of frames with a template, regardless of case."""
    counts = template.counts
    found: dict[str, int] = {}
    unknown = []
    for index, (name, _count) in enumerate(sequences):
        key = name.lower()
        if not counts:
            found[str(index)] = index
        elif key in counts and key not in found:
            found[key] = index
        else:
            unknown.append(name)
    if not counts:
        return TemplateMatch(tuple(found.values()), (), (), ())
    present = [(name, found[name]) for name in counts if name in found]
    return TemplateMatch(
        order=tuple(index for _, index in present),
        missing=tuple((name, count) for name, count in counts.items() if name not in found),
        wrong=tuple(
            (name, sequences[index][1], counts[name]) for name, index in present if sequences[index][1] != counts[name]
        ),
        unknown=tuple(unknown),
    )
