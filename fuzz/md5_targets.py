"""What fuzzing does with the bytes of each kind of file, and files to begin with. Not part of the built extension.

A mesh or animation is read twice, with long blocks read in columns and line by line: both must give the same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from unittest.mock import patch

import numpy as np

from io_idtech.io_common.skeletal.skeleton import poses
from io_idtech.io_common.skeletal.skinning import bind_pose
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.mdl_file import parse_mdl
from io_idtech.io_md5.format.model import Md5Error
from io_idtech.io_md5.format.scale_file import format_scales, parse_scales
from io_idtech.io_md5.format.text import anim_file, mesh_file, rows, scanner
from io_idtech.io_md5.format.text import rows as frame_rows
from io_idtech.io_md5.format.text.anim_file import format_animation, parse_animation
from io_idtech.io_md5.format.text.camera_file import format_camera, parse_camera, timeline
from io_idtech.io_md5.format.text.mesh_file import format_mesh, parse_mesh

Parse = Callable[..., object]

FAR = 1000 * b"\n"
"""Behind a text, keeps its last lines from being read one by one."""


def assert_same(parse: Parse, data: bytes) -> None:
    """Checks that both ways come to the same, for the text as it is and where all its lines may be read in columns."""
    for text in (data, data + FAR):
        assert in_columns(parse, text) == one_by_one(parse, text)


def in_columns(parse: Parse, data: bytes) -> object:
    """What is read where a single line is enough for reading in columns."""
    with patch.object(rows, "MIN_LINES", 1), patch.object(frame_rows, "MIN_LINES", 1):
        return _outcome(parse, data)


def one_by_one(parse: Parse, data: bytes) -> object:
    """What is read without reading in columns."""
    with (
        patch.object(mesh_file, "extract_rows", _nothing_extracted),
        patch.object(anim_file, "extract_frames", _nothing_extracted),
    ):
        return _outcome(parse, data)


def _nothing_extracted(data: bytes) -> rows.ReducedText:
    return rows.ReducedText(data, len(data))


def _outcome(parse: Parse, data: bytes) -> object:
    """What is read, as values that can be compared, or the words with which it is refused."""
    try:
        return _values(parse(data, "file"))
    except Md5Error as error:
        return str(error)


def _values(read: object) -> object:
    if isinstance(read, np.ndarray):
        return read.dtype.str, read.shape, read.tobytes()
    if isinstance(read, list):
        return [_values(item) for item in read]
    return [_values(getattr(read, field.name)) for field in fields(read)] if is_dataclass(read) else read


# The inputs are shorter than the chunks in which texts are read.
_in_small_chunks = patch.object(scanner, "_CHUNK", 256)


@_in_small_chunks
def md5mesh(data: bytes) -> None:
    """A mesh file, read in columns and one by one, skinned in its bind pose, and back."""
    assert_same(parse_mesh, data)
    model = parse_mesh(data)
    joints = model.joints
    for mesh in model.meshes:
        vertices, _ = bind_pose(mesh, joints.positions, joints.orientations)
        assert np.isfinite(vertices).all()
    check_model(model)
    again = parse_mesh(format_mesh(model))
    assert again.joints.names == joints.names
    assert len(again.meshes) == len(model.meshes)


@_in_small_chunks
def md5anim(data: bytes) -> None:
    """An animation file, read in columns and one by one, posed, and back."""
    assert_same(parse_animation, data)
    animation = parse_animation(data)
    positions, _ = poses(animation)
    assert positions.shape == (animation.frame_count, len(animation.names), 3)
    assert animation.frame_rate > 0.0
    check_animation(animation)
    again = parse_animation(format_animation(animation))
    assert again.names == animation.names
    assert again.frames.shape == animation.frames.shape


@_in_small_chunks
def md5camera(data: bytes) -> None:
    """A camera file, its timeline, and back."""
    camera = parse_camera(data)
    entries, instants = timeline(camera.cuts, camera.entry_count)
    assert len(entries) > 0
    assert len(instants) == len(camera.cuts)
    again = parse_camera(format_camera(camera))
    assert again.cuts.tolist() == camera.cuts.tolist()


def md5scale(data: bytes) -> None:
    """A file of joint scales, the table for an animation, and back."""
    scales = parse_scales(data)
    table, _ = scales.table(["arm", "leg"], 3)
    assert np.isfinite(table.values).all()
    again = parse_scales(format_scales(scales))
    kept = {
        name: {frame: float(np.float32(value)) for frame, value in values.items() if np.float32(value) != 1.0}
        for name, values in scales.joints.items()
    }
    read = {
        name: {frame: float(np.float32(value)) for frame, value in values.items()}
        for name, values in again.joints.items()
    }
    assert read == {name: values for name, values in kept.items() if values}


def mdl(data: bytes) -> None:
    """Names of frames and skins of an MDL file."""
    found = parse_mdl(data)
    assert all(first + count <= len(found.frames) for first, count in found.groups)


WORDS = tuple(
    b"MD5Version commandline numJoints numMeshes joints mesh shader name numverts vert numtris tri numweights weight "
    b"numFrames frameRate numAnimatedComponents hierarchy bounds baseframe frame numCuts cuts camera bone channel "
    b"bindpos bindmat parent joint attribute keys range framerate // /* */ { } ( ) "
    b"scale_positions true false : , IDPO "
    b"1e39 nan 1.#IND 2147483648 -1".split()
)

MESH = """\
MD5Version 10
commandline "mesh models/box.mb -dest box.md5mesh"

numJoints 3
numMeshes 1

joints {
	"origin"	-1 ( 0 0 0 ) ( -0.5 -0.5 -0.5 )		// \n\
	"hips"	0 ( 0 1.5 24 ) ( 0 0 0.7071067812 )		// origin
	"head"	1 ( -2.25 0 64 ) ( 0.1 -0.2 0.3 )		// hips
}

mesh {
	shader "models/box/box"

	numverts 3
	vert 0 ( 0 0 ) 0 1
	vert 1 ( 0.25 1 ) 1 2
	vert 2 ( 0.5 -0.125 ) 3 1

	numtris 2
	tri 0 0 1 2
	tri 1 2 1 0

	numweights 4
	weight 0 0 1 ( 1 2 3 )
	weight 1 1 0.75 ( -4.5 0 6 )
	weight 2 2 0.25 ( 7 8 9.0625 )
	weight 3 2 1 ( 0 0 -10 )
}
"""

ANIMATION = """\
MD5Version 10
commandline "anim models/box.mb -dest walk.md5anim"

numFrames 3
numJoints 3
frameRate 24
numAnimatedComponents 7

hierarchy {
	"origin"	-1 0 0	//
	"hips"	0 7 0	// origin ( Tx Ty Tz )
	"head"	1 60 3	// hips ( Tz Qx Qy Qz )
}

bounds {
	( -1 -2 -3 ) ( 4 5 6 )
	( -1.5 -2 -3 ) ( 4 5 6 )
	( -1 -2.5 -3 ) ( 4 5 6.25 )
}

baseframe {
	( 0 0 0 ) ( -0.5 -0.5 -0.5 )
	( 0 1.5 24 ) ( 0 0 0.7071067812 )
	( 1 2 40 ) ( 0.1 -0.2 0.3 )
}

frame 0 {
	0 1.5 24
	40 0.1 -0.2 0.3
}

frame 1 {
	0 1.75 25
	41 0.125 -0.2 0.3
}

frame 2 {
	-1 2 26.5
	42 0.15 -0.25 0.35
}
"""

# The layout from before Doom 3 was finished.
OLD_MESH = """\
MD5Version 6
commandline ""

numbones 2
nummeshes 1

bone 0 {
	name "root"
	bindpos 1 2 3
	bindmat 0 1 0 -1 0 0 0 0 1
}

bone 1 {
	name "tip"
	bindpos 1 2 13
	bindmat 1 0 0 0 1 0 0 0 1
	parent "root"
}

mesh 0 {
	shader "data\\box.tga"

	numverts 3
	vert 0 0 0 0 1
	vert 1 0.25 1 1 1
	vert 2 0.5 0.5 2 1

	numtris 1
	tri 0 0 1 2

	numweights 3
	weight 0 0 1 1 0 0
	weight 1 0 1 0 1 0
	weight 2 1 1 0 0 1
}
"""

OLD_ANIMATION = """\
MD5Version 6
commandline ""

numchannels 3

channel 0 {
	joint "root"
	attribute "x"
	starttime 0
	endtime 0.1
	framerate 30
	strings 0
	range 0 3
	keys 3
		1 2 3
}

channel 1 {
	joint "root"
	attribute "yaw"
	framerate 30
	range 0 2
	keys 2
		0 90
}

channel 2 {
	joint "tip"
	attribute "z"
	framerate 30
	range 0 1
	keys 1
		10
}
"""

CAMERA = """\
MD5Version 10
commandline "camera cams/intro.mb -dest intro.md5camera"

numFrames 5
frameRate 24
numCuts 1

cuts {
	2
}

camera {
	( 0 0 64 ) ( 0 0 0.5 ) 90
	( 1 0 64 ) ( 0 0 0.25 ) 80.5
	( 2 0 64 ) ( 0 0 0 ) 70
	( -100 20.125 0 ) ( -0.5 -0.5 -0.5 ) 45
	( -100 21 0 ) ( 0.1 0.2 0.3 ) 45
}
"""

SCALES = """\
{
	"arm": {
		"scale_positions": true,
		"0": 0.0,
		"2": 1.5
	},
	"leg": { "1": -2e-1, "1": 1, "x": 3 },
	"tail": {}
}
"""


def _mdl() -> bytes:
    """A model of one vertex with a skin, a group of two skins, a frame and a group of two frames."""
    header = struct.pack("<4si10f8if", b"IDPO", 6, *10 * [1.0], 2, 4, 2, 1, 1, 2, 0, 0, 1.0)
    skins = struct.pack("<i8x", 0) + struct.pack("<ii2f16x", 1, 2, 0.1, 0.2)
    pose = struct.pack("<8x16s4x", b"stand1")
    frames = struct.pack("<i", 0) + pose + struct.pack("<ii8x2f", 1, 2, 0.1, 0.2) + pose + pose
    return header + skins + bytes(12 + 16) + frames


MDL = _mdl()
