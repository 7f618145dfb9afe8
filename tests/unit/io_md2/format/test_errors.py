"""The exception for bad MD2 data."""

from __future__ import annotations

import pickle

import pytest

from io_idtech.io_md2.format import Md2Error


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "reason"),
        ({"path": "a.md2"}, "reason (a.md2)"),
        ({"offset": 68}, "reason (byte 68)"),
        ({"path": "a.md2", "offset": 68}, "reason (a.md2, byte 68)"),
        ({"found": "7", "expected": "8"}, "reason; found 7; expected 8"),
    ],
)
def test_the_message_holds_what_is_known(given, message):
    assert str(Md2Error("reason", **given)) == message


def test_it_is_a_value_error_so_that_callers_need_not_know_the_format():
    assert issubclass(Md2Error, ValueError)


def test_it_is_the_same_in_another_process():
    error = pickle.loads(pickle.dumps(Md2Error("reason", path="a.md2", offset=68)))
    assert str(error) == "reason (a.md2, byte 68)"
