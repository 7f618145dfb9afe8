"""Damaged images, declarations and archives beside a model: it is imported all the same, and the rest is a warning."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from game_samples import BLUE, GREEN, RED, YELLOW, archive, pcx, png, quarters, square, tga, write
from mutants import mutant

pytestmark = pytest.mark.slow

SHADER = "models/imp/imp"
COLOURS = quarters(RED, GREEN, BLUE, YELLOW)
DECLARATION = f"""{SHADER}
{{
    qer_editorimage models/imp/imp.tga
    bumpmap addnormals( models/imp/imp_local.tga, heightmap( models/imp/imp_h.tga, 4 ) )
    {{
        blend diffusemap
        map models/imp/imp_d.tga
        alphaTest 0.5
    }}
    specularmap models/imp/imp_s.tga
}}
"""
CONFIG = "md5load imp.md5mesh imp\nmd5skin imp skin.png masks.png\nmd5bumpmap imp normals.png\nmd5alphatest imp 0.5\n"


def files_of_a_game(folder: Path) -> dict[str, bytes]:
    """What is damaged in turn: everything but the model."""
    packed = folder / "packed.pk4"
    archive(packed, {"models/imp/imp_d.tga": tga(COLOURS), "materials/other.mtr": DECLARATION.encode()})
    data = packed.read_bytes()
    packed.unlink()
    return {
        "materials/imp.mtr": DECLARATION.encode(),
        "models/imp/imp_d.tga": tga(COLOURS),
        "models/imp/imp_s.pcx": pcx(COLOURS),
        "models/imp/imp_local.png": png(COLOURS),
        "models/imp/md5.cfg": CONFIG.encode(),
        "models/imp/imp.skin": b"imp,models/imp/imp\nimp2,models/other\n",
        "pak000.pk4": data,
    }


@pytest.mark.parametrize(
    "name",
    ["materials/imp.mtr", "models/imp/imp_d.tga", "models/imp/imp_s.pcx", "models/imp/imp_local.png",
     "models/imp/md5.cfg", "models/imp/imp.skin", "pak000.pk4"],
)  # fmt: skip
def test_the_model_is_imported_whatever_its_textures_are(tmp_path, name):
    is_text = name.endswith((".mtr", ".cfg", ".skin"))
    files = files_of_a_game(tmp_path)
    for seed in range(60):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        base = tmp_path / f"game {seed}" / "base"
        changed = {name: mutant(files[name], seed, is_text)}
        write(base, {"models/imp/imp.md5mesh": square(SHADER), **files, **changed})
        path = base / "models/imp/imp.md5mesh"
        assert bpy.ops.import_scene.md5(filepath=str(path)) == {"FINISHED"}, seed
        assert len(bpy.data.meshes) == 1
        assert not orphans(), seed


def orphans() -> list[str]:
    """Images that nothing uses."""
    return [image.name for image in bpy.data.images if image.users == 0]


def try_archives(folder: Path, numbers: range) -> tuple[int, int]:
    """How many damaged archives gave the model its image and how many did not; anything else fails the test.

    Half of them are damaged as a file, the others in what is packed in them.
    """
    contents = {"models/imp/imp_d.tga": tga(COLOURS), "models/imp/imp_s.png": png(COLOURS),
                "models/imp/imp_local.tga": tga(COLOURS), "models/imp/imp_h.pcx": pcx(COLOURS),
                "materials/imp.mtr": DECLARATION.encode()}  # fmt: skip
    whole = folder / "whole.pk4"
    archive(whole, contents)
    base = folder / "archives" / "base"
    write(base, {"models/imp/imp.md5mesh": square(SHADER)})
    with_image = 0
    for number in numbers:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        path = base / "pak000.pk4"
        path.unlink(missing_ok=True)
        if number % 2:
            name = sorted(contents)[number // 2 % len(contents)]
            archive(path, {**contents, name: mutant(contents[name], number, name.endswith(".mtr"))})
        else:
            path.write_bytes(mutant(whole.read_bytes(), number, is_text=False))
        model = base / "models/imp/imp.md5mesh"
        assert bpy.ops.import_scene.md5(filepath=str(model)) == {"FINISHED"}, number
        assert len(bpy.data.meshes) == 1, number
        assert not orphans(), number
        with_image += any(image.name.startswith("imp_d") for image in bpy.data.images)
    return with_image, len(numbers) - with_image


def test_a_damaged_archive_costs_no_more_than_what_was_in_it(tmp_path):
    with_image, without = try_archives(tmp_path, range(100))
    assert with_image
    assert without
