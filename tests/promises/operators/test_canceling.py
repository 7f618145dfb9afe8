"""A long import or export can be ended after each of its steps; the .blend and the files are as they were."""

from __future__ import annotations

from pathlib import Path

import bpy
import game_folders
import pytest
from damaged_files import scene_in_edit_mode
from enabled_families import EXPORTERS, IMPORTERS, export_file, import_file, write_samples
from scripted_scenes import add_camera
from whole_state import whole_state


class CanceledError(Exception):
    """Stands for Esc."""


@pytest.fixture
def cancel(part, monkeypatch):
    """Ends the job of an operator after each of its steps; then lets it finish, and returns the number of steps."""
    reports = part("io_blender.reports")
    finish = reports.finish

    def call(operator) -> int:
        steps = 0

        def end_early(job):
            for _ in range(steps + 1):
                next(job)
            job.close()
            raise CanceledError

        while True:
            before = whole_state()
            monkeypatch.setattr(reports, "finish", end_early)
            failure = ""
            try:
                operator()
            except RuntimeError as error:
                failure = str(error)
            if not failure:
                monkeypatch.setattr(reports, "finish", finish)
                return steps
            assert "CanceledError" in failure
            assert whole_state() == before
            steps += 1

    return call


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("suffix", IMPORTERS)
def test_an_import_of_any_kind(cancel, tmp_path, suffix):
    scene_in_edit_mode(has_armature=False)
    path = write_samples(tmp_path)[suffix]
    assert cancel(lambda: import_file(path)) >= 1


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_an_export_of_any_kind(cancel, tmp_path, suffix):
    scene_in_edit_mode()
    add_camera()
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"as it was")
    changed = []

    def export():
        changed.append(files_of(tmp_path) != {path: b"as it was"})
        export_file(path)

    assert cancel(export) >= 1
    assert not any(changed)
    assert path.read_bytes() != b"as it was"


@pytest.mark.slow
def test_the_import_and_the_export_of_a_character(cancel, tmp_path):
    game = game_folders.doom3_loose(tmp_path / "game")

    def import_character():
        bpy.ops.import_scene.idtech_character(game=str(game), name="monster_demon_imp")

    assert cancel(import_character) > 2
    written = []

    def export():
        written.append(len(files_of(tmp_path)))
        bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "target"))

    assert cancel(export) > 2
    assert len(set(written)) == 1 < len(files_of(tmp_path / "target"))
