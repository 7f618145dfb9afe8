"""Values in property groups are returned valid, or not at all."""

from __future__ import annotations

import math
from array import array

import numpy as np
import pytest

from io_idtech.io_blender import stored_values


class Group(dict):
    """A property group as Blender gives it."""

    def to_dict(self):
        return dict(self)


def test_a_group_that_is_missing_or_no_group_is_empty():
    group = Group(a=1)
    assert stored_values.read_group({"md5": group}, "md5") is group
    assert stored_values.read_group({}, "md5") == {}
    assert stored_values.read_group({"md5": "a text"}, "md5") == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (7, 7), (8, None), (-1, None), (1.0, None), (True, None), ("1", None), (None, None)],
)
def test_an_integer_from_0_to_the_highest(value, expected):
    assert stored_values.read_integer({"key": value}, "key", highest=7) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        (1, 1.0),
        (2, 2.0),
        (2.5, None),
        (math.nan, None),
        (math.inf, None),
        (True, None),
        ("1", None),
    ],
)
def test_a_number_in_its_range(value, expected):
    assert stored_values.read_number({"key": value}, "key", lowest=0.5, highest=2.0) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a text", "a text"),
        ("with\ta tab", "with\ta tab"),
        ("", ""),
        (b"caf\xe9", "caf\udce9"),
        ('a "quote"', None),
        ("two\nlines", None),
        (7, None),
    ],
)
def test_a_text_that_can_stand_between_quotes_on_one_line(value, expected):
    assert stored_values.read_text({"key": value}, "key") == expected


@pytest.mark.parametrize("kind", ["f", "d"])
def test_a_table_of_finite_numbers(kind):
    found = stored_values.read_floats({"key": array(kind, [1, 2, 3, 4, 5, 6])}, "key", 3)
    assert found.dtype == np.float64
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    "value",
    [
        array("d", [1, 2, 3, 4]),
        array("d", [1, 2, math.nan]),
        array("d", [1, 2, 1e39]),
        array("i", [1, 2, 3]),
        "123",
        7,
        None,
    ],
    ids=["a row too short", "not a number", "too large", "integers", "a text", "a number", "nothing"],
)
def test_what_is_no_table_of_finite_numbers_is_nothing(value):
    assert stored_values.read_floats({"key": value}, "key", 3) is None


def test_a_table_of_integers_from_0_on():
    found = stored_values.read_integers({"key": array("i", [0, 1, 2, 3])}, "key", 2)
    assert (found.dtype, found.tolist()) == (np.int64, [[0, 1], [2, 3]])
    assert stored_values.read_integers({"key": array("i", [0, -1])}, "key", 2) is None
    assert stored_values.read_integers({"key": array("d", [0, 1])}, "key", 2) is None


def test_an_empty_table_has_no_rows():
    assert stored_values.read_integers({"key": array("i")}, "key", 3).shape == (0, 3)
