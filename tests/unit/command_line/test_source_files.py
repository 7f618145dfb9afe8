"""The files that a run reads."""

from __future__ import annotations

import os

import pytest

from io_idtech.command_line.source_files import Sources


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_sources_are_known_by_their_identity_also_elsewhere(tmp_path):
    (tmp_path / "a").mkdir()
    source = tmp_path / "a" / "imp.md2"
    source.touch()
    (tmp_path / "folder").symlink_to("a")
    (tmp_path / "file").symlink_to("a/imp.md2")
    (tmp_path / "hard").hardlink_to(source)
    sources = Sources.from_json(Sources([source]).to_json())
    for other in ("a/imp.md2", "folder/imp.md2", "folder/../a/imp.md2", "file", "hard", "a/IMP.MD2"):
        assert tmp_path / other in sources, other
    for other in ("a/other.md2", "imp.md2", "nowhere/imp.md2"):
        assert tmp_path / other not in sources, other
