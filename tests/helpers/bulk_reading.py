"""MD5 files read in columns, however few lines they have, and one by one: that must come to the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from unittest.mock import patch

import numpy as np

from io_md5.format import Md5Error, anim_file, mesh_file
from io_md5.format.text import frame_rows, rows

Parse = Callable[..., object]

FAR = 1000 * b"\n"
"""Behind a text, keeps its last lines from being read one by one."""


def assert_same(parse: Parse, data: bytes) -> None:
    """Checks that both ways come to the same, for the text as it is and where all its lines may be read in columns."""
    for text in (data, data + FAR):
        assert in_columns(parse, text) == one_by_one(parse, text)


def in_columns(parse: Parse, data: bytes) -> object:
    """What is read where a single line is enough for reading in columns."""
    with patch.object(rows, "MIN_LINES", 1), patch.object(frame_rows, "MIN_LINES", 1):
        return _outcome(parse, data)


def one_by_one(parse: Parse, data: bytes) -> object:
    """What is read without reading in columns."""
    with (
        patch.object(mesh_file, "extract_rows", _nothing_extracted),
        patch.object(anim_file, "extract_frames", _nothing_extracted),
    ):
        return _outcome(parse, data)


def _nothing_extracted(data: bytes) -> rows.ReducedText:
    return rows.ReducedText(data, len(data))


def _outcome(parse: Parse, data: bytes) -> object:
    """What is read, as values that can be compared, or the words with which it is refused."""
    try:
        return _values(parse(data, "file"))
    except Md5Error as error:
        return str(error)


def _values(read: object) -> object:
    if isinstance(read, np.ndarray):
        return read.dtype.str, read.shape, read.tobytes()
    if isinstance(read, list):
        return [_values(item) for item in read]
    return [_values(getattr(read, field.name)) for field in fields(read)] if is_dataclass(read) else read
