"""What is fuzzed: a reader of bytes for each kind of file, its own errors, and made files to begin with.

A target does what an import does before Blender comes in, and what an export does after: whatever is read must be fit
for use, and what is written of it must be read again.
"""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bulk_reading
import numpy as np
from md5_samples import ANIMATION, CAMERA, MESH, OLD_ANIMATION, OLD_MESH

from io_common.textures.dimensions import pixel_count
from io_common.textures.gamefolder import FileReadError, Root
from io_common.textures.mtr import map_uses, parse_mtr
from io_common.textures.pcx import PcxError, decode_pcx
from io_common.textures.skins import parse_model_cfg, parse_skin
from io_md2.format import (
    Md2Error,
    Model,
    check_model,
    decompress,
    find_sequences,
    format_model,
    generate_commands,
    parse_model,
)
from io_md2.format.welding import weld
from io_md5.format import (
    Md5Error,
    format_animation,
    format_camera,
    format_mesh,
    parse_animation,
    parse_camera,
    parse_mesh,
)
from io_md5.format.check import check_animation
from io_md5.format.check import check_model as check_md5_model
from io_md5.format.cuts import timeline
from io_md5.format.skeleton import poses
from io_md5.format.skinning import bind_pose

# More triangles than this make the search for GL commands, which only an export runs, too slow to fuzz.
_FEW_TRIANGLES = 40


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes:
        read: takes bytes; raises one of `errors` or nothing.
        errors: the project's own.
        seeds: files that it reads.
        words: what the files are made of, for the fuzzer's dictionary.
    """

    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()


def md5mesh(data: bytes) -> None:
    """A mesh file, read in columns and one by one, skinned in its bind pose, and back."""
    bulk_reading.assert_same(parse_mesh, data)
    model = parse_mesh(data)
    joints = model.joints
    for mesh in model.meshes:
        vertices, _ = bind_pose(mesh, joints.positions, joints.orientations)
        assert np.isfinite(vertices).all()
    check_md5_model(model)
    again = parse_mesh(format_mesh(model))
    assert again.joints.names == joints.names
    assert len(again.meshes) == len(model.meshes)


def md5anim(data: bytes) -> None:
    """An animation file, read in columns and one by one, posed, and back."""
    bulk_reading.assert_same(parse_animation, data)
    animation = parse_animation(data)
    positions, _ = poses(animation)
    assert positions.shape == (animation.frame_count, len(animation.names), 3)
    assert animation.frame_rate > 0.0
    check_animation(animation)
    again = parse_animation(format_animation(animation))
    assert again.names == animation.names
    assert again.frames.shape == animation.frames.shape


def md5camera(data: bytes) -> None:
    """A camera file, its timeline, and back."""
    camera = parse_camera(data)
    entries, instants = timeline(camera.cuts, camera.entry_count)
    assert len(entries) > 0
    assert len(instants) == len(camera.cuts)
    again = parse_camera(format_camera(camera))
    assert again.cuts.tolist() == camera.cuts.tolist()


def md2(data: bytes) -> None:
    """A model, its places and sequences, and back."""
    model = parse_model(data)
    assert np.isfinite(decompress(model.vertices, model.scale, model.translate)).all()
    assert parse_model(format_model(model)) == model
    find_sequences(model.frame_names)
    check_model(model)
    weld(model)
    if model.triangle_count <= _FEW_TRIANGLES:
        generate_commands(model.triangles, model.triangle_st, model.st, model.skin_width, model.skin_height)


def pcx(data: bytes) -> None:
    """An image."""
    image = decode_pcx(data)
    assert image.ndim == 3


def mtr(data: bytes) -> None:
    """Material declarations and the images they name."""
    for material in parse_mtr(data.decode("latin-1")).materials.values():
        for expression in (material.diffuse, material.specular, material.bump):
            map_uses(expression)


def archive(data: bytes) -> None:
    """An archive, what it lists, and all that it holds."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.pk4").write_bytes(data)
        root = Root(folder)
        files = root.texts("materials", ".mtr")
        for name in ("models/a", "textures/a.tga", "a.png"):
            image = root.find_image(name)
            if image is not None:
                files[name] = image
        for file in files.values():
            with suppress(FileReadError):
                assert len(file.read()) == file.size()


def dimensions(data: bytes) -> None:
    """The size of an image by its header."""
    count = pixel_count(data)
    assert count is None or count >= 0


def skins(data: bytes) -> None:
    """A model's configuration and a skin's declaration."""
    text = data.decode("latin-1")
    parse_model_cfg(text).skin("tris.md5mesh", "head")
    parse_skin(text)


_MD5_WORDS = tuple(
    b"MD5Version commandline numJoints numMeshes joints mesh shader name numverts vert numtris tri numweights weight "
    b"numFrames frameRate numAnimatedComponents hierarchy bounds baseframe frame numCuts cuts camera bone channel "
    b"bindpos bindmat parent joint attribute keys range framerate // /* */ { } ( ) "
    b"1e39 nan 1.#IND 2147483648 -1".split()
)
_MTR_WORDS = tuple(
    b"material table skin diffusemap specularmap bumpmap qer_editorimage blend map alphaTest twosided translucent { } "
    b"addnormals( heightmap( makealpha( , ) // /* */ _white _flat".split()
)
_SKIN_WORDS = tuple(
    b'md5load md5skin md5tag md5bumpmap md5alphatest md5dir mdlscale mdltrans md5anim * [ ] ; // , " @ $'.split()
)
_MTR = b"""models/a
{
	qer_editorimage a.tga
	bumpmap addnormals( a_local.tga, heightmap( a_h.tga, 4 ) )
	{
		blend diffusemap
		map a_d.tga
		alphaTest 0.5
	}
	specularmap a_s.tga
	twosided
}
table wave { { 0, 1 } }
"""
_CFG = b"""md5load tris.md5mesh head
md5skin head skin.jpg masks.jpg
md5bumpmap head normals.jpg
mdlscale 50
if (= $x 1) [ md5alphatest * 0.5 ]
"""


def _md2_seed() -> bytes:
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    st = np.array([[0, 0], [63, 0], [63, 31], [0, 31]], np.int16)
    vertices = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    return format_model(
        Model(
            skin_width=64,
            skin_height=32,
            skins=["skin.pcx"],
            st=st,
            triangles=triangles,
            triangle_st=triangles.copy(),
            scale=np.ones((2, 3), np.float32),
            translate=np.zeros((2, 3), np.float32),
            frame_names=["stand01", "stand02"],
            vertices=vertices,
            normals=np.zeros((2, 4), np.uint8),
            gl_commands=generate_commands(triangles, triangles, st, 64, 32),
        )
    )


def _pcx_seeds() -> tuple[bytes, ...]:
    def header(bits: int, planes: int) -> bytes:
        sides = (0, 0, 3, 1, 72, 72)
        words = b"".join(value.to_bytes(2, "little") for value in sides)
        head = bytes((10, 5, 1, bits)) + words + bytes(range(48))
        return (head + bytes((0, planes)) + (4).to_bytes(2, "little")).ljust(128, b"\0")

    palette = b"\x0c" + bytes(range(256)) * 3
    return (
        header(8, 1) + b"\xc4\x07\x01\x02\x03\xc1\xff" + palette,
        header(1, 4) + b"\xd0\x55",
        header(8, 3) + b"\xd8\x09",
    )


def _archive_seeds() -> tuple[bytes, ...]:
    seeds = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", method) as target:
            for name in ("materials/a.mtr", "models/a.tga", "dds/textures/a.dds", "a.png"):
                target.writestr(name, name * 20)
        seeds.append(data.getvalue())
    return tuple(seeds)


def _image_seeds() -> tuple[bytes, ...]:
    """The beginnings of images of all kinds, 64 by 32."""
    exr_window = b"dataWindow\0box2i\0" + struct.pack("<5i", 16, 0, 0, 63, 31)
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I4s2I5B", 13, b"IHDR", 64, 32, 8, 6, 0, 0, 0),
        b"\xff\xd8\xff\xe0" + struct.pack(">H", 6) + b"JFIF\xff\xc0" + struct.pack(">HB2H", 11, 8, 32, 64),
        struct.pack("<3B5x4H2B", 0, 0, 2, 0, 0, 64, 32, 24, 0),
        b"BM" + struct.pack("<3I", 0, 0, 54) + struct.pack("<I2i", 40, 64, -32),
        b"DDS " + struct.pack("<4I", 124, 0x1007, 32, 64),
        b"8BPS" + struct.pack(">H6xH2I", 1, 3, 32, 64),
        b"\x01\xda" + struct.pack(">2B4H", 1, 1, 3, 64, 32, 3),
        b"II*\0"
        + struct.pack("<IH", 8, 2)
        + struct.pack("<2HII", 256, 4, 1, 64)
        + struct.pack("<2HII", 257, 4, 1, 32),
        b"v/1\x01" + struct.pack("<I", 2) + exr_window + b"\0",
        b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 32 +X 64\n",
        b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (63).to_bytes(3, "little") + (31).to_bytes(3, "little"),
        b"\xff\x4f\xff\x51" + struct.pack(">2H4I", 47, 0, 64, 32, 0, 0),
        b"\x80\x2a\x5f\xd7".ljust(200, b"\0") + struct.pack(">2I", 64, 32),
        b"SDPX".ljust(772, b"\0") + struct.pack(">2I", 64, 32),
    )


TARGETS = {
    "md5mesh": Target(md5mesh, (Md5Error,), (MESH.encode(), OLD_MESH.encode()), _MD5_WORDS),
    "md5anim": Target(md5anim, (Md5Error,), (ANIMATION.encode(), OLD_ANIMATION.encode()), _MD5_WORDS),
    "md5camera": Target(md5camera, (Md5Error,), (CAMERA.encode(),), _MD5_WORDS),
    "md2": Target(md2, (Md2Error,), (_md2_seed(),)),
    "pcx": Target(pcx, (PcxError,), _pcx_seeds()),
    "mtr": Target(mtr, (), (_MTR,), _MTR_WORDS),
    "archive": Target(archive, (), _archive_seeds(), (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7")),
    "dimensions": Target(dimensions, (), _image_seeds()),
    "skins": Target(skins, (), (_CFG,), _SKIN_WORDS),
}
