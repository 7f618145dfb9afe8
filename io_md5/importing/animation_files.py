"""The animations in a folder, and how each fits a skeleton. Only heads of files are read. Needs no Blender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...io_common.game_data.paths import files_in, readable, unpacked_size
from ...io_common.textures.budget import Budget
from ..format import Animation, AnimationHeader, Joints, Md5Error, read_animation_header
from ..format.model import ANIMATION_SUFFIX
from ..format.skeleton import Fit, Match, match_joints


@dataclass(frozen=True, eq=False)
class AnimationFile:
    """A file in a list of animations.

    Attributes:
        path: the file.
        header: its head; None if it cannot be read.
        match: with the skeleton that it fits best; None without a head or a skeleton.
        error: the reason why it cannot be read; None if it can.
    """

    path: Path
    header: AnimationHeader | Animation | None = None
    match: Match | None = None
    error: Exception | None = None

    @property
    def fit(self) -> Fit:
        """How it fits; not at all if it cannot be read."""
        return self.match.fit if self.match is not None else "none"


def animation_paths(folder: Path) -> list[Path]:
    """The animations in a folder on disk or in an archive, by name. Raises OSError if the folder cannot be read."""
    return [path for path in files_in(folder) if path.suffix.lower() == ANIMATION_SUFFIX]


def within_budget(paths: Sequence[Path], budget: Budget) -> list[Path]:
    """The first of some files, as many as may be unpacked from archives; those on disk do not count."""
    for index, path in enumerate(paths):
        try:
            size = unpacked_size(path)
        except OSError:
            # Reading it tells why.
            continue
        if not budget.take("data", size):
            return list(paths[:index])
    return list(paths)


def read_animation_file(path: Path, skeletons: Sequence[Joints]) -> AnimationFile:
    """An animation of which only the head is read, matched with the skeleton that it fits best.

    Never raises: what is wrong with the file is in the result.
    """
    try:
        return match_file(path, read_animation_header(readable(path)), skeletons)
    except (Md5Error, OSError) as error:
        # A traceback holds the text of the file.
        return AnimationFile(path, error=error.with_traceback(None))


def match_file(path: Path, header: AnimationHeader | Animation, skeletons: Sequence[Joints]) -> AnimationFile:
    """An animation whose head has been read; for the arguments see `read_animation_file`."""
    matches = [match_joints(header, joints) for joints in skeletons]
    best = max(matches, key=lambda match: (match.is_complete, len(match.joints)), default=None)
    return AnimationFile(path, header, best)
