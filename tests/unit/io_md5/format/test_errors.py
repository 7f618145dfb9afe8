"""The exception for bad MD5 data."""

from __future__ import annotations

import pickle

import pytest

from io_idtech.io_md5.format import Md5Error


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "reason"),
        ({"path": "a.md5mesh"}, "reason (a.md5mesh)"),
        ({"line": 3}, "reason (line 3)"),
        ({"path": "a.md5mesh", "line": 3}, "reason (a.md5mesh, line 3)"),
        ({"found": "x", "expected": "a number"}, "reason; found x; expected a number"),
    ],
)
def test_the_message_holds_what_is_known(given, message):
    assert str(Md5Error("reason", **given)) == message


def test_it_is_a_value_error_so_that_callers_need_not_know_the_format():
    assert issubclass(Md5Error, ValueError)


def test_it_is_the_same_in_another_process():
    error = pickle.loads(pickle.dumps(Md5Error("reason", path="a.md5mesh", line=3)))
    assert str(error) == "reason (a.md5mesh, line 3)"
