"""Archives, and paths that lead into them."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

import game_folders
import pytest

from io_idtech.io_common.game_tree import archives
from io_idtech.io_common.game_tree import files as limits
from io_idtech.io_common.game_tree.archives import FilesByName, files_in, readable, split_archive_path
from io_idtech.io_common.game_tree.files import Budget
from io_idtech.io_common.game_tree.tree import GameTree

MODEL = "models/imp/imp.md5mesh"


def test_files_are_found_without_regard_to_case_on_disk_and_in_archives(tmp_path: Path) -> None:
    (tmp_path / "Run.MD5Scale").touch()
    with zipfile.ZipFile(tmp_path / "pak0.pk4", "w") as archive:
        archive.writestr("models/Tris.MD2", b"")
    beside = FilesByName()
    assert beside.find(tmp_path, "run.md5scale") == tmp_path / "Run.MD5Scale"
    inside = tmp_path / "pak0.pk4" / "models"
    assert beside.find(inside, "tris.md2") == inside / "Tris.MD2"
    assert beside.find(tmp_path, "walk.md5scale") is None
    assert beside.find(tmp_path / "gone", "run.md5scale") is None


def test_a_folder_is_listed_once_for_all_names_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Path] = []
    iterdir = Path.iterdir

    def counting(path: Path) -> object:
        listed.append(path)
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", counting)
    for index in range(5):
        (tmp_path / f"{index}.mdl").touch()
    beside = FilesByName()
    assert [os.path.basename(beside.find(tmp_path, f"{i}.MDL") or "") for i in range(5)] == [
        f"{i}.mdl" for i in range(5)
    ]
    assert beside.find(tmp_path, "gone") is None
    assert listed == [tmp_path]


# --- Paths that lead into archives


def test_a_path_into_an_archive_is_read_like_one_on_disk(tmp_path: Path) -> None:
    path = game_folders.zipped(tmp_path / "pak0.pk4", {"Models/Imp/imp.md5mesh": "mesh"}) / MODEL
    source = readable(path)
    assert not isinstance(source, Path)
    assert (source.read(), source.name) == (b"mesh", str(path))
    assert [found.name for found in files_in(path.parent)] == ["imp.md5mesh"]
    assert readable(tmp_path / "x.md5mesh") == tmp_path / "x.md5mesh"
    with pytest.raises(FileNotFoundError):
        readable(path.with_name("gone.md5mesh"))


def test_opening_a_file_of_an_archive_does_not_list_its_folder(tmp_path: Path, monkeypatch) -> None:
    """The time for all files of a folder would grow with the square of their number."""
    path = game_folders.zipped(tmp_path / "pak0.pk4", {f"a/{number}.txt": "" for number in range(5)})
    paths = files_in(path / "a")
    listed = []
    monkeypatch.setattr(archives, "Listing", lambda *args: listed.append(args))
    assert len([readable(one) for one in paths]) == 5
    assert not listed


def test_files_of_a_game_have_paths_that_can_be_read(tmp_path: Path) -> None:
    game_folders.zipped(tmp_path / "pak0.pk4", {MODEL: "packed"})
    game_folders.loose(tmp_path, {"models/loose.txt": "loose"})
    files = GameTree([tmp_path])
    packed, loose = files.path(MODEL), files.path("models/loose.txt")
    assert packed == tmp_path / "pak0.pk4" / MODEL
    assert loose == tmp_path / "models/loose.txt"
    assert files.path("models/gone.txt") is None
    assert not isinstance(source := readable(packed), Path)
    assert source.read() == b"packed"


def test_a_folder_with_the_name_of_an_archive_is_a_folder(tmp_path: Path) -> None:
    game_folders.loose(tmp_path / "odd.pk4", {MODEL: "mesh"})
    assert split_archive_path(tmp_path / "odd.pk4" / MODEL) is None
    assert GameTree([tmp_path / "odd.pk4"]).read(MODEL) == b"mesh"


def test_a_damaged_archive_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "bad.pk4"
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(OSError, match="not a readable archive"):
        readable(path / MODEL)


# --- Directories


def test_the_directory_of_an_archive_counts_each_time_although_it_is_read_once(tmp_path: Path) -> None:
    game_folders.zipped(tmp_path / "pak0.pk4", {f"{number}.txt": "" for number in range(50)})
    first, second = Budget(), Budget()
    assert GameTree([tmp_path], first).has("1.txt")
    assert GameTree([tmp_path], second).has("1.txt")
    assert first.directories == second.directories < Budget().directories
    budget = Budget()
    budget.directories = 100
    files = GameTree([tmp_path], budget)
    assert not files.has("1.txt")
    assert "too large" in files.warnings[0]


def test_a_changed_archive_is_read_again(tmp_path: Path) -> None:
    path = game_folders.zipped(tmp_path / "pak0.pk4", {"a.txt": ""})
    assert GameTree([tmp_path]).has("a.txt")
    game_folders.zipped(path, {"changed.txt": "longer"})
    assert GameTree([tmp_path]).has("changed.txt")


def test_members_of_a_pak_that_lie_outside_of_it_are_skipped(tmp_path: Path) -> None:
    path = game_folders.pak(tmp_path / "pak0.pak", {"a.txt": "a", "b.txt": "b"})
    data = bytearray(path.read_bytes())
    struct.pack_into("<i", data, data.index(b"b.txt") + 56, 1 << 20)
    path.write_bytes(data)
    assert list(GameTree([path]).walk()) == ["a.txt"]


def test_an_archive_with_too_many_members_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    for name in ("a.pk4", "b.pak"):
        game_folders.packed(tmp_path / name, {f"{number}.txt": "" for number in range(4)})
    files = GameTree([tmp_path])
    assert not files.has("1.txt")
    assert len(files.warnings) == 2


def test_files_that_are_too_large_are_left_out_with_a_warning(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(limits, "MAX_FILE_SIZE", 8)
    game_folders.zipped(tmp_path / "pak0.pk4", {"small.txt": "small", "large.txt": "far too large"})
    files = GameTree([str(tmp_path)])
    assert [name for name in files.walk() if name.endswith(".txt")] == ["small.txt"]
    assert files.warnings == [f"{tmp_path / 'pak0.pk4'}: files over 0 MB are left out, such as large.txt"]
