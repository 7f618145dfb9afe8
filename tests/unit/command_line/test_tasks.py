"""The files that a run reads."""

from __future__ import annotations

import os
from pathlib import Path

import needs
import pytest

from io_idtech.command_line.tasks import FileSet, as_listed


@needs.links
def test_sources_are_known_by_their_identity_whatever_their_paths(tmp_path):
    (tmp_path / "a").mkdir()
    source = tmp_path / "a" / "imp.md2"
    source.touch()
    (tmp_path / "folder").symlink_to("a")
    (tmp_path / "file").symlink_to("a/imp.md2")
    (tmp_path / "hard").hardlink_to(source)
    sources = FileSet([source])
    for other in ("a/imp.md2", "folder/imp.md2", "folder/../a/imp.md2", "file", "hard", "a/IMP.MD2"):
        assert tmp_path / other in sources, other
    for other in ("a/other.md2", "imp.md2", "nowhere/imp.md2"):
        assert tmp_path / other not in sources, other


@pytest.fixture
def imp(tmp_path):
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "imp.md2"
    path.touch()
    return path


def test_where_case_is_ignored_a_path_gets_the_case_of_its_folders(tmp_path, imp, monkeypatch):
    monkeypatch.setattr(os.path, "lexists", lambda path: "nowhere" not in str(path))
    assert as_listed([f"{tmp_path}/MODELS/Imp.MD2", f"{tmp_path}/MODELS/nowhere/A.md2"]) == [
        imp,
        tmp_path / "models" / "nowhere" / "A.md2",
    ]
    monkeypatch.chdir(tmp_path)
    assert as_listed(["MODELS/../Models/IMP.md2"]) == [Path("models/../models/imp.md2")]


@needs.case
def test_where_case_counts_a_path_keeps_its_case(tmp_path, imp):
    missing = tmp_path / "MODELS" / "imp.md2"
    assert as_listed([str(imp), str(missing)]) == [imp, missing]
    imp.with_name("IMP.md2").touch()
    assert as_listed([str(imp.with_name("IMP.md2"))]) == [imp.with_name("IMP.md2")]
