"""``convert --format assets``: a game becomes an asset library, and what is dropped from it is as imported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bpy
import game_folders
import numpy as np
import pytest
from installed import read_empty_scene

pytestmark = pytest.mark.slow

IMP, HERO = "monster_demon_imp", "players/hero"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two games, and with a library of each."""
    folder = tmp_path_factory.mktemp("games")
    game_folders.doom3(folder / "base")
    game_folders.quake2(folder / "baseq2")
    return folder


@pytest.fixture(scope="module")
def libraries(games: Path, part) -> Path:
    for name, status in (("base", 1), ("baseq2", 0)):
        words = ["convert", str(games / name), "--format", "assets", "--to", str(games / "library" / name)]
        # One model of the first game has no file.
        assert part("command_line.command").main(words) == status
    return games / "library"


def assets(path: Path, kind: str = "collections") -> dict[str, Any]:
    """The assets in a .blend file, linked, by name."""
    with bpy.data.libraries.load(str(path), link=True, assets_only=True) as (found, loaded):
        setattr(loaded, kind, getattr(found, kind))
    return {one.name: one for one in getattr(loaded, kind)}


def picture(data: Any) -> np.ndarray:
    width, height = data.preview.image_size
    return np.array(data.preview.image_pixels_float[:], np.float32).reshape(height, width, 4)


def shown(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest row and column that show something else than the background, from 0 to 1."""
    place = np.argwhere(np.abs(pixels[..., :3] - pixels[0, 0, :3]).max(axis=2) > 0.05)
    return place.min(axis=0) / len(pixels), (place.max(axis=0) + 1) / len(pixels)


def drop(path: Path, name: str, *, reuse: bool = False) -> None:
    folder = f"{path}/Collection/"
    bpy.ops.wm.append(filepath=folder + name, directory=folder, filename=name, do_reuse_local_id=reuse)


def roots() -> list[Any]:
    """The root objects of all characters in the scene."""
    return [obj for obj in bpy.context.scene.objects if "character" in obj.get("idtech_character", {})]


def exported(folder: Path, root: Any) -> dict[str, bytes]:
    """The files of a character that is exported."""
    folder.mkdir()
    bpy.context.view_layer.objects.active = root
    assert bpy.ops.export_scene.idtech_character(directory=str(folder)) == {"FINISHED"}
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def imported(games: Path, tmp_path: Path) -> Any:
    """What a character gives that is imported from its game and exported."""

    def run(game: str, name: str) -> dict[str, bytes]:
        bpy.ops.import_scene.idtech_character(game=str(games / game), name=name)
        files = exported(tmp_path / "imported", roots()[0])
        read_empty_scene()
        return files

    return run


CHARACTERS = [("base", IMP, f"base/{IMP}.blend", IMP), ("baseq2", HERO, "baseq2/players/hero.blend", "hero")]


def test_each_character_is_an_asset_with_tags_that_can_be_searched(libraries: Path) -> None:
    found = sorted(path.relative_to(libraries).as_posix() for path in libraries.rglob("*.blend"))
    assert found == [
        *("base/attach_lamp.blend", "base/head_imp.blend", "base/head_imp_model.blend", f"base/{IMP}.blend"),
        *("base/monster_imp.blend", "baseq2/models/monsters/hound/tris.blend", "baseq2/players/hero.blend"),
    ]
    details = assets(libraries / f"base/{IMP}.blend")[IMP].asset_data
    tags = {tag.name for tag in details.tags}
    assert {"Doom 3", "entity", "5 animations"} <= tags
    assert any(tag.endswith(" joints") for tag in tags)
    assert any(tag.endswith(" triangles") for tag in tags)
    assert f"Entity {IMP} of Doom 3" in details.description
    assert (details.author, details.license) == ("", "")
    # A model that no declaration names is of the game whose folder it is in.
    hound = assets(libraries / "baseq2/models/monsters/hound/tris.blend")["hound/tris"].asset_data
    assert {"baseq2", "loose model"} <= {tag.name for tag in hound.tags}


def test_pictures_show_the_whole_model_and_the_middle_of_each_animation(libraries: Path) -> None:
    path = libraries / "base/monster_imp.blend"
    low, high = shown(picture(assets(path)["monster_imp"]))
    assert (low > 0.0).all()
    assert (high < 1.0).all()
    assert 0.5 < max(high - low) <= 1.0
    actions = assets(path, "actions")
    assert set(actions) == {"stand", "walk1", "range", "range (run)"}
    for action in actions.values():
        low, high = shown(picture(action))
        # The animations move the model away: the camera follows.
        assert np.allclose(low + high, 1.0, atol=0.1)
    assert picture(actions["stand"]).shape == (96, 96, 4)
    assert picture(assets(path)["monster_imp"]).shape == (256, 256, 4)


def test_catalogs_are_the_folders_of_the_game(libraries: Path) -> None:
    lines = (libraries / "baseq2/blender_assets.cats.txt").read_text().splitlines()
    paths = dict(line.split(":")[:2] for line in lines if line.count(":") == 2)
    assert paths[assets(libraries / "baseq2/players/hero.blend")["hero"].asset_data.catalog_id] == "players"
    action = next(iter(assets(libraries / "baseq2/players/hero.blend", "actions").values()))
    assert paths[action.asset_data.catalog_id] == "Animations/players/hero"
    assert {"models", "models/monsters"} <= set(paths.values())


@pytest.mark.parametrize("reuse", [False, True], ids=["append", "append and reuse"])
@pytest.mark.parametrize(("game", "name", "path", "asset"), CHARACTERS)
def test_appended_assets_give_the_bytes_of_an_import_and_each_has_its_own_actions(
    libraries: Path, imported, tmp_path: Path, game: str, name: str, path: str, asset: str, reuse: bool
) -> None:
    expected = imported(game, name)
    for _ in range(2):
        drop(libraries / path, asset, reuse=reuse)
    first, second = roots()
    scene = bpy.context.scene
    assert len([obj for obj in scene.objects if obj.type in ("MESH", "ARMATURE")]) % 2 == 0
    players = [owner.animation_data for owner in (first, second)] if first.type == "ARMATURE" else []
    players = players or [owner.data.shape_keys.animation_data for owner in (first, second)]
    assert players[0].action != players[1].action
    assert exported(tmp_path / "first", first) == expected
    assert exported(tmp_path / "second", second) == expected


@pytest.mark.parametrize(("game", "name", "path", "asset"), CHARACTERS)
def test_a_linked_asset_with_an_override_gives_the_bytes_of_an_import(
    libraries: Path, imported, tmp_path: Path, game: str, name: str, path: str, asset: str
) -> None:
    expected = imported(game, name)
    folder = f"{libraries / path}/Collection/"
    bpy.ops.wm.link(filepath=folder + asset, directory=folder, filename=asset, instance_collections=True)
    instance = bpy.context.scene.objects[0]
    bpy.context.view_layer.objects.active = instance
    instance.select_set(True)
    assert bpy.ops.object.make_override_library() == {"FINISHED"}
    assert exported(tmp_path / "overridden", roots()[0]) == expected


def test_the_panels_know_the_skins_and_animations_of_what_is_dropped(libraries: Path, part) -> None:
    drop(libraries / f"base/{IMP}.blend", IMP)
    scene = part("io_characters.scene")
    found = scene.find_character(bpy.context, roots()[0])
    assert scene.animation_names(found.roots.values()) == ["stand", "walk1", "range", "range (run)", "idle"]
    assert scene.skin_names(scene.all_meshes(found)) == [
        "skins/monsters/imp_ice",
        "skins/monsters/imp",
        "skins/heads/imp",
    ]
    bpy.context.view_layer.objects.active = roots()[0]
    assert bpy.ops.object.idtech_character_animation(animation="walk1") == {"FINISHED"}
    assert roots()[0].animation_data.action.name == "walk1"


def test_an_animation_is_appended_without_objects(libraries: Path) -> None:
    folder = f"{libraries / 'base/monster_imp.blend'}/Action/"
    bpy.ops.wm.append(filepath=f"{folder}walk1", directory=folder, filename="walk1")
    assert [action.name for action in bpy.data.actions] == ["walk1"]
    assert not bpy.data.objects


def test_assets_are_made_again_when_any_of_their_declarations_changes(idtech, tmp_path: Path) -> None:
    game = game_folders.doom3_loose(tmp_path / "base")
    words = ("convert", game, "--characters", IMP, "--format", "assets", "--to", tmp_path / "library")
    assert f"converted entity {IMP}" in idtech(*words)[2]
    assert f"up to date entity {IMP}" in idtech(*words)[2]
    (skins,) = game.rglob("*.skin")
    skins.write_text(skins.read_text().replace("head_ice", "head_icy"))
    assert f"converted entity {IMP}" in idtech(*words)[2]


def test_assets_are_made_again_when_their_files_change_and_only_then(idtech, tmp_path: Path) -> None:
    game = game_folders.loose(tmp_path / "game", {f"m/{name}/{name}.md2": game_folders.md2() for name in "abc"})
    image = game / "m/a/a.tga"
    image.write_bytes(game_folders.IMAGE)
    (game / "m/c/c.md2").write_bytes(b"IDP2 broken")
    words = ("convert", game, "--format", "assets", "--to", tmp_path / "library")
    status, table, told = idtech(*words)
    assert (status, "Failed:" in table, "3 assets: about 3 MB" in told + table) == (1, True, True)
    assert sorted(path.name for path in (tmp_path / "library").rglob("*.blend")) == ["a.blend", "b.blend"]
    (game / "m/b/b.md2").write_bytes(game_folders.md2(7))
    _, _, told = idtech(*words)
    assert "up to date loose model m/a/a.md2" in told
    assert "converted loose model m/b/b.md2" in told
    image.write_bytes(game_folders.IMAGE[:-1] + b"\0\0")
    _, _, told = idtech(*words)
    assert "converted loose model m/a/a.md2" in told
    assert "up to date loose model m/b/b.md2" in told


@pytest.mark.slow
def test_parts_of_the_work_make_one_library(idtech, games: Path, libraries: Path, tmp_path: Path) -> None:
    for shard in ("1/2", "2/2"):
        words = ("convert", games / "baseq2", "--format", "assets", "--to", tmp_path, "--shard", shard, "--jobs", "2")
        assert idtech(*words)[0] == 0
    whole = libraries / "baseq2"
    files = [sorted(path.relative_to(one) for path in one.rglob("*.*") if path.is_file()) for one in (tmp_path, whole)]
    assert files[0] == files[1]
    assert (tmp_path / "blender_assets.cats.txt").read_text() == (whole / "blender_assets.cats.txt").read_text()


def test_a_library_that_cannot_be_written_is_an_error(idtech, games: Path, tmp_path: Path) -> None:
    (tmp_path / "blender_assets.cats.txt").mkdir()
    status, _, told = idtech("convert", games / "baseq2", "--format", "assets", "--to", tmp_path)
    assert status == 1
    assert "blender_assets.cats.txt" in told


def test_a_full_disk_is_reported_and_no_asset_is_half_written(idtech, games: Path, small_disk: Path) -> None:
    status, table, told = idtech("convert", games / "baseq2", "--format", "assets", "--to", small_disk)
    assert status == 1
    assert "the disk is full" in table + told
    assert not list(small_disk.rglob("*.blend*"))


def test_a_model_without_meshes_is_shown_by_its_bones(part, tmp_path: Path) -> None:
    text = game_folders.md5mesh()
    skeleton = re.sub(r"numMeshes \d+", "numMeshes 0", text[: text.index("mesh {")])
    path = tmp_path / "skeleton.md5mesh"
    path.write_text(skeleton)
    assert bpy.ops.import_scene.md5(filepath=str(path)) == {"FINISHED"}
    pictures = part("io_blender.scene.pictures")
    before = {data.name for data in bpy.data.objects}
    with pictures.studio(bpy.context.scene) as place:
        pixels = place.take(64, 1, 0)
    assert max(shown(pixels)[1] - shown(pixels)[0]) > 0.5
    assert {data.name for data in bpy.data.objects} == before
    assert not bpy.data.curves
    assert not bpy.data.images


def test_the_button_makes_a_library_and_adds_it_once(games: Path, tmp_path: Path, part) -> None:
    libraries = bpy.context.preferences.filepaths.asset_libraries
    count = len(libraries)
    make = bpy.ops.preferences.io_idtech_make_asset_library
    try:
        for _ in range(2):
            assert make(game=str(games / "baseq2"), directory=str(tmp_path)) == {"FINISHED"}
        assert [(one.path, one.import_method) for one in list(libraries)[count:]] == [(str(tmp_path), "APPEND")]
        assert len(list(tmp_path.rglob("*.blend"))) == 2
        # Where the list of characters finds the pictures.
        find = part("io_common.asset_library").assets_of_game
        path = tmp_path / "players/hero.blend"
        assert find(tmp_path, [games / "baseq2"])["player", HERO] == f"{path}/Collection/hero"
        assert find(tmp_path, [games / "base"]) == {}
    finally:
        while len(libraries) > count:
            libraries.remove(libraries[-1])


def test_what_the_user_makes_while_a_library_is_made_stays(monkeypatch, part) -> None:
    def job(operator, context):
        bpy.ops.object.empty_add()
        yield 0.5
        raise OSError("no space left")

    monkeypatch.setattr(part("command_line.make_library").PREFERENCES_OT_io_idtech_make_asset_library, "job", job)
    with pytest.raises(RuntimeError, match="no space left"):
        bpy.ops.preferences.io_idtech_make_asset_library()
    assert len(bpy.data.objects) == 1
