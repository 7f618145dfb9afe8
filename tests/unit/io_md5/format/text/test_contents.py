"""The top of every MD5 file: version, keys with a number, command line, blocks."""

from __future__ import annotations

import re

import pytest
from md5_parsing import (
    animation_of,
    animation_refused,
    assert_warned,
    both,
    both_parsers,
    last_line,
    mesh_of,
    mesh_refused,
    refusal_of,
    refused,
)
from md5_samples import (
    ANIMATION,
    MESH,
    OLD_ANIMATION,
    OLD_MESH,
    assert_same_animation,
    assert_same_model,
    edited,
    line_of,
)

from io_idtech.io_md5.format import Md5Error, parse_animation, parse_mesh, read_animation, read_mesh

# What the samples hold


def test_files_are_read_from_disk(tmp_path):
    (tmp_path / "bòx.md5mesh").write_bytes(MESH.encode())
    (tmp_path / "wàlk.md5anim").write_bytes(ANIMATION.encode())
    assert_same_model(read_mesh(tmp_path / "bòx.md5mesh"), mesh_of(MESH))
    assert_same_model(read_mesh(str(tmp_path / "bòx.md5mesh")), mesh_of(MESH))
    assert_same_animation(read_animation(tmp_path / "wàlk.md5anim"), animation_of(ANIMATION))


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_mesh(tmp_path / "none.md5mesh")
    with pytest.raises(FileNotFoundError):
        read_animation(tmp_path / "none.md5anim")


# The header


@both
def test_an_unknown_version_is_read_as_10(sample):
    text = edited(sample, "MD5Version 10", "MD5Version 11")
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert_warned(result, "version 11")


@both
def test_a_missing_version_is_a_warning(sample):
    text = edited(sample, "MD5Version 10\n", "")
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert_warned(result, "MD5Version")


@both
@pytest.mark.parametrize("line", ["", "commandline", "commandline //", 'commandline ""'])
def test_a_file_without_a_command_line_is_read(sample, line):
    old = next(row for row in sample.split("\n") if row.startswith("commandline"))
    text = edited(sample, old, line)
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert result.commandline == ""
    assert result.warnings == []


@pytest.mark.parametrize(
    ("sample", "old", "new", "words"),
    [
        (MESH, "numJoints 3", "numJoints 2", ("2 joints", "3")),
        (MESH, "numMeshes 1", "numMeshes 20", ("20 meshes", "1")),
        (MESH, "numMeshes 1", "numMeshes 0", ("0 meshes", "1")),
        (MESH, "numverts 3", "numverts 1", ("1 vertex", "3")),
        (MESH, "numtris 2", "numtris 4", ("4 triangles", "2")),
        (MESH, "numweights 4", "numweights 5", ("5 weights", "4")),
        (ANIMATION, "numFrames 3", "numFrames 103", ("103 frames", "3")),
        (ANIMATION, "numJoints 3", "numJoints 4", ("4 joints", "3")),
        (ANIMATION, "numAnimatedComponents 7", "numAnimatedComponents 18", ("18 components", "7")),
    ],
)
def test_declared_counts_are_hints(sample, old, new, words):
    text = edited(sample, old, new)
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert_warned(result, *words)
    same, assert_same = (mesh_of, assert_same_model) if sample is MESH else (animation_of, assert_same_animation)
    assert_same(result, same(sample))


# Not the file it should be


@both_parsers
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
def test_a_file_without_words_is_refused(parse, sample, data, found):
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
def test_a_file_of_another_kind_is_refused(data):
    error = refusal_of(parse_mesh, data)
    assert error.line == data.count(b"\n") + 1
    assert error.expected
    error = refusal_of(parse_animation, data)
    assert error.line == data.count(b"\n") + 1
    assert error.expected


def test_an_animation_is_not_read_as_a_mesh_nor_a_mesh_as_an_animation():
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
    assert str(Md5Error("odd", line=3)) == "odd (line 3)"
    assert str(Md5Error("odd", path="a", found="b", expected="c")) == "odd; found b; expected c (a)"
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
def test_a_mesh_file_that_ends_within_a_block_is_refused(block, last, ending):
    text = MESH[: MESH.index(last) + len(last)] + ending
    refused(
        parse_mesh, text, last_line(text),
        reason=f"line {line_of(text, block)} opens a block that never ends", found="the end of the file", expected="}",
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
def test_an_animation_file_that_ends_within_a_block_is_refused(block, last):
    text = ANIMATION[: ANIMATION.index(last) + len(last)]
    refused(
        parse_animation, text, last_line(text),
        reason=f"line {line_of(text, block)} opens a block that never ends", found="the end of the file", expected="}",
    )  # fmt: skip


def outcome(parse, text):
    """The warnings, or the line of the refusal."""
    try:
        return parse(text.encode()).warnings, None
    except Md5Error as error:
        return [], error.line


@pytest.mark.parametrize("sample", [MESH, ANIMATION, OLD_MESH, OLD_ANIMATION])
def test_a_file_truncated_anywhere_is_refused_or_gives_a_warning(sample):
    parse = parse_mesh if "bone" in sample or "mesh {" in sample else parse_animation
    end = len(sample.rstrip())
    for length in range(end):
        warnings, line = outcome(parse, sample[:length])
        # Between two blocks of the old animations nothing tells that one is missing.
        assert warnings or line or sample is OLD_ANIMATION, sample[:length]
        assert line is None or 1 <= line <= last_line(sample[:length])


@both_parsers
def test_a_block_inside_another_block_is_refused(parse, sample):
    brace = sample.index("\n}\n")
    text = sample[:brace] + "\n" + sample[brace + 3 :]
    inner = text.index("{", brace)
    line = text[:inner].count("\n") + 1
    refused(parse, text, line, reason="a block is not closed", found="'{'", expected="}")


def test_a_block_without_an_opening_brace_is_refused():
    mesh_refused(
        edited(MESH, "joints {", "joints"), '"origin"',
        reason="'joints' is not opened", found="'origin'", expected="{",
    )  # fmt: skip
    for block, next_mark, found in (("hierarchy", '"origin"', "'origin'"), ("bounds", "}\n\nbaseframe", "'}'")):
        animation_refused(
            edited(ANIMATION, f"{block} {{", block), next_mark,
            reason=f"'{block}' is not opened", found=found, expected="{",
        )  # fmt: skip


@both_parsers
@pytest.mark.parametrize("key", ["numJoints"])
def test_a_header_key_without_its_number_is_refused(parse, sample, key):
    text = edited(sample, f"{key} 3", key)
    following = text.index(key) + len(key)
    next_word = re.search(r"\w+", text[following:])
    line = text[: following + next_word.start()].count("\n") + 1
    refused(parse, text, line, reason=f"no number after {key}", found=next_word[0], expected="a number")
