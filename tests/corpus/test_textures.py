"""Models of the corpus find the images beside them by the project's rules, without a list of exceptions."""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from texture_rules import MD2_RULES, MD5_RULES

from io_idtech.io_common.names import is_image, split_extension
from io_idtech.io_common.textures.conventions import is_color
from io_idtech.io_common.textures.image_files import decode_pcx
from io_idtech.io_common.textures.search import Search

_ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS") or _ROOT.parent / "shared" / "corpus")

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no folder of real files at {CORPUS} (IO_IDTECH_CORPUS)"),
]


@dataclass
class Outcome:
    model: Path
    names: list[str]
    found: dict[str, str] = field(default_factory=dict)
    looked_in: list[str] = field(default_factory=list)

    @property
    def beside(self) -> list[str]:
        """Images beside the model that may show its colors."""
        return [
            entry.name
            for entry in sorted(self.model.parent.iterdir())
            if entry.is_file() and is_image(entry.name) and is_color(split_extension(entry.name)[0])
        ]


def md2_skins(path: Path) -> list[str] | None:
    """Skin names of an MD2 file, None for what is no MD2 file."""
    data = path.read_bytes()
    if len(data) < 68 or data[:4] != b"IDP2":
        return None
    header = struct.unpack_from("<17i", data)
    count, offset = header[5], header[11]
    if not 0 <= count <= 256 or offset < 0 or offset + 64 * count > len(data):
        return None
    return [data[offset + 64 * i : offset + 64 * (i + 1)].split(b"\0")[0].decode("latin-1") for i in range(count)]


def md5_shaders(path: Path) -> list[tuple[str | None, str]]:
    """Mesh names and shaders of an md5mesh file."""
    text = path.read_bytes().decode("latin-1")
    pairs = []
    for body in re.split(r"\bmesh\s*\d*\s*\{", text)[1:]:
        name = re.search(r"//\s*meshes:\s*(.*)", body) or re.search(r'^\s*name\s+"([^"]*)"', body, re.M)
        shader = re.search(r'\bshader\s+"([^"\n]*)"', body)
        pairs.append((name[1].strip() if name else None, shader[1] if shader else ""))
    return pairs


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    result = []
    md2, md5 = Search([], MD2_RULES), Search([], MD5_RULES)
    for path in sorted(CORPUS.rglob("*")):
        if path.suffix.lower() == ".md2":
            skins = md2_skins(path)
            if skins is None:
                continue
            outcome = Outcome(path, skins)
            for skin in md2.model(path, skins).skins():
                if skin.diffuse is not None:
                    outcome.found[skin.name] = str(skin.diffuse)
                outcome.looked_in += skin.looked_in
        elif path.suffix.lower() == ".md5mesh":
            pairs = md5_shaders(path)
            outcome = Outcome(path, [shader for _, shader in pairs])
            model = md5.model(path, outcome.names)
            for mesh, shader in pairs:
                material = model.material(shader, mesh)
                if material.diffuse is not None:
                    outcome.found[shader] = str(material.diffuse)
                outcome.looked_in += material.looked_in
        else:
            continue
        result.append(outcome)
    return result


def test_nine_of_ten_models_with_an_image_beside_them_find_one(outcomes: list[Outcome]) -> None:
    with_image = [outcome for outcome in outcomes if outcome.beside]
    without = [outcome for outcome in with_image if not outcome.found]
    print(f"\n{len(with_image)} models with an image beside them, {len(without)} find none:")
    for outcome in without:
        print(f"  {outcome.model.relative_to(CORPUS)}  names {outcome.names}  beside {outcome.beside}")
    assert with_image
    assert len(with_image) - len(without) >= 0.9 * len(with_image)


def test_images_that_are_found_exist_and_lie_inside_the_models_source(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        source = CORPUS.joinpath(*outcome.model.relative_to(CORPUS).parts[:2])
        for file in outcome.found.values():
            assert Path(file).is_file()
            assert Path(file).is_relative_to(source)


def test_what_is_found_is_never_an_icon_or_a_map_of_another_kind(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        for name, file in outcome.found.items():
            if Path(file).stem.lower() != Path(name.replace("\\", "/")).stem.lower():
                assert is_color(Path(file).stem), (outcome.model, name, file)


def plain_pcx(data: bytes) -> list[int]:
    """The pixel bytes of an encoded PCX file of one plane, by the specification's own loop."""
    _, top, _, bottom = struct.unpack_from("<4H", data, 4)
    (stride,) = struct.unpack_from("<H", data, 66)
    pixels: list[int] = []
    at = 128
    while len(pixels) < stride * (bottom - top + 1):
        count = data[at] & 0x3F if data[at] >= 0xC0 else 1
        at += data[at] >= 0xC0
        pixels += [data[at]] * count
        at += 1
    return pixels[: stride * (bottom - top + 1)]


def test_all_pcx_images_of_the_corpus_decode_as_a_plain_decoder_does() -> None:
    files = sorted(CORPUS.rglob("*.pcx"))
    assert files
    for file in files:
        data = file.read_bytes()
        left, top, right, bottom = struct.unpack_from("<4H", data, 4)
        width, height = right - left + 1, bottom - top + 1
        (stride,) = struct.unpack_from("<H", data, 66)
        indices = np.array(plain_pcx(data), np.uint8).reshape(height, stride)[:, :width]
        palette = np.frombuffer(data[-768:], np.uint8).reshape(256, 3)
        image = decode_pcx(data)
        assert np.array_equal(image[..., :3], palette[indices]), file
        assert (image[..., 3] == 255).all()
