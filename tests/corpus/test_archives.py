"""Real projects packed into an archive: the same models, with the same images and settings, as on disk."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from paths import CORPUS
from texture_rules import MD2_RULES, MD5_RULES

from io_idtech.io_common.catalogue import Catalogue
from io_idtech.io_common.game_tree.folders import inner_game
from io_idtech.io_common.game_tree.tree import GameTree
from io_idtech.io_common.textures.search import Search
from io_idtech.io_md2.format import Md2Error, read_model

PROJECTS = [path for family in ("md5", "md2") for path in sorted(CORPUS.glob(f"{family}/*")) if path.is_dir()]
_SHADER = re.compile(rb'^\s*shader\s+"([^"\n]*)"', re.MULTILINE)

pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not PROJECTS, reason=f"no real files at {CORPUS}")]


def packed(project: Path, folder: Path) -> Path:
    path = folder / "project.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(project.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(project).as_posix())
    return path


def images(game: Path, model: str, data: bytes) -> list[object]:
    """What is found for the skins or shaders of a model."""
    path = game / model
    if model.lower().endswith(".md2"):
        try:
            found = Search([game], MD2_RULES).model(path, read_model(data).skins).skins()
        except Md2Error:
            return []
    else:
        names = [match.decode("latin-1") for match in _SHADER.findall(data)]
        search = Search([game], MD5_RULES).model(path, names)
        found = [search.material(name) for name in names]
    return [
        (
            one.name,
            one.alpha_test,
            one.two_sided,
            {role: (image.name, image.read()) for role, image in one.images.items()},
        )
        for one in found
    ]


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_a_packed_project_has_the_same_characters_and_images(project: Path, tmp_path: Path) -> None:
    project = inner_game(project) or project
    archive = packed(project, tmp_path)
    loose, inside = (Catalogue(GameTree([game])) for game in (project, archive))
    assert loose.entries
    assert inside.entries == loose.entries
    for entry in loose.entries:
        character = loose.character(entry)
        assert inside.character(entry) == character
        for model in {part.model for part in character.parts if part.is_model}:
            data = loose.files.read(model)
            assert inside.files.read(model) == data
            assert images(archive, model, data) == images(project, model, data), model
