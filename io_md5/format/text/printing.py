"""Printing of MD5 text: tabs and plain decimals, as in the files of id's exporter.

Doom 3 accepts no capital exponent, no leading ``+`` and no ``nan``, so numbers are ``%1.10f`` without trailing zeros. A
string ends at the next double quote or line end and has no escapes, so names cannot contain either.
Many numbers become text eight digits at a time: a 64-bit integer is split into fours, then pairs, then digits, by
multiplications. What is not printed is zero bytes in a table of fixed width, which are removed at the end.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ....io_common.skeletal.model import DECIMALS, Floats
from ..model import MAGIC, VERSION
from ..validation import check_string
from .columns import Eights, every_byte

_UNPRINTABLE = re.compile("[\0-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")

# Numbers printed at once, because their text takes many times their memory; below the second, one by one is faster.
_CHUNK, _MIN_BULK = 1 << 14, 256

_FORMAT = re.compile("%[df]")

_Bytes = npt.NDArray[np.uint8]

_MAX_INTEGER, _MAX_DECIMAL = 10**8, 10**4
_DECIMALS = 10**10
_LAST_EIGHT = np.uint64(10**8)

_BYTE = np.uint64(8)
_ASCII_ZERO, _ASCII_MINUS, _ASCII_POINT = (np.uint64(ord(letter)) for letter in "0-.")
# Adding the first sets the highest bit of every byte that is not 0; the second masks those bits.
_LIFT, _HIGHEST = every_byte(0x7F), every_byte(0x80)


def decimal(value: float) -> str:
    """A number as the shortest plain decimal with up to ten digits."""
    return rows("%f", np.array([value], dtype=np.float64)).rstrip("\n")


def rows(layout: str, *tables: npt.NDArray[Any]) -> str:
    """Lines of numbers, (n,) or (n, m) from left to right, which were validated: all are finite.

    The layout is that of one line: ``%d`` for an integer, ``%f`` for the shortest plain decimal.
    """
    # Frames without animated components have no columns.
    tables = tuple(table for table in tables if table.ndim == 1 or table.shape[1])
    step = max(1, _CHUNK // max(layout.count("%"), 1))
    texts = []
    for first in range(0, len(tables[0]), step):
        parts = [table[first : first + step] for table in tables]
        text = _rows_in_bulk(layout, parts) if sum(part.size for part in parts) >= _MIN_BULK else None
        texts.append(_rows_one_by_one(layout, parts) if text is None else text)
    return "".join(texts)


def _rows_in_bulk(layout: str, tables: list[npt.NDArray[Any]]) -> str | None:
    """Many lines at once; None if a number is too large for that."""
    numbers: list[_Bytes] = []
    for table in tables:
        columns = table.reshape(len(table), -1)
        fields = _decimal_texts(columns) if columns.dtype.kind == "f" else _integer_texts(columns)
        if fields is None:
            return None
        numbers.extend(fields.swapaxes(0, 1))
    words = [word.encode("ascii") for word in _FORMAT.split(layout + "\n")]
    parts: list[bytes | _Bytes] = [words[0]]
    for number, word in zip(numbers, words[1:], strict=True):
        parts += (number, word)
    return _join_lines(parts, len(tables[0]))


def _rows_one_by_one(layout: str, tables: list[npt.NDArray[Any]]) -> str:
    """Lines with Python's own formatting."""
    columns: list[list[float]] = []
    for table in tables:
        if table.dtype.kind == "f":
            # Without a negative zero.
            table = np.where(np.abs(table) < 10.0**-DECIMALS, np.round(table, DECIMALS) + 0.0, table)
        columns += table.T.tolist() if table.ndim == 2 else [table.tolist()]
    line = layout.replace("%f", f"%.{DECIMALS}f\0") + "\n"
    text = (line * len(tables[0])) % tuple(chain.from_iterable(zip(*columns, strict=True)))
    if "%f" in layout:
        for zeros in ("0000", "0000", "00", "0", "."):
            text = text.replace(zeros + "\0", "\0")
    return text.replace("\0", "")


def quoted(name: str) -> str:
    """A name in double quotes; raises Md5Error if it contains what the format cannot hold."""
    check_string(name, "text")
    return f'"{name}"'


def commented(name: str) -> str:
    """A name for a comment; control characters and invalid characters become ``_``."""
    return _UNPRINTABLE.sub("_", name).strip()


def header(commandline: str) -> list[str]:
    """The lines that every MD5 file begins with."""
    return [f"{MAGIC} {VERSION}", f"commandline {quoted(commandline)}", ""]


# Many numbers at once


def _integer_texts(values: npt.NDArray[Any]) -> _Bytes | None:
    """Integers as text, (…, 8) bytes; None unless all are from 0 to 99,999,999."""
    if values.size and (values.min() < 0 or values.max() >= _MAX_INTEGER):
        return None
    digits = _eight_digits(values.astype(np.uint64))
    # Leading zeros are left out, except for the last digit.
    printed = _filled(_smear_up(digits) | np.uint64(1 << 56))
    return _as_bytes(digits | printed * _ASCII_ZERO, values.shape)


def _decimal_texts(values: Floats) -> _Bytes | None:
    """Numbers as the shortest decimals, (…, 16) bytes; None unless all are within ±9,999.5."""
    size = np.abs(values)
    if values.size and not size.max() < _MAX_DECIMAL - 0.5:
        return None
    whole_part = np.floor(size)
    # Both differences are exact, so the digits are those of the number itself.
    fraction_part = np.rint((size - whole_part) * _DECIMALS)
    carried = fraction_part >= _DECIMALS
    whole_part += carried
    fraction_part -= carried * float(_DECIMALS)
    fraction = fraction_part.astype(np.uint64)
    first_two = fraction // _LAST_EIGHT
    last_eight = _eight_digits(fraction - first_two * _LAST_EIGHT)
    # Four digits before the point, two after it, and two zeros.
    middle = _eight_digits(whole_part.astype(np.uint64) * np.uint64(10**4) + first_two * np.uint64(100))

    before_point = middle & np.uint64(0xFFFFFFFF)
    before_point |= _filled(_smear_up(before_point) & np.uint64(0xFFFFFFFF) | np.uint64(1 << 24)) * _ASCII_ZERO
    after_point = middle >> np.uint64(32)
    printed = _filled(after_point | (after_point >> _BYTE) | (last_eight != 0) * np.uint64(0x0101)) & np.uint64(0x0101)
    point = (printed & np.uint64(1)) * _ASCII_POINT
    after_point |= printed * _ASCII_ZERO
    negative = (values < 0.0) & ((whole_part > 0.0) | (fraction_part > 0.0))
    eights = np.empty((*values.shape, 2), dtype=np.uint64)
    eights[..., 0] = (
        negative * _ASCII_MINUS | before_point << _BYTE | point << np.uint64(40) | after_point << np.uint64(48)
    )
    eights[..., 1] = last_eight | _filled(_smear_down(last_eight)) * _ASCII_ZERO
    return _as_bytes(eights, values.shape)


def _join_lines(parts: list[bytes | _Bytes], count: int) -> str:
    """Lines of parts: bytes for every line, or the text of a number for each, (count, width)."""
    widths = [len(part) if isinstance(part, bytes) else part.shape[-1] for part in parts]
    template = b"".join(part if isinstance(part, bytes) else bytes(part.shape[-1]) for part in parts)
    table = np.empty((count, len(template)), dtype=np.uint8)
    table[:] = np.frombuffer(template, dtype=np.uint8)
    at = 0
    for part, width in zip(parts, widths, strict=True):
        if not isinstance(part, bytes):
            table[:, at : at + width] = part
        at += width
    return table.tobytes().translate(None, b"\0").decode("ascii")


def _eight_digits(values: Eights) -> Eights:
    """The eight digits of each number, the first in the lowest byte."""
    fours = values // np.uint64(10**4)
    digits = fours | (values - fours * np.uint64(10**4)) << np.uint64(32)
    pairs = digits * np.uint64(10486) >> np.uint64(20) & np.uint64(0x0000007F0000007F)
    digits = pairs | (digits - pairs * np.uint64(100)) << np.uint64(16)
    tens = digits * np.uint64(103) >> np.uint64(10) & np.uint64(0x000F000F000F000F)
    result: Eights = tens | (digits - tens * np.uint64(10)) << _BYTE
    return result


def _smear_up(digits: Eights) -> Eights:
    """Every byte combined (or) with all bytes before it."""
    digits = digits | digits << _BYTE
    digits |= digits << np.uint64(16)
    return digits | digits << np.uint64(32)


def _smear_down(digits: Eights) -> Eights:
    """Every byte combined (or) with all bytes after it."""
    digits = digits | digits >> _BYTE
    digits |= digits >> np.uint64(16)
    return digits | digits >> np.uint64(32)


def _filled(digits: Eights) -> Eights:
    """1 for every byte that is not 0; all bytes must be at most 15."""
    return (digits + _LIFT & _HIGHEST) >> np.uint64(7)


def _as_bytes(eights: Eights, shape: tuple[int, ...]) -> _Bytes:
    return np.ascontiguousarray(eights.astype("<u8", copy=False)).view(np.uint8).reshape(*shape, -1)
