"""What stands at the top of every MD5 file: a version, keys with a number, a command line, and blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from ..errors import Md5Error
from . import blocks
from .scanner import Scan

BlockReader = Callable[[int], int]
"""Reads the block that a token names, and returns the token after it."""


@dataclass(eq=False)
class Contents:
    """What a file holds.

    Attributes:
        scan: the text.
        commandline: what id's exporter was called with.
        numbers: behind each key.
        opened: the token of the brace that opens a block of which there is one.
        repeated: the same of blocks of which there may be several.
        stray: the first token that belongs to nothing.
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
            line = self.scan.token_line(self.stray)
            self.scan.warnings.append(f"text at line {line} belongs to no block; ignored")

    def missing(self, kind: str, block: str) -> Md5Error:
        """The error that the block is not there by which files of a kind are known."""
        scan = self.scan
        return Md5Error(
            f"not an {kind} file", path=scan.path, line=scan.token_line(len(scan)),
            found=f"no {block}", expected=f'a block "{block} {{ … }}"',
        )  # fmt: skip


def read_contents(
    scan: Scan,
    *,
    numbers: Collection[str],
    once: Collection[str],
    repeated: Collection[str] = (),
    others: Mapping[str, BlockReader] | None = None,
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
    token = 0
    while token < len(scan):
        key = scan.key(token)
        if key == "md5version":
            token += 1
        elif key == "commandline":
            contents.commandline, token = blocks.commandline(scan, token)
        elif key in numbers:
            contents.numbers[key] = blocks.header_number(scan, token)
            token += 1
        elif key in once and key not in contents.opened:
            contents.opened[key] = blocks.opening(scan, token)
            token = scan.block_end(token + 1) + 1
        elif key in others and scan.text(token + 1) == "{":
            token = others[key](token)
        elif key in repeated and scan.text(token + 1) == "{":
            contents.repeated[key].append(token + 1)
            token = scan.block_end(token + 1) + 1
        else:
            contents.stray = token if contents.stray is None else contents.stray
            token += 1
    return contents
