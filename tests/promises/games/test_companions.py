"""The model that an MD5 of the re-releases replaces."""

from __future__ import annotations

import pytest
from md5_rerelease import mdl, write_md2


@pytest.fixture
def companions(part):
    return part("io_md5.format.companions")


def test_skins_of_an_md5_are_in_the_folder_md5(companions):
    assert companions.skin_path("models/monsters/imp/skin.pcx") == "models/monsters/imp/md5/skin"
    assert companions.skin_path("models\\imp\\skin.v2") == "models/imp/md5/skin.v2"
    assert companions.skin_path("skin.pcx") == "md5/skin"
    assert companions.quake_skin_path("knight", 3) == "progs/knight_03_00"


def test_the_folder_tells_the_game(companions, tmp_path):
    assert companions.game_of(tmp_path / "MD5" / "tris.md5mesh").value == "QUAKE2"
    assert companions.game_of(tmp_path / "progs" / "ogre.md5mesh").value == "QUAKE"
    assert companions.game_of(tmp_path / "imp" / "imp.md5mesh") is None


def test_an_md2_one_folder_up_is_found_in_any_case(companions, tmp_path):
    write_md2(tmp_path / "TRIS.MD2", ["stand1", "run1", "run2"], ["a.pcx"])
    found, problem = companions.find_companion(tmp_path / "md5" / "tris.md5mesh")
    assert (found.game.value, found.frame_names, found.skins, problem) == (
        "QUAKE2",
        ("stand1", "run1", "run2"),
        ("a.pcx",),
        "",
    )
    assert [(one.name, one.first, one.last) for one in found.sequences] == [("stand", 0, 0), ("run", 1, 2)]


def test_an_mdl_beside_is_found(companions, tmp_path):
    (tmp_path / "ogre.mdl").write_bytes(mdl(["stand1", "stand2"]))
    found, _ = companions.find_companion(tmp_path / "ogre.md5mesh")
    assert (found.game.value, found.frame_names, found.name) == ("QUAKE", ("stand1", "stand2"), "ogre.mdl")


@pytest.mark.parametrize("name", ["md5/tris.md5mesh", "ogre.md5mesh", "missing/ogre.md5mesh"])
def test_without_one_there_is_nothing(companions, tmp_path, name):
    assert companions.find_companion(tmp_path / name) == (None, "")


def test_an_mdl_of_another_game_is_none(companions, tmp_path):
    (tmp_path / "ogre.mdl").write_bytes(b"IDST" + bytes(500))
    assert companions.find_companion(tmp_path / "ogre.md5mesh") == (None, "")


def test_a_damaged_one_is_told(companions, tmp_path):
    (tmp_path / "ogre.mdl").write_bytes(mdl(["stand1"])[:-1])
    found, problem = companions.find_companion(tmp_path / "ogre.md5anim")
    assert found is None
    assert "ogre.mdl" in problem
