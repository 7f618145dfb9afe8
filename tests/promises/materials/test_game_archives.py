"""Models in archives are imported by a path into the archive, with textures and materials from the same game."""

from __future__ import annotations

from pathlib import Path

import bpy
import game_folders
import pytest


def inputs(material) -> dict[str, str]:
    """The names of the images that are linked to the inputs of a material's shader."""
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    return {
        socket.name: socket.links[0].from_node.image.name
        for socket in shader.inputs
        if socket.is_linked and socket.links[0].from_node.type == "TEX_IMAGE"
    }


def test_unvanquished_shaders_of_other_packages_are_found(tmp_path: Path) -> None:
    game = game_folders.unvanquished(tmp_path / "pkg")
    path = game / "res-players_0.10.dpk/models/players/human/human.md5mesh"
    assert bpy.ops.import_scene.md5(filepath=str(path)) == {"FINISHED"}
    material = bpy.data.materials["models/players/human/human"]
    found = inputs(material)
    assert found["Base Color"] == "body_d.tga"
    assert found["Emission Color"] == "body_g.tga"


def test_animations_of_the_folder_in_the_archive_are_imported(tmp_path: Path) -> None:
    game = game_folders.doom3(tmp_path / "base")
    path = game / "pak000.pk4" / game_folders.IMP / "imp.md5mesh"
    assert bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER") == {"FINISHED"}
    assert {action.name for action in bpy.data.actions} >= {"stand", "evade", "walk1", "run"}


def test_animations_are_unpacked_up_to_a_limit_with_one_warning(tmp_path: Path, capfd, part, monkeypatch) -> None:
    """Entries of an archive may share their data, so that a small archive has a large number of large animations."""
    text = game_folders.md5anim()
    path = game_folders.zipped(
        tmp_path / "pak000.pk4", {"imp/0.md5anim": text, "imp/imp.md5mesh": game_folders.md5mesh()}
    )
    game_folders.share_first(path, [f"imp/{number}.md5anim" for number in range(1, 9)])
    monkeypatch.setattr(part("io_common.game_tree.files"), "MAX_DATA", 3 * len(text))
    bpy.ops.import_scene.md5(filepath=str(path / "imp/imp.md5mesh"), animations="FOLDER")
    assert sorted(action.name for action in bpy.data.actions) == ["0", "1", "2"]
    assert capfd.readouterr().out.count("Warning: 6 animations left out: the archives hold more than") == 1


@pytest.mark.parametrize("extension", [".pak", ".pk3", ".pkz", ".zip"])
def test_the_skins_of_a_quake2_player_are_found_in_its_archive(tmp_path: Path, extension: str) -> None:
    files = {f"players/hero/{name}.tga": game_folders.IMAGE for name in ("blue", "blue_i", "weapon")}
    archive = game_folders.packed(tmp_path / f"pak0{extension}", {"players/hero/tris.md2": game_folders.md2(), **files})
    path = archive / "players/hero/tris.md2"
    assert bpy.ops.import_scene.md2(filepath=str(path)) == {"FINISHED"}
    (image,) = (image for image in bpy.data.images if image.name.endswith(".tga"))
    assert (image.name, image.packed_file is not None) == ("blue.tga", True)


def test_what_is_missing_or_damaged_in_an_archive_is_an_error(tmp_path: Path) -> None:
    archive = game_folders.packed(tmp_path / "pak0.pk4", {"models/bad.md5mesh": "nothing"})
    for name in ("models/gone.md5mesh", "models/bad.md5mesh"):
        with pytest.raises(RuntimeError, match=Path(name).name):
            bpy.ops.import_scene.md5(filepath=str(archive / name))
    assert not bpy.data.objects


def test_a_model_from_an_archive_is_exported_to_a_folder(tmp_path: Path) -> None:
    archive = game_folders.packed(
        tmp_path / "pak0.pk4", {"models/a.md5mesh": game_folders.md5mesh(game_folders.BODY, "models/skin")}
    )
    before = archive.read_bytes()
    bpy.ops.import_scene.md5(filepath=str(archive / "models/a.md5mesh"))
    out = tmp_path / "out.md5mesh"
    assert bpy.ops.export_scene.md5mesh(filepath=str(out)) == {"FINISHED"}
    assert b'shader "models/skin"' in out.read_bytes()
    # An archive is never written to.
    with pytest.raises(RuntimeError):
        bpy.ops.export_scene.md5mesh(filepath=str(archive / "models/a.md5mesh"))
    assert archive.read_bytes() == before
