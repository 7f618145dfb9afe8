"""What a file costs to read is decided by its size: by nothing that it claims, and by no shape that it has.

Each shape is a file of as many parts as asked for, of a kind whose cost could grow faster than the file: once by more
than the size allows, or by what two lists that are each as long as the file would make together.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from work import lines_run

from io_idtech.io_common.declarations.cube_scripts import read_script
from io_idtech.io_common.declarations.materials import parse_materials
from io_idtech.io_common.names import clean_name
from io_idtech.io_common.skeletal.skeleton import poses
from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_common.textures.conventions import parse_skin
from io_idtech.io_md2.format import Model, format_model, parse_model
from io_idtech.io_md5.format import Md5Error, parse_animation, parse_camera, parse_mesh
from io_idtech.io_md5.format.scale_file import parse_scales
from io_idtech.io_md5.format.text import rows
from io_idtech.io_md5.format.text.camera_file import timeline

pytestmark = pytest.mark.slow

VERSION = "MD5Version 10\n"
JOINT = 'joints { "a" -1 ( 0 0 0 ) ( 0 0 0 ) }\n'
ONE_JOINT = 'hierarchy { "a" -1 0 0 }\nbaseframe { 0 0 0 0 0 0 }\n'


def lines(text, count):
    return "".join(text.format(i=i, above=i - 1) + "\n" for i in range(count))


def mesh(data):
    model = parse_mesh(data)
    for part in model.meshes:
        skin(part, model.joints.positions, model.joints.orientations)


def animation(data):
    poses(parse_animation(data))


def camera(data):
    read = parse_camera(data)
    timeline(read.cuts, read.entry_count)


def config(data):
    read_script(data, "md5.cfg", "md5", {}.get)


def text(parse):
    return lambda data: parse(data.decode())


def chain(count, frames):
    return (
        VERSION + "hierarchy {" + lines('"{i}" {above} 0 0', count) + "} baseframe {" + "0 0 0 0 0 0\n" * count
        + "}" + "frame 0 { }\n" * frames
    )  # fmt: skip


def old_channels(count):
    many = lines('channel {i} {{ joint "{i}" attribute "x" keys 0 1 }}', count)
    return f'{VERSION} channel 0 {{ joint "a" attribute "x" keys 0 {"1 " * 10 * count} }}\n{many}'


# The reader, and a file with so many parts.
SHAPES = {
    "command lines": (mesh, lambda n: VERSION + "commandline x\n" * n + JOINT),
    "unknown words in a mesh": (mesh, lambda n: VERSION + JOINT + "mesh {" + lines("w{i}", n) + "}"),
    "long words": (mesh, lambda n: VERSION + JOINT + "mesh {" + "abcdefghijklmnopqrstuvwxyz " * n + "}"),
    "meshes of nothing": (mesh, lambda n: VERSION + JOINT + "mesh { x }\n" * n),
    "every vertex with every weight": (
        mesh,
        lambda n: VERSION + JOINT + "mesh {" + lines(f"vert {{i}} 0 0 0 {n}", n) + lines("weight {i} 0 1 0 0 0", n)
        + "}",
    ),
    "headers without rows": (mesh, lambda n: VERSION + JOINT + "mesh {" + "numverts 1\nx\n" * n + "}"),
    "numbers that are none": (mesh, lambda n: VERSION + JOINT + "mesh {" + "weight 0 0 nan 0 0 1.#IND\n" * n + "}"),
    "a long number that is none": (mesh, lambda n: VERSION + JOINT + "mesh { weight 0 0 " + "12345678" * n + "x }"),
    "a row of a long number that is none": (
        mesh,
        lambda n: VERSION + JOINT + "mesh {\n\tnumverts 600\n" + lines("\tvert {i} ( 0 0 ) 0 1", 600)
        + "\tvert 600 ( 0 " + "12345678" * n + "x ) 0 1\n}\n",
    ),
    "frames far apart": (animation, lambda n: VERSION + ONE_JOINT + ("frame 0 {\n0\n}" + "\n" * 3 * n) * 2),
    "frames of lines, each laid out differently": (
        animation,
        lambda n: VERSION + ONE_JOINT + 9 * ("frame 0 {\n" + "".join(
            f"{f'{line:b}'}\n".translate({48: " 1", 49: "\t1"}) for line in range(n // 4)) + "}\n"),
    ),
    "comments that do not end": (mesh, lambda n: VERSION + JOINT + "/* " * n),
    "strings that do not end": (mesh, lambda n: VERSION + JOINT + '"x\n' * n),
    "blocks that do not end": (mesh, lambda n: VERSION + JOINT + "mesh {\n" * n),
    "frames of two sizes in turn": (animation, lambda n: VERSION + ONE_JOINT + "frame 0 { 0 }\nframe 1 { 0 0 }\n" * n),
    "as many joints as frames": (animation, lambda n: chain(n, n)),
    "a chain of joints": (animation, lambda n: chain(n, 1)),
    "many joints and one long channel": (animation, old_channels),
    "as many cuts as entries": (
        camera, lambda n: VERSION + "cuts {" + "1 " * n + "} camera {" + "0 0 0 0 0 0 9\n" * n + "}"
    ),
    "groups of a cut": (
        camera, lambda n: VERSION + "cuts { 1 " + "a ( 1 ) " * n + "} camera {" + "0 0 0 0 0 0 9\n" * 3 + "}"
    ),
    "declarations": (text(parse_materials), lambda n: lines("m{i} {{ map a }}", n)),
    "declarations that do not end": (text(parse_materials), lambda n: "a {\n" * n),
    "expressions in each other": (text(parse_materials), lambda n: "a { map " + "addnormals(" * n + "}"),
    "commands of a configuration": (text(config), lambda n: "md5load a b\nmd5skin b c d\n" * n),
    "brackets of a configuration": (text(config), lambda n: "if (x) [ md5load a\n" * n),
    "skins": (text(parse_skin), lambda n: "skin a { a b c\n" * n),
}  # fmt: skip


def file_of(shape, size):
    """A file of about so many bytes."""
    return shape(int(size * 1000 / len(shape(1000)))).encode()


def read_or_refuse(read, data):
    try:
        read(data)
    except Md5Error as error:
        assert str(error)  # noqa: PT017


@pytest.mark.slow
@pytest.mark.parametrize(("read", "shape"), SHAPES.values(), ids=SHAPES)
def test_memory_is_in_proportion_to_the_file(read, shape):
    data = file_of(shape, 50_000)
    tracemalloc.start()
    try:
        read_or_refuse(read, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A number in text is some four bytes, and eight as a float64; meshes and warnings are objects of Python.
    assert peak < (8 << 20) + 500 * len(data)


@pytest.mark.parametrize("part", ["a", "a/", " ", "\\\\", "<>", "^^"])
@pytest.mark.parametrize(
    ("read", "file"),
    [
        (parse_materials, "{} {{ map a }}"),
        (config, "md5load {}"),
        (config, 'md5load "{}"'),
        (lambda text: parse_scales(text.encode()), '{{"{}": {{}}}}'),
        (clean_name, "{}"),
    ],
    ids=["declaration", "configuration", "string of a configuration", "scales", "name"],
)
def test_a_long_word_takes_little_memory(read, file, part):
    """Python's regular expressions take a hundred bytes for each step that they may go back."""
    data = file.format(part * (1_000_000 // len(part)))
    tracemalloc.start()
    try:
        read_or_refuse(read, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 25 * len(data)


@pytest.mark.parametrize(("read", "shape"), SHAPES.values(), ids=SHAPES)
def test_work_is_in_proportion_to_the_file(monkeypatch, read, shape):
    """Eight times the file takes about eight times the work, not sixty-four."""
    # Both files in the same way.
    monkeypatch.setattr(rows, "_SHORT", 0)
    small, large = (lines_run(read_or_refuse, read, file_of(shape, size)) for size in (10_000, 80_000))
    assert large < 12 * small + 1000


def test_a_model_of_many_frames_and_one_of_many_skins():
    for frames, skins in ((20_000, 0), (1, 20_000)):
        model = Model(
            skins=["skin"] * skins,
            scale=np.ones((frames, 3), np.float32),
            translate=np.zeros((frames, 3), np.float32),
            frame_names=["frame"] * frames,
            vertices=np.zeros((frames, 0, 3), np.uint8),
            normals=np.zeros((frames, 0), np.uint8),
        )
        data = format_model(model)
        tracemalloc.start()
        try:
            assert parse_model(data) == model
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < (1 << 20) + 20 * len(data)


@pytest.mark.parametrize("key", ["numJoints", "numMeshes", "numverts", "numtris", "numweights"])
@pytest.mark.parametrize("count", [999_999_999, 0x7FFFFFFF, -1, 1e300])
def test_declared_counts_of_a_mesh_cost_no_memory(key, count):
    inside = key.startswith("num") and key[3].islower()
    block = f"mesh {{ {key if inside else ''} {count if inside else ''} vert 0 0 0 0 1\nweight 0 0 1 0 0 0 }}"
    data = f"{VERSION}{'' if inside else f'{key} {count}'}\n{JOINT}{block}".encode()
    tracemalloc.start()
    try:
        model = parse_mesh(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.vertex_count == 1
    assert model.warnings
    assert peak < 1 << 20


@pytest.mark.parametrize("key", ["numFrames", "numJoints", "numAnimatedComponents"])
def test_declared_counts_of_an_animation_cost_no_memory(key):
    data = f"{VERSION}{key} {0x7FFFFFFF}\n{ONE_JOINT}frame 0 {{ 1 }}".encode()
    read = parse_animation(data)
    assert read.frames.shape == (1, 1)
    assert any("declares" in warning for warning in read.warnings)


def test_a_file_out_of_proportion_is_refused_with_place_and_reason():
    with pytest.raises(Md5Error, match=r"out of proportion.*found 5,000 joints in 5,000 frames.* \(line 1\)$"):
        parse_animation(chain(5000, 5000).encode())
    read, shape = SHAPES["every vertex with every weight"]
    with pytest.raises(Md5Error, match=r"out of proportion.*found 4,000,000 weights.* \(line 3\)$"):
        read(shape(2000).encode())
    with pytest.raises(Md5Error, match="out of proportion"):
        animation(old_channels(4000).encode())
