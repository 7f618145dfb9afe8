"""Values in property groups are returned valid, or not at all."""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import dataclass

import numpy as np
import pytest

from io_idtech.io_blender import records
from io_idtech.io_blender.records import NONE, match_elements, match_vertices


class Group(dict):
    """A property group as Blender gives it."""

    def to_dict(self):
        return dict(self)


def test_a_group_that_is_missing_or_no_group_is_empty():
    group = Group(a=1)
    assert records.read_group({"md5": group}, "md5") is group
    assert records.read_group({}, "md5") == {}
    assert records.read_group({"md5": "a text"}, "md5") == {}


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (7, 7), (8, None), (-1, None), (1.0, None), (True, None), ("1", None), (None, None)]
)
def test_an_integer_from_0_to_the_highest(value, expected):
    assert records.Integer("", "key", highest=7).read({"key": value}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 0.5), (1, 1.0), (2, 2.0), (2.5, None), (math.nan, None), (math.inf, None), (True, None), ("1", None)],
)
def test_a_number_in_its_range(value, expected):
    assert records.Number("", "key", 0.5, 2.0).read({"key": value}) == expected


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
    assert records.Text("", "key").read({"key": value}) == expected


@pytest.mark.parametrize("kind", ["f", "d"])
def test_a_table_of_finite_numbers(kind):
    found = records.Table("", "key", "f8", 3).read({"key": array(kind, [1, 2, 3, 4, 5, 6])})
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
    assert records.Table("", "key", "f8", 3).read({"key": value}) is None


def test_a_table_of_integers_from_0_on():
    found = records.Table("", "key", "i4", 2, lowest=0).read({"key": array("i", [0, 1, 2, 3])})
    assert (found.dtype, found.tolist()) == (np.int32, [[0, 1], [2, 3]])
    assert records.Table("", "key", "i4", 2, lowest=0).read({"key": array("i", [0, -1])}) is None
    assert records.Table("", "key", "i4", 2, lowest=0).read({"key": array("d", [0, 1])}) is None


def test_an_empty_table_has_no_rows():
    assert records.Table("", "key", "i4", 3).read({"key": array("i")}).shape == (0, 3)


def test_a_value_is_written_into_the_group_and_removed_by_none():
    owner = {"md5": Group(other=1)}
    field = records.Number("md5", "rate", 1.0, 9.0)
    field.write(owner, 5)
    assert (owner["md5"], field.read(owner)) == ({"other": 1, "rate": 5.0}, 5.0)
    field.write(owner, None)
    assert owner["md5"] == {"other": 1}


@pytest.mark.parametrize(("shown", "expected"), [("bone", "joint"), ("bone.001", "joint"), ("other", "other")])
def test_a_name_holds_until_the_item_is_renamed(shown, expected):
    owner = {"md5": Group()}
    records.Name("md5", "name").store(owner, "joint", "bone")
    assert records.Name("md5", "name").current(owner, shown) == expected


@pytest.mark.parametrize(
    ("name", "before", "shown", "expected"),
    [
        ("walk", "walk.001", "walk.002", "walk"),
        ("bone.001", "bone.001", "bone.002", "bone.002"),
        ("walk", "stroll.001", "stroll.002", "stroll.002"),
    ],
)
def test_a_copy_of_what_got_a_number_has_the_same_name(name, before, shown, expected):
    owner = {"md5": Group()}
    records.Name("md5", "name").store(owner, name, before)
    assert records.Name("md5", "name").current(owner, shown) == expected


def test_a_name_is_changed_to_what_can_be_quoted_and_removed_by_an_empty_one():
    owner, field = {"md5": Group()}, records.Name("md5", "name")
    field.change(owner, ' a "b"\n', "bone")
    assert field.current(owner, "bone") == "a b"
    field.change(owner, "", "bone")
    assert owner["md5"] == {}


@pytest.mark.parametrize("value", [b"\1\0\0\0", [1, 2], "12345678", None, np.array([np.nan, 9], "<f4").tobytes()])
def test_bytes_that_are_no_rows_of_numbers_within_the_limit_are_nothing(value):
    assert records.Bytes("", "key", "<f4", 2, highest=9.0).read({"key": value}) is None


def test_bytes_as_rows_of_numbers():
    value = np.array([1, 9, 3, 4], "<f4").tobytes()
    assert records.Bytes("", "key", "<f4", 2, highest=9.0).read({"key": value}).tolist() == [[1, 9], [3, 4]]


# JSON


@dataclass(frozen=True)
class Speed:
    rate: float


@pytest.mark.parametrize("rate", [2, 2.5, -1e300])
def test_whole_and_other_numbers_are_floats(rate):
    assert records.Json("", "key", Speed).read({"key": json.dumps({"rate": rate})}).rate == rate


@pytest.mark.parametrize("rate", [10**400, -(10**400), float("nan"), float("inf"), True, "2", None])
def test_what_is_no_finite_float_is_nothing(rate):
    assert records.Json("", "key", Speed).read({"key": json.dumps({"rate": rate})}) is None


# Elements of the file


def integers(*values: int):
    return np.array(values, np.int32)


def test_an_untouched_mesh_matches_every_vertex():
    assert match_vertices(integers(0, 1, 2), 3, 3).tolist() == [0, 1, 2]


def test_the_first_of_several_copies_is_the_vertex_of_the_file():
    assert match_vertices(integers(0, 1, 1, 0, 2), 5, 3).tolist() == [0, 1, NONE, NONE, 2]


def test_numbers_outside_the_file_match_nothing():
    assert match_vertices(integers(-5, 1, 3, 99), 4, 3).tolist() == [NONE, 1, NONE, NONE]


@pytest.mark.parametrize("numbers", [None, integers(0, 1)])
def test_without_an_attribute_of_the_right_length_no_vertex_is_matched(numbers):
    assert match_vertices(numbers, 3, 3).tolist() == [NONE] * 3


def test_several_corners_may_refer_to_the_same_element():
    assert match_elements(integers(2, 2, 0, -1, 3), 5, 3).tolist() == [2, 2, 0, NONE, NONE]


@pytest.mark.parametrize("numbers", [None, integers(0, 1)])
def test_without_an_attribute_of_the_right_length_corners_are_unknown(numbers):
    assert match_elements(numbers, 3, 3).tolist() == [NONE, NONE, NONE]
