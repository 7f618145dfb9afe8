"""Warnings that a game plays an animation slower or faster than Blender."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...io_common.counting import counted

if TYPE_CHECKING:
    from ..reports import Report

# Rates are made of two numbers of 32 bits.
_TOLERANCE = 1e-3

# A last frame that is due by less than this, in frames, is sampled.
END_SLACK = 1e-4


@dataclass(frozen=True)
class Played:
    """An animation that is exported.

    Attributes:
        name: for the warning; empty if there is only one.
        frames: of the file.
        step: the frames of the scene from one of them to the next.
        rate: frames per second of the file, in the game.
    """

    name: str
    frames: int
    step: float
    rate: float


def sample_count(span: float, step: float) -> int:
    """How many samples a span of frames has, both ends included.

    `span` is from the first frame to the last, and `step` from one sample to the next.
    """
    return max(int(span / step + END_SLACK) + 1, 1)


def warn_of_speed(animations: Iterable[Played], scene_rate: float, report: Report, *, is_fixed: bool) -> None:
    """Warns of animations that last longer or shorter in the game than in Blender, once for all of them.

    `scene_rate` is in frames per second. Animations of one frame have no duration. `is_fixed` means that the game plays
    all files at one rate, and not each at its own.
    """
    found = [one for one in animations if one.frames > 1 and _differ(one.rate * one.step, scene_rate)]
    if not found:
        return
    frames = sum(one.frames for one in found)
    in_blender = sum(one.frames * one.step for one in found) / scene_rate
    in_game = sum(one.frames / one.rate for one in found)
    times = f"{counted(frames, 'frames')}: {_seconds(in_blender)} in Blender, {_seconds(in_game)} in the game"
    if is_fixed:
        rate = found[0].rate
        sampled = sum(sample_count((one.frames - 1) * one.step, scene_rate / rate) for one in found)
        text = (
            f"the game plays at {rate:g} fps, the scene at {scene_rate:g}. {times}. To keep the time, set Frame "
            f"Rate to Game's ({counted(sampled, 'frames')}), or the scene to {rate:g} fps"
        )
    else:
        rates = ", ".join(dict.fromkeys(f"{one.rate * one.step:g}" for one in found))
        text = (
            f"the frame rate of the imported file, {rates}, is kept, but the scene plays at {scene_rate:g} fps. "
            f"{times}. To write what Blender plays, set Frame Rate to Scene's"
        )
    for one in found:
        report.warn(text, one.name, is_important=True)


def _differ(rate: float, other: float) -> bool:
    return not math.isclose(rate, other, rel_tol=_TOLERANCE)


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s" if seconds >= 0.01 else f"{seconds:.1g} s"
