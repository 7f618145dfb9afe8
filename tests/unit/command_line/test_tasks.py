"""The files that a run reads."""

from __future__ import annotations

import needs

from io_idtech.command_line.tasks import FileSet


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
