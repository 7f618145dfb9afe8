"""Triangle files: the word TRI and nine numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np


class TriError(ValueError):
    """A file that holds no triangle."""


def parse(data: bytes) -> np.ndarray:
    """The corners of a triangle, (3, 3)."""
    word, *numbers = data.split() or [b""]
    if word != b"TRI" or len(numbers) != 9:
        raise TriError("not a triangle file")
    try:
        return np.array([float(number) for number in numbers]).reshape(3, 3)
    except ValueError as error:
        raise TriError("a coordinate is not a number") from error


def read(path: str) -> np.ndarray:
    try:
        return parse(Path(path).read_bytes())
    except TriError as error:
        raise TriError(f"{path}: {error}") from None


def text(corners: np.ndarray) -> str:
    return "TRI\n" + "".join(f"{x:g} {y:g} {z:g}\n" for x, y, z in corners)
