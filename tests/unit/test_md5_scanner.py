"""The text of an MD5 file is taken apart in a few times its size, and what no file holds is refused before."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from io_md5.format import Md5Error, parse_animation, parse_mesh
from io_md5.format.text import scanner
from io_md5.format.text.scanner import Scan

SIZE = 1_000_000
SHAPES = {
    "braces": "{}",
    "opening braces": "{",
    "quotes": '"',
    "empty strings": '""',
    "short strings": '"a" ',
    "strings that do not end": '"\n',
    "words": "a ",
    "words of many letters": "abcdefghij ",
    "a long word": "a",
    "numbers of a digit": "1 ",
    "words with a number": "a 1 ",
    "as many marks as there may be": "a 1  ",
    "numbers": "-0.1234567 ",
    "a long number": "1",
    "numbers that are none": "1x ",
    "not finite": "nan ",
    "vertices": "vert 1 ( 0.5 0.25 ) 1 1\n",
    "lines": "\n",
    "comments": "//\n",
    "a comment that does not end": "/* ",
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_less_than_twelve_times_the_size_of_a_text_is_needed(shape):
    data = (shape * (SIZE // len(shape))).encode()
    tracemalloc.start()
    try:
        refused = ""
        try:
            Scan(data)
        except Md5Error as error:
            refused = str(error)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 * len(data)
    assert not refused or "out of proportion" in refused


def test_what_has_more_marks_than_any_file_is_refused_with_the_place():
    with pytest.raises(
        Md5Error, match=r"line 1: words, strings and braces are out of proportion; found 40000 in"
    ):
        parse_mesh(b"{}" * 20_000)
    with pytest.raises(Md5Error, match=r"line \d+: words, strings and braces are out of proportion"):
        parse_mesh(b"a\n" * 1_000_000)


def test_an_animation_of_empty_frames_is_read():
    """The most marks for its size of all that exporters write."""
    head = 'MD5Version 10\nhierarchy { "a" -1 0 0 }\nbaseframe { 0 0 0 0 0 0 }\n'
    for count in (10, 100, 1000, 5000, 10_000, 50_000):
        read = parse_animation((head + "".join(f"frame {i} {{\n}}\n" for i in range(count))).encode())
        assert read.frame_count == count


def test_pieces_of_the_text_tear_nothing_apart(monkeypatch):
    text = b"""vert 10 ( 0.5 -0.25 ) 1 1 "a name { 7 }" // 8 "
    longer_than_a_piece 123456789.123456789 nan -nan(ind) { 1.#IND /* 9 */ } "open
    1e5 vert"""
    whole = Scan(text)
    for piece in (1, 2, 3, 5, 8, 13):
        monkeypatch.setattr(scanner, "_PIECE", piece)
        parts = Scan(text)
        assert [parts.text(mark) for mark in range(len(parts))] == [whole.text(m) for m in range(len(whole))]
        assert np.array_equal(parts.numbers, whole.numbers)
        assert parts.number_offsets.tolist() == whole.number_offsets.tolist()
        assert parts.mark_numbers.tolist() == whole.mark_numbers.tolist()
        assert parts.warnings == whole.warnings
        assert (parts.mark_codes[:, None] == parts.mark_codes).tolist() == (
            whole.mark_codes[:, None] == whole.mark_codes
        ).tolist()


def test_lines_are_counted_anywhere_in_a_long_text():
    scan = Scan(b"x\n" * 3 + b" " * 10_000 + b"\n1 y" + b" " * 5000 + b"\n\nz")
    assert [scan.mark_line(mark) for mark in range(len(scan) + 1)] == [1, 2, 3, 5, 7, 7]
    assert scan.number_line(0) == 5
