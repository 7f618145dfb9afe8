"""The .md5camera file: what is read, refused and written."""

from __future__ import annotations

import numpy as np
import pytest
from md5_samples import CAMERA, edited

from io_idtech.io_md5.format import Camera, Md5Error, format_camera, parse_camera, read_camera, write_camera


def camera_of(text):
    return parse_camera(text.encode() if isinstance(text, str) else text, "folder/intro.md5camera")


def assert_same_camera(a, b):
    """Two cameras hold the same to the last digit."""
    np.testing.assert_array_equal(a.cuts, b.cuts)
    np.testing.assert_array_equal(a.positions, b.positions)
    np.testing.assert_array_equal(a.orientations, b.orientations)
    np.testing.assert_array_equal(a.fields_of_view, b.fields_of_view)
    assert (a.frame_rate, a.commandline) == (b.frame_rate, b.commandline)
    assert (a.cut_groups or [""] * len(a.cuts)) == (b.cut_groups or [""] * len(b.cuts))


def test_all_values_of_a_camera_file_are_read():
    camera = camera_of(CAMERA)
    assert camera.warnings == []
    assert camera.commandline == "camera cams/intro.mb -dest intro.md5camera"
    assert camera.frame_rate == 24
    assert camera.entry_count == 5
    assert camera.cuts.tolist() == [2]
    assert camera.cut_groups == [""]
    assert camera.positions[3].tolist() == [-100, 20.125, 0]
    assert camera.orientations[4].tolist() == [0.1, 0.2, 0.3]
    assert camera.fields_of_view.tolist() == [90, 80.5, 70, 45, 45]


def test_written_as_ids_exporter_lays_it_out():
    assert format_camera(camera_of(CAMERA)).decode() == CAMERA


@pytest.mark.parametrize(
    "text",
    [
        CAMERA.replace("\n", "\r\n"),
        "\N{BYTE ORDER MARK}" + CAMERA + "left over } text {\0\0",
        CAMERA.replace("( 0 0 64 )", "/* start } */ ( 0 0 64 ) // { first\n"),
        CAMERA.replace("\t2\n", "\t2 // ( not a group )\n"),
        CAMERA.replace("\n\t(", " ("),
        CAMERA.replace("numFrames", "numframes").replace("numCuts", "numcuts"),
    ],
    ids=["crlf", "mark and rest", "comments", "comment among cuts", "one line", "lower case"],
)
def test_layout_does_not_matter(text):
    assert_same_camera(camera_of(text), camera_of(CAMERA))


def with_cuts(block, entries=100, declared=None):
    rows = "\n".join(f"( {entry} 0 0 ) ( 0 0 0 ) 90" for entry in range(entries))
    declared = "" if declared is None else f"numCuts {declared}"
    return f"MD5Version 10 numFrames {entries} frameRate 24 {declared} cuts {{ {block} }} camera {{ {rows} }}"


@pytest.mark.parametrize(
    ("block", "cuts", "groups"),
    [
        ("", [], []),
        ("7 8\n20", [7, 8, 20], ["", "", ""]),
        ("64 pos ( 243.9 3552.7 39.0 ) rotA ( 0 -132.22 0 )\n67", [64, 67], [
            "pos ( 243.9 3552.7 39.0 ) rotA ( 0 -132.22 0 )", ""]),
        ("5 rot(1 2 3) // why\n 6 pos(-1 2e3 .5)", [5, 6], ["rot ( 1 2 3 )", "pos ( -1 2e3 .5 )"]),
        ("5 rot ( 1 2 3 4 ) 6", [5, 6], ["rot ( 1 2 3 4 )", ""]),
    ],
)  # fmt: skip
def test_groups_behind_cuts_are_kept_and_written_back(block, cuts, groups):
    camera = camera_of(with_cuts(block, declared=len(cuts)))
    assert camera.warnings == []
    assert camera.cuts.tolist() == cuts
    assert camera.cut_groups == groups
    assert_same_camera(camera_of(format_camera(camera)), camera)


@pytest.mark.parametrize(("block", "words"), [("0 5", "frame 0"), ("5 5", "ascending"), ("9 5", "ascending")])
def test_odd_cuts_are_read_with_a_warning_and_written_back(block, words):
    camera = camera_of(with_cuts(block))
    assert len(camera.warnings) == 1
    assert words in camera.warnings[0]
    assert camera.cuts.tolist() == [int(word) for word in block.split()]
    assert_same_camera(camera_of(format_camera(camera)), camera)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("numFrames 5", "numFrames 6", "declares 6 frames and holds 5"),
        ("numCuts 1", "numCuts 3", "declares 3 cuts and holds 1"),
        ("frameRate 24", "frameRate 0", "frame rate"),
        ("frameRate 24", "", "frame rate"),
        ("MD5Version 10", "MD5Version 11", "version 11"),
        ("}\n\ncamera", "}\n\nlights { }\n\ncamera", "line 12"),
    ],
)
def test_odd_values_give_a_warning(old, new, words):
    camera = camera_of(edited(CAMERA, old, new))
    assert len(camera.warnings) == 1
    assert words in camera.warnings[0]
    assert camera.entry_count == 5


def test_without_a_block_of_cuts_there_are_none():
    start, end = CAMERA.index("numCuts"), CAMERA.index("camera {")
    camera = camera_of(CAMERA[:start] + CAMERA[end:])
    assert camera.cuts.tolist() == []
    assert camera.warnings == []


@pytest.mark.parametrize(
    ("old", "new", "at", "reason", "found", "expected"),
    [
        ("\t2\n", "\t5\n", "\t5\n", "cut is not at one of", "5", "from 1 to 4"),
        ("\t2\n", "\t-1\n", "\t-1\n", "cut is not at one of", "-1", "from 1 to 4"),
        ("\t2\n", "\t2.5\n", "\t2.5\n", "cut is not at one of", "2.5", "whole number"),
        ("\t2\n", "\tpos ( 1 2 3 )\n", "\tpos", "a group before the first cut", "pos", "number of a cut"),
        ("\t2\n", "\t2 pos 3\n", "cuts {", "groups after cut 2", "pos", "parentheses"),
        ("\t2\n", "\t2 pos ( 1 2\n", "cuts {", "groups after cut 2", "pos ( 1 2", "parentheses"),
        ("\t2\n}", "\t2\n", "camera {", "is not closed", "{", "}"),
        ("0.5 ) 90", "0.5 )", "}\n", "ends within a frame", "34 numbers", "7 for each"),
        ("0.5 ) 90", "0.5 ) wide", "wide", "other than numbers", "wide", "a number"),
        ("0.5 ) 90", "0.5 ) 9O", "9O", "not a number", "9O", "a number"),
        ("camera {", "path {", None, "not an md5camera file", "no camera", "camera {"),
        ("frameRate 24", "frameRate", "numCuts", "no number after frameRate", "numCuts", "a number"),
    ],
)  # fmt: skip
def test_invalid_text_is_refused_with_its_line(old, new, at, reason, found, expected):
    text = edited(CAMERA, old, new)
    with pytest.raises(Md5Error) as caught:
        camera_of(text)
    error = caught.value
    assert reason in error.reason
    assert found in error.found
    assert expected in error.expected
    assert error.path == "folder/intro.md5camera"
    line = text.count("\n") + 1 if at is None else text.count("\n", 0, text.rindex(at)) + 1
    assert error.line == line, str(error)


def test_a_camera_without_frames_is_refused():
    with pytest.raises(Md5Error, match="no frames"):
        camera_of("MD5Version 10 camera { }")
    nothing = Camera(np.empty(0, np.int32), np.empty((0, 3)), np.empty((0, 3)), np.empty(0))
    with pytest.raises(Md5Error, match=r"Camera.positions: there are no frames"):
        format_camera(nothing)


def test_the_real_file_with_a_cut_behind_its_end_is_refused(corpus):
    (path,) = corpus.rglob("InvalidCameraCut.md5camera")
    with pytest.raises(Md5Error, match="cut is not at one of the camera's frames; found 8; expected no cuts"):
        read_camera(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda camera: camera.cuts.__setitem__(0, 5),
        lambda camera: camera.cuts.__setitem__(0, -1),
        lambda camera: camera.positions.__setitem__(0, np.nan),
        lambda camera: camera.fields_of_view.__setitem__(0, np.inf),
        lambda camera: camera.cut_groups.__setitem__(0, "} camera {"),
        lambda camera: camera.cut_groups.__setitem__(0, "12"),
        lambda camera: camera.cut_groups.__setitem__(0, "pos ( 1 2 3 )\n9"),
        lambda camera: setattr(camera, "commandline", 'a "quote"'),
    ],
)
def test_invalid_cameras_are_not_written(tmp_path, change):
    camera = camera_of(CAMERA)
    change(camera)
    with pytest.raises(Md5Error):
        write_camera(camera, tmp_path / "bad.md5camera")
    assert not list(tmp_path.iterdir())


def test_a_file_is_read_as_it_was_written(tmp_path):
    write_camera(camera_of(CAMERA), tmp_path / "intro.md5camera")
    assert_same_camera(read_camera(tmp_path / "intro.md5camera"), camera_of(CAMERA))
