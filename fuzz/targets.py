"""The readers to be fuzzed: those of all families, and those of the files next to models."""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import iqm_targets
import md2_targets
import md3_targets
import md5_targets as md5

from io_idtech.families import FAMILIES
from io_idtech.io_common.catalogue import Catalogue
from io_idtech.io_common.declarations.cube_models import cfg_character
from io_idtech.io_common.declarations.cube_scripts import read_script
from io_idtech.io_common.declarations.materials import map_uses, parse_materials
from io_idtech.io_common.family import FileKind
from io_idtech.io_common.game_tree.files import FileReadError
from io_idtech.io_common.game_tree.tree import GameTree
from io_idtech.io_common.textures.conventions import parse_skin
from io_idtech.io_common.textures.image_files import ImageFileError, decode_pcx, loaded_bytes
from io_idtech.io_iqm.format import IqmError
from io_idtech.io_md2.format import Md2Error
from io_idtech.io_md3.format import Md3Error
from io_idtech.io_md5.format import Md5Error


@dataclass(frozen=True)
class FuzzTarget:
    """A reader to be fuzzed.

    Attributes:
        read: takes the bytes of a file and runs the parts of an import and an export that need no Blender.
        errors: the only exceptions that it may raise.
        seeds: valid files.
        words: tokens of the format, for the fuzzer's dictionary.
    """

    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()


def family_file(kind: FileKind) -> Callable[[bytes], object]:
    """The reader of a kind of file, from bytes."""

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"a{kind.suffix}")
            path.write_bytes(data)
            kind.read(str(path))

    return read


def pcx(data: bytes) -> None:
    """Reads a PCX image."""
    image = decode_pcx(data)
    assert image.ndim == 3


def mtr(data: bytes) -> None:
    """Reads a material file and its image expressions."""
    for material in parse_materials(data.decode("latin-1")).materials.values():
        for expression in (material.diffuse, material.specular, material.bump, material.glow):
            map_uses(expression)


def archive(data: bytes) -> None:
    """Reads an archive and the files in it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.pk4").write_bytes(data)
        tree = GameTree([folder])
        files = tree.files("materials", ".mtr")
        for name in ("models/a", "textures/a.tga", "a.png"):
            image = tree.find_image(name)
            if image is not None:
                files[name] = image
        for file in files.values():
            with suppress(FileReadError):
                assert len(file.read()) == file.size()


def declarations(data: bytes) -> None:
    """Reads Doom 3's declarations, and makes characters of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "def").mkdir()
        (folder / "def" / "a.def").write_bytes(data)
        (folder / "a.md5mesh").write_bytes(b'shader "a"')
        catalogue = Catalogue(GameTree([folder]))
        for entry in catalogue.entries:
            for part in catalogue.character(entry).parts:
                assert part.model


def model_config(data: bytes) -> None:
    """Reads an md5.cfg, and makes a character of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("a.md5mesh", "b.md5mesh", "a.md5anim", "a.png"):
            (folder / file).touch()
        (folder / "md5.cfg").write_bytes(data)
        for part in cfg_character(GameTree([folder]), "").parts:
            assert part.model


def dimensions(data: bytes) -> None:
    """Reads from its header what an image takes in memory."""
    count = loaded_bytes(data)
    assert count is None or count >= 0


def skins(data: bytes) -> None:
    """Reads a .cfg and a .skin file."""
    text = data.decode("latin-1")
    read_script(text, "md5.cfg", "md5", {}.get).skin("tris.md5mesh", "head")
    parse_skin(text)


_MTR_WORDS = tuple(
    b"material table skin diffusemap specularmap bumpmap qer_editorimage blend map alphaTest twosided translucent { } "
    b"addnormals( heightmap( makealpha( , ) // /* */ _white _flat glowMap normalMap implicitMap animMap "
    b"blendFunc".split()
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


_SHADER = b"""models/human
{
	cull none
	{
		diffuseMap models/human_d
		glowMap models/human_g
		blendFunc GL_ONE GL_ZERO
	}
	implicitMap -
	{ animMap 8 a b }
}
"""
_DEF = b"""model base { mesh a.md5mesh offset ( 0 0 -4 ) anim idle a.md5anim anim pain1 a.md5anim }
model imp {
	inherit base
	skin ice
	channel torso ( *Waist -*lleg )
	remove pain
	anim walk1 a.md5anim, b.md5anim { frame 2 sound_body step ai_no_turn }
}
entityDef parent { "skin" "ice" }
entityDef imp { "inherit" "parent" "model" "imp" "def_head" "lamp" "head_joint" "Neck" "def_attach" "lamp" }
entityDef lamp { "model" "a.md5mesh" "joint" "larm" "origin" "1 2 3" "angles" "0 90 0" }
skin ice { model a.md5mesh a b * c }
"""
_DEF_WORDS = tuple(
    b'model entityDef skin inherit mesh offset channel anim remove frame { } ( ) , " * - // /* */ \\ "inherit" "model" '
    b'"def_head" "head_joint" "def_attach" "joint" "origin" "angles" a.md5mesh a.md5anim random_cycle_start'.split()
)
_MODEL_CFG = b"""md5load a.md5mesh a
md5skin * a.png a.png
md5tag Neck tag_hat 0 0 2 0 90 0
md5adjust Waist 10 0 0
md5anim "idle|edit" a.md5anim 30 1
md5load b.md5mesh
md5link 0 1 tag_hat
mdlscale 50
loop i 2 [ if (= $i 1) [ mdltrans 0 0 $i ] ]
alias x [ md5anim run a.md5anim ]
x
"""
_MODEL_CFG_WORDS = (
    *_SKIN_WORDS,
    *b"md5adjust md5link md5animpart md5pitch exec if loop alias do while = + ( ) $i a.md5mesh a.md5anim".split(),
)


def _pcx_seeds() -> tuple[bytes, ...]:
    def header(planes: int) -> bytes:
        sides = (0, 0, 3, 1, 72, 72)
        words = b"".join(value.to_bytes(2, "little") for value in sides)
        head = bytes((10, 5, 1, 8)) + words + bytes(range(48))
        return (head + bytes((0, planes)) + (4).to_bytes(2, "little")).ljust(128, b"\0")

    palette = b"\x0c" + bytes(range(256)) * 3
    return (header(1) + b"\xc4\x07\x01\x02\x03\xc1\xff" + palette, header(3) + b"\xd8\x09")


def _archive_seeds() -> tuple[bytes, ...]:
    entries = [name.encode() for name in ("materials/a.mtr", "models/a.tga", "a.png")]
    directory = b"".join(struct.pack("<56s2i", name, 12, 5) for name in entries)
    seeds = [struct.pack("<4s2i", b"PACK", 17, len(directory)) + b"12345" + directory]
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", method) as target:
            for name in ("materials/a.mtr", "models/a.tga", "dds/textures/a.dds", "a.png"):
                target.writestr(name, name * 20)
        seeds.append(data.getvalue())
    return tuple(seeds)


def _image_seeds() -> tuple[bytes, ...]:
    """The headers of images of all kinds, 64 by 32 pixels."""
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I4s2I5B", 13, b"IHDR", 64, 32, 8, 6, 0, 0, 0),
        b"\xff\xd8\xff\xe0" + struct.pack(">H", 6) + b"JFIF\xff\xc0" + struct.pack(">HB2H", 11, 8, 32, 64),
        struct.pack("<3B5x4H2B", 0, 0, 2, 0, 0, 64, 32, 24, 0),
        b"BM" + struct.pack("<3I", 0, 0, 54) + struct.pack("<I2i", 40, 64, -32),
        b"DDS " + struct.pack("<5I", 124, 0x1007, 32, 64, 0) + bytes(60) + b"DXT1" + bytes(40),
        b"\x01\xda" + struct.pack(">2B4H", 1, 1, 3, 64, 32, 3),
        b"II*\0" + struct.pack("<IH", 8, 2) + struct.pack("<2HII", 256, 4, 1, 64) + struct.pack("<2HII", 257, 4, 1, 32),
        b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (63).to_bytes(3, "little") + (31).to_bytes(3, "little"),
    )


TARGETS = {
    **{
        kind.suffix[1:]: FuzzTarget(family_file(kind), (family.error,), (b"",))
        for family in FAMILIES
        for kind in family.kinds
    },
    "md5mesh": FuzzTarget(md5.md5mesh, (Md5Error,), (md5.MESH.encode(), md5.OLD_MESH.encode()), md5.WORDS),
    "md5anim": FuzzTarget(md5.md5anim, (Md5Error,), (md5.ANIMATION.encode(), md5.OLD_ANIMATION.encode()), md5.WORDS),
    "md5camera": FuzzTarget(md5.md5camera, (Md5Error,), (md5.CAMERA.encode(),), md5.WORDS),
    "md5scale": FuzzTarget(md5.md5scale, (Md5Error,), (md5.SCALES.encode(),), md5.WORDS),
    "mdl": FuzzTarget(md5.mdl, (Md5Error,), (md5.MDL,), md5.WORDS),
    "md2": FuzzTarget(md2_targets.md2, (Md2Error,), (md2_targets.seed(),)),
    "iqm": FuzzTarget(iqm_targets.iqm, (IqmError,), iqm_targets.seeds()),
    "md3": FuzzTarget(md3_targets.md3, (Md3Error,), (md3_targets.seed(),)),
    "animation_cfg": FuzzTarget(md3_targets.animation_config, (), (b"sex m\n0 30 0 20 // BOTH_DEATH1\n",)),
    "pcx": FuzzTarget(pcx, (ImageFileError,), _pcx_seeds()),
    "mtr": FuzzTarget(mtr, (), (_MTR, _SHADER), _MTR_WORDS),
    "declarations": FuzzTarget(declarations, (), (_DEF,), _DEF_WORDS),
    "model_config": FuzzTarget(model_config, (), (_MODEL_CFG,), _MODEL_CFG_WORDS),
    "skins": FuzzTarget(skins, (), (_CFG,), _SKIN_WORDS),
    "archive": FuzzTarget(archive, (), _archive_seeds(), (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7")),
    "dimensions": FuzzTarget(dimensions, (), _image_seeds()),
}
"""All readers to be fuzzed, by name."""
