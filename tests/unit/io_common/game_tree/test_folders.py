"""Images and materials found in folders and archives, and never outside them."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

import needs
import pytest
from texture_rules import MD2_RULES
from work import lines_run

from io_idtech.io_common.game_tree.files import FileReadError
from io_idtech.io_common.game_tree.folders import guess_game_folder
from io_idtech.io_common.game_tree.tree import GameTree
from io_idtech.io_common.names import clean_name
from io_idtech.io_common.textures.search import Search


def put(path: Path, data: bytes = b"image") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def archive(path: Path, **members: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return path


# --- Finding


def test_images_are_found_without_regard_to_case_and_extension(tmp_path: Path) -> None:
    put(tmp_path / "Models" / "Imp" / "Skin.JPG")
    root = GameTree([tmp_path])
    for name in ("models/imp/skin.jpg", "MODELS/IMP/SKIN", "models/imp/skin.tga"):
        found = root.find_image(name)
        assert found is not None
        assert found.relative == "Models/Imp/Skin.JPG"
        assert found.read() == b"image"
    assert root.find_image("models/imp/ski") is None
    assert root.find_image("models/other/skin") is None


def test_the_named_type_comes_first_then_tga_then_the_packed_copy_then_others(tmp_path: Path) -> None:
    root = tmp_path
    put(root / "textures" / "a.png")
    assert _name(root, "textures/a") == "a.png"
    put(root / "dds" / "textures" / "a.dds")
    assert _name(root, "textures/a.tga") == "a.dds"
    put(root / "textures" / "a.tga")
    assert _name(root, "textures/a") == "a.tga"
    assert _name(root, "textures/a.png") == "a.png"


def _name(root: Path, path: str) -> str:
    found = GameTree([root]).find_image(path)
    assert found is not None
    return found.name


def test_a_name_with_a_dot_keeps_what_follows_it(tmp_path: Path) -> None:
    put(tmp_path / "imp.v2.tga")
    assert _name(tmp_path, "imp.v2") == "imp.v2.tga"


def test_only_image_files_are_found_as_images(tmp_path: Path) -> None:
    put(tmp_path / "a" / "passwd")
    put(tmp_path / "a" / "run.exe")
    assert GameTree([tmp_path]).find_image("a/passwd") is None
    assert GameTree([tmp_path]).find_image("a/run.exe") is None


# --- Archives


def test_archives_are_read_where_loose_files_are_missing(tmp_path: Path) -> None:
    archive(tmp_path / "pak000.pk4", **{"Textures/A.tga": b"old", "textures/b.tga": b"packed"})
    archive(tmp_path / "pak001.PK3", **{"textures/a.tga": b"new"})
    put(tmp_path / "textures" / "b.tga", b"loose")
    root = GameTree([tmp_path])
    found = root.find_image("textures/a")
    assert found is not None
    assert found.read() == b"new"
    assert (found.name, found.path.name) == ("a.tga", "pak001.PK3")
    loose = root.find_image("textures/b")
    assert loose is not None
    assert loose.read() == b"loose"


def test_a_damaged_archive_hides_no_image_and_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "pak000.pk4").write_bytes(b"damaged")
    archive(tmp_path / "pak001.pk4", **{"textures/a.tga": b"1", "models/c.tga": b"1"})
    put(tmp_path / "textures" / "b.tga")
    root = GameTree([tmp_path])
    for path in ("textures/b", "textures/a", "models/c"):
        assert root.find_image(path) is not None
    assert root.find_image("textures/gone") is None
    assert len(root.warnings) == 1
    assert root.find_image("textures/b") is not None


def test_a_damaged_archive_gives_a_warning(tmp_path: Path) -> None:
    put(tmp_path / "bad.pk4", b"PK\x03\x04 this is no archive")
    archive(tmp_path / "aaa.pk4", **{"x.tga": b"x"})
    root = GameTree([tmp_path])
    assert root.find_image("x") is not None
    assert "bad.pk4" in root.warnings[0]


def test_a_damaged_member_is_an_error_when_it_is_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pk4", **{"x.tga": bytes(range(256)) * 20})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    found = GameTree([tmp_path]).find_image("x.tga")
    assert found is not None
    with pytest.raises(FileReadError):
        found.read()


def test_members_that_claim_to_be_huge_are_refused_unread(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pk4", **{"x.tga": b"small"})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 0xF0000000)
    path.write_bytes(data)
    assert GameTree([tmp_path]).find_image("x.tga") is None


def test_a_member_that_unpacks_to_more_than_it_claims_is_cut_off(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pk4", **{"x.tga": b"\0" * 5_000_000})
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 1000)
    path.write_bytes(data)
    found = GameTree([tmp_path]).find_image("x.tga")
    assert found is not None
    with pytest.raises(FileReadError, match="damaged"):
        found.read()


def test_a_loose_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "x.tga", b"12345")
    found = GameTree([tmp_path]).find_image("x")
    assert found is not None
    with pytest.raises(FileReadError, match="larger"):
        found.read(4)


# --- Walls


@needs.links
def test_links_that_lead_outside_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "secret" / "photo.png")
    game = tmp_path / "game"
    put(game / "real" / "a.png")
    (game / "out").symlink_to(tmp_path / "secret")
    (game / "photo.png").symlink_to(tmp_path / "secret" / "photo.png")
    (game / "in").symlink_to(game / "real")
    (game / "loop").symlink_to(game)
    root = GameTree([game])
    assert root.find_image("out/photo") is None
    assert root.find_image("photo") is None
    assert root.find_image("loop/photo") is None
    assert root.find_image("in/a") is not None


@needs.pipes
def test_pipes_and_devices_are_not_read_as_images(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    assert GameTree([tmp_path]).find_image("pipe") is None
    assert GameTree([tmp_path]).find_image("folder.png") is None


@pytest.mark.parametrize(
    "name", ["..", "../x.png", "a/../../x.png", "/x.png", "//./x.png", "CON", "nul.png", "a" * 9000]
)
def test_no_name_leads_outside_the_folder(tmp_path: Path, name: str) -> None:
    put(tmp_path / "x.png")
    (tmp_path / "game" / "a").mkdir(parents=True)
    assert GameTree([tmp_path / "game"]).find_image(name) is None


# --- The game folder


@pytest.mark.parametrize(
    ("model", "names", "folder"),
    [
        ("base/models/monsters/imp/imp.md5mesh", [], "base"),
        ("base/players/male/tris.md2", ["models/weapons/v/skin.pcx"], "base"),
        ("sauer/packages/models/hero/hero.md5mesh", [], "sauer"),
        ("models/work/base/models/imp/imp.md2", [], "models/work/base"),
        ("base/models/props/models/lamp/lamp.md2", ["models/props/models/lamp/skin.pcx"], "base"),
        ("elsewhere/imp.md2", ["models/imp/skin.pcx"], None),
    ],
)
def test_the_game_folder_is_the_ancestor_that_makes_paths_right(
    tmp_path: Path, model: str, names: list[str], folder: str | None
) -> None:
    path = put(tmp_path / model)
    expected = tmp_path / folder if folder is not None else None
    assert guess_game_folder(path, [clean_name(name) for name in names]) == expected


def test_a_folder_that_looks_like_a_game_is_preferred(tmp_path: Path) -> None:
    model = put(tmp_path / "base" / "models" / "props" / "models" / "lamp.md2")
    put(tmp_path / "base" / "pak0.pk4")
    assert guess_game_folder(model) == tmp_path / "base"


def test_the_users_home_is_never_a_game_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert guess_game_folder(put(tmp_path / "models" / "x.md2")) is None


def test_given_folders_keep_their_order_and_the_guessed_one_comes_first(tmp_path: Path) -> None:
    model = put(tmp_path / "mod" / "models" / "x.md2")
    folders = [tmp_path / "b", tmp_path / "a"]
    found = Search(folders, MD2_RULES).folder_of(model)
    assert found.game.folders == (tmp_path / "mod", *folders)
    inside = Search([tmp_path / "a", tmp_path / "mod"], MD2_RULES).folder_of(model)
    assert inside.game.folders == (tmp_path / "a", tmp_path / "mod")


# --- Speed


@pytest.mark.slow
def test_a_folder_of_ten_thousand_files_is_listed_once_and_then_looked_up_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "base" / "textures"
    folder.mkdir(parents=True)
    for index in range(10_000):
        (folder / f"image{index}.tga").touch()
    listed: list[str] = []
    scandir = os.scandir

    def counting(path: str) -> os.PathLike[str]:
        listed.append(str(path))
        return scandir(path)  # type: ignore[return-value]

    monkeypatch.setattr(os, "scandir", counting)
    root = GameTree([tmp_path / "base"])
    for index in range(0, 10_000, 10):
        assert root.find_image(f"textures/IMAGE{index}") is not None
    # A loop over the files would run at least one line for each.
    assert lines_run(root.find_image, "textures/IMAGE9999") < 10_000
    assert listed.count(str(folder)) == 1


def test_only_the_archives_with_a_directory_are_asked_for_an_image_in_it(tmp_path: Path) -> None:
    for index in range(40):
        archive(tmp_path / f"pak{index:03d}.pk4", **{f"textures/set{index}/wall.tga": b""})
    root = GameTree([tmp_path])
    assert root.find_image("textures/set0/wall") is not None
    # A loop over the archives would run at least one line for each.
    assert lines_run(root.find_image, "textures/set0/gone") < 40
