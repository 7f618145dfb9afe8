"""Names as Blender can hold them."""

from __future__ import annotations

import pytest

from io_common.scene.names import distinct, for_blender

LIMIT = 63


@pytest.mark.parametrize(
    ("shown", "made"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a.001", "a.002"]),
        (["a", "a.001", "a"], ["a", "a.001", "a.002"]),
        (["a.001", "a.001"], ["a.001", "a.002"]),
        (["a", "A"], ["a", "A"]),
        (["x" * 63, "x" * 63], ["x" * 63, "x" * 59 + ".001"]),
        (["é" * 31, "é" * 31], ["é" * 31, "é" * 29 + ".001"]),
    ],
)
def test_equal_names_are_numbered_as_blender_does(shown, made):
    assert distinct(shown, LIMIT) == made


def test_however_many_are_equal_or_are_cut_to_the_same_they_differ_and_fit():
    shown = [for_blender(name, LIMIT, "none") for name in ["twin"] * 5000 + ["y" * 100] * 5000 + [""] * 10]
    shown += [("z" * 60 + str(number))[:LIMIT] for number in range(2000)]
    made = distinct(shown, LIMIT)
    assert len(set(made)) == len(shown)
    assert max(len(name.encode()) for name in made) <= LIMIT
