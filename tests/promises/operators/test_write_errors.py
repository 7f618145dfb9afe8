"""An export that cannot be written reports the file and what to do, and leaves the old file and nothing else."""

from __future__ import annotations

import errno
import os

import bpy
import needs
import pytest
from enabled_families import EXPORTERS, IMPORTERS, export_file, import_file
from scripted_scenes import rig, tube
from whole_state import whole_state

WEEK_OF_WORK = b"a week of work"
# The function of the system that fails, how, and what the user is told to do.
FAULTS = {
    "full disk": ("fsync", errno.ENOSPC, "free some space"),
    "quota": ("fsync", errno.EDQUOT, "free some space"),
    "disk that fails": ("fsync", errno.EIO, "choose another folder"),
    "read-only disk": ("open", errno.EROFS, "choose another folder"),
    "read-only folder": ("open", errno.EACCES, "choose another folder"),
    "open elsewhere": ("replace", errno.EACCES, "close the program that has the file open"),
    "in use": ("replace", errno.EBUSY, "close the program that has it open"),
}


@pytest.fixture(autouse=True)
def scene():
    """An animated model and a camera."""
    tube(rig())
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera


def reports_of(path, **options):
    """What the user is told by an export that fails; nothing of the .blend changes."""
    before = whole_state()
    with pytest.raises(RuntimeError) as caught:
        export_file(path, **options)
    assert whole_state() == before
    assert "internal error of the add-on" not in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", EXPORTERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_old_file_is_intact_and_the_message_says_what_to_do(monkeypatch, tmp_path, suffix, fault):
    function, number, advice = FAULTS[fault]
    path = tmp_path / f"model{suffix}"
    path.write_bytes(WEEK_OF_WORK)

    def fail(*_arguments, **_options):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        text = reports_of(path)
    assert str(path) in text
    assert advice in text
    assert path.read_bytes() == WEEK_OF_WORK
    assert list(tmp_path.iterdir()) == [path]
    assert export_file(path) == {"FINISHED"}
    assert path.read_bytes() != WEEK_OF_WORK


@needs.locks
@pytest.mark.parametrize("suffix", EXPORTERS)
def test_a_file_that_another_program_has_open_stays_as_it_is(tmp_path, suffix):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(WEEK_OF_WORK)
    with path.open("rb"):
        text = reports_of(path)
    assert f"{path}: " in text
    assert "close the program that has the file open" in text
    assert path.read_bytes() == WEEK_OF_WORK
    assert list(tmp_path.iterdir()) == [path]
    assert export_file(path) == {"FINISHED"}


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_names_that_are_too_long_and_folders_that_are_not_there(tmp_path, suffix):
    assert "choose a shorter one" in reports_of(tmp_path / f"{'x' * 300}{suffix}")
    assert "no such file or folder" in reports_of(tmp_path / "none" / f"model{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "this is a folder" in reports_of(tmp_path / f"folder{suffix}")
    assert list(tmp_path.iterdir()) == [tmp_path / f"folder{suffix}"]


def test_no_file_of_a_model_and_its_actions_is_replaced_before_all_are_written(monkeypatch, tmp_path):
    path = tmp_path / "model.md5mesh"
    assert export_file(path, actions="ALL") == {"FINISHED"}
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(before) == 2
    bpy.data.objects["Rig"].data.bones["tip"].name = "renamed"
    calls = []

    def second_fails(_file):
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", second_fails)
        text = reports_of(path, actions="ALL")
    assert "model.md5mesh: the disk is full" in text
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("suffix", IMPORTERS)
def test_files_that_cannot_be_read(tmp_path, suffix):
    name = f"nothing{suffix}"
    before = whole_state()
    with pytest.raises(RuntimeError, match=f"{name}: there is no such file or folder"):
        import_file(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(RuntimeError, match=f"{name}: .*folder"):
        import_file(tmp_path / name)
    assert whole_state() == before
