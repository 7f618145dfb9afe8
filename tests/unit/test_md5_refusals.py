"""What cannot be understood is refused with one kind of error: file, line, what was found, what was expected."""

from __future__ import annotations

import re

import pytest
from md5_samples import ANIMATION, MESH, OLD_ANIMATION, OLD_MESH, edited, line_of

from io_md5.format import Md5Error, parse_animation, parse_mesh, read_animation, read_mesh


def refusal_of(parse, text):
    with pytest.raises(Md5Error) as caught:
        parse(text.encode() if isinstance(text, str) else text, "folder/model.md5")
    return caught.value


def refused(parse, text, line, *, reason, found, expected):
    """The file is refused at a line; reason, found and expected hold the given words, and so does the message."""
    error = refusal_of(parse, text)
    message = str(error)
    assert error.path == "folder/model.md5"
    assert error.line == line, message
    assert reason in error.reason
    assert found in error.found
    assert expected in error.expected
    assert message == (
        f"folder/model.md5, line {line}: {error.reason}; found {error.found}; expected {error.expected}"
    )


def mesh_refused(text, at, **words):
    refused(parse_mesh, text, line_of(text, at), **words)


def animation_refused(text, at, **words):
    refused(parse_animation, text, line_of(text, at), **words)


def last_line(text):
    return text.count("\n") + 1


both = pytest.mark.parametrize(
    ("parse", "sample"), [(parse_mesh, MESH), (parse_animation, ANIMATION)], ids=["mesh", "animation"]
)


# Not the file it should be


@both
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "an empty file"),
        (b"\n\n \t\r\n", "an empty file"),
        (b"1 2 3", "no words"),
        (b"// nothing\n/* but comments */", "no words"),
        (b"\xef\xbb\xbf", "no words"),
    ],
)
def test_a_file_without_words(parse, sample, data, found):
    refused(parse, data, 1, reason="not an MD5 file", found=found, expected="MD5Version 10")


@pytest.mark.parametrize(
    "data",
    [
        b"MD5Version 10\n",
        b"IDP2\x08\0\0\0" + bytes(range(256)) * 3,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0",
        b"hello, world\nthis is no model\n",
        "MD5Version 10\n".encode("utf-16"),
        b"<html><body>404: Not Found</body></html>",
    ],
)
def test_a_file_of_another_kind(data):
    error = refusal_of(parse_mesh, data)
    assert error.line == data.count(b"\n") + 1
    assert error.expected
    error = refusal_of(parse_animation, data)
    assert error.line == data.count(b"\n") + 1
    assert error.expected


def test_an_animation_is_no_mesh_and_a_mesh_no_animation():
    refused(
        parse_mesh, ANIMATION, last_line(ANIMATION),
        reason="not an md5mesh file", found="no joints", expected="joints {",
    )  # fmt: skip
    refused(
        parse_animation, MESH, last_line(MESH),
        reason="not an md5anim file", found="no hierarchy", expected="hierarchy {",
    )  # fmt: skip


def test_a_refusal_from_disk_names_the_file(tmp_path):
    path = tmp_path / "broken.md5mesh"
    path.write_bytes(b"")
    with pytest.raises(Md5Error, match=re.escape(str(path))):
        read_mesh(path)
    with pytest.raises(Md5Error, match=re.escape(str(path))):
        read_animation(path)


def test_an_error_tells_what_is_known():
    assert str(Md5Error("odd")) == "odd"
    assert str(Md5Error("odd", line=3)) == "line 3: odd"
    assert str(Md5Error("odd", path="a", found="b", expected="c")) == "a: odd; found b; expected c"
    assert isinstance(Md5Error("odd"), ValueError)


# Truncated


@pytest.mark.parametrize("ending", ["", "\n", "  // cut"])
@pytest.mark.parametrize(
    ("block", "last"),
    [
        ("joints {", '"hips"\t0 ( 0 1.5 24 ) ( 0 0 0.7071067812 )'),
        ("mesh {", "mesh {"),
        ("mesh {", "vert 1 ( 0.25 1 ) 1 2"),
        ("mesh {", "numtris 2"),
        ("mesh {", "tri 0 0 1 2"),
        ("mesh {", "weight 3 2 1 ( 0 0 -10 )"),
    ],
)
def test_a_mesh_file_that_ends_within_a_block(block, last, ending):
    text = MESH[: MESH.index(last) + len(last)] + ending
    refused(
        parse_mesh, text, last_line(text),
        reason=f"opened at line {line_of(text, block)} is not closed", found="the end of the file", expected="}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("block", "last"),
    [
        ("hierarchy {", "hierarchy {"),
        ("hierarchy {", '"hips"\t0 7 0'),
        ("bounds {", "( -1.5 -2 -3 ) ( 4 5 6 )"),
        ("baseframe {", "( 0 1.5 24 ) ( 0 0 0.7071067812 )"),
        ("frame 0 {", "0 1.5 24\n"),
        ("frame 2 {", "42 0.15 -0.25"),
    ],
)
def test_an_animation_file_that_ends_within_a_block(block, last):
    text = ANIMATION[: ANIMATION.index(last) + len(last)]
    refused(
        parse_animation, text, last_line(text),
        reason=f"opened at line {line_of(text, block)} is not closed", found="the end of the file", expected="}",
    )  # fmt: skip


def outcome(parse, text):
    """The warnings, or the line of the refusal."""
    try:
        return parse(text.encode()).warnings, None
    except Md5Error as error:
        return [], error.line


@pytest.mark.parametrize("sample", [MESH, ANIMATION, OLD_MESH, OLD_ANIMATION])
def test_a_file_cut_anywhere_is_refused_or_complained_of(sample):
    parse = parse_mesh if "bone" in sample or "mesh {" in sample else parse_animation
    end = len(sample.rstrip())
    for length in range(end):
        warnings, line = outcome(parse, sample[:length])
        # Between two blocks of the old animations nothing tells that one is missing.
        assert warnings or line or sample is OLD_ANIMATION, sample[:length]
        assert line is None or 1 <= line <= last_line(sample[:length])


@both
def test_a_block_that_another_one_interrupts(parse, sample):
    brace = sample.index("\n}\n")
    text = sample[:brace] + "\n" + sample[brace + 3 :]
    inner = text.index("{", brace)
    line = text[:inner].count("\n") + 1
    refused(parse, text, line, reason="a block is not closed", found="'{'", expected="}")


def test_a_block_without_an_opening_brace():
    mesh_refused(
        edited(MESH, "joints {", "joints"), '"origin"',
        reason="'joints' is not opened", found="'origin'", expected="{",
    )  # fmt: skip
    for block, next_mark, found in (
        ("hierarchy", '"origin"', "'origin'"),
        ("bounds", "}\n\nbaseframe", "'}'"),
    ):
        animation_refused(
            edited(ANIMATION, f"{block} {{", block), next_mark,
            reason=f"'{block}' is not opened", found=found, expected="{",
        )  # fmt: skip


@both
@pytest.mark.parametrize("key", ["numJoints"])
def test_a_header_key_without_its_number(parse, sample, key):
    text = edited(sample, f"{key} 3", key)
    following = text.index(key) + len(key)
    next_word = re.search(r"\w+", text[following:])
    line = text[: following + next_word.start()].count("\n") + 1
    refused(parse, text, line, reason=f"no number after {key}", found=next_word[0], expected="a number")


# Strings and comments


def test_a_string_that_is_not_closed():
    words = {"reason": "a string is not closed", "expected": '"'}
    mesh_refused(edited(MESH, '"hips"', '"hips'), '"hips', found="hips", **words)
    mesh_refused(
        edited(MESH, '"models/box/box"', '"models/box/box'), '"models/box', found="models/box/box", **words
    )
    mesh_refused(
        edited(MESH, 'box.md5mesh"', "box.md5mesh"), "commandline", found="mesh models/box.mb", **words
    )
    mesh_refused(edited(MESH, '"hips"', '" hips'), "hips\t0", found="hips", **words)
    animation_refused(edited(ANIMATION, '"hips"', '"hips'), '"hips', found="hips", **words)


def test_a_lone_quote_is_a_string_that_is_not_closed():
    text = edited(MESH, '"hips"\t0', '"\nhips\t0')
    refused(
        parse_mesh,
        text,
        line_of(text, "hips\t0") - 1,
        reason="a string is not closed",
        found="''",
        expected='"',
    )


@both
def test_a_comment_that_is_not_closed_within_a_block(parse, sample):
    text = edited(sample, '"hips"', '/* "hips"')
    refused(parse, text, line_of(text, "/*"), reason="a comment is not closed", found="/*", expected="*/")


def test_a_comment_that_swallows_whole_blocks():
    model = parse_mesh(edited(MESH, "mesh {", "/* mesh {").encode())
    assert any(f"line {line_of(MESH, 'mesh {')} is not closed" in warning for warning in model.warnings)
    text = edited(ANIMATION, "frame 0 {", "/*/ frame 0 {")
    refused(
        parse_animation,
        text,
        last_line(text),
        reason="no frames",
        found="the end of the file",
        expected="frame 0",
    )


# Numbers

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


@pytest.mark.parametrize("token", BAD_NUMBERS)
def test_a_token_that_begins_like_a_number_and_is_none(token):
    words = {"reason": "not a number", "found": repr(token), "expected": "a number"}
    for old in ("( -4.5 0 6 )", "( 0 1.5 24 )", "( 0.25 1 )"):
        new = old.replace("1 )", "# )").replace("4.5", "#").replace("-#", "#").replace("1.5", "#")
        text = edited(MESH, old, new)
        mesh_refused(text.replace("#", token), token + " ", **words)
    for old, new in (
        ("41 0.125", "41 #"),
        ("( -1.5 ", "( # "),
        ("( 1 2 40 )", "( 1 # 40 )"),
        ("60 3", "# 3"),
    ):
        text = edited(ANIMATION, old, new).replace("#", token)
        line = ANIMATION[: ANIMATION.index(old)].count("\n") + 1
        refused(parse_animation, text, line, **words)


def test_a_bad_number_among_numbers_that_are_not_finite():
    text = edited(MESH, "7 8 9.0625", "nan -1.#IND 9.0x")
    mesh_refused(text, "9.0x", reason="not a number", found="'9.0x'", expected="a number")


def test_lines_are_counted_after_comments_of_several_lines():
    text = edited(MESH, "joints {", '/* a\n\n\nb */ joints { // "\n').replace("\n", "\r\n")
    text = edited(text, "( 7 8 9.0625 )", "( 7 8 9.06.25 )")
    mesh_refused(text, "9.06.25", reason="not a number", found="'9.06.25'", expected="a number")


@pytest.mark.parametrize(
    ("old", "new", "what", "found", "expected"),
    [
        ("-2.25 0 64", "-2.25 0", "the joint", "6 numbers", "7"),
        ("-2.25 0 64", "-2.25 0 64 1", "the joint", "8 numbers", "7"),
        ("( -2.25 0 64 ) ( 0.1 -0.2 0.3 )", "", "the joint", "1 numbers", "7"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1", "the vertex", "4 numbers", "5"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1 2 3", "the vertex", "6 numbers", "5"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert", "the vertex", "0 numbers", "5"),
        ("tri 1 2 1 0", "tri 1 2 1", "the triangle", "3 numbers", "4"),
        ("tri 1 2 1 0", "tri 1 2 1 0 1", "the triangle", "5 numbers", "4"),
        ("weight 1 1 0.75 ( -4.5 0 6 )", "weight 1 1 0.75 ( -4.5 0 )", "the weight", "5 numbers", "6"),
        ("weight 1 1 0.75 ( -4.5 0 6 )", "weight 1 1 0.75 ( -4.5 0 6 6 )", "the weight", "7 numbers", "6"),
    ],
)
def test_a_row_of_a_mesh_with_the_wrong_number_of_values(old, new, what, found, expected):
    line = line_of(MESH, old)
    refused(
        parse_mesh, edited(MESH, old, new), line,
        reason=f"{what} has the wrong number of values", found=found, expected=expected,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "found"), [("1 60 3", "1 60", "2 numbers"), ("1 60 3", "1 60 3 4", "4 numbers")]
)
def test_a_row_of_a_hierarchy_with_the_wrong_number_of_values(old, new, found):
    animation_refused(
        edited(ANIMATION, old, new), '"head"',
        reason="the joint has the wrong number of values", found=found, expected="3",
    )  # fmt: skip


def test_a_word_where_a_number_should_be():
    text = edited(MESH, "( 0.25 1 )", "( O.25 1 )")
    mesh_refused(text, "vert 1", reason="the vertex has the wrong number", found="1 numbers", expected="5")


@pytest.mark.parametrize("word", ["x2", '"hips"', "O"])
def test_a_word_in_a_frame_or_base_frame(word):
    text = edited(ANIMATION, "0 1.75 25", f"0 {word} 1.75 25")
    animation_refused(
        text, "1.75 25", reason="a frame contains something", found=word.strip('"'), expected="a number"
    )
    text = edited(ANIMATION, "( 1 2 40 )", f"( 1 {word} 2 40 )")
    animation_refused(
        text, "2 40 )", reason="the base frame contains", found=word.strip('"'), expected="a number"
    )


def test_a_joint_without_a_name():
    words = {"reason": "a joint has no name", "found": "-1", "expected": "a name"}
    mesh_refused(edited(MESH, '"origin"\t-1', "\t-1"), "( -0.5 -0.5 -0.5 )", **words)
    animation_refused(edited(ANIMATION, '"origin"\t-1 0 0', "\t-1 0 0"), "-1 0 0", **words)
    text = edited(MESH, '"hips"\t0', "\t0")
    mesh_refused(text, '"origin"', reason="the joint has the wrong number", found="14 numbers", expected="7")


# References


@pytest.mark.parametrize(
    ("old", "new", "reason", "found", "expected"),
    [
        ('"head"\t1 ', '"head"\t3 ', "the parent does not exist", "3", "-1 to 2"),
        ('"head"\t1 ', '"head"\t-2 ', "the parent does not exist", "-2", "-1 to 2"),
        ('"head"\t1 ', '"head"\t0.5 ', "the parent is not a whole number", "0.5", "a whole number"),
        (
            '"head"\t1 ',
            '"head"\t4294967296 ',
            "the parent is not a whole number",
            "4294967296",
            "a whole number",
        ),
        ("tri 1 2 1 0", "tri 1 2 1 3", "the vertex does not exist", "3", "0 to 2"),
        ("tri 1 2 1 0", "tri 1 -1 1 0", "the vertex does not exist", "-1", "0 to 2"),
        ("tri 1 2 1 0", "tri 1 2 1.5 0", "the vertex is not a whole number", "1.5", "a whole number"),
        ("weight 3 2 1", "weight 3 3 1", "the joint does not exist", "3", "0 to 2"),
        ("weight 3 2 1", "weight 3 -1 1", "the joint does not exist", "-1", "0 to 2"),
        ("weight 3 2 1", "weight 3 1e9 1", "the joint does not exist", "1000000000", "0 to 2"),
        (") 3 1\n", ") 4 1\n", "vertex 2 has weights that do not exist", "1 weights from 4 on", "4 weights"),
        (") 3 1\n", ") 3 2\n", "vertex 2 has weights that do not exist", "2 weights from 3 on", "4 weights"),
        (
            ") 3 1\n",
            ") -1 1\n",
            "vertex 2 has weights that do not exist",
            "1 weights from -1 on",
            "4 weights",
        ),
        (
            ") 3 1\n",
            ") 3 -1\n",
            "vertex 2 has weights that do not exist",
            "-1 weights from 3 on",
            "4 weights",
        ),
        (
            ") 3 1\n",
            ") 2147483647 2147483647\n",
            "vertex 2 has weights that do not exist",
            "2147483647",
            "4 weights",
        ),
        (") 3 1\n", ") 3 1.5\n", "a weight range is not a whole number", "1.5", "a whole number"),
    ],
)
def test_a_mesh_that_refers_to_what_is_not_there(old, new, reason, found, expected):
    line = line_of(MESH, old)
    refused(parse_mesh, edited(MESH, old, new), line, reason=reason, found=found, expected=expected)


def test_a_number_on_a_line_of_its_own_is_named_with_that_line():
    text = edited(MESH, "tri 1 2 1 0", "tri 1\n2\n1\n7")
    refused(
        parse_mesh, text, line_of(MESH, "tri 1 2 1 0") + 3, reason="the vertex", found="7", expected="0 to 2"
    )


def test_references_of_the_second_mesh_are_to_its_own_tables():
    second = MESH[MESH.index("mesh {") :].replace("tri 1 2 1 0", "tri 1 2 1 3")
    line = last_line(MESH) - 1 + line_of(second, "tri 1 2 1 3")
    refused(parse_mesh, MESH + second, line, reason="the vertex", found="3", expected="0 to 2")


def test_references_to_empty_tables():
    text = MESH[: MESH.index("mesh {")] + 'mesh {\nshader ""\n\ntri 0 0 0 0\n}\n'
    mesh_refused(text, "tri 0", reason="the vertex does not exist", found="0", expected="none")


@pytest.mark.parametrize(
    ("old", "new", "reason", "found", "expected"),
    [
        ('"head"\t1 ', '"head"\t3 ', "the parent does not exist", "3", "-1 to 2"),
        ("1 60 3", "-7 60 3", "the parent does not exist", "-7", "-1 to 2"),
        ("1 60 3", "1 6.5 3", "is not a whole number", "6.5", "a whole number"),
        ("1 60 3", "1 60 -1", "first component of joint 'head' does not exist", "-1", "0 or more"),
    ],
)
def test_a_hierarchy_that_refers_to_what_is_not_there(old, new, reason, found, expected):
    animation_refused(edited(ANIMATION, old, new), '"head"', reason=reason, found=found, expected=expected)


@pytest.mark.parametrize("start", [4, 7, 2147483646, 2147483647])
def test_a_joint_whose_components_lie_beyond_the_frame(start):
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
    refused(
        parse_animation,
        text,
        last_line(text),
        reason="no frames",
        found="the end of the file",
        expected="frame 0",
    )


@pytest.mark.parametrize("missing", ["0.3", "( 1 2 40 ) ( 0.1 -0.2 0.3 )"])
def test_an_incomplete_base_frame(missing):
    base = ANIMATION.index("( 1 2 40 )")
    text = ANIMATION[:base] + ANIMATION[base:].replace(missing, "", 1)
    left = 18 - len(re.findall(r"[\d.]+", missing))
    animation_refused(
        text, "baseframe {", reason="the base frame is incomplete", found=f"{left} numbers", expected="18"
    )


def test_a_missing_base_frame():
    text = edited(ANIMATION, ANIMATION[ANIMATION.index("baseframe") : ANIMATION.index("frame 0")], "")
    refused(
        parse_animation,
        text,
        last_line(text),
        reason="no base frame",
        found="the end",
        expected="baseframe {",
    )


# Cycles


@pytest.mark.parametrize(
    ("hips", "head", "at"),
    [(1, 1, '"hips"'), (2, 1, None), (0, 2, '"head"')],
    ids=["itself", "each other", "last"],
)
def test_joints_that_are_their_own_ancestors(hips, head, at):
    for parse, sample in ((parse_mesh, MESH), (parse_animation, ANIMATION)):
        text = edited(edited(sample, '"hips"\t0 ', f'"hips"\t{hips} '), '"head"\t1 ', f'"head"\t{head} ')
        error = refusal_of(parse, text)
        assert "its own ancestor" in error.reason
        name = re.search("'(.*)'", error.reason)[1]
        assert error.line == line_of(text, f'"{name}"')
        assert at is None or at == f'"{name}"'
        parent = {"hips": hips, "head": head}[name]
        assert error.found == f"parent {parent}"


# The layout from before Doom 3 was finished


@pytest.mark.parametrize(
    ("old", "new", "at", "reason", "found", "expected"),
    [
        ("\tbindpos 1 2 13\n", "", "bone 1 {", "no bindpos", "'{'", "bindpos"),
        ("bindpos 1 2 13", "bindpos 1 2", "bindpos 1 2\n", "bindpos has the wrong number", "2 numbers", "3"),
        (
            "bindmat 1 0 0 0 1 0 0 0 1",
            "bindmat 1",
            "bindmat 1\n",
            "bindmat has the wrong number",
            "1 numbers",
            "9",
        ),
        ('\tname "tip"\n', "", "bone 1 {", "no name", "'{'", 'name "'),
        ('name "tip"', "name", "name\n", "no name", "'name'", 'name "'),
        (
            'parent "root"',
            'parent "toor"',
            "toor",
            "the parent does not exist",
            "'toor'",
            "the name of a bone",
        ),
        ('parent "root"', 'parent "tip"', "bone 1 {", "its own ancestor", "parent 1", "-1"),
        ("weight 2 1", "weight 2 2", "weight 2", "the joint does not exist", "2", "0 to 1"),
    ],
)
def test_old_bones_that_cannot_be_understood(old, new, at, reason, found, expected):
    mesh_refused(edited(OLD_MESH, old, new), at, reason=reason, found=found, expected=expected)


@pytest.mark.parametrize(
    ("old", "new", "at", "reason", "found", "expected"),
    [
        ('\tjoint "tip"\n', "", "channel 2 {", "no joint", "'{'", 'joint "'),
        ('\tattribute "z"\n', "", "channel 2 {", "no attribute", "'{'", 'attribute "'),
        ("\tkeys 1\n\t\t10\n", "", "channel 2 {", "'z' of 'tip' has no keys", "'{'", "keys"),
    ],
)
def test_old_channels_that_cannot_be_understood(old, new, at, reason, found, expected):
    animation_refused(edited(OLD_ANIMATION, old, new), at, reason=reason, found=found, expected=expected)
