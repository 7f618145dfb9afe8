"""Decimals into floats, in bulk, at known places of a text."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_md5.format.text.columns import Text, floats

BEHIND = b"\0" * 32
"""Some bytes behind the places that are looked at must be in the text."""


def decimals_of(words):
    """The values of words one after the other, whether they are exact, and where they end in their words."""
    text = b" ".join(word.encode() for word in words)
    starts, place = [], 0
    for word in words:
        starts.append(place)
        place += len(word) + 1
    places = np.array(starts, dtype=np.int64)
    values, right, ends = Text(text + b" " + BEHIND).decimals(places.copy())
    return values, right, ends - places


PLAIN = ["0", "7", "-7", "12345678", "0.5", "-0.5", "1.0", "123.456", "0.1", "12345678.1234567", "0.123456789012345"]


def test_plain_decimals_are_the_floats_nearest_to_them():
    values, right, ends = decimals_of(PLAIN)
    assert right.all()
    assert values.tolist() == [float(word) for word in PLAIN]
    assert ends.tolist() == [len(word) for word in PLAIN]


@pytest.mark.parametrize("word", ["x", "-", ".5", "5.", "nan", "9999999.123456789012", "+1"])
def test_what_is_not_exact_or_no_plain_decimal_is_left_to_others(word):
    _, right, ends = decimals_of(["1", word, "2"])
    assert right[[0, 2]].all()
    # A number that goes on behind what was converted is one of the others too.
    assert not right[1] or ends[1] < len(word)


def test_whole_numbers_end_where_their_digits_do():
    text = Text(b"0 42 x 12345678 123456789" + BEHIND)
    values, right, ends = text.integers(np.array([0, 2, 5, 7, 16]))
    assert values[[0, 1, 3]].tolist() == [0, 42, 12345678]
    assert right.tolist() == [True, True, False, True, True]
    assert ends.tolist() == [1, 4, 5, 15, 24]


def test_lines_begin_and_end_at_newlines():
    text = Text(b"skip\nfirst\n\nthird\nrest" + BEHIND)
    starts, ends = text.lines(5, 18)
    assert [text.data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)] == [
        b"first\n",
        b"\n",
        b"third\n",
    ]


def test_text_without_a_newline_has_no_whole_line():
    starts, ends = Text(b"no end" + BEHIND).lines(0, 6)
    assert len(starts) == len(ends) == 0


def test_dense_newlines_are_all_found():
    text = Text(b"\n" * 100 + BEHIND)
    starts, ends = text.lines(0, 100)
    assert starts.tolist() == list(range(100))
    assert ends.tolist() == list(range(1, 101))


@pytest.mark.parametrize(
    ("text", "numbers"), [(b"", []), (b"1 -2.5\n3e2", [1.0, -2.5, 300.0]), (b"1 x", None), (b"x", None)]
)
def test_a_text_of_nothing_but_numbers_is_read_at_once(text, numbers):
    found = floats(text)
    assert (None if found is None else found.tolist()) == numbers
