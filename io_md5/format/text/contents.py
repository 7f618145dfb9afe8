"""The top level of an MD5 file: a version, keys with a number, a command line, and blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from ..errors import Md5Error
from . import blocks
from .scanner import Scan

BlockReader = Callable[[int], int]
"""A function that reads the block named by a token and returns the index of the token after the block."""


@dataclass(eq=False)
class Contents:
    """The contents of a file.

    Attributes:
        scan: the text.
        commandline: the arguments of id's exporter.
        numbers: by key.
        opened: the opening brace of each block that occurs once.
        repeated: the opening braces of blocks that may occur several times.
        stray: the first token outside of blocks and keys.
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
        """The error for a file without the block that identifies its kind."""
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
    """The contents of a file; keys are given, and compared, in lower case.

    `numbers` are keys that are followed by a number. Of a block in `once` only the first is used; those in `repeated`
    may occur several times; those in `others` are read at once, by the reader of their name.

    Raises Md5Error if a number is missing, or a block is not opened or not closed.
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
