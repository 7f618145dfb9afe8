"""Arrays of models: taken from lists and other types, compared, and checked. Each raises the error of its format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .errors import FormatError
from .texts import counted

MAX_INT32 = 2**31 - 1

# Latin-1 maps every byte to one character and back, so any name survives a round trip. Its characters are valid
# Unicode, which Blender accepts, unlike the surrogates of Python's "surrogateescape".
NAME_ENCODING = "latin-1"

Error = type[FormatError]


class ArrayOf:
    """The default of a field of a `Record`: an array without rows, of the type and shape that the field requires."""

    # A letter in the shape stands for a length that several arrays have in common.

    def __init__(self, dtype: type[np.generic], *shape: int | str) -> None:
        self.dtype, self.shape = np.dtype(dtype), shape
        self.kind = str(self.dtype) if self.dtype.kind == "f" else "integers"

    def __call__(self) -> NDArray[Any]:
        """A new one."""
        return np.zeros([size if isinstance(size, int) else 0 for size in self.shape], self.dtype)


class Record:
    """A dataclass of arrays and lists, which are converted when it is made, and compared by value."""

    # Floats are compared byte for byte, so that NaN is equal to itself, integers by their values.

    ERROR: ClassVar[Any]  # that of its format
    PLACE: ClassVar[str] = ""  # before the names of its attributes in messages

    def __post_init__(self) -> None:
        arrays, lists = _declared(type(self))  # type: ignore[arg-type]
        for name, default in arrays:
            value = getattr(self, name)
            if not isinstance(value, np.ndarray) or value.dtype != default.dtype:
                setattr(self, name, _converted(self.ERROR, self.PLACE + name, value, default()))
        for name in lists:
            value = getattr(self, name)
            if not isinstance(value, list) and not isinstance(value, str | bytes) and isinstance(value, Iterable):
                setattr(self, name, list(value))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = [item.name for item in fields(self) if item.compare]  # type: ignore[arg-type]
        return all(_are_same(getattr(self, name), getattr(other, name)) for name in compared)

    __hash__ = None  # type: ignore[assignment]

    def check_arrays(self, place: str = "", **lengths: int) -> None:
        """Raises unless arrays have their kinds and shapes; `lengths` are those that are known, by letter."""
        for name, default in _declared(type(self))[0]:  # type: ignore[arg-type]
            values = getattr(self, name)
            wanted = tuple(lengths.get(size) if isinstance(size, str) else size for size in default.shape)
            check_array(self.ERROR, (place or self.PLACE) + name, values, wanted, default.kind)
            sizes = zip(default.shape, values.shape, strict=True)
            lengths |= {letter: size for letter, size in sizes if isinstance(letter, str)}


@cache
def _declared(record: type[Any]) -> tuple[list[tuple[str, ArrayOf]], list[str]]:
    """The names of a record's arrays, as they are declared, and of its lists."""
    defaults = {item.name: item.default_factory for item in fields(record)}
    arrays = [(name, default) for name, default in defaults.items() if isinstance(default, ArrayOf)]
    return arrays, [name for name, default in defaults.items() if default is list]


def _converted(error: Error, name: str, values: Any, empty: NDArray[Any]) -> NDArray[Any]:
    """Values as an array of the type of an empty one; integers beyond it keep theirs, for `check_range` to find."""
    try:
        given = np.asarray(values)
    except ValueError as problem:
        raise error(f"{name} has rows of different lengths") from problem
    # An empty list has no shape or type of its own.
    if given.shape == (0,) and not isinstance(values, np.ndarray):
        return empty
    is_float = empty.dtype.kind == "f"
    with np.errstate(over="ignore", invalid="ignore"):
        converted = given.astype(empty.dtype) if given.dtype.kind in "iuf" else None
    if converted is not None and (is_float or np.array_equal(converted, given)):
        return converted
    if given.dtype.kind not in "iu":
        raise error(f"{name} is not an array of {'numbers' if is_float else 'integers'}", found=str(given.dtype))
    return given


def _are_same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype.kind in "iu" and b.dtype.kind in "iu":
            return np.array_equal(a, b)
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return bool(a == b)


def check_array(error: Error, name: str, array: Any, shape: tuple[int | None, ...], kind: str) -> None:
    """Raises unless it is an array of a shape, None for any length, and kind: "integers" or a type of floats."""
    if not isinstance(array, np.ndarray):
        raise error(f"{name} is not an array", found=type(array).__name__, expected=f"an array of {kind}")
    fits = array.dtype.kind in "iu" if kind == "integers" else array.dtype == kind
    if not fits:
        raise error(f"{name} has the wrong type", found=str(array.dtype), expected=kind)
    if len(array.shape) != len(shape) or any(
        wanted is not None and length != wanted for length, wanted in zip(array.shape, shape, strict=True)
    ):
        expected = ", ".join("any" if wanted is None else str(wanted) for wanted in shape)
        raise error(f"{name} has the wrong shape", found=str(array.shape), expected=f"({expected})")


def check_range(error: Error, name: str, array: NDArray[Any], low: int, high: int) -> None:
    """Raises unless all integers are within limits."""
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        if low <= limits.min and limits.max <= high:
            return
    bad = array[(array < low) | (array > high)]
    if len(bad):
        number = counted(len(bad), "values")
        raise error(f"{name} has {number} out of range", found=str(bad[0]), expected=f"{low} to {high}")


def check_indices(error: Error, name: str, indices: NDArray[Any], count: int) -> None:
    """Raises unless all are indices into a table of `count` rows."""
    bad = indices[(indices < 0) | (indices >= count)]
    if len(bad):
        number = counted(len(bad), "indices")
        raise error(f"{name} has {number} out of range", found=str(bad[0]), expected=f"an index below {count}")


def check_integer(error: Error, name: str, value: Any, low: int = 0) -> None:
    """Raises unless it is an integer of 32 bits from `low` on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= MAX_INT32:
        expected = f"an integer from {low} to {MAX_INT32}"
        raise error(f"{name} does not fit", found=repr(value), expected=expected)


def check_names(error: Error, attribute: str, names: Any) -> None:
    """Raises unless it is a list of texts."""
    if not isinstance(names, list):
        raise error(f"{attribute} is not a list", found=type(names).__name__, expected="a list of names")
    for number, name in enumerate(names):
        if not isinstance(name, str):
            raise error(f"{attribute}[{number}] is not a name", found=repr(name), expected="a str")


def check_encoded(error: Error, attribute: str, names: Any, size: int) -> None:
    """Raises unless it is a list of names in Latin-1 without NUL, and no longer than `size`."""
    check_names(error, attribute, names)
    for number, name in enumerate(names):
        place = f"{attribute}[{number}]"
        try:
            text = name.encode(NAME_ENCODING)
        except UnicodeEncodeError as problem:
            reason = f"{place} has characters that are not in Latin-1"
            raise error(reason, found=repr(name), expected="Latin-1") from problem
        if len(text) > size or b"\0" in text:
            expected = f"at most {size} bytes, none of them NUL"
            raise error(f"{place} does not fit", found=repr(name), expected=expected)


def encode_names(names: Sequence[str], size: int) -> NDArray[np.void]:
    """Names as fields of a file, filled up with NULs, (n,) of `size` bytes."""
    encoded = [name.encode(NAME_ENCODING).ljust(size, b"\0") for name in names]
    return np.frombuffer(b"".join(encoded), np.dtype(("V", size)))


def distinct_rows(rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each of the distinct rows (n, …) is first, in the order of first use, (d,); and which each row is, (n,)."""
    if not rows.size:
        return np.zeros(min(len(rows), 1), np.int64), np.zeros(len(rows), np.int64)
    # Bytes are compared much faster than columns.
    rows = np.ascontiguousarray(rows).reshape(len(rows), -1)
    _, firsts, inverse = np.unique(
        rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))), return_index=True, return_inverse=True
    )
    order = np.argsort(firsts)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return firsts[order], ranks[inverse.reshape(-1)]
