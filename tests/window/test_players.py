"""The list of sequences of a Quake III player, and his export, in the real application with its window."""

from __future__ import annotations

from typing import Any

import pytest
import quake3_players
from application import needs_application, run_driver

pytestmark = needs_application


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down; its pictures lie in ``folder``."""
    folder = tmp_path_factory.mktemp("players")
    quake3_players.write(folder / "baseq3")
    return run_driver(
        "drive_players.py", folder, {}, game=str(folder / "baseq3"), weapon="models/weapons2/stick/stick.md3"
    )


def test_a_click_in_the_list_plays_a_sequence(session):
    assert session["played"] == ["BOTH_DEAD1", "BOTH_DEAD1"]


def test_the_export_of_the_file_browser_writes_all_files_as_they_were(session):
    out = session["folder"] / "out"
    written = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}
    assert written == {path: data for path, data in quake3_players.files().items() if "weapons2" not in path}
