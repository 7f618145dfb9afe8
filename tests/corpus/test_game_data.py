"""The declarations of real models."""

from __future__ import annotations

from dataclasses import replace

import pytest
from paths import CORPUS

from io_idtech.io_common.catalogue import Catalogue
from io_idtech.io_common.declarations.cube_models import cfg_character, cfg_name, cfg_text
from io_idtech.io_common.game_tree.tree import GameTree

pytestmark = pytest.mark.corpus


def characters(pattern: str):
    """The files of that name, each with the project that it comes from."""
    found = sorted(CORPUS.rglob(pattern)) if CORPUS.is_dir() else []
    if not found:
        return [pytest.param(None, None, marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    projects = [CORPUS.joinpath(*path.relative_to(CORPUS).parts[:2]) for path in found]
    return [
        pytest.param(project, path, id=path.relative_to(CORPUS).as_posix())
        for project, path in zip(projects, found, strict=True)
    ]


# Models that their project has, but not the corpus.
WITHOUT_MODEL = {"misc", "debris"}


@pytest.mark.parametrize(("project", "path"), [*characters("md5.cfg"), *characters("md2.cfg")])
def test_every_script_of_a_model_is_understood(project, path):
    folder = path.parent.relative_to(project).as_posix()
    found = cfg_character(GameTree([project]), folder)
    assert not found.warnings
    assert bool(found.parts) == (found.name not in WITHOUT_MODEL)
    if found.parts and path.name == "md5.cfg":
        commands = [line.split()[:1] for line in path.read_text(encoding="latin-1").splitlines()]
        missing = sum(name.endswith(".md5mesh") for name in found.missing)
        assert len(found.parts) + missing >= max(commands.count(["md5load"]), 1)
        if not missing:
            assert len(found.parts[0].animations) >= commands.count(["md5anim"])


def test_the_scripts_that_a_script_runs_are_found():
    project = CORPUS / "md5" / "aunali1+sauerbraten-ios"
    if not project.is_dir():
        pytest.skip(f"no real files at {CORPUS}")
    (part,) = cfg_character(GameTree([project]), "packages/models/mrfixit").parts
    names = [animation.name for animation in part.animations]
    assert names.count("dying") == 4
    assert {animation.joints for animation in part.animations} == {"", "Spine1"}
    assert [tag.joint for tag in part.tags] == ["Weapon"]
    (hands,) = cfg_character(GameTree([project]), "packages/models/captaincannon/hudguns/fist").parts
    assert [(one.joint, one.first_animation) for one in hands.adjustments[:1]] == [("Root", 0)]
    assert {one.first_animation for one in hands.adjustments} == {0, 1}


@pytest.mark.parametrize(("project", "path"), characters("players/*/tris.md2"))
def test_every_player_has_its_weapons(project, path):
    del project
    catalogue = Catalogue(GameTree([path.parent.parent.parent]))
    entry = catalogue.named(path.parent.name, "player")
    assert entry is not None
    found = catalogue.character(entry)
    assert [part.name for part in found.parts][:2] == ["tris", "weapon"]


@pytest.mark.parametrize(("project", "path"), [*characters("md5.cfg"), *characters("md2.cfg")])
def test_every_script_of_a_model_comes_back_with_the_same_meaning(project, path, tmp_path):
    folder = path.parent.relative_to(project).as_posix()
    before = cfg_character(GameTree([project]), folder)
    if not before.parts:
        return
    script = tmp_path / folder / cfg_name(before)
    script.parent.mkdir(parents=True)
    script.write_text(cfg_text(before, folder))
    after = cfg_character(GameTree([tmp_path, project]), folder)
    # What is missing of parts that are left out is not named any more.
    assert replace(after, missing=()) == replace(before, missing=())
    assert set(after.missing) <= set(before.missing)
