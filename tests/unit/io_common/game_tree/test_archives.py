"""Files found by their names, on disk and in archives."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from io_idtech.io_common.game_tree.archives import FilesByName


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
