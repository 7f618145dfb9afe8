"""The beginning of a file, up to the end of one of its blocks."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from ....io_common.files.regular_files import open_file
from ....io_common.files.sources import Source, read_source

_CHUNK = 1 << 16
# Strings, comments and single slashes. Possessive, as going back would take quadratic time.
_SKIPPED = rb'"[^"\r\n]*+"?+|//[^\r\n]*+|/\*(?>[\s\S]*?(?:\*/|\Z))|/'


def read_head(source: Source, block: str) -> tuple[bytes, int, str]:
    """The bytes of a file at least up to the brace that closes a block; only a path is read in parts.

    The name of the block is given in lower case. Returns the bytes; where the block ends, or 0 if there is none, and
    then the bytes are all; and the name for messages. Raises OSError if the file is not a regular file, or cannot be
    read.
    """
    name = block.encode()
    if not isinstance(source, str | os.PathLike):
        data, path = read_source(source)
        return data, _block_end(data, name), path
    data, end = b"", 0
    with open_file(source) as file:
        # Doubled, so that a long file without the block is searched in time in proportion to its length.
        while not end and (chunk := file.read(max(_CHUNK, len(data)))):
            data += chunk
            end = _block_end(data, name)
    return data, end, os.fspath(source)


def whole_file(source: Source, data: bytes) -> bytes:
    """All bytes of a file; `data` is what `read_head` has read of it: all, unless the source is a path."""
    return read_source(source)[0] if isinstance(source, str | os.PathLike) else data


def _block_end(data: bytes, block: bytes) -> int:
    """The offset after the brace that closes a block; 0 if it is not in the data."""
    found = _up_to_end(block).match(data)
    return found.end() if found is not None else 0


@lru_cache
def _up_to_end(block: bytes) -> re.Pattern[bytes]:
    """All up to the first closing brace after the first opening brace after the name of a block.

    One match, as a step in Python for each word or brace takes ten times as long.
    """
    name = rb"(?i:%b)(?!\w)" % re.escape(block)
    return re.compile(
        rb"(?:[^\"/A-Za-z_]++|%(skipped)b|(?!%(name)b)[A-Za-z_]\w*+)*+%(name)b"
        rb"(?:[^\"/{]++|%(skipped)b)*+\{(?:[^\"/}]++|%(skipped)b)*+\}" % {b"skipped": _SKIPPED, b"name": name}
    )
