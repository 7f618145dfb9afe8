"""The .skin files next to a model. What the .cfg files say is in `test_search`, `test_cube_scripts`."""

from __future__ import annotations

from io_idtech.io_common.textures.conventions import parse_skin


def test_skin_files_map_meshes_to_materials() -> None:
    text = 'Body, models/hero/body\r\ntag_head,\nhead,"models/hero/head" // no\nhead,second\nlonely\n\n'
    assert parse_skin(text) == [{"body": "models/hero/body", "head": "models/hero/head"}]


def test_a_line_may_name_several_skins_and_further_lines_of_a_mesh_are_frames_of_a_skin() -> None:
    text = 'body,progs/a,progs/b,\nhead,progs/head\nbody,"progs/a second frame"\n'
    assert parse_skin(text) == [{"body": "progs/a", "head": "progs/head"}, {"body": "progs/b"}, {}]
