"""Patterns for the names of exported animations."""

from __future__ import annotations

import pytest

from io_idtech.io_common.texts import FIELDS, UnknownFieldError, distinct_file_names, expand

VALUES = {field: field.upper() for field in FIELDS}


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_is_replaced(field):
    assert expand(f"a_{{{field}}}_b", VALUES) == f"a_{field.upper()}_b"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("{object}_{action}", "OBJECT_ACTION"),
        ("{action}{action}", "ACTIONACTION"),
        ("plain", "plain"),
        ("", ""),
        ("{", "{"),
        ("}{", "}{"),
        ("{{action}}", "{ACTION}"),
    ],
)
def test_other_text_stays(pattern, expected):
    assert expand(pattern, VALUES) == expected


def test_a_field_without_value_is_empty():
    assert expand("x{strip}y", {"action": "walk"}) == "xy"


def test_values_are_not_expanded_again():
    assert expand("{action}", {"action": "{object}", "object": "no"}) == "{object}"


@pytest.mark.parametrize("pattern", ["{Action}", "{}", "{ action }", "{action.name}", "{0}", "{action!r}", "{walk}"])
def test_an_unknown_field_is_named_with_those_that_exist(pattern):
    with pytest.raises(UnknownFieldError) as told:
        expand(pattern, VALUES)
    assert pattern in str(told.value)
    assert "{marker}" in str(told.value)


def test_names_that_differ_only_in_case_get_numbers():
    assert distinct_file_names(["run", "Run", "RUN", "walk"]) == ["run", "Run_2", "RUN_3", "walk"]


def test_numbers_do_not_meet_other_names():
    names = distinct_file_names(["a", "a_2", "a", "a_2"])
    assert names == ["a", "a_2", "a_3", "a_2_2"]
    assert len({name.lower() for name in names}) == 4
