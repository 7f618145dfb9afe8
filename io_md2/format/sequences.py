"""The sequences of players, which are those of Quake II's ``m_player.h``: it plays them by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ...io_common.frame_names import FrameSequence
from ...io_common.texts import counted

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
