"""Printing of MD5 text: tabs and plain decimals, as in the files of id's exporter.

Doom 3 accepts no capital exponent, no leading ``+`` and no ``nan``, so numbers are ``%1.10f`` without trailing zeros. A
string ends at the next double quote or line end and has no escapes, so names cannot contain either.
Many numbers become text four digits at a time, which are looked up; zero bytes, which fill it up, are removed at last.
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

_UNPRINTABLE = re.compile("[\0-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")

# Numbers printed at once, because their text takes many times their memory; below the second, one by one is faster.
_CHUNK, _MIN_BULK = 1 << 14, 256

_FORMAT = re.compile("%[df]")

_Bytes = npt.NDArray[np.uint8]
_Numbers = npt.NDArray[np.uint64]

_MAX_INTEGER, _MAX_DECIMAL = 10**8, 10**4
_DECIMALS = 10**10


def _words(digits: npt.NDArray[np.integer], kept: npt.NDArray[np.bool_] | bool = True) -> npt.NDArray[np.uint32]:
    """The text of four digits (n, 4) as an integer, (n,), with a zero byte for each that is not kept."""
    return np.where(kept, digits + ord("0"), 0).astype(np.uint8).view("<u4")[:, 0]


_ALL = np.arange(10**4)[:, None] // np.array([1000, 100, 10, 1]) % 10
_DIGITS = _words(_ALL)
_WITHOUT_FIRST_ZEROS = _words(_ALL, (np.maximum.accumulate(_ALL, axis=1) > 0) | [False, False, False, True])
_WITHOUT_LAST_ZEROS = _words(_ALL, np.maximum.accumulate(_ALL[:, ::-1], axis=1)[:, ::-1] > 0)
# A point and two digits; of 0 nothing is left without the last zeros.
_POINT_AND_TWO = (_DIGITS[::100] & np.uint32(0xFFFF)) << np.uint32(8) | np.uint32(ord("."))
_POINT_WITHOUT_LAST_ZEROS = np.where(np.arange(100) > 0, _WITHOUT_LAST_ZEROS[::100] << np.uint32(8) | ord("."), 0)


def decimal(value: float) -> str:
    """A number as the shortest plain decimal with up to ten digits."""
    return rows("%f", np.array([value], dtype=np.float64)).rstrip("\n")


def rows(layout: str, *tables: npt.NDArray[Any]) -> str:
    """Lines of numbers, (n,) or (n, m) from left to right, which were validated: all are finite."""
    # The layout is that of one line: ``%d`` for an integer, ``%f`` for the shortest plain decimal.
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


def _integer_texts(values: npt.NDArray[Any]) -> _Bytes | None:
    """Integers as text, (…, 8) bytes; None unless all are from 0 to 99,999,999."""
    if values.size and (values.min() < 0 or values.max() >= _MAX_INTEGER):
        return None
    first, last = _split(values.astype(np.uint64), 10**4)
    words = np.empty((*values.shape, 2), dtype="<u4")
    words[..., 0] = _WITHOUT_FIRST_ZEROS[first] * (first > 0)
    words[..., 1] = np.where(first > 0, _DIGITS[last], _WITHOUT_FIRST_ZEROS[last])
    return words.view(np.uint8)


def _decimal_texts(values: Floats) -> _Bytes | None:
    """Numbers as the shortest decimals, (…, 20) bytes; None unless all are within ±9,999.5."""
    size = np.abs(values)
    if values.size and not size.max() < _MAX_DECIMAL - 0.5:
        return None
    whole_part = np.floor(size)
    # Both differences are exact, so the digits are those of the number itself.
    fraction_part = np.rint((size - whole_part) * _DECIMALS)
    carried = fraction_part >= _DECIMALS
    whole_part += carried
    fraction_part -= carried * float(_DECIMALS)
    negative = (values < 0.0) & ((whole_part > 0.0) | (fraction_part > 0.0))
    first_two, last_eight = _split(fraction_part.astype(np.uint64), 10**8)
    middle, last = _split(last_eight, 10**4)
    words = np.empty((*values.shape, 5), dtype="<u4")
    words[..., 0] = negative * np.uint32(ord("-"))
    words[..., 1] = _WITHOUT_FIRST_ZEROS[whole_part.astype(np.int64)]
    words[..., 2] = np.where(last_eight > 0, _POINT_AND_TWO[first_two], _POINT_WITHOUT_LAST_ZEROS[first_two])
    words[..., 3] = np.where(last > 0, _DIGITS[middle], _WITHOUT_LAST_ZEROS[middle])
    words[..., 4] = _WITHOUT_LAST_ZEROS[last]
    return words.view(np.uint8)


def _split(values: _Numbers, divisor: int) -> tuple[_Numbers, _Numbers]:
    quotients = values // np.uint64(divisor)
    return quotients, values - quotients * np.uint64(divisor)


def _join_lines(parts: list[bytes | _Bytes], count: int) -> str:
    """Lines of parts: bytes for every line, or the text of a number for each, (count, width)."""
    columns = [
        np.broadcast_to(np.frombuffer(part, np.uint8), (count, len(part))) if isinstance(part, bytes) else part
        for part in parts
    ]
    return np.hstack(columns).tobytes().translate(None, b"\0").decode("ascii")
