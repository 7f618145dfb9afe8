"""How text is laid out: tabs and plain decimals, as id's exporter writes them.

Doom 3 takes neither exponents in capitals nor a leading ``+`` nor ``nan``: numbers are printed as ``%1.10f``
with trailing zeros cut. A string of the format ends at the next double quote or at the end of the line and has
no escapes, so no name can hold either.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import Md5Error
from ..model import LARGEST
from . import digits

DECIMALS = 10
"""Digits behind the point that id's exporter prints."""

# Besides what ends a string, halves of UTF-16 pairs but for those that stand for single bytes.
_UNQUOTABLE = re.compile('["\r\n\0\ud800-\udc7f\udd00-\udfff]')

_UNPRINTABLE = re.compile("[\0-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")

# So many numbers are printed at once, as their text takes many times their memory; so few sooner one by one.
_CHUNK, _MIN_BULK = 1 << 14, 256

_FORMAT = re.compile("%[df]")


def check_finite(values: npt.NDArray[np.float64]) -> None:
    """Checks that numbers can be written.

    Raises:
        Md5Error: a number is not finite as a 32-bit float.
    """
    bad = ~(np.abs(values) <= LARGEST)
    if bad.any():
        raise Md5Error("a number is not finite and cannot be written", found=str(values[bad][0]))


def decimals(values: npt.ArrayLike) -> list[str]:
    """Each number of an array, in the order of memory, as the shortest plain decimal with up to ten digits.

    Raises:
        Md5Error: a number is not finite as a 32-bit float.
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
    """Lines of one layout, all numbers.

    Args:
        layout: of one line without its end: ``%d`` for a whole number, ``%f`` for the shortest plain decimal.
        tables: the numbers from left to right, (n,) or (n, m).

    Raises:
        Md5Error: a number is not finite as a 32-bit float.
    """
    step = max(1, _CHUNK // max(layout.count("%"), 1))
    return "".join(
        _rows(layout, [table[first : first + step] for table in tables])
        for first in range(0, len(tables[0]), step)
    )


def _rows(layout: str, tables: list[npt.NDArray[Any]]) -> str:
    """The same for some lines."""
    in_bulk = _rows_in_bulk(layout, tables) if sum(table.size for table in tables) >= _MIN_BULK else None
    return _rows_one_by_one(layout, tables) if in_bulk is None else in_bulk


def _rows_in_bulk(layout: str, tables: list[npt.NDArray[Any]]) -> str | None:
    """The same, sooner; None where a number is too large for that."""
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
    """The same by Python's own formatting."""
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
    """Decimals without the zeros behind their last digit, and without a point that would end them.

    Args:
        text: numbers with DECIMALS digits behind the point.
        end: what stands behind each of them and nowhere else.
    """
    for zeros in ("0000", "0000", "00", "0", "."):
        text = text.replace(zeros + end, end)
    return text


def is_writable(name: str) -> bool:
    """Whether a string of the format can hold a name."""
    return not _UNQUOTABLE.search(name)


def quoted(name: str) -> str:
    """A name in double quotes.

    Raises:
        Md5Error: it holds a double quote, the end of a line, a NUL or what is no character.
    """
    if not is_writable(name):
        raise Md5Error("a name holds a character that the format has no way to write", found=repr(name))
    return f'"{name}"'


def commented(name: str) -> str:
    """A name that ends with its line, for a comment; what would end the line, or is no character, becomes ``_``."""
    return _UNPRINTABLE.sub("_", name).strip()


def header(commandline: str) -> list[str]:
    """The lines that every MD5 file begins with."""
    return ["MD5Version 10", f"commandline {quoted(commandline)}", ""]
