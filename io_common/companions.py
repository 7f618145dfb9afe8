"""The model of a game that another file replaces: its frames, and how sequences fit them. Needs no Blender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import names
from .frames import FrameSequence, find_sequences
from .names import fold, fold_slashes
from .texts import counted


@dataclass(frozen=True)
class Companion:
    """A model that another one replaces."""

    path: str
    game: Any  # that of the family which found it
    frame_names: tuple[str, ...]
    skins: tuple[str, ...] = ()  # images that the file names; those of an MDL are in the file, and not read

    @property
    def name(self) -> str:
        """The name of the file."""
        return fold_slashes(self.path).rpartition("/")[2]

    @property
    def sequences(self) -> list[FrameSequence]:
        """The runs of frames whose names belong together."""
        return find_sequences(self.frame_names)

    def misfit(self, listed: str, option: str) -> str:
        """The message about sequences that do not fit, which are `listed`; an `option` turns the comparison off."""
        return (
            f"the animations do not fit {self.name}, whose frames the game counts: {listed}; change the actions and "
            f"their ranges, choose others, or turn off {option}"
        )


def match_sequences(
    companion: Companion, clips: Sequence[tuple[tuple[str, ...], int]]
) -> tuple[list[int], list[str], list[str]]:
    """The indices of the clips of a companion's sequences in order, what does not fit, and the names of other clips."""
    # Of each clip its names, the one to show last, and its number of frames.
    single = clips[0][1] if len(clips) == 1 else None
    if single == len(companion.frame_names):
        return [0], [], []
    by_name: dict[str, int] = {}
    for index, (known, _) in enumerate(clips):
        for name in known:
            by_name.setdefault(fold(name), index)
    occurrences: Counter[str] = Counter()
    order: list[int] = []
    problems: list[str] = []
    for sequence in companion.sequences:
        found = _clip_of(sequence, occurrences[sequence.name], by_name)
        occurrences[sequence.name] += 1
        if found is None:
            needs = counted(sequence.frame_count, "frames")
            problems.append(f"{_label(sequence)}: no animation, needs {needs}")
            continue
        order.append(found)
        if clips[found][1] != sequence.frame_count:
            problems.append(_wrong_count(sequence, clips[found][1]))
    left_out = [known[-1] or known[0] for index, (known, _) in enumerate(clips) if index not in order]
    if not order and single is not None:
        sequences = companion.sequences
        held = [(one, min(max(single - one.first, 0), one.frame_count)) for one in sequences]
        problems = [_wrong_count(one, has) for one, has in held if has < one.frame_count]
        after = single - (sequences[-1].last + 1 if sequences else 0)
        if after > 0:
            problems.append(f"{counted(after, 'frames')} after the last sequence")
    return order, problems, left_out


def _label(sequence: FrameSequence) -> str:
    return sequence.name or f"frame {sequence.first}"


def _wrong_count(sequence: FrameSequence, count: int) -> str:
    return f"{_label(sequence)}: {counted(count, 'frames')} instead of {sequence.frame_count}"


def _clip_of(sequence: FrameSequence, occurrence: int, by_name: dict[str, int]) -> int | None:
    """The clip of a sequence; the second of two with one name has its own if one is named as by Blender."""
    name = sequence.name or "frame"
    wanted = [f"{name}.{occurrence:03d}", f"{name}_{occurrence + 1}"] if occurrence else []
    forms = (fold(form) for one in (*wanted, name) for form in (one, names.for_files(one, "animation")))
    return next((by_name[form] for form in forms if form in by_name), None)
