"""Asset libraries in the application: the button, Esc, the asset browser, and an asset that is dragged by the mouse.

With ``IO_IDTECH_PICTURES`` the pictures of the documentation are made anew in that folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import octopus_game
import pytest
from application import check_pictures, needs_application, run_driver

pytestmark = needs_application

# What part of the picture the page shows: width, height, left, top.
CROPS = {"asset-library": "1050x750+0+26"}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down; its pictures lie in ``folder``."""
    folder = tmp_path_factory.mktemp("assets")
    return run_driver("drive_assets.py", folder, CROPS, game=str(octopus_game.make_game(folder / "base")))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_button_makes_a_library_and_adds_it_to_the_preferences(session):
    assert session["libraries"][-1] == "library"
    assert len(list((session["folder"] / "library").rglob("*.blend"))) == 7


def test_esc_ends_the_work_and_keeps_finished_assets(session):
    assert 0 < len(session["canceled"]) < 7


def test_an_asset_that_is_dragged_into_the_scene_is_exported_as_an_import_byte_for_byte(session):
    assert session["dropped"] == ["ARMATURE monster_octopus", "MESH eye", "MESH eye.001", "MESH skin"]
    assert session["actions"] == ["swim", "wave"]
    dropped = files(session["folder"] / "dropped")
    assert dropped == files(session["folder"] / "imported")
    mesh = "models/md5/octopus/octopus.md5mesh"
    assert dropped[mesh] == (session["folder"] / "base" / mesh).read_bytes()


def test_the_pictures_of_the_documentation_show_the_present_interface(session):
    check_pictures(session, CROPS)
