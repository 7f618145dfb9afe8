"""What the parsers of all MD5 files share: header keys, integers in bulk, hierarchies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import Md5Error
from ..model import Floats, Ints
from ..skeleton import CyclicHierarchyError, depths
from .scanner import Scan

VERSION = 10
"""The version of Doom 3 and all that came after it."""

OLD_VERSION = 6
"""A layout from before Doom 3 was finished: `bone` and `channel` blocks."""

_DEFAULT_FRAME_RATE = 24.0

# Real files have a number for every few poses at the least, and a box of six for every frame.
_MIN_POSES, _POSES_PER_BYTE = 1 << 20, 8


def read_version(scan: Scan) -> None:
    """Checks ``MD5Version``, which begins every MD5 file; what is off but readable is a warning.

    Raises:
        Md5Error: there are no tokens, so this is no MD5 file.
    """
    if len(scan) == 0:
        raise Md5Error(
            "not an MD5 file", path=scan.path, line=1,
            found="no words" if scan.data.strip() else "an empty file", expected="MD5Version 10",
        )  # fmt: skip
    if scan.key(0) != "md5version":
        scan.warnings.append("the file does not begin with MD5Version 10")
        return
    values = scan.values(0)
    version = int(values[0]) if len(values) else None
    if version not in (VERSION, OLD_VERSION):
        scan.warnings.append(f"unknown version {version}; read as version {VERSION}")


def header_number(scan: Scan, token: int) -> float:
    """The number behind a header key such as ``numJoints 33``.

    Raises:
        Md5Error: there is no number behind it.
    """
    values = scan.values(token)
    if len(values) == 0:
        raise scan.error(f"no number after {scan.text(token)}", token + 1, expected="a number")
    return float(values[0])


def commandline(scan: Scan, token: int) -> tuple[str, int]:
    """The value of ``commandline``, nothing if it is missing, and the token after it."""
    after = token + 1
    missing = after >= len(scan) or (
        not scan.is_string(after) and scan.token_line(after) != scan.token_line(token)
    )
    return ("", after) if missing else (scan.name(after), after + 1)


def opening(scan: Scan, token: int) -> int:
    """The token of the brace that opens the block named by `token`.

    Raises:
        Md5Error: something else stands there.
    """
    if scan.text(token + 1) != "{":
        raise scan.error(f"the block {scan.text(token)!r} is not opened", token + 1, expected="{")
    return token + 1


def check_begins_with_name(scan: Scan, opening: int) -> None:
    """Checks that no numbers stand before the first name of a block: they would be those of a joint without one.

    Raises:
        Md5Error: there are some.
    """
    if len(scan.values(opening)):
        raise scan.number_error(
            "a joint has no name", int(scan.token_first_numbers[opening]), "a name in quotes"
        )


def check_only_numbers(scan: Scan, opening: int, what: str) -> None:
    """Checks that a block holds nothing but numbers.

    Raises:
        Md5Error: there are words or strings among them.
    """
    if scan.block_end(opening) != opening + 1:
        raise scan.error(f"{what} holds something that is no number", opening + 1, expected="a number")


@dataclass(frozen=True, eq=False)
class Table:
    """Floats of numbers, each behind a token of its own, such as all the ``vert`` lines of a mesh.

    Attributes:
        scan: the text.
        values: float64 (n, width).
        runs: the first token of each run and how many rows it has.
    """

    scan: Scan
    values: Floats
    runs: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.values)

    def integers(self, columns: slice, what: str) -> Ints:
        """Some columns as whole numbers, int32 (n, m).

        Raises:
            Md5Error: a number is not whole or too large.
        """
        values = self.values[:, columns]
        # What is too large is another number as 32 bits, or the lowest one.
        with np.errstate(invalid="ignore"):
            whole = values.astype(np.int32)
        bad = (whole != values) | (whole == np.iinfo(np.int32).min)
        self._refuse(bad, columns, f"{what} is not a whole number", "a whole number")
        return whole

    def indices(self, columns: slice, what: str, count: int, lowest: int = 0) -> Ints:
        """Some columns as references to one of `count` things, int32 (n, m); `lowest` may be -1 for "none".

        Raises:
            Md5Error: a number is not whole, or refers to nothing.
        """
        numbers = self.integers(columns, what)
        expected = f"{lowest} to {count - 1}" if count > 0 else "none, as there is nothing to refer to"
        self._refuse((numbers < lowest) | (numbers >= count), columns, f"{what} does not exist", expected)
        return numbers

    def line(self, row: int, column: int = 0) -> int:
        """The line of a number, counted from 1."""
        tokens = [token for token, _ in self.runs]
        lasts = np.cumsum([count for _, count in self.runs])
        run = int(np.searchsorted(lasts, row, side="right"))
        token, row = tokens[run], row - int(lasts[run]) + self.runs[run][1]
        if self.scan.rows(token) is not None:
            return self.scan.token_line(token) + row
        return self.scan.number_line(int(self.scan.token_first_numbers[token + row]) + column)

    def error(self, reason: str, row: int, column: int, expected: str) -> Md5Error:
        """An error at a number."""
        found = f"{self.values[row, column]:.10g}"
        line = self.line(row, column)
        return Md5Error(reason, path=self.scan.path, line=line, found=found, expected=expected)

    def _refuse(self, bad: npt.NDArray[np.bool_], columns: slice, reason: str, expected: str) -> None:
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            raise self.error(reason, row, (columns.start or 0) + column, expected)


def table(scan: Scan, runs: list[tuple[int, int]], width: int, what: str, columns: str) -> Table:
    """The numbers behind runs of tokens, a row each.

    Args:
        scan: the text.
        runs: the first token and the token after the last, of each run.
        width: how many numbers each token must be followed by.
        what: what a token stands for, for the message.
        columns: what the numbers are, for the message.

    Raises:
        Md5Error: a token is followed by more or fewer numbers.
    """
    parts = [_run(scan, first, last, width, what, columns) for first, last in runs]
    values = np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.empty((0, width))
    return Table(scan, values, [(first, len(part)) for (first, _), part in zip(runs, parts, strict=True)])


def _run(scan: Scan, first: int, last: int, width: int, what: str, columns: str) -> Floats:
    """The rows of one run of tokens, (n, width)."""
    taken_out = scan.rows(first)
    if taken_out is not None:
        return taken_out
    counts = scan.counts(first, last)
    wrong = np.flatnonzero(counts != width)
    if len(wrong):
        token = first + int(wrong[0])
        # A row of a mesh may have strayed into another block.
        stray = scan.rows(token)
        found = int(counts[wrong[0]]) if stray is None else stray.shape[1]
        raise scan.error(
            f"{what} has the wrong number of values", token,
            found=f"{found} numbers", expected=f"{width} ({columns})",
        )  # fmt: skip
    return scan.numbers[scan.token_first_numbers[first] : scan.token_first_numbers[last]].reshape(-1, width)


def check_numbering(scan: Scan, numbers: npt.NDArray[np.number], what: str) -> None:
    """Warns where things are not numbered 0, 1, 2 …: the games ignore the number, their order counts."""
    if len(numbers) and not np.array_equal(numbers, np.arange(len(numbers))):
        scan.warnings.append(f"{what} are not numbered in order; their order in the file counts")


def check_count(scan: Scan, declared: float | None, actual: int, what: str) -> None:
    """Warns where a declared count is not what the file holds."""
    if declared is not None and declared != actual:
        scan.warnings.append(f"the file declares {declared:g} {what} and holds {actual}")


def check_pose_count(scan: Scan, joint_count: int, frame_count: int) -> None:
    """Checks that an animation is not much larger than its file: joints and frames are listed apart, poses are both.

    Raises:
        Md5Error: a file of this size cannot be meant to hold so many poses.
    """
    most = _MIN_POSES + _POSES_PER_BYTE * scan.file_size
    if joint_count * frame_count > most:
        raise Md5Error(
            "the animation is out of proportion to its file", path=scan.path, line=1,
            found=f"{joint_count} joints in {frame_count} frames", expected=f"at most {most} poses of joints",
        )  # fmt: skip


def frame_rate(scan: Scan, rate: float) -> float:
    """The frames per second that a file tells; where it tells none that can be played, id's 24, with a warning."""
    if rate > 0.0:
        return rate
    scan.warnings.append(f"no usable frame rate; {_DEFAULT_FRAME_RATE:g} frames per second are assumed")
    return _DEFAULT_FRAME_RATE


def check_hierarchy(scan: Scan, names: list[str], parents: Ints, tokens: Sequence[int]) -> None:
    """Checks what the games want of a hierarchy; what can be read all the same is a warning.

    Args:
        scan: the text.
        names: of the joints.
        parents: within [-1, J), int32 (J,).
        tokens: the token of each joint.

    Raises:
        Md5Error: joints are each other's ancestors.
    """
    try:
        depths(parents)
    except CyclicHierarchyError as cycle:
        name = names[cycle.joint]
        raise scan.error(
            f"joint {name!r} is its own ancestor", tokens[cycle.joint],
            found=f"parent {int(parents[cycle.joint])}", expected="a joint that does not hang under it, or -1",
        ) from None  # fmt: skip
    late = np.flatnonzero(parents >= np.arange(len(parents)))
    if len(late):
        scan.warnings.append(f"joint {names[int(late[0])]!r} comes before its parent; the games refuse that")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        scan.warnings.append(
            f"{len(repeated)} joint names occur more than once, for instance {repeated[0]!r}"
        )
