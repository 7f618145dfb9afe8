"""A generated game folder with as many files as those of real games with mods."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

from io_idtech.io_md5.format import Model, write_mesh

LOOSE_FILES, ARCHIVES, FILES_PER_ARCHIVE = 10_000, 40, 250
"""Together 20,000 files."""

_MATERIALS, _MODELS = 50, 10
_PER_FOLDER = 200

# The smallest picture that all readers accept: one pixel, uncompressed.
_TGA = bytes([0, 0, 2, *[0] * 9, 1, 0, 1, 0, 24, 0, 10, 20, 30])


def make(folder: Path, model: Model) -> list[Path]:
    """A game folder, and the paths of models in it that have 50 materials each.

    A third of the images are loose, a third are in archives, and a third are named by material declarations.

    Args:
        folder: that is made.
        model: whose first mesh the models have for each material.
    """
    base = folder / "base"
    for index in range(LOOSE_FILES):
        path = base / f"sound/set{index // _PER_FOLDER}" / f"noise{index}.wav"
        if index % _PER_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.touch()
    names = [f"models/thing{number}/skin{number}" for number in range(_MATERIALS)]
    for number in range(ARCHIVES):
        with zipfile.ZipFile(base / f"pak{number:03d}.pk4", "w") as archive:
            for index in range(FILES_PER_ARCHIVE):
                archive.writestr(f"textures/set{number}/wall{index}.tga", _TGA)
            for name in names[number::ARCHIVES]:
                if _place(name) == 1:
                    archive.writestr(f"{name}.tga", _TGA)
    for name in names:
        if _place(name) == 0:
            path = base / f"{name}.tga"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_TGA)
    declared = [name for name in names if _place(name) == 2]
    (base / "materials").mkdir()
    (base / "materials" / "things.mtr").write_text(
        "".join(f"{name}\n{{\n\tdiffusemap textures/set{k}/wall{k}.tga\n}}\n" for k, name in enumerate(declared))
    )
    paths = []
    for number in range(_MODELS):
        path = base / f"models/md5/model{number}/model.md5mesh"
        path.parent.mkdir(parents=True)
        meshes = [replace(model.meshes[0], shader=name) for name in names]
        write_mesh(replace(model, meshes=meshes), path)
        paths.append(path)
    return paths


def _place(name: str) -> int:
    """0 for a loose image, 1 for one in an archive, 2 for one that a declaration names."""
    return int(name[-1]) % 3
