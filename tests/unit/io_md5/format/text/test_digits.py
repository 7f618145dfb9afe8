"""Numbers printed in bulk are the same text as Python's own formatting gives."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_md5.format.text import printing

pytest.importorskip("hypothesis", reason="the property tests need hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

TENTH = 10**10


def in_bulk(values):
    """The decimals of some numbers, one on each line."""
    fields = printing._decimal_texts(np.array(values, dtype=np.float64))
    return printing._join_lines([fields, b"\n"], len(values)).splitlines()


def one_by_one(values):
    return printing._rows_one_by_one("%f", [np.array(values, dtype=np.float64)]).splitlines()


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.integers(-9999 * TENTH, 9999 * TENTH), min_size=1, max_size=50))
def test_decimals_of_ten_digits_are_printed_as_they_are(numbers):
    values = [number / TENTH for number in numbers]
    assert in_bulk(values) == one_by_one(values)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.floats(-9999, 9999), min_size=1, max_size=50))
def test_any_number_is_printed_as_one_of_the_two_decimals_beside_it(values):
    for value, bulk, single in zip(values, in_bulk(values), one_by_one(values), strict=True):
        assert bulk == single or abs(abs(float(bulk) - float(single)) - 1e-10) < 1e-12
        assert abs(float(bulk) - value) < 5.01e-11


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-10.0, "-10"), (9999.0, "9999"), (100.5, "100.5"), (0.1, "0.1"),
        (0.01, "0.01"), (0.011, "0.011"), (1e-10, "0.0000000001"), (-1e-10, "-0.0000000001"), (4e-11, "0"),
        (-4e-11, "0"), (0.99999999999, "1"), (-9.99999999999, "-10"), (20.0000000003, "20.0000000003"),
        (5.05, "5.05"), (1234.5678901234, "1234.5678901234"), (-0.3, "-0.3"),
    ],
)  # fmt: skip
def test_no_superfluous_digits_are_printed(value, text):
    assert in_bulk([value]) == [text]


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.integers(0, 10**8 - 1), min_size=1, max_size=50))
def test_whole_numbers_are_printed_as_they_are(numbers):
    fields = printing._integer_texts(np.array(numbers))
    assert printing._join_lines([b"<", fields, b">\n"], len(numbers)).splitlines() == [
        f"<{number}>" for number in numbers
    ]


def test_numbers_with_too_many_digits_are_printed_by_python():
    assert printing._decimal_texts(np.array([0.5, 9999.6])) is None
    assert printing._decimal_texts(np.array([0.5, -1e20])) is None
    assert printing._integer_texts(np.array([5, 10**8])) is None
    assert printing._integer_texts(np.array([5, -1])) is None


@pytest.mark.parametrize("largest", [1.0, 12345.0])
def test_long_tables_printed_in_pieces_are_the_same_text(largest):
    values = np.linspace(-largest, largest, 60_000).reshape(-1, 3)
    numbers = np.arange(len(values))
    expected = "".join(printing._rows_one_by_one("row %d ( %f %f %f )", [numbers, values]))
    assert printing.rows("row %d ( %f %f %f )", numbers, values) == expected
