"""Templates: the sequences that a game expects of a kind of model, since it counts frames instead of reading names.

The player's sequences are those of Quake II's ``m_player.h`` (game source); the games play them by number, so that one
frame more or less shifts all that follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ...io_common.counting import counted
from .sequences import PLAYER_SEQUENCES


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
    """How sequences compare with a template.

    Attributes:
        order: the index of the given sequence for each one of the template that is there, in the template's order.
        missing: names that are not there, with the frames that they need.
        wrong: names with another number of frames: theirs, and the one of the template.
        unknown: names that are not in the template, or there twice.
    """

    order: tuple[int, ...]
    missing: tuple[tuple[str, int], ...]
    wrong: tuple[tuple[str, int, int], ...]
    unknown: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """What is wrong, in words; empty if everything fits."""
        lines = []
        if self.missing:
            lines.append(
                "missing, with frames: " + ", ".join(f"{name} {count}" for name, count in self.missing)
            )
        lines += [
            f"{name} has {counted(count, 'frames')} instead of {wanted}" for name, count, wanted in self.wrong
        ]
        if self.unknown:
            lines.append("not in the template, or there twice: " + ", ".join(self.unknown))
        return lines


def match_template(template: Template, sequences: Sequence[tuple[str, int]]) -> TemplateMatch:
    """Compares the names of sequences, each with its number of frames, with a template, regardless of case."""
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
            (name, sequences[index][1], counts[name])
            for name, index in present
            if sequences[index][1] != counts[name]
        ),
        unknown=tuple(unknown),
    )
