"""The documentation in Blender: the button, and the links of operators and their options."""

from __future__ import annotations

import os
import webbrowser

import bpy
import pytest
from enabled_families import FAMILIES


@pytest.fixture
def documentation(part, tmp_path, monkeypatch):
    """The module, with a folder of pages of its own."""
    module = part("io_blender.operators.documentation")
    for name in ("index", "md5", "md2", "games", "choosing-animations"):
        (tmp_path / f"{name}.html").write_text(name)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    return module


@pytest.fixture
def online_manual(monkeypatch):
    """A function that returns what Blender opens for *Online Manual* on an operator or an option."""

    def run(identifier: str) -> str:
        opened: list[str] = []
        monkeypatch.setattr(webbrowser, "open", opened.append)
        bpy.ops.wm.doc_view_manual(doc_id=identifier)
        return " ".join(opened)

    return run


@pytest.mark.parametrize(
    ("identifier", "page"),
    [
        ("import_scene.md5", "md5.html"),
        ("IMPORT_SCENE_OT_md5.merge_vertices", "md5.html"),
        ("export_scene.md5mesh", "md5.html"),
        ("EXPORT_SCENE_OT_md5anim.frame_step", "md5.html"),
        ("export_scene.md5camera", "md5.html"),
        ("import_scene.md2", "md2.html"),
        ("EXPORT_SCENE_OT_md2.frames", "md2.html"),
        ("object.md5_check_game", "games.html"),
        ("object.md2_check_game", "games.html"),
        ("object.io_idtech_check_animations", "choosing-animations.html"),
    ],
)
def test_the_manual_of_operators_and_options_is_the_page_of_their_family(
    documentation, online_manual, identifier, page
):
    assert online_manual(identifier) == (documentation.FOLDER / page).as_uri()


def test_other_operators_keep_their_links(documentation, online_manual):
    for identifier in ("mesh.subdivide", "import_scene.gltf"):
        assert online_manual(identifier).startswith("https://docs.blender.org/")


@pytest.mark.parametrize("page", ["index.html", "md5.html"])
def test_without_a_window_the_button_reports_where_the_page_is(documentation, page, capfd):
    assert bpy.ops.wm.io_idtech_help(page=page) == {"FINISHED"}
    assert str(documentation.FOLDER / page) in capfd.readouterr().out


@pytest.mark.parametrize("page", ["missing.html", "../outside.html", ""])
def test_nothing_but_a_page_of_the_folder_is_opened(documentation, page):
    (documentation.FOLDER.parent / "outside.html").write_text("outside")
    with pytest.raises(RuntimeError, match="not found"):
        bpy.ops.wm.io_idtech_help(page=page)


@pytest.mark.parametrize(
    ("identifier", "page"),
    [("IMPORT_SCENE_OT_md5", "md5.html"), ("EXPORT_SCENE_OT_md2", "md2.html"), ("WM_OT_other", "index.html")],
)
def test_a_panel_shows_the_page_of_its_operator(documentation, identifier, page):
    assert documentation.page_of(identifier) == page


@pytest.mark.skipif("IO_IDTECH_ZIP" not in os.environ, reason="the zip has the pages: see the nox session 'package'")
def test_the_pages_of_the_installed_zip_open(part):
    module = part("io_blender.operators.documentation")
    prefix, links = module.manual_map()
    pages = {page for _pattern, page in links}
    families = {f"{family.name}.html" for family in FAMILIES}
    assert pages == families | {"games.html", "characters.html", "choosing-animations.html"}
    for page in (*pages, module.START):
        assert f"{prefix}{page}" == (module.FOLDER / page).as_uri()
        assert bpy.ops.wm.io_idtech_help(page=page) == {"FINISHED"}
