"""Parts shared by the parsers of MD5 files: keys and blocks, tables of numbers, hierarchies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ....io_common.arrays import MAX_INT32
from ....io_common.skeletal.model import ROOT, Floats, Ints
from ....io_common.skeletal.skeleton import CyclicHierarchyError, depths
from ....io_common.texts import counted
from ..model import MAGIC, OLD_VERSION, VERSION, Md5Error
from .scanner import Scan

_DEFAULT_FRAME_RATE = 24.0

# Real files have at least a number for every few poses, and six for the bounds of every frame.
_MIN_POSES, _POSES_PER_BYTE = 1 << 20, 8


def check_only_numbers(scan: Scan, opening: int, what: str) -> None:
    """Raises Md5Error if a block also holds words or strings."""
    if scan.block_end(opening) != opening + 1:
        raise scan.error(f"{what} contains something other than numbers", opening + 1, expected="a number")


@dataclass(eq=False)
class Table:
    """Rows of numbers, each after a token of its own, such as all ``vert`` lines of a mesh."""

    scan: Scan
    values: Floats  # (n, width)
    runs: list[tuple[int, int]]  # first token and number of rows of each

    def __len__(self) -> int:
        return len(self.values)

    def integers(self, columns: slice, what: str) -> Ints:
        """Some columns as integers; raises Md5Error if a number is not an integer or too large."""
        values = self.values[:, columns]
        bad = (values != np.rint(values)) | (np.abs(values) > MAX_INT32)
        self._raise_if_any(bad, columns, f"{what} is not a whole number", "a whole number")
        return values.astype(np.int32)

    def indices(self, columns: slice, what: str, count: int, lowest: int = 0) -> Ints:
        """Columns as indices below `count`; raises Md5Error if one is out of range or no integer."""
        values = self.values[:, columns]
        self._raise_if_any(values != np.rint(values), columns, f"{what} is not a whole number", "a whole number")
        expected = f"{lowest} to {count - 1}" if count > 0 else "none, because there are none"
        self._raise_if_any((values < lowest) | (values >= count), columns, f"{what} does not exist", expected)
        return values.astype(np.int32)

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
        return self.scan.error_on(self.line(row, column), reason, f"{self.values[row, column]:.10g}", expected)

    def _raise_if_any(self, bad: npt.NDArray[np.bool_], columns: slice, reason: str, expected: str) -> None:
        # Faster than `any` for the few numbers of a small file.
        if np.count_nonzero(bad):
            row, column = np.argwhere(bad)[0].tolist()
            raise self.error(reason, row, (columns.start or 0) + column, expected)


def table(scan: Scan, runs: list[tuple[int, int]], width: int, what: str, columns: str) -> Table:
    """Rows of `width` numbers, one after each token of the runs (first token, one after the last)."""
    parts: list[Floats] = []
    for first, last in runs:
        part = scan.rows(first)
        if part is None:
            wrong = np.diff(scan.token_first_numbers[first : last + 1]) != width
            if np.count_nonzero(wrong):
                token = first + int(wrong.argmax())
                # A row of a mesh may be in the wrong block.
                stray = scan.rows(token)
                found = len(scan.values(token)) if stray is None else stray.shape[1]
                raise scan.error(
                    f"{what} has the wrong number of values", token,
                    found=counted(found, "numbers"), expected=f"{width} ({columns})",
                )  # fmt: skip
            begin, end = scan.token_first_numbers[first], scan.token_first_numbers[last]
            part = scan.numbers[begin:end].reshape(-1, width)
        parts.append(part)
    values = np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.empty((0, width))
    return Table(scan, values, [(first, len(part)) for (first, _), part in zip(runs, parts, strict=True)])


def read_joints(scan: Scan, opening: int, width: int, columns: str) -> tuple[list[str], Ints, Table]:
    """Names, parents (J,), and all rows of a block whose numbers begin with the parent, given its opening brace."""
    # Raises Md5Error if a row is incomplete, a parent does not exist, or a joint is its own ancestor.
    first, last = opening + 1, scan.block_end(opening)
    if len(scan.values(opening)):
        number = int(scan.token_first_numbers[opening])
        found = f"{scan.numbers[number]:.10g}"
        raise scan.error_on(scan.number_line(number), "a joint has no name", found, "a name in quotes")
    names = [scan.name(token) for token in range(first, last)]
    rows = table(scan, [(first, last)], width, "the joint", columns)
    parents = rows.indices(slice(0, 1), "the parent", len(names), lowest=ROOT)[:, 0]
    check_hierarchy(scan, names, parents, range(first, last))
    return names, parents, rows


def check_count(scan: Scan, declared: float | None, actual: int, what: str) -> None:
    """Warns if a declared count differs from what the file holds."""
    if declared is not None and declared != actual:
        noun, space, rest = what.partition(" ")
        declares = counted(int(declared), noun) if declared.is_integer() else f"{declared:g} {noun}"
        scan.warnings.append(f"the file declares {declares}{space}{rest} and holds {actual}")


def check_pose_count(scan: Scan, joint_count: int, frame_count: int) -> None:
    """Raises Md5Error if an animation has too many poses, joints times frames, for a file of this size."""
    limit = pose_limit(scan.file_size)
    if joint_count * frame_count > limit:
        found = f"{counted(joint_count, 'joints')} in {counted(frame_count, 'frames')}"
        raise scan.error_on(
            1, "the animation is out of proportion to its file", found, f"at most {limit:,} joint poses"
        )


def pose_limit(size: int) -> int:
    """The most joints times frames that are read from a file of this many bytes."""
    return _MIN_POSES + _POSES_PER_BYTE * size


def frame_rate(scan: Scan, rate: float) -> float:
    """The frames per second of a file; if they are missing or not positive, id's 24, with a warning."""
    if rate > 0.0:
        return rate
    scan.warnings.append(f"no valid frame rate; {_DEFAULT_FRAME_RATE:g} is used")
    return _DEFAULT_FRAME_RATE


def check_hierarchy(scan: Scan, names: list[str], parents: Ints, tokens: Sequence[int]) -> None:
    """Checks a hierarchy by the games' rules: warnings, or Md5Error if a joint is its own ancestor."""
    try:
        depths(parents)
    except CyclicHierarchyError as cycle:
        name = names[cycle.joint]
        raise scan.error(
            f"joint {name!r} is its own ancestor", tokens[cycle.joint],
            found=f"parent {int(parents[cycle.joint])}", expected="a joint that is not its descendant, or -1",
        ) from None  # fmt: skip
    is_late = parents >= np.arange(len(parents))
    if np.count_nonzero(is_late):
        scan.warnings.append(f"joint {names[int(is_late.argmax())]!r} comes before its parent; the games reject that")
    if len(set(names)) < len(names):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        scan.warnings.append(
            f"{counted(len(repeated), 'joint names', 'occur')} more than once, such as {repeated[0]!r}"
        )


@dataclass(eq=False)
class Contents:
    """The contents of a file."""

    scan: Scan
    commandline: str = ""
    numbers: dict[str, float] = field(default_factory=dict)  # by key
    opened: dict[str, int] = field(default_factory=dict)  # opening brace of each block that occurs once
    repeated: dict[str, list[int]] = field(default_factory=dict)  # opening braces of the other blocks
    stray: int | None = None  # first token outside of blocks and keys
    version: int | None = None  # None if the file does not begin with it

    def is_current(self, kind: str, block: str, old_block: str = "") -> bool:
        """Whether a file has its block of version 10, not those of the old layout; Md5Error if it has neither."""
        # Warns if the version in the header is not that of the layout, and of text that belongs to no block.
        scan, result = self.scan, block in self.opened
        if not result and not self.repeated.get(old_block):
            expected = f'a block "{block} {{ … }}"'
            raise scan.error(f"not an {kind} file", len(scan), found=f"no {block}", expected=expected)
        version = VERSION if result else OLD_VERSION
        if self.version not in (None, version):
            scan.warnings.append(f"the header says version {self.version}, but the layout is that of version {version}")
        if self.stray is not None:
            scan.warnings.append(f"text at line {scan.token_line(self.stray)} belongs to no block; ignored")
        return result


def read_contents(
    scan: Scan, *, numbers: Collection[str], once: Collection[str], repeated: Collection[str] = ()
) -> Contents:
    """The contents of a file, for keys in lower case; of a block in `once` only the first is used."""
    if len(scan) == 0:
        found = "no words" if scan.data.strip() else "an empty file"
        raise scan.error_on(1, "not an MD5 file", found, f"{MAGIC} {VERSION}")
    if scan.key(0) != MAGIC.lower():
        scan.warnings.append(f"the file does not begin with {MAGIC} {VERSION}")
    contents = Contents(scan, repeated={key: [] for key in repeated})
    if scan.key(0) == MAGIC.lower():
        contents.version = next(map(int, scan.values(0)), None)
    token = 0
    while token < len(scan):
        key, begin = scan.key(token), token
        token += 1
        if key == "commandline":
            # It may be missing; the next key is on another line.
            if scan.is_string(token) or (token < len(scan) and scan.token_line(token) == scan.token_line(begin)):
                contents.commandline = scan.name(token)
                token += 1
        elif key in numbers:
            contents.numbers[key] = scan.value(begin)
        elif key in repeated and scan.text(token) == "{":
            contents.repeated[key].append(token)
            token = scan.block_end(token) + 1
        elif key in once and key not in contents.opened:
            if scan.text(token) != "{":
                raise scan.error(f"the block {scan.text(begin)!r} is not opened", token, expected="{")
            contents.opened[key] = token
            token = scan.block_end(token) + 1
        elif key != "md5version" and contents.stray is None:
            contents.stray = begin
    return contents
