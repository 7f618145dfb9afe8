"""The files of a game: folders and archives as one tree that is only read."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

import game_folders
import needs
import pytest

from io_idtech.io_common.game_tree import tree
from io_idtech.io_common.game_tree.archives import ARCHIVE_EXTENSIONS, search_order
from io_idtech.io_common.game_tree.files import Budget, FileReadError
from io_idtech.io_common.game_tree.tree import GameTree
from io_idtech.io_common.names import UNFIT_FOR_WINDOWS, path_on_disk

MODEL = "models/imp/imp.md5mesh"


# --- What overrides what


@pytest.mark.parametrize("extension", ARCHIVE_EXTENSIONS)
def test_loose_files_override_archives_and_later_archives_earlier_ones(tmp_path: Path, extension: str) -> None:
    names = ("a.txt", "b.txt", "c.txt")
    game_folders.packed(tmp_path / f"pak0{extension}", {f"Models/{name}": "first" for name in names})
    game_folders.packed(tmp_path / f"pak1{extension}", {f"models/{name}": "second" for name in names[1:]})
    game_folders.loose(tmp_path, {"models/C.txt": "loose"})
    files = GameTree([tmp_path])
    assert [files.read(f"MODELS/{name}") for name in names] == [b"first", b"second", b"loose"]
    assert list(files.walk("models")) == ["models/a.txt", "models/b.txt", "models/C.txt"]
    assert not files.warnings


@pytest.mark.parametrize("extension", ARCHIVE_EXTENSIONS)
def test_an_archive_is_a_game_folder(tmp_path: Path, extension: str) -> None:
    path = game_folders.packed(tmp_path / f"mod{extension}", {MODEL: "mesh"})
    game_folders.loose(tmp_path, {"models/other.txt": "beside it"})
    files = GameTree([path])
    assert list(files.walk()) == [MODEL]
    assert files.read(MODEL) == b"mesh"


@pytest.mark.parametrize("inside", ["", "models"])
def test_a_path_into_an_archive_is_not_listed_as_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    """What systems say to that differs: not all say that it is no folder."""
    path = game_folders.packed(tmp_path / "mod.pk4", {MODEL: "mesh"}) / inside
    monkeypatch.setattr(os, "scandir", lambda path: pytest.fail(f"{path} was listed"))
    files = GameTree([path])
    assert list(files.walk()) == [MODEL.removeprefix(f"{inside}/")]
    assert not files.warnings


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game_folders.loose(tmp_path, {MODEL: "mesh", "models/closed/a.txt": "secret"})
    closed = os.path.join(tmp_path, "models", "closed")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    # The permissions of folders do not bind root.
    monkeypatch.setattr(os, "scandir", refuse)
    files = GameTree([tmp_path, tmp_path / "not there"])
    assert list(files.walk()) == [MODEL]
    assert files.warnings == [f"{closed}: the folder cannot be read ({os.strerror(errno.EACCES)})"]


def test_a_mod_overrides_the_game(tmp_path: Path) -> None:
    game_folders.zipped(tmp_path / "base/pak9.pk4", {"a.txt": "base", "b.txt": "base"})
    game_folders.zipped(tmp_path / "mod/pak0.pk4", {"A.txt": "mod"})
    files = GameTree([tmp_path / "mod", tmp_path / "base"])
    assert [files.read("a.txt"), files.read("b.txt")] == [b"mod", b"base"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["pak000.pk4", "pak001.pk4", "Game.pk4", "readme.txt"], ["pak001.pk4", "pak000.pk4", "Game.pk4"]),
        (["pak2.pak", "pak10.pak", "pak0.pak"], ["pak10.pak", "pak2.pak", "pak0.pak"]),
        (["a_0.9.dpk", "a_0.10.dpk", "b_1.dpk"], ["b_1.dpk", "a_0.10.dpk"]),
        (["a_0.9.dpk", "a_src.dpkdir"], ["a_src.dpkdir"]),
    ],
)
def test_archives_are_searched_in_the_order_of_the_games(names: list[str], expected: list[str]) -> None:
    assert search_order(names) == expected
    assert search_order(reversed(names)) == expected


def test_packages_that_are_not_packed_are_archives(tmp_path: Path) -> None:
    files = GameTree([game_folders.unvanquished(tmp_path / "pkg")])
    assert files.has("models/players/human/body_d.tga")
    assert b"models/players/human/human" in files.read("models/players/human/human.md5mesh")


# --- Only reading


def test_files_are_unpacked_on_request_only_and_stay_below_the_folder(tmp_path: Path) -> None:
    game = tmp_path / "game"
    game_folders.zipped(game / "pak0.pk4", {MODEL: "mesh", "../out.txt": "no", "a/../../out.txt": "no"})
    files = GameTree([game])
    files.read(MODEL)
    assert [path.name for path in game.iterdir()] == ["pak0.pk4"]
    assert files.extract([MODEL], tmp_path / "to") == [tmp_path / "to" / MODEL]
    assert (tmp_path / "to" / MODEL).read_bytes() == b"mesh"
    for name in ("../out.txt", "/out.txt", "a/../../out.txt", "C:/out.txt"):
        with pytest.raises(FileReadError):
            files.extract([name], tmp_path / "to")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game", "to"]
    assert list(files.walk()) == ["pak0.pk4", MODEL]


@needs.any_name
@pytest.mark.parametrize("extension", [".zip", ".pak"])
def test_all_files_that_are_listed_are_unpacked_under_their_own_names(tmp_path: Path, extension: str) -> None:
    names = ["cfg/auto.cfg", "cfg/auto.cfg ", "cfg/a\x01uto.cfg", " lead", '"quoted"', "d/co:lon", "<m>tag"]
    path = game_folders.packed(tmp_path / f"odd{extension}", {name: name for name in names})
    files = GameTree([path])
    assert sorted(files.walk()) == sorted(names)
    files.extract(files.walk(), tmp_path / "to")
    found = [path for path in (tmp_path / "to").rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path / "to").as_posix() for path in found} == set(names)
    assert all(path.read_text() == path.relative_to(tmp_path / "to").as_posix() for path in found)


def test_names_that_end_like_a_folder_are_no_files(tmp_path: Path) -> None:
    path = game_folders.zipped(tmp_path / "odd.zip", {"a/.": "", "b/": "", "c": ""})
    assert list(GameTree([path]).walk()) == ["c"]


@pytest.mark.parametrize("name", ["", ".", "..", "a/../b", "a//b", "/a", "a\0"])
def test_no_file_is_placed_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError, match="cannot have"):
        path_on_disk(tmp_path, name)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        *((name, True) for name in ("C:x", "a:b", "a\\b", "a.", "a ", "a\x01", "nul", "Con.txt", "COM1 .x", "a?")),
        *((name, False) for name in ("a", ".a", " a", "console", "nul_.txt", "a.b", "com", "it's")),
    ],
)
def test_names_that_windows_takes_for_something_else_are_known(part: str, expected: bool) -> None:
    assert bool(UNFIT_FOR_WINDOWS.match(part)) == expected


@needs.pipes
def test_pipes_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pak0.pk4")
    os.mkfifo(tmp_path / "pak0.pak")
    os.mkfifo(tmp_path / "a.def")
    files = GameTree([tmp_path, tmp_path / "pak0.pk4"])
    assert list(files.walk()) == []


# --- Limits


def test_what_is_beyond_the_budget_is_refused(tmp_path: Path) -> None:
    game_folders.zipped(tmp_path / "pak0.pk4", {"a.txt": "x" * 100, "b.txt": "x" * 100})
    budget = Budget()
    budget.data = 150
    budget.text = 150
    files = GameTree([tmp_path], budget)
    files.read("a.txt")
    with pytest.raises(FileReadError, match="too large"):
        files.read("b.txt")
    files.read_text("a.txt")
    with pytest.raises(FileReadError, match="too large"):
        files.read_text("b.txt")


@pytest.mark.parametrize(("start", "size"), [(-1, 64), (12, -64), (12, 1 << 30), (1 << 30, 64), (2**31 - 1, 2**31 - 1)])
def test_a_pak_whose_directory_lies_outside_of_it_gives_a_warning(tmp_path: Path, start: int, size: int) -> None:
    (tmp_path / "pak0.pak").write_bytes(struct.pack("<4s2i", b"PACK", start, size) + bytes(100))
    files = GameTree([tmp_path])
    assert list(files.walk()) == ["pak0.pak"]
    assert "not a readable archive" in files.warnings[0]


def test_a_search_of_too_many_folders_ends_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_MAX_FOLDERS", 3)
    game_folders.loose(tmp_path, {f"{number}/a.txt": "" for number in range(5)})
    files = GameTree([tmp_path])
    assert list(files.walk()) == ["0/a.txt", "1/a.txt"]
    assert "too many folders" in files.warnings[0]


@needs.links
def test_a_link_to_a_folder_that_it_is_in_is_not_followed(tmp_path: Path) -> None:
    game = game_folders.loose(tmp_path / "base", {"models/a/one.md2": "", "models/b/two.md2": ""})
    (game / "models" / "self").symlink_to(game / "models")
    (game / "models" / "a" / "up").symlink_to(game / "models")
    (game / "models" / "c").symlink_to(game / "models" / "b")
    assert list(GameTree([game]).walk()) == ["models/a/one.md2", "models/b/two.md2", "models/c/two.md2"]


def test_folders_that_are_too_deep_are_named(tmp_path: Path) -> None:
    deep = "/".join("d" * 40)
    game = game_folders.loose(tmp_path / "base", {f"{deep}/lost.md2": "", "found.md2": ""})
    files = GameTree([game])
    assert list(files.walk()) == ["found.md2"]
    (warning,) = files.warnings
    assert warning.endswith("the folders in it were not searched, because they are too deep")
