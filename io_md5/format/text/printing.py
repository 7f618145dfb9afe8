"""Printing of MD5 text: tabs and plain decimals, as in the files of id's exporter.

Doom 3 accepts no capital exponent, no leading ``+`` and no ``nan``: numbers are printed as ``%1.10f`` without trailing
zeros. A string ends at the next double quote or at the end of the line and has no escapes, so names cannot contain
either.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import Md5Error
from ..model import DECIMALS, LARGEST, MAGIC, VERSION
from ..validation import check_string
from . import digits

_UNPRINTABLE = re.compile("[\0-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")

# Numbers printed at once, because their text takes many times their memory; below the second, one by one is faster.
_CHUNK, _MIN_BULK = 1 << 14, 256

_FORMAT = re.compile("%[df]")


def check_finite(values: npt.NDArray[np.float64]) -> None:
    """Raises Md5Error if a number cannot be written, as it is not finite as a 32-bit float."""
    bad = ~(np.abs(values) <= LARGEST)
    if bad.any():
        raise Md5Error("cannot write a number that is not finite", found=str(values[bad][0]))


def decimals(values: npt.ArrayLike) -> list[str]:
    """Each number of an array, in the order of memory, as the shortest plain decimal with up to ten digits.

    Raises Md5Error if a number is not finite as a 32-bit float.
    """
    flat = _printable(np.asarray(values, dtype=np.float64).ravel())
    text = (f"%.{DECIMALS}f " * len(flat)) % tuple(flat.tolist())
    return _without_trailing_zeros(text, " ").split()


def columns(values: npt.NDArray[np.float64]) -> list[list[str]]:
    """The decimals of a table (n, m), a list for each of the m columns."""
    flat = decimals(values)
    width = values.shape[1]
    return [flat[column::width] for column in range(width)]


def rows(layout: str, *tables: npt.NDArray[Any]) -> str:
    """Lines of numbers with one layout.

    The layout is that of one line without its newline: ``%d`` for an integer, ``%f`` for the shortest plain decimal.
    The tables hold the numbers from left to right, (n,) or (n, m). Raises Md5Error if a number is not finite as a
    32-bit float.
    """
    # Frames without animated components have no columns.
    tables = tuple(table for table in tables if table.ndim == 1 or table.shape[1])
    step = max(1, _CHUNK // max(layout.count("%"), 1))
    return "".join(
        _rows(layout, [table[first : first + step] for table in tables])
        for first in range(0, len(tables[0]), step)
    )


def _rows(layout: str, tables: list[npt.NDArray[Any]]) -> str:
    """The same for one chunk of lines."""
    in_bulk = _rows_in_bulk(layout, tables) if sum(table.size for table in tables) >= _MIN_BULK else None
    return _rows_one_by_one(layout, tables) if in_bulk is None else in_bulk


def _rows_in_bulk(layout: str, tables: list[npt.NDArray[Any]]) -> str | None:
    """The same, faster; None if a number is too large for that."""
    numbers: list[digits.Bytes] = []
    for table in tables:
        columns = table.reshape(len(table), -1)
        if columns.dtype.kind == "f":
            check_finite(columns)
        fields = digits.decimals(columns) if columns.dtype.kind == "f" else digits.integers(columns)
        if fields is None:
            return None
        numbers.extend(fields.swapaxes(0, 1))
    words = [word.encode("ascii") for word in _FORMAT.split(layout + "\n")]
    parts: list[bytes | digits.Bytes] = [words[0]]
    for number, word in zip(numbers, words[1:], strict=True):
        parts += (number, word)
    return digits.lines(parts, len(tables[0]))


def _rows_one_by_one(layout: str, tables: list[npt.NDArray[Any]]) -> str:
    """The same with Python's own formatting."""
    columns: list[list[float]] = []
    for table in tables:
        numbers = _printable(table) if table.dtype.kind == "f" else table
        columns += numbers.T.tolist() if numbers.ndim == 2 else [numbers.tolist()]
    line = layout.replace("%f", f"%.{DECIMALS}f\0") + "\n"
    text = (line * len(tables[0])) % tuple(chain.from_iterable(zip(*columns, strict=True)))
    return _without_trailing_zeros(text, "\0").replace("\0", "") if "%f" in layout else text


def _printable(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Finite numbers without a negative zero."""
    check_finite(values)
    return np.where(np.abs(values) < 10.0**-DECIMALS, np.round(values, DECIMALS) + 0.0, values)


def _without_trailing_zeros(text: str, end: str) -> str:
    """Decimals without trailing zeros and without a trailing point.

    The text holds numbers with DECIMALS digits after the point, each followed by `end`, which occurs nowhere else.
    """
    for zeros in ("0000", "0000", "00", "0", "."):
        text = text.replace(zeros + end, end)
    return text


def quoted(name: str) -> str:
    """A name in double quotes.

    Raises Md5Error if it contains a double quote, a line break, a NUL or an invalid character.
    """
    check_string(name, "text")
    return f'"{name}"'


def commented(name: str) -> str:
    """A name for a comment; control characters and invalid characters become ``_``."""
    return _UNPRINTABLE.sub("_", name).strip()


def header(commandline: str) -> list[str]:
    """The lines that every MD5 file begins with."""
    return [f"{MAGIC} {VERSION}", f"commandline {quoted(commandline)}", ""]
