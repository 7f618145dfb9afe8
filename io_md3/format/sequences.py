"""The sequences of a model: those of Quake III's `animation.cfg`, else of the names of its frames."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...io_common.frame_names import FrameSequence, find_sequences
from ...io_common.texts import counted
from .model import FRAMES_PER_SECOND

CONFIG_NAME = "animation.cfg"

# In the order of the file (Quake III `bg_public.h`, `animNumber_t`).
_NAMES = (
    "BOTH_DEATH1", "BOTH_DEAD1", "BOTH_DEATH2", "BOTH_DEAD2", "BOTH_DEATH3", "BOTH_DEAD3", "TORSO_GESTURE",
    "TORSO_ATTACK", "TORSO_ATTACK2", "TORSO_DROP", "TORSO_RAISE", "TORSO_STAND", "TORSO_STAND2", "LEGS_WALKCR",
    "LEGS_WALK", "LEGS_RUN", "LEGS_BACK", "LEGS_SWIM", "LEGS_JUMP", "LEGS_LAND", "LEGS_JUMPB", "LEGS_LANDB",
    "LEGS_IDLE", "LEGS_IDLECR", "LEGS_TURN",
)  # fmt: skip
_LINE = re.compile(r"\s*(-?\d+)\s+(-?\d+)\s+(-?\d+)\s+(-?\d+(?:\.\d+)?)\s*(?://\s*([A-Za-z]\w*))?")
_PARTS = {"lower": ("BOTH_", "LEGS_"), "upper": ("BOTH_", "TORSO_")}


@dataclass(frozen=True)
class Sequence(FrameSequence):
    """Frames one after another that belong together, and how they play.

    Attributes:
        frame_rate: frames per second.
        looping: how many frames at the end are repeated; 0 if it plays once.
    """

    frame_rate: float = FRAMES_PER_SECOND
    looping: int = 0


def parse_animation_config(text: str) -> list[Sequence]:
    """The sequences of an `animation.cfg`, in its own frames: those of the torso, and after them of the legs.

    Sequences are named by their place in the file, as in Quake III; other models by the comment at the end of the line.
    A count below 0 plays backward (Quake III Team Arena); the frames are the same.

    Args:
        text: of the file. Lines that are not four numbers, such as `sex m`, are left out.
    """
    rows = [found for line in text.splitlines() if (found := _LINE.match(line))]
    is_player = any((row[5] or "").upper() in _NAMES for row in rows) or len(rows) >= len(_NAMES)
    result = []
    for number, row in enumerate(rows):
        first, count, looping, rate = int(row[1]), abs(int(row[2])), int(row[3]), float(row[4])
        name = _NAMES[number] if is_player and number < len(_NAMES) else (row[5] or f"sequence{number + 1}").upper()
        if first >= 0 and count:
            result.append(Sequence(name, first, first + count - 1, abs(rate) or FRAMES_PER_SECOND, max(looping, 0)))
    return result


def sequences_of(
    stem: str,
    frame_names: Iterable[str],
    frame_rate: float = FRAMES_PER_SECOND,
    config: Iterable[Sequence] = (),
    warnings: list[str] | None = None,
) -> list[Sequence]:
    """The sequences of one model in its own frames.

    Args:
        stem: the name of the file without suffix: the sequences of `lower` are those of the legs and of both parts, of
            `upper` those of the torso and of both.
        frame_names: the names of its frames.
        frame_rate: frames per second where `config` has none.
        config: what `parse_animation_config` gives; without a sequence that fits, the names of the frames decide.
        warnings: gets a sentence about sequences of a player that are beyond the frames.
    """
    frame_names, config = list(frame_names), list(config)
    part = next((name for name in _PARTS if re.match(rf"{name}(_\d)?$", stem.lower())), "")
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
            moved = (one.first - shift, one.last - shift)
            result.append(Sequence(one.name, *moved, one.frame_rate, one.looping))
        elif is_played and part:
            beyond.append(one.name)
    if beyond and warnings is not None:
        frames = counted(len(frame_names), "frames")
        warnings.append(f"sequences of {CONFIG_NAME} beyond the {frames}: {', '.join(beyond)}")
    return result or [Sequence(one.name, one.first, one.last, frame_rate) for one in find_sequences(frame_names)]
