"""The list of what can be imported from a game."""

from __future__ import annotations

from pathlib import Path

import game_folders
import pytest

from io_idtech.io_common.catalogue import Catalogue, Kind
from io_idtech.io_common.game_tree.files import Budget, FileReadError
from io_idtech.io_common.game_tree.tree import GameTree


def listed(folder: Path) -> list[tuple[str, str, str, str, str]]:
    return [
        (entry.kind.value, entry.name, str(entry.meshes), str(entry.animations), str(entry.skins))
        for entry in Catalogue(GameTree([folder])).entries
    ]


@pytest.mark.parametrize("make", [game_folders.doom3, game_folders.doom3_loose])
def test_doom3_has_entities_models_and_what_none_of_them_names(tmp_path: Path, make) -> None:
    game_folders.loose(tmp_path, {"models/alone.md5mesh": "", "models/walk.md5anim": ""})
    assert listed(make(tmp_path)) == [
        ("entity", "attach_lamp", "1", "0", "0"),
        ("entity", "head_imp", "1", "1", "1"),
        ("entity", "monster_demon_imp", "3", "4 (1 missing)", "3"),
        ("model", "base_monster", "0 (1 missing)", "0", "0"),
        ("model", "head_imp_model", "1", "1", "1"),
        ("model", "monster_imp", "1", "3 (1 missing)", "2"),
        ("loose model", "models/alone.md5mesh", "1", "1", "0"),
    ]


def test_quake2_has_players_with_their_weapons_and_models(tmp_path: Path) -> None:
    assert listed(game_folders.quake2(tmp_path)) == [
        ("player", "players/hero", "3", "in file", "2"),
        ("loose model", "models/monsters/hound/tris.md2", "1", "in file", "1"),
    ]


def test_skins_of_quake3_are_those_that_all_parts_of_a_player_have(tmp_path: Path) -> None:
    names = ["lower.md3", "upper.md3", "head.md3", "lower_red.skin", "upper_red.skin", "Head_Red.skin"]
    names += ["lower_default.skin", "upper_default.skin", "head_default.skin", "head_old.skin"]
    game_folders.loose(tmp_path, {f"models/players/sarge/{name}": "" for name in names})
    game_folders.loose(
        tmp_path, {f"models/flags/{name}": "" for name in ("flag.md3", "flag_blue.skin", "flagpole.md3")}
    )
    assert listed(tmp_path) == [
        ("player", "models/players/sarge", "3", "in file", "2"),
        ("loose model", "models/flags/flag.md3", "1", "in file", "1"),
        ("loose model", "models/flags/flagpole.md3", "1", "in file", "0"),
    ]


def test_sauerbraten_has_models_with_a_script(tmp_path: Path) -> None:
    assert [entry[:2] for entry in listed(game_folders.sauerbraten(tmp_path))] == [
        ("config", "packages/models/hero"),
        ("config", "packages/models/hound"),
    ]


def test_unvanquished_has_the_models_of_its_packages(tmp_path: Path) -> None:
    assert listed(game_folders.unvanquished(tmp_path)) == [
        ("loose model", "models/players/human/human.md5mesh", "1", "1", "0")
    ]


@pytest.mark.parametrize(
    "make",
    [
        game_folders.doom3,
        game_folders.doom3_loose,
        game_folders.quake2,
        game_folders.sauerbraten,
        game_folders.unvanquished,
    ],
)
def test_every_entry_has_a_character_with_as_many_models(tmp_path: Path, make) -> None:
    catalogue = Catalogue(GameTree([make(tmp_path)]))
    for entry in catalogue.entries:
        assert len(catalogue.character(entry).parts) == entry.meshes.found, entry.name


def test_entries_are_found_by_patterns_words_and_names(tmp_path: Path) -> None:
    catalogue = Catalogue(GameTree([game_folders.doom3(tmp_path)]))
    assert [entry.name for entry in catalogue.matching(["MONSTER_*"])] == ["monster_demon_imp", "monster_imp"]
    assert [entry.name for entry in catalogue.searched("imp Entity head")] == ["head_imp"]
    assert len(catalogue.searched("")) == len(catalogue.entries)
    found = catalogue.named("Monster_Imp")
    assert found is not None
    assert found.kind is Kind.MODEL
    assert catalogue.named("gone") is None


def test_of_an_entity_and_a_model_of_one_name_either_can_be_asked_for(tmp_path: Path) -> None:
    text = 'model imp { mesh a.md5mesh } entityDef imp { "model" "imp" }'
    game = game_folders.loose(tmp_path, {"def/imp.def": text, "a.md5mesh": game_folders.md5mesh()})
    found = Catalogue(GameTree([game]))
    kinds = [found.named("Imp", kind) for kind in ("", "entity", "model", "player")]
    assert [entry and entry.kind for entry in kinds] == [Kind.ENTITY, Kind.ENTITY, Kind.MODEL, None]


def test_a_player_is_found_by_the_name_of_its_folder(tmp_path: Path) -> None:
    catalogue = Catalogue(GameTree([game_folders.quake2(tmp_path)]))
    for name in ("hero", "players/hero", "Players/Hero/"):
        found = catalogue.named(name)
        assert found is not None
        assert found.path == "players/hero"


def test_the_characters_of_a_packed_game_are_those_of_the_same_files_on_disk(tmp_path: Path) -> None:
    def characters(folder: Path) -> list[object]:
        catalogue = Catalogue(GameTree([folder]))
        return [(catalogue.character(entry).parts, catalogue.character(entry).missing) for entry in catalogue.entries]

    packed = characters(game_folders.doom3(tmp_path / "packed"))
    assert packed == characters(game_folders.doom3_loose(tmp_path / "loose"))
    assert packed


def test_what_is_no_longer_there_is_an_error(tmp_path: Path) -> None:
    catalogue = Catalogue(GameTree([game_folders.doom3(tmp_path)]))
    other = Catalogue(GameTree([tmp_path / "nothing"]))
    assert other.entries == []
    for entry in catalogue.entries:
        with pytest.raises(FileReadError):
            other.character(entry)


def test_damaged_files_are_warnings(tmp_path: Path) -> None:
    game_folders.loose(tmp_path, {"pak0.pk4": "no archive", "def/a.def": b"\xff\x00{{{ model", "a.md5mesh": ""})
    catalogue = Catalogue(GameTree([tmp_path]))
    assert [entry.name for entry in catalogue.entries] == ["a.md5mesh"]
    assert any("not a readable archive" in warning for warning in catalogue.files.warnings)
    # What is odd about declarations is told with the characters that have them.
    assert len(catalogue.files.warnings) == 1


def test_a_list_that_takes_too_long_is_left_as_it_is_with_a_warning(tmp_path: Path) -> None:
    budget = Budget()
    budget.seconds = 0.0
    catalogue = Catalogue(GameTree([game_folders.doom3(tmp_path)], budget))
    assert catalogue.entries == []
    assert any("not complete" in warning for warning in catalogue.files.warnings)


# --- Players of Quake II


def player(tmp_path, *names: str):
    """The character of a folder with empty files of these names."""
    folder = tmp_path / "players/male"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    catalogue = Catalogue(GameTree([tmp_path]))
    entry = catalogue.named("male", "player")
    return catalogue.character(entry) if entry is not None else None


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


def test_a_folder_without_the_model_is_no_player(tmp_path):
    assert player(tmp_path, "weapon.md2") is None
