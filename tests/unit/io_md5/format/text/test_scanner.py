"""The text of an MD5 file is split into tokens in limited memory; strings, comments and numbers are checked."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest
from md5_parsing import (
    animation_of,
    animation_refused,
    assert_reads_alike,
    assert_warned,
    both,
    both_parsers,
    last_line,
    mesh_of,
    mesh_refused,
    refused,
)
from md5_samples import ANIMATION, CAMERA, MESH, assert_same_animation, assert_same_model, edited, line_of

from io_idtech.io_md5.format import Md5Error, parse_animation, parse_camera, parse_mesh
from io_idtech.io_md5.format.text import scanner
from io_idtech.io_md5.format.text.scanner import Scan

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


def test_a_text_with_too_many_tokens_is_refused_with_its_line():
    with pytest.raises(
        Md5Error, match=r"words, strings and braces are out of proportion; found 40000 in .* \(line 1\)$"
    ):
        parse_mesh(b"{}" * 20_000)
    with pytest.raises(Md5Error, match=r"^words, strings and braces are out of proportion.* \(line \d+\)$"):
        parse_mesh(b"a\n" * 1_000_000)


def test_an_animation_of_empty_frames_is_read():
    """The most marks for its size of all that exporters write."""
    head = 'MD5Version 10\nhierarchy { "a" -1 0 0 }\nbaseframe { 0 0 0 0 0 0 }\n'
    for count in (10, 100, 1000, 5000, 10_000, 50_000):
        read = parse_animation((head + "".join(f"frame {i} {{\n}}\n" for i in range(count))).encode())
        assert read.frame_count == count


def test_pieces_of_the_text_split_no_token(monkeypatch):
    text = b"""vert 10 ( 0.5 -0.25 ) 1 1 "a name { 7 }" // 8 "
    longer_than_a_piece 123456789.123456789 nan -nan(ind) { 1.#IND /* 9 */ } "open
    1e5 vert"""
    whole = Scan(text)
    for piece in (1, 2, 3, 5, 8, 13):
        monkeypatch.setattr(scanner, "_CHUNK", piece)
        parts = Scan(text)
        assert [parts.text(mark) for mark in range(len(parts))] == [whole.text(m) for m in range(len(whole))]
        assert np.array_equal(parts.numbers, whole.numbers)
        numbers = range(len(whole.numbers))
        assert [parts.number_line(n) for n in numbers] == [whole.number_line(n) for n in numbers]
        assert parts.token_first_numbers.tolist() == whole.token_first_numbers.tolist()
        assert parts.warnings == whole.warnings
        assert (parts.token_codes[:, None] == parts.token_codes).tolist() == (
            whole.token_codes[:, None] == whole.token_codes
        ).tolist()


def test_lines_are_counted_anywhere_in_a_long_text():
    scan = Scan(b"x\n" * 3 + b" " * 10_000 + b"\n1 y" + b" " * 5000 + b"\n\nz")
    assert [scan.token_line(mark) for mark in range(len(scan) + 1)] == [1, 2, 3, 5, 7, 7]
    assert scan.number_line(0) == 5


# Text


@both
@pytest.mark.parametrize("end", ["\r\n", "\r\r\n", "\n\n"], ids=["CRLF", "CRCRLF", "blank lines"])
def test_line_ends_do_not_matter(sample, end):
    assert_reads_alike(sample.replace("\n", end), sample)


def test_carriage_returns_alone_end_lines_and_comments():
    assert_reads_alike(MESH.replace("\n", "\r"), MESH)


@both
@pytest.mark.parametrize("blank", [" ", "\t", "  \t ", "\x0b", "\x00", "\x01", "\x1f"])
def test_any_byte_up_to_the_space_separates(sample, blank):
    head, _, rest = sample.partition("\n\n")
    assert_reads_alike(head + "\n" + rest.replace("\t", blank), sample)


@both
def test_bytes_from_0x80_outside_strings_are_white_space(sample):
    data = sample.encode()
    assert_reads_alike(b"\xef\xbb\xbf" + data, sample)
    assert_reads_alike(data.replace(b"{", b"\xa0{\xff").replace(b"\t", b"\x80"), sample)


@both
@pytest.mark.parametrize(
    "comment", ["/* a */", "/**/", "/* a\n\nb */", "/* // */", '/* " */', "/* } { 1 x */", "/***/"]
)
def test_comments_stand_between_any_two_tokens(sample, comment):
    lines = []
    for line in sample.split("\n"):
        code = line.split("//")[0]
        if '"' in code:
            before, string, after = code.split('"')[:3]
            code = before.replace(" ", comment) + f'"{string}"' + after.replace(" ", comment)
        else:
            code = code.replace(" ", comment)
        lines.append(comment + code + comment)
    assert_reads_alike("\n".join(lines), sample)


@both
@pytest.mark.parametrize("comment", ["//", "// a", "///* a", '// "a', "// } mesh { 1 x", "//\\"])
def test_comments_end_with_the_line(sample, comment):
    assert_reads_alike(sample.replace("\n", f" {comment}\n"), sample)
    assert_reads_alike(sample.replace("\n", f"\n{comment}\n"), sample)


def test_comments_need_no_space_around_them():
    assert_reads_alike(MESH.replace("numverts 3", "numverts/**/3//x").replace("vert 0 (", "vert/*0*/0/**/("), MESH)


def test_a_comment_does_not_glue_tokens():
    model = mesh_of(edited(MESH, "weight 0 0 1 (", "weight 0/**/0/**/1("))
    assert_same_model(model, mesh_of(MESH))


@both
@pytest.mark.parametrize(
    "tail",
    [b"\0" * 5, b"\0\0garbage\0", b"\x1a", b"// the end", b"/* the end", b"/* the end */", b"  \n\n", b"\xff\xfe"],
)
def test_what_follows_the_last_brace_does_not_matter(sample, tail):
    data = sample.encode() + tail
    result = mesh_of(data) if sample is MESH else animation_of(data)
    assert len(result.warnings) <= 1
    same, assert_same = (mesh_of, assert_same_model) if sample is MESH else (animation_of, assert_same_animation)
    assert_same(result, same(sample))


@both
@pytest.mark.parametrize("tail", ["}", "0 1 2 }", "-- exported by --", "1.2.3", '"left', "frame", "mesh", "3dsmax {"])
def test_text_after_the_last_brace_gives_at_most_a_warning(sample, tail):
    text = sample + tail
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert len(result.warnings) <= 1
    if result.warnings:
        assert f"line {text.count(chr(10)) + 1} " in result.warnings[0]
    same, assert_same = (mesh_of, assert_same_model) if sample is MESH else (animation_of, assert_same_animation)
    assert_same(result, same(sample))


@both
def test_a_file_without_a_final_newline_is_read(sample):
    assert_reads_alike(sample.rstrip(), sample)


@both
def test_a_file_on_one_line_is_read(sample):
    lines = [line if '"' in line and "//" in line.split('"')[1] else line.split("//")[0] for line in sample.split("\n")]
    assert_reads_alike(" ".join(lines), sample)


@both
def test_parentheses_only_separate(sample):
    name = "commandline"
    text = "\n".join(
        line if name in line else line.split("//")[0].replace("(", " ").replace(")", " ") for line in sample.split("\n")
    )
    assert_reads_alike(text, sample)
    assert_reads_alike(sample.replace("( ", "(").replace(" )", ")"), sample)


@both
def test_keys_in_another_letter_case(sample):
    text = sample
    for key in ("MD5Version", "commandline", "numJoints", "joints {", "mesh {", "shader", "numverts", "vert ", "tri ",
                "weight ", "numFrames", "frameRate", "hierarchy", "bounds", "baseframe", "frame "):  # fmt: skip
        text = text.replace(f"\n{key}", f"\n{key.upper()}").replace(f"\t{key}", f"\t{key.title()}")
    assert text != sample
    assert_reads_alike(text.replace("MD5Version", "md5version"), sample)


def test_letter_case_may_change_from_line_to_line():
    assert_reads_alike(edited(MESH, "vert 1", "Vert 1").replace("weight 2", "WEIGHT 2"), MESH)
    assert_reads_alike(edited(ANIMATION, "frame 1", "Frame 1"), ANIMATION)


STRANGE_NAMES = [
    "f:\\data\\bob\\new.tga",
    "\\\\server\\share\\x",
    "ends with \\",
    "http://host/a",
    "a // b",
    "a /* b",
    "a */ b",
    "{ } ( )",
    "}",
    "mesh {",
    " ",
    "a  b\tc",
    "1.5",
    "-1",
    "nan",
    "inf",
    "numverts",
    "Größe",
    "骨",
    "\N{BONE}",
    "x" * 300,
    "it's",
    "%s %d {0}",
]


# Strings


@pytest.mark.parametrize("name", STRANGE_NAMES)
def test_strings_hold_anything_but_quotes_and_line_ends(name):
    text = MESH.replace('"models/box/box"', f'"{name}"').replace('"hips"', f'"{name}"')
    text = text.replace("mesh models/box.mb -dest box.md5mesh", name)
    model = mesh_of(text)
    assert model.warnings == []
    assert model.joints.names == ["origin", name, "head"]
    assert model.meshes[0].shader == name
    assert model.commandline == name
    assert model.joints.positions.tolist() == mesh_of(MESH).joints.positions.tolist()
    animation = animation_of(edited(ANIMATION, '"hips"', f'"{name}"'))
    assert animation.names == ["origin", name, "head"]
    assert animation.warnings == []


def test_strings_that_are_no_utf8_keep_their_bytes():
    model = mesh_of(MESH.encode().replace(b'"hips"', b'"h\xfcfte"'))
    assert model.joints.names[1].encode("utf-8", "surrogateescape") == b"h\xfcfte"


def test_names_need_no_quotes():
    text = MESH.replace('"origin"', "origin").replace('"hips"', "hips").replace('"head"', "head")
    assert_reads_alike(edited(text, '"models/box/box"', "models/box/box"), MESH)
    text = ANIMATION.replace('"origin"', "origin").replace('"hips"', "hips").replace('"head"', "head")
    assert_reads_alike(text, ANIMATION)


@pytest.mark.parametrize("length", [1, 8, 9, 16, 17, 40])
def test_words_of_any_length_are_kept_apart_from_numbers(length):
    names = [letter * length for letter in "ABC"]
    text = MESH
    for name, new in zip(("origin", "hips", "head"), names, strict=True):
        text = text.replace(f'"{name}"', new)
    assert mesh_of(text).joints.names == names
    assert mesh_of(text).warnings == []


def test_words_that_begin_alike_are_told_apart():
    text = MESH.replace('"origin"', "upperarm_left").replace('"hips"', "upperarm_right").replace('"head"', "upperarm")
    assert mesh_of(text).joints.names == ["upperarm_left", "upperarm_right", "upperarm"]


# Numbers


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("1.5", 1.5), ("+1.5", 1.5), ("-1.5", -1.5), (".5", 0.5), ("-.5", -0.5), ("+.5", 0.5), ("5.", 5), ("05", 5),
        ("1E-5", 1e-5), ("1e-05", 1e-5), ("1e+5", 1e5), ("1.e2", 100), (".5E1", 5), ("-0", 0), ("-0.000000", 0),
        ("0.1000000000000000055511151231257827", 0.1), ("1e-320", 1e-320), ("1e-400", 0), ("3.4e38", 3.4e38),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
    ],
)  # fmt: skip
def test_numbers_in_any_plain_writing(token, value):
    model = mesh_of(edited(MESH, "7 8 9.0625", f"7 {token} 9.0625"))
    assert model.meshes[0].weight_positions[2].tolist() == [7, value, 9.0625]
    assert model.warnings == []
    animation = animation_of(edited(ANIMATION, "0 1.75 25", f"0 {token} 25"))
    assert animation.frames[1, :3].tolist() == [0, value, 25]
    assert animation.warnings == []


@pytest.mark.parametrize(
    "token",
    [
        "nan", "NaN", "NAN", "-nan", "+nan", "inf", "-inf", "+inf", "INF", "Infinity", "-infinity", "1.#IND", "-1.#IND",
        "1.#QNAN", "-1.#IND00", "1.#INF", "-1.#INF000", "1.#J", "1e999", "-1e999", "1e39", "nan(ind)", "-nan(ind)",
        "nan(snan)", "-NaN(0x7)",
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_0_and_a_warning(token):
    text = edited(MESH, "7 8 9.0625", f"7 {token} 9.0625")
    model = mesh_of(text)
    assert model.meshes[0].weight_positions[2].tolist() == [7, 0, 9.0625]
    assert_warned(model, "1 number is not finite", f"line {line_of(text, '9.0625')}")
    text = edited(ANIMATION, "0 1.75 25", f"0 {token} 25")
    animation = animation_of(text)
    assert animation.frames[1, :3].tolist() == [0, 0, 25]
    assert_warned(animation, "1 number is not finite", f"line {line_of(text, ' 25')}")


def test_many_numbers_that_are_none_are_one_warning():
    text = MESH.replace("( 7 8 9.0625 )", "( nan -1.#IND inf )").replace("( 0 0 -10 )", "( nan nan nan )")
    assert_warned(mesh_of(text), "6 numbers", f"line {line_of(text, '-1.#IND')}")


# Strings and comments


def test_an_unclosed_string_is_refused():
    words = {"reason": "a string is not closed", "expected": '"'}
    mesh_refused(edited(MESH, '"hips"', '"hips'), '"hips', found="hips", **words)
    mesh_refused(edited(MESH, '"models/box/box"', '"models/box/box'), '"models/box', found="models/box/box", **words)
    mesh_refused(edited(MESH, 'box.md5mesh"', "box.md5mesh"), "commandline", found="mesh models/box.mb", **words)
    mesh_refused(edited(MESH, '"hips"', '" hips'), "hips\t0", found="hips", **words)
    animation_refused(edited(ANIMATION, '"hips"', '"hips'), '"hips', found="hips", **words)


def test_a_lone_quote_is_an_unclosed_string():
    text = edited(MESH, '"hips"\t0', '"\nhips\t0')
    refused(parse_mesh, text, line_of(text, "hips\t0") - 1, reason="a string is not closed", found="''", expected='"')


@both_parsers
def test_a_comment_that_is_not_closed_within_a_block(parse, sample):
    text = edited(sample, '"hips"', '/* "hips"')
    refused(parse, text, line_of(text, "/*"), reason="a comment is not closed", found="/*", expected="*/")


def test_a_comment_that_swallows_whole_blocks():
    model = parse_mesh(edited(MESH, "mesh {", "/* mesh {").encode())
    assert any(f"line {line_of(MESH, 'mesh {')} is not closed" in warning for warning in model.warnings)
    text = edited(ANIMATION, "frame 0 {", "/*/ frame 0 {")
    refused(parse_animation, text, last_line(text), reason="no frames", found="the end of the file", expected="frame 0")


BAD_NUMBERS = [
    "0.5f",
    "1,5",
    "1.2.3",
    "1-2",
    "--1",
    "-",
    "+",
    ".",
    "1e",
    "1e+",
    "0x10",
    "1.5abc",
    "+-1",
    "1_0",
    "1;",
    "-x",
]


# Numbers


@pytest.mark.parametrize("token", BAD_NUMBERS)
def test_a_malformed_number_is_refused(token):
    words = {"reason": "not a number", "found": repr(token), "expected": "a number"}
    for old in ("( -4.5 0 6 )", "( 0 1.5 24 )", "( 0.25 1 )"):
        new = old.replace("1 )", "# )").replace("4.5", "#").replace("-#", "#").replace("1.5", "#")
        text = edited(MESH, old, new)
        mesh_refused(text.replace("#", token), token + " ", **words)
    for old, new in (("41 0.125", "41 #"), ("( -1.5 ", "( # "), ("( 1 2 40 )", "( 1 # 40 )"), ("60 3", "# 3")):
        text = edited(ANIMATION, old, new).replace("#", token)
        line = ANIMATION[: ANIMATION.index(old)].count("\n") + 1
        refused(parse_animation, text, line, **words)


def test_a_bad_number_among_numbers_that_are_not_finite():
    text = edited(MESH, "7 8 9.0625", "nan -1.#IND 9.0x")
    mesh_refused(text, "9.0x", reason="not a number", found="'9.0x'", expected="a number")


@pytest.mark.parametrize("inside", ['-rename "-a b" -x', 'a "b'])
def test_quotes_inside_of_the_commandline_are_named(inside):
    text = re.sub('commandline ".*"', lambda _: f'commandline "{inside}"', ANIMATION)
    line = text[: text.index("commandline")].count("\n") + 1
    with pytest.raises(Md5Error, match="the commandline has quotes inside") as caught:
        parse_animation(text.encode())
    assert caught.value.line == line


@pytest.mark.parametrize("text", [MESH, ANIMATION, CAMERA], ids=["mesh", "animation", "camera"])
@pytest.mark.parametrize("inserted", ["\n", "\r\n", "\n}\n", "\nvert 1\n", "\n-5 x\n"])
def test_a_string_that_spans_lines_is_refused_at_its_first_line(text, inserted):
    parse = {MESH: parse_mesh, ANIMATION: parse_animation, CAMERA: parse_camera}[text]
    for string in re.finditer(r'"[^"\n]+"', text):
        middle = (string.start() + string.end()) // 2
        with pytest.raises(Md5Error) as caught:
            parse((text[:middle] + inserted + text[middle:]).encode())
        assert caught.value.reason == "a string is not closed"
        assert caught.value.line == text[: string.start()].count("\n") + 1
