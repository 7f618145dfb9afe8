"""What stands at the top of every MD5 file: a version, keys with a number, a command line, and blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from ..errors import Md5Error
from . import blocks
from .scanner import Scan

Block = Callable[[int], int]
"""Reads the block that a mark names, and returns the mark after it."""


@dataclass(eq=False)
class Contents:
    """What a file holds.

    Attributes:
        scan: the text.
        commandline: what id's exporter was called with.
        numbers: behind each key.
        opened: the mark of the brace that opens a block of which there is one.
        repeated: the same of blocks of which there may be several.
        stray: the first mark that belongs to nothing.
    """

    scan: Scan
    commandline: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    opened: dict[str, int] = field(default_factory=dict)
    repeated: dict[str, list[int]] = field(default_factory=dict)
    stray: int | None = None

    def warn_of_stray(self) -> None:
        """Warns of text that belongs to no block."""
        if self.stray is not None:
            line = self.scan.mark_line(self.stray)
            self.scan.warnings.append(f"text at line {line} belongs to no block; ignored")

    def missing(self, kind: str, block: str) -> Md5Error:
        """The error that the block is not there by which files of a kind are known."""
        scan = self.scan
        return Md5Error(
            f"not an {kind} file", path=scan.path, line=scan.mark_line(len(scan)),
            found=f"no {block}", expected=f'a block "{block} {{ … }}"',
        )  # fmt: skip


def read_contents(
    scan: Scan,
    *,
    numbers: Collection[str],
    once: Collection[str],
    repeated: Collection[str] = (),
    others: Mapping[str, Block] | None = None,
) -> Contents:
    """Walks over a file; keys are given, and compared, in lower case.

    Args:
        scan: the text.
        numbers: keys with a number behind them.
        once: blocks of which the first counts.
        repeated: blocks of which there may be several.
        others: blocks that are read on the way, by name.

    Raises:
        Md5Error: a number is missing, or a block is not opened or not closed.
    """
    blocks.read_version(scan)
    contents = Contents(scan, repeated={key: [] for key in repeated})
    others = others or {}
    mark = 0
    while mark < len(scan):
        key = scan.key(mark)
        if key == "md5version":
            mark += 1
        elif key == "commandline":
            contents.commandline, mark = blocks.commandline(scan, mark)
        elif key in numbers:
            contents.numbers[key] = blocks.header_number(scan, mark)
            mark += 1
        elif key in once and key not in contents.opened:
            contents.opened[key] = blocks.opening(scan, mark)
            mark = scan.block_end(mark + 1) + 1
        elif key in others and scan.text(mark + 1) == "{":
            mark = others[key](mark)
        elif key in repeated and scan.text(mark + 1) == "{":
            contents.repeated[key].append(mark + 1)
            mark = scan.block_end(mark + 1) + 1
        else:
            contents.stray = mark if contents.stray is None else contents.stray
            mark += 1
    return contents
