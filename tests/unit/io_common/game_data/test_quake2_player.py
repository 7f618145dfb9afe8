"""The characters of Quake II's players."""

from __future__ import annotations

import pytest

from io_idtech.io_common.game_data.quake2_player import player_character
from io_idtech.io_common.game_tree.files import FileReadError
from io_idtech.io_common.game_tree.tree import GameTree


def player(tmp_path, *names: str):
    """The character of a folder with empty files of these names."""
    folder = tmp_path / "players/male"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    return player_character(GameTree([tmp_path]), "players/male")


def test_a_player_has_its_weapons_and_the_usual_one_is_first(tmp_path):
    found = player(tmp_path, "Tris.MD2", "w_rail.md2", "weapon.md2", "a_grenades.md2")
    assert [part.name for part in found.parts] == ["tris", "weapon", "w_rail"]
    assert [part.attachment and part.attachment.parent for part in found.parts] == [None, 0, 0]


def test_skins_are_the_images_with_an_icon(tmp_path):
    found = player(
        tmp_path, "tris.md2", "grunt.pcx", "grunt_i.pcx", "disguise.pcx", "weapon.pcx", "cipher.pcx", "cipher_i.pcx"
    )  # fmt: skip
    assert [(skin.name, skin.replacements) for skin in found.parts[0].skins] == [
        ("cipher", (("*", "players/male/cipher.pcx"),)),
        ("grunt", (("*", "players/male/grunt.pcx"),)),
    ]


def test_without_icons_all_images_but_those_of_weapons_are_skins(tmp_path):
    found = player(tmp_path, "tris.md2", "grunt.png", "weapon.png", "w_rail.png", "old_i.pcx")
    assert [skin.name for skin in found.parts[0].skins] == ["grunt"]


def test_a_folder_without_the_model_is_an_error(tmp_path):
    with pytest.raises(FileReadError):
        player(tmp_path, "weapon.md2")
