"""Frames read in bulk have the same values, and give the same messages, as frames read one by one."""

from __future__ import annotations

import md5_targets as fuzz
import numpy as np
import pytest
from md5_samples import ANIMATION

from io_idtech.io_md5.format import parse_animation
from io_idtech.io_md5.format.text import rows as frame_rows
from io_idtech.io_md5.format.text.rows import extract_frames

pytest.importorskip("hypothesis", reason="the property tests need hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

DATA = ANIMATION.encode()
FIRST_FRAME = DATA.index(b"frame 0")


@pytest.fixture(scope="module", autouse=True, params=[0, 1 << 16], ids=["in columns", "at once"])
def _few_rows_are_enough(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_rows, "MIN_LINES", 1)
        patch.setattr(frame_rows, "_SHORT", request.param)
        yield


def test_frames_as_exporters_write_them_are_read_in_bulk():
    cut = extract_frames(DATA)
    ((offset, rows),) = cut.rows.items()
    assert rows.tolist()[1] == [1, 0, 1.75, 25, 41, 0.125, -0.2, 0.3]
    assert cut.text[offset:].rstrip() == b"frame{}"
    assert cut.text.count(b"\n") == DATA.count(b"\n")
    fuzz.assert_same(parse_animation, DATA)


def test_lines_of_one_layout_may_stand_apart():
    lines = [line.split() for line in ("1 2 3", "4 5", "6 7 8", "", "9", "10 11 12")]
    frames = "".join(
        f"frame {frame} {{\n" + "".join(f"\t{' '.join(line)}\n" for line in lines) + "}\n\n" for frame in range(9)
    )
    data = DATA[:FIRST_FRAME] + frames.encode()
    ((_, rows),) = extract_frames(data).rows.items()
    assert rows[:, 0].tolist() == list(range(9))
    assert (rows[:, 1:] == np.arange(1, 13)).all()
    fuzz.assert_same(parse_animation, data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("}\n\nframe", "}\nframe"),
        ("frame ", "  frame  "),
        (" {", "{"),
        ("\t", ""),
        ("\t", "  "),
        ("frame 1 {", "frame 7 {"),
        ("frame 1 {", "frame {"),
        pytest.param("frame 1 {", f"frame {'9' * 5000} {{", id="a number of 5,000 digits"),
        ("frame 1 {", "frame 1\n{"),
        ("frame 1 {", "frame 1 2 {"),
        ("frame 1 {", "Frame 1 {"),
        ("frame 1 {", "frame 1 { // one"),
        ("frame 1 {", "/* frame 1 {"),
        ("frame 0 {", "/* frame 0 {"),
        ("frame 0 {", "/*\nframe 0 {"),
        ("frame 0 {", "// frame 0 {"),
        ("frame 0 {", 'commandline "frame 0 {"\nframe 0 {'),
        ("frame 0 {", "frame 0 {\n"),
        ("frame 0 {", "5 frame 0 {"),
        ("40 0.1 -0.2 0.3", "40 0.1 -0.2"),
        ("40 0.1 -0.2 0.3", "40 0.1 -0.2 0.3 1"),
        ("40 0.1 -0.2 0.3", "40 0.1 -0.2 0.3 }"),
        ("40 0.1 -0.2 0.3", "40 0.1 -0.2 0.3 // head"),
        ("40 0.1 -0.2 0.3", "40 0.1 -0.2e0 0.3"),
        ("40 0.1 -0.2 0.3", "40   0.1 -.2 +0.3"),
        ("41 0.125", "41 nan"),
        ("41 0.125", "41 1e99"),
        ("41 0.125", "41 -"),
        ("41 0.125", "41 0.1.25"),
        ("41 0.125", "41 0-125"),
        ("41 0.125", "41\n\t0.125"),
        ("41 0.125", "41 x 0.125"),
        ("41 0.125", "41 12345678901234567890 0.125"),
        ("0.3\n}", "0.3 }"),
        ("0.3\n}", "0.3\n\n}"),
        ("0.3\n}", "0.3\n"),
        ("0.3\n}", "0.3\n} x"),
        ("hierarchy", "frames"),
        ("baseframe", "bounds"),
        ("0.3 )\n}", "0.3 )\n"),
    ],
)
def test_bulk_reading_of_frames_gives_the_same_result(old, new):
    assert old in ANIMATION
    for text in (ANIMATION, ANIMATION.rstrip(), ANIMATION + "\n\n"):
        data = text.replace(old, new).encode()
        fuzz.assert_same(parse_animation, data)


@pytest.mark.slow
@settings(max_examples=400)
@given(
    st.lists(
        st.tuples(st.integers(FIRST_FRAME, len(DATA) - 1), st.sampled_from([*b' \n\t().-+0159e/*"{}fr', None])),
        min_size=1,
        max_size=3,
    )
)
def test_damaged_bytes_among_frames_give_the_same_message(changes):
    letters = list(DATA)
    for place, byte in changes:
        letters[place] = byte
    data = bytes(byte for byte in letters if byte is not None)
    fuzz.assert_same(parse_animation, data)


def test_frames_of_a_short_file_are_read():
    """The number of poses is compared with the size of the whole file, not with what is left of it."""
    count = 40_000
    frames = "".join(f"frame {frame} {{\n\t1 2 3\n\t4 5 6 7\n}}\n" for frame in range(count))
    assert parse_animation(DATA[:FIRST_FRAME] + frames.encode()).frames.shape == (count, 7)
