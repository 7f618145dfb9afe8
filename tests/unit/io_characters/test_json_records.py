"""Stored records of characters: what a .blend file from elsewhere holds is a record, or a mistake."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from io_idtech.io_characters.source.json_records import MistakeError, record_from


@dataclass(frozen=True)
class Speed:
    rate: float


@pytest.mark.parametrize("rate", [2, 2.5, -1e300])
def test_whole_and_other_numbers_are_floats(rate):
    assert record_from(Speed, {"rate": rate}).rate == rate


@pytest.mark.parametrize("rate", [10**400, -(10**400), float("nan"), float("inf"), True, "2", None])
def test_what_is_no_finite_float_is_a_mistake(rate):
    with pytest.raises(MistakeError):
        record_from(Speed, {"rate": rate})
