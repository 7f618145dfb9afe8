"""Animation files: what is read, what is warned of, what is refused, and what is written."""

from __future__ import annotations

import re

import numpy as np
import pytest
from md5_parsing import animation_of, animation_refused, assert_reads_alike, assert_warned, last_line, refused
from md5_samples import ANIMATION, assert_same_animation, edited

from io_idtech.io_md5.format import Md5Error, format_animation, parse_animation

# What the samples hold


def test_all_values_of_an_animation_file_are_read():
    animation = animation_of(ANIMATION)
    assert animation.warnings == []
    assert animation.commandline == "anim models/box.mb -dest walk.md5anim"
    assert animation.names == ["origin", "hips", "head"]
    assert animation.parents.tolist() == [-1, 0, 1]
    assert animation.flags.tolist() == [0, 7, 60]
    assert animation.starts.tolist() == [0, 0, 3]
    assert animation.bounds.shape == (3, 2, 3)
    assert animation.bounds[2].tolist() == [[-1, -2.5, -3], [4, 5, 6.25]]
    assert animation.base_positions.tolist() == [[0, 0, 0], [0, 1.5, 24], [1, 2, 40]]
    assert animation.base_orientations[2].tolist() == [0.1, -0.2, 0.3]
    assert animation.frames.shape == (3, 7)
    assert animation.frames[1].tolist() == [0, 1.75, 25, 41, 0.125, -0.2, 0.3]
    assert animation.frame_rate == 24
    assert animation.frame_count == 3
    assert animation.has_hierarchy


# The header


@pytest.mark.parametrize("key", ["numFrames 3", "numJoints 3", "numAnimatedComponents 7"])
def test_counts_of_an_animation_may_be_missing(key):
    assert_reads_alike(edited(ANIMATION, key, ""), ANIMATION)


# Animations


def test_the_blocks_of_an_animation_stand_in_any_order():
    start = ANIMATION.index("hierarchy {")
    blocks = ANIMATION[start:].strip("\n").split("\n\n")
    assert len(blocks) == 6
    order = [blocks[index] for index in (3, 4, 5, 2, 1, 0)]
    assert_reads_alike(ANIMATION[:start] + "\n".join(order), ANIMATION)
    order = [blocks[index] for index in (3, 0, 4, 1, 5, 2)]
    assert_reads_alike("MD5Version 10\n" + "\n".join(order) + ANIMATION[len("MD5Version 10") : start], ANIMATION)


def with_frame_numbers(numbers):
    text = ANIMATION
    for old, new in zip((2, 1, 0), reversed(numbers), strict=True):
        text = text.replace(f"frame {old} {{", f"frame #{new} {{")
    return text.replace("#", "")


@pytest.mark.parametrize("numbers", [(2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_frames_are_put_in_the_order_of_their_numbers(numbers):
    animation, plain = animation_of(with_frame_numbers(numbers)), animation_of(ANIMATION)
    assert_warned(animation, "frames", "put in order")
    for row, number in enumerate(numbers):
        np.testing.assert_array_equal(animation.frames[number], plain.frames[row])
    # Bounds have no numbers.
    np.testing.assert_array_equal(animation.bounds, plain.bounds)


@pytest.mark.parametrize(
    ("numbers", "wrong"),
    [((8, 9, 10), 8), ((98, 98, 98), 98), ((0, 1, 1), 1), ((1, 2, 3), 1), ((0, 1, 3), 3), ((-1, 0, 1), -1)],
)
def test_frames_not_numbered_0_to_the_last_are_refused(numbers, wrong):
    text = with_frame_numbers(numbers)
    with pytest.raises(Md5Error, match=f"not numbered 0 to 2.*found frame {wrong};") as caught:
        animation_of(text)
    assert text.splitlines()[caught.value.line - 1] == f"frame {wrong} {{"


def test_long_animations_are_refused_with_the_line_of_the_frame():
    head = ANIMATION[: ANIMATION.index("frame 0")]
    frames = [f"frame {frame} {{\n\t1 2 3\n\t4 5 6 7\n}}\n" for frame in range(400)]
    frames[123] = frames[123].replace("123", "124")
    text = head + "".join(frames)
    with pytest.raises(Md5Error, match="not numbered 0 to 399") as caught:
        animation_of(text)
    assert caught.value.line == text[: text.index("frame 124 {")].count("\n") + 1


def test_a_frame_without_a_number_is_refused():
    with pytest.raises(Md5Error, match="a frame has no number"):
        animation_of(ANIMATION.replace("frame 1 {", "frame {"))


def test_frames_of_different_size_keep_what_joints_use():
    animation = animation_of(edited(ANIMATION, "0.125 -0.2 0.3", "0.125 -0.2 0.3 9 9"))
    assert_warned(animation, "differ")
    assert_same_animation(animation, animation_of(ANIMATION))


def test_components_that_no_joint_uses_are_kept():
    text = edited(ANIMATION, "numAnimatedComponents 7", "numAnimatedComponents 8")
    for end in ("40 0.1 -0.2 0.3", "0.125 -0.2 0.3", "0.15 -0.25 0.35"):
        text = text.replace(f"{end}\n", f"{end} 9\n")
    animation = animation_of(text)
    assert animation.frames.shape == (3, 8)
    assert animation.frames[:, 7].tolist() == [9, 9, 9]
    assert animation.warnings == []


@pytest.mark.parametrize("start", [0, -1, 7, 1000000, 2147483647])
def test_the_start_index_of_a_static_joint_is_ignored(start):
    animation = animation_of(edited(ANIMATION, '"origin"\t-1 0 0', f'"origin"\t-1 0 {start}'))
    assert_same_animation(animation, animation_of(ANIMATION))
    assert animation.warnings == []


def test_an_animation_may_move_nothing():
    text = ANIMATION.replace("0 7 0", "0 0 0").replace("1 60 3", "1 0 0").replace("Components 7", "Components 0")
    head = text[: text.index("frame 0")]
    animation = animation_of(head + "frame 0 {\n}\nframe 1 {\n}\nframe 2 {\n}\n")
    assert animation.frames.shape == (3, 0)
    assert animation.warnings == []


def test_flags_beyond_the_six_components_are_a_warning():
    animation = animation_of(edited(ANIMATION, "0 7 0", "0 71 0"))
    assert animation.flags.tolist() == [0, 7, 60]
    assert_warned(animation, "flags")


@pytest.mark.parametrize("rate", ["60", "48", "29.97", "1"])
def test_other_frame_rates_are_kept(rate):
    animation = animation_of(edited(ANIMATION, "frameRate 24", f"frameRate {rate}"))
    assert animation.frame_rate == float(rate)
    assert animation.warnings == []


@pytest.mark.parametrize("line", ["", "frameRate 0", "frameRate -24"])
def test_without_a_usable_frame_rate_24_is_assumed(line):
    animation = animation_of(edited(ANIMATION, "frameRate 24", line))
    assert animation.frame_rate == 24
    assert_warned(animation, "frame rate", "24")


def test_all_zero_bounds_are_kept():
    text = ANIMATION
    for row in ("( -1 -2 -3 ) ( 4 5 6 )", "( -1.5 -2 -3 ) ( 4 5 6 )", "( -1 -2.5 -3 ) ( 4 5 6.25 )"):
        text = edited(text, row, "( 0 0 0 ) ( 0 0 0 )")
    animation = animation_of(text)
    assert animation.bounds.shape == (3, 2, 3)
    assert not animation.bounds.any()
    assert animation.warnings == []


@pytest.mark.parametrize("extra", [-1, 1])
def test_a_wrong_number_of_bounds_gives_a_warning(extra):
    row = "\t( -1 -2 -3 ) ( 4 5 6 )\n"
    animation = animation_of(edited(ANIMATION, row, row * (1 + extra)))
    assert animation.bounds.shape == (3, 2, 3)
    assert animation.frame_count == 3
    assert_warned(animation, f"{3 + extra} frames", "instead of 3")


def test_bounds_may_be_missing():
    start, end = ANIMATION.index("bounds {"), ANIMATION.index("baseframe {")
    animation = animation_of(ANIMATION[:start] + ANIMATION[end:])
    assert animation.bounds.shape == (3, 2, 3)
    assert not animation.bounds.any()
    assert_warned(animation, "bounds")


def test_an_incomplete_bounds_row_gives_a_warning():
    animation = animation_of(edited(ANIMATION, "( -1 -2.5 -3 ) ( 4 5 6.25 )", "( -1 -2.5 -3 )"))
    assert animation.bounds.shape == (3, 2, 3)
    np.testing.assert_array_equal(animation.bounds[2], animation.bounds[1])
    assert_warned(animation, "bounds")


def test_a_base_frame_with_extra_values_gives_a_warning():
    animation = animation_of(edited(ANIMATION, "( 1 2 40 ) ( 0.1 -0.2 0.3 )", "( 1 2 40 ) ( 0.1 -0.2 0.3 ) ( 1 2 3 )"))
    assert_warned(animation, "base frame")
    assert_same_animation(animation, animation_of(ANIMATION))


def test_a_base_frame_that_nothing_uses_may_be_missing():
    text = """MD5Version 10 commandline "" numFrames 1 numJoints 1 frameRate 24 numAnimatedComponents 6
        hierarchy { "origin" -1 63 0 } bounds { ( 0 0 0 ) ( 1 1 1 ) } frame 0 { 1 2 3 0.1 0.2 0.3 }"""
    animation = animation_of(text)
    assert_warned(animation, "no base frame")
    assert animation.base_positions.tolist() == [[0, 0, 0]]


def test_a_repeated_block_is_ignored_with_a_warning():
    animation = animation_of(ANIMATION + 'hierarchy {\n"other" -1 0 0\n}\n')
    assert animation.names == ["origin", "hips", "head"]
    assert_warned(animation, f"line {ANIMATION.count(chr(10)) + 1} ")


# Numbers


@pytest.mark.parametrize("word", ["x2", '"hips"', "O"])
def test_a_word_in_a_frame_or_base_frame_is_refused(word):
    text = edited(ANIMATION, "0 1.75 25", f"0 {word} 1.75 25")
    animation_refused(text, "1.75 25", reason="a frame contains something", found=word.strip('"'), expected="a number")
    text = edited(ANIMATION, "( 1 2 40 )", f"( 1 {word} 2 40 )")
    animation_refused(text, "2 40 )", reason="the base frame contains", found=word.strip('"'), expected="a number")


# References


@pytest.mark.parametrize(
    ("old", "new", "reason", "found", "expected"),
    [
        ('"head"\t1 ', '"head"\t3 ', "the parent does not exist", "3", "-1 to 2"),
        ("1 60 3", "-7 60 3", "the parent does not exist", "-7", "-1 to 2"),
        ("1 60 3", "1 6.5 3", "is not a whole number", "6.5", "a whole number"),
        ("1 60 3", "1 60 -1", "first component of joint 'head' does not exist", "-1", "0 or more"),
    ],
)
def test_a_hierarchy_with_a_missing_parent_is_refused(old, new, reason, found, expected):
    animation_refused(edited(ANIMATION, old, new), '"head"', reason=reason, found=found, expected=expected)


@pytest.mark.parametrize("start", [4, 7, 2147483646, 2147483647])
def test_a_joint_whose_components_lie_beyond_the_frame_is_refused(start):
    animation_refused(
        edited(ANIMATION, "1 60 3", f"1 60 {start}"), "frame 0 {",
        reason="too few components", found="7 numbers", expected=str(start + 4),
    )  # fmt: skip


@pytest.mark.parametrize("frame", [0, 1, 2])
def test_a_frame_with_too_few_components(frame):
    end = ("40 0.1 -0.2 0.3\n", "0.125 -0.2 0.3\n", "0.15 -0.25 0.35\n")[frame]
    text = edited(ANIMATION, end, end.rsplit(" ", 1)[0] + "\n")
    animation_refused(
        text, f"frame {frame} {{", reason="a frame has too few components", found="6 numbers", expected="7"
    )


def test_an_animation_without_frames():
    text = ANIMATION[: ANIMATION.index("frame 0")]
    refused(parse_animation, text, last_line(text), reason="no frames", found="the end of the file", expected="frame 0")


@pytest.mark.parametrize("missing", ["0.3", "( 1 2 40 ) ( 0.1 -0.2 0.3 )"])
def test_an_incomplete_base_frame_is_refused(missing):
    base = ANIMATION.index("( 1 2 40 )")
    text = ANIMATION[:base] + ANIMATION[base:].replace(missing, "", 1)
    left = 18 - len(re.findall(r"[\d.]+", missing))
    animation_refused(
        text, "baseframe {", reason="the base frame is incomplete", found=f"{left} numbers", expected="18"
    )


def test_a_missing_base_frame_is_refused():
    text = edited(ANIMATION, ANIMATION[ANIMATION.index("baseframe") : ANIMATION.index("frame 0")], "")
    refused(parse_animation, text, last_line(text), reason="no base frame", found="the end", expected="baseframe {")


def sample_animation():
    return parse_animation(ANIMATION.encode())


def test_an_animation_file_is_laid_out_as_ids_exporter_does():
    assert format_animation(sample_animation()).decode() == ANIMATION


def test_the_start_index_of_a_static_joint_is_written_as_0():
    animation = sample_animation()
    animation.starts[0] = 7
    assert format_animation(animation).decode() == ANIMATION


def test_the_comment_of_a_joint_names_its_parent_and_its_components():
    animation = sample_animation()
    animation.flags[1] = 63
    animation.starts[1] = 0
    text = format_animation(animation).decode()
    assert '\t"hips"\t0 63 0\t// origin ( Tx Ty Tz Qx Qy Qz )\n' in text
    assert '\t"origin"\t-1 0 0\t//\n' in text


def test_components_that_no_joint_uses_are_written_too(rng):
    animation = sample_animation()
    animation.frames = np.hstack([animation.frames, rng.normal(size=(3, 2)).round(10)])
    again = parse_animation(format_animation(animation))
    assert_same_animation(again, animation)
    assert again.warnings == []


def test_joints_that_share_components_or_use_them_out_of_order(rng):
    animation = sample_animation()
    animation.flags[:] = [3, 7, 60]
    animation.starts[:] = [1, 4, 0]
    again = parse_animation(format_animation(animation))
    assert_same_animation(again, animation)
    assert again.warnings == []
