"""A model is imported even if its images, declarations or archives are damaged; what is damaged gives a warning."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import bpy
import pytest
from damaged_archives import COLORS, DECLARATION, SHADER, orphans, try_archives
from game_samples import archive, pcx, png, square, tga, write
from installed import read_empty_scene
from mutants import mutant

CONFIG = "md5load imp.md5mesh imp\nmd5skin imp skin.png masks.png\nmd5bumpmap imp normals.png\nmd5alphatest imp 0.5\n"


def files_of_a_game(folder: Path) -> dict[str, bytes]:
    """What is damaged in turn: everything but the model."""
    packed = folder / "packed.pk4"
    archive(packed, {"models/imp/imp_d.tga": tga(COLORS), "materials/other.mtr": DECLARATION.encode()})
    data = packed.read_bytes()
    packed.unlink()
    return {
        "materials/imp.mtr": DECLARATION.encode(),
        "models/imp/imp_d.tga": tga(COLORS),
        "models/imp/imp_s.pcx": pcx(COLORS),
        "models/imp/imp_local.png": png(COLORS),
        "models/imp/md5.cfg": CONFIG.encode(),
        "models/imp/imp.skin": b"imp,models/imp/imp\nimp2,models/other\n",
        "pak000.pk4": data,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["materials/imp.mtr", "models/imp/imp_d.tga", "models/imp/imp_s.pcx", "models/imp/imp_local.png",
     "models/imp/md5.cfg", "models/imp/imp.skin", "pak000.pk4"],
)  # fmt: skip
def test_the_model_is_imported_whatever_its_textures_are(tmp_path, name):
    is_text = name.endswith((".mtr", ".cfg", ".skin"))
    files = files_of_a_game(tmp_path)
    for seed in range(20):
        read_empty_scene()
        base = tmp_path / f"game {seed}" / "base"
        changed = {name: mutant(files[name], seed, is_text)}
        write(base, {"models/imp/imp.md5mesh": square(SHADER), **files, **changed})
        path = base / "models/imp/imp.md5mesh"
        assert bpy.ops.import_scene.md5(filepath=str(path)) == {"FINISHED"}, seed
        assert len(bpy.data.meshes) == 1
        assert not orphans(), seed


@pytest.mark.slow
def test_a_damaged_archive_costs_only_its_own_textures(tmp_path):
    with_image, without = try_archives(tmp_path, range(100))
    assert with_image
    assert without


@pytest.mark.parametrize("extension", ["png", "pcx"])
def test_why_an_image_cannot_be_read_is_said_in_words(tmp_path, capfd, monkeypatch, extension):
    image = tmp_path / f"base/models/imp/imp_d.{extension}"
    data = (pcx if extension == "pcx" else png)(COLORS)
    write(tmp_path / "base", {"models/imp/imp.md5mesh": square("models/imp/imp_d"), f"models/imp/{image.name}": data})
    os_open = os.open

    def refuse(path, *words, **options):
        if str(path) == str(image):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return os_open(path, *words, **options)

    # The permissions of files do not bind root.
    monkeypatch.setattr(os, "open", refuse)
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "base/models/imp/imp.md5mesh"))
    assert f"warning: {image}: {os.strerror(errno.EACCES)}\n" in capfd.readouterr().out


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("start", [b"SDPX", b"XPDS", b"\x80\x2a\x5f\xd7", b"\xd7\x5f\x2a\x80"])
def test_images_that_may_crash_blender_are_not_loaded_whatever_their_extension(tmp_path, capfd, start, is_packed):
    image = {"models/imp/imp_d.tga": start + b"\xff" * 4096}
    write(tmp_path / "base", {"models/imp/imp.md5mesh": square("models/imp/imp_d")})
    if is_packed:
        archive(tmp_path / "base/pak000.pk4", image)
    else:
        write(tmp_path / "base", image)
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "base/models/imp/imp.md5mesh"))
    assert "it is no image that this add-on can load: use PNG or TGA" in capfd.readouterr().out
    assert not bpy.data.images
