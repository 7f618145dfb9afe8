"""The sequences of a model: those of Quake III's `animation.cfg`, else of the names of its frames.

A player has a table of sequences for its legs and its torso (`cg_players.c`, `CG_ParseAnimationFile`; `bg_public.h`).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from ...io_common.frames import FrameSequence, find_sequences
from ...io_common.names import without_copy_suffix
from ...io_common.texts import counted
from .model import FRAMES_PER_SECOND, Md3Error

CONFIG_NAME = "animation.cfg"

PLAYER_SEQUENCES = (
    "BOTH_DEATH1", "BOTH_DEAD1", "BOTH_DEATH2", "BOTH_DEAD2", "BOTH_DEATH3", "BOTH_DEAD3", "TORSO_GESTURE",
    "TORSO_ATTACK", "TORSO_ATTACK2", "TORSO_DROP", "TORSO_RAISE", "TORSO_STAND", "TORSO_STAND2", "LEGS_WALKCR",
    "LEGS_WALK", "LEGS_RUN", "LEGS_BACK", "LEGS_SWIM", "LEGS_JUMP", "LEGS_LAND", "LEGS_JUMPB", "LEGS_LANDB",
    "LEGS_IDLE", "LEGS_IDLECR", "LEGS_TURN",
)  # fmt: skip
"""Those that a player must have, in the order of the file (`animNumber_t`)."""

# Those that follow in Team Arena; without them it plays TORSO_GESTURE.
_NAMES = (
    *PLAYER_SEQUENCES, "TORSO_GETFLAG", "TORSO_GUARDBASE", "TORSO_PATROL", "TORSO_FOLLOWME", "TORSO_AFFIRMATIVE",
    "TORSO_NEGATIVE",
)  # fmt: skip
_LINE = re.compile(r"\s*(-?\d{1,9})\s+(-?\d{1,9})\s+(-?\d{1,9})\s+(-?\d{1,9}(?:\.\d+)?)\s*(?://\s*([A-Za-z]\w*))?")
_PREFIXES = ("BOTH", "TORSO", "LEGS")  # in the order of their frames
_PARTS = {"lower": ("BOTH_", "LEGS_"), "upper": ("BOTH_", "TORSO_")}
# The game reads fewer bytes.
_MOST_BYTES = 19_999


@dataclass(frozen=True)
class Sequence(FrameSequence):
    """Frames one after another that belong together, and how they play."""

    frame_rate: float = FRAMES_PER_SECOND
    looping: int = 0  # how many frames at the end are repeated
    is_reversed: bool = False

    @property
    def following(self) -> int | None:
        """The frame that a loop goes on with after the last one; None if it does not loop, or is reversed."""
        return self.last + 1 - min(self.looping, self.frame_count) if self.looping and not self.is_reversed else None


def parse_animation_config(text: str) -> list[Sequence]:
    """The sequences of an `animation.cfg`, in its own frames: those of the torso, and after them of the legs."""
    # They are named by their place in the file, as in Quake III; those of other models by the comment in the line. A
    # count below 0 plays backward (Quake III Team Arena).
    rows = [found for line in text.splitlines() if (found := _LINE.match(line))]
    is_player = any((row[5] or "").upper() in _NAMES for row in rows) or len(rows) >= len(PLAYER_SEQUENCES)
    result = []
    for number, row in enumerate(rows):
        first, count, looping, rate = int(row[1]), int(row[2]), max(int(row[3]), 0), abs(float(row[4])) or 1.0
        name = _NAMES[number] if is_player and number < len(_NAMES) else (row[5] or f"sequence{number + 1}").upper()
        if first >= 0 and count:
            result.append(Sequence(name, first, first + abs(count) - 1, rate, looping, count < 0))
    return result


def sequences_of(
    stem: str,
    frame_names: Iterable[str],
    frame_rate: float = FRAMES_PER_SECOND,
    config: Iterable[Sequence] = (),
    warnings: list[str] | None = None,
) -> list[Sequence]:
    """The sequences of a model in its own frames: those of `config` that it plays and that fit, else those of the names
    of its frames, at the given rate. `warnings` gets a sentence about sequences of a player beyond its frames."""
    frame_names, config = list(frame_names), list(config)
    part = next((name for name in _PARTS if re.fullmatch(rf"{name}(_\d)?", stem.lower())), "")
    by_name = {sequence.name: sequence for sequence in config}
    # The legs have no frames of the torso, which the file counts (Quake III `cg_players.c`, `CG_ParseAnimationFile`).
    skipped = 0
    if part == "lower" and {"TORSO_GESTURE", "LEGS_WALKCR"} <= by_name.keys():
        skipped = by_name["LEGS_WALKCR"].first - by_name["TORSO_GESTURE"].first
    result, beyond = [], []
    for one in config:
        shift = skipped if one.name.startswith("LEGS_") else 0
        is_played = not part or one.name.startswith(_PARTS[part])
        if is_played and one.first - shift >= 0 and one.last - shift < len(frame_names):
            result.append(replace(one, first=one.first - shift, last=one.last - shift))
        elif is_played and part:
            beyond.append(one.name)
    if beyond and warnings is not None:
        frames = counted(len(frame_names), "frames")
        warnings.append(f"sequences of {CONFIG_NAME} beyond the {frames}: {', '.join(beyond)}")
    return result or [Sequence(one.name, one.first, one.last, frame_rate) for one in find_sequences(frame_names)]


def sequence_of_action(name: str) -> str:
    """The sequence of a player that the name of an action begins with, in any case; empty if there is none."""
    sequence = without_copy_suffix(name.partition(" ")[0]).upper()
    return sequence if sequence in _NAMES else ""


def is_played_by(part: str, name: str) -> bool:
    """Whether a part of a player, such as `lower`, plays the sequence of a name; a head plays none."""
    return name in _NAMES and name.startswith(_PARTS.get(part, ()))


def player_settings(text: str) -> dict[str, str]:
    """What an `animation.cfg` sets before its table: `sex`, `footsteps`, `headoffset`, each with its words."""
    found = (re.match(r"\s*(sex|footsteps|headoffset)\s+([^/]*)", line, re.IGNORECASE) for line in text.splitlines())
    return {one[1].lower(): one[2].strip() for one in found if one}


def missing_sequences(found: Container[str]) -> list[str]:
    """The sequences that a player must have and that are not among some."""
    return [name for name in PLAYER_SEQUENCES if name not in found]


def in_order(found: Iterable[Sequence]) -> list[Sequence]:
    """Sequences of a player in the order of the game."""
    return sorted(found, key=lambda one: _NAMES.index(one.name))


def in_table(found: Iterable[Sequence]) -> list[Sequence]:
    """Sequences in the order of the game, with the frames of its table if each part has its own one after the other."""
    # The sequences of Team Arena are the last of the table, but their frames are among those of the torso.
    ordered = sorted(in_order(found), key=lambda one: _PREFIXES.index(one.name.partition("_")[0]))
    firsts = accumulate((one.frame_count for one in ordered), initial=0)
    pairs = zip(ordered, firsts, strict=False)
    return in_order(replace(one, first=first, last=first + one.frame_count - 1) for one, first in pairs)


def format_player_config(settings: Mapping[str, str], table: Iterable[Sequence], source: str = "") -> str:
    """An `animation.cfg` with a table, or that of a `source`; Md3Error if it is larger than what the game reads."""
    lines = source.splitlines(keepends=True)
    rows, end = [index for index, line in enumerate(lines) if _LINE.match(line)], "\r\n" if "\r\n" in source else "\n"
    begin, after = (rows[0], rows[-1] + 1) if rows else (len(lines), len(lines))
    head, body = lines[:begin], lines[begin:after]
    for name, value in settings.items():
        head = [f"{name} {value}{end}", *(line for line in head if name not in player_settings(line))]
    new = [
        f"{one.first}\t{-one.frame_count if one.is_reversed else one.frame_count}\t{one.looping}\t"
        f"{one.frame_rate:g}\t// {one.name}{end}"
        for one in table
    ]
    text = "".join([*head, *(new or body), *lines[after:]])
    if len(text.encode("utf-8", "surrogateescape")) >= _MOST_BYTES:
        raise Md3Error(f"{CONFIG_NAME} would have {_MOST_BYTES:,} bytes or more, which the game does not read")
    return text
