"""Catalogs of asset libraries, and the assets of a game in one."""

from __future__ import annotations

import json
from pathlib import Path

from io_idtech.io_common.asset_library import (
    RECORDS,
    asset_name,
    assets_of_game,
    catalog_id,
    catalog_of_animations,
    catalogs_of,
    write_catalogs,
)


def test_models_with_a_folder_of_their_own_share_the_catalog_above():
    models = ["models/orc/tris.md2", "models/elf/tris.md2", "models/gibs/a.md2", "Models/Gibs/b.md2", "top.md2"]
    assert catalogs_of(models) == ["models", "models", "models/gibs", "Models/Gibs", ""]
    # An entity and its model declaration are one model.
    assert catalogs_of(["md5/imp/imp.md5mesh", "md5/imp/imp.md5mesh"]) == ["md5", "md5"]


def test_names_leave_out_what_the_catalog_says():
    assert asset_name("models/orc/tris.md2", "models") == "orc/tris"
    assert asset_name("Players/male", "players") == "male"
    assert asset_name("monster.v2", "models") == "monster.v2"
    assert len(asset_name("ä" * 100, "").encode()) <= 63
    assert catalog_of_animations("players/male", "players") == "Animations/players/male"


def test_the_file_of_catalogs_has_all_of_them_with_their_parents_and_keeps_what_users_changed(tmp_path: Path):
    library = tmp_path / "new" / "library"
    write_catalogs(library, [("models/a:b/c.md2", "models/a:b")])
    path = library / "blender_assets.cats.txt"
    lines = path.read_text().splitlines()
    assert f"{catalog_id('models/a:b')}:models/a_b:models-a_b" in lines
    assert f"{catalog_id('models')}:models:models" in lines
    assert f"{catalog_id('Animations/models/a:b/c')}:Animations/models/a_b/c:Animations-models-a_b-c" in lines
    moved = path.read_text().replace(f"{catalog_id('models')}:models:", f"{catalog_id('models')}:My Game:")
    path.write_text(f"{moved}\n00000000-0000-0000-0000-000000000001:Mine:Mine")
    write_catalogs(library, [("players/male", "players"), ("models/a:b/c.md2", "models/a:b")])
    text = path.read_text()
    assert text.startswith(f"{moved}\n00000000-0000-0000-0000-000000000001:Mine:Mine\n")
    assert f"{catalog_id('players')}:players:players\n" in text


def test_a_character_without_a_folder_is_in_no_catalog():
    assert catalog_id("") == "00000000-0000-0000-0000-000000000000"


def test_assets_of_a_game_are_found_by_the_files_that_they_were_made_of(tmp_path: Path):
    library, game = tmp_path / "library", tmp_path / "game"
    records = library / RECORDS
    records.mkdir(parents=True)
    record = {
        "asset": ["player", "players/male", "players"],
        "sources": {"../game/pak0.pak/players/male/tris.md2": [1, 2]},
        "files": {"players/male.blend": ["0"]},
    }
    contents = [
        record,
        {**record, "asset": None},
        {**record, "asset": ["player", "x", ""], "files": {"../x.blend": []}},
    ]
    for number, content in enumerate([*map(json.dumps, contents), "{", "[]"]):
        (records / f"{number}.json").write_text(content)
    expected = {("player", "players/male"): f"{library / 'players/male.blend'}/Collection/male"}
    assert assets_of_game(library, [game]) == expected
    assert assets_of_game(library, [tmp_path / "other", game]) == expected
    assert assets_of_game(library, [tmp_path / "gam"]) == {}
    assert assets_of_game(tmp_path / "none", [game]) == {}
