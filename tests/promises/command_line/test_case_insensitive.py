"""Conversions and exports on a file system where ``imp`` and ``IMP`` are one file, as on Windows and macOS.

On Linux, IO_IDTECH_CASE_INSENSITIVE names a folder on such a file system, for instance exFAT:

    truncate -s 128M exfat.img && mkfs.exfat exfat.img
    mount -o loop exfat.img FOLDER        (or, by FUSE: mount.exfat-fuse $(losetup -f --show exfat.img) FOLDER)
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bpy
import md2_samples
import md5_scenes
import pytest

from io_idtech.io_md5.format import read_mesh, write_animation


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on a case-insensitive file system."""
    parent = os.environ.get("IO_IDTECH_CASE_INSENSITIVE")
    found = Path(tempfile.mkdtemp(dir=parent)) if parent else tmp_path
    (found / "probe").touch()
    if not (found / "PROBE").exists():
        pytest.skip(f"{found} is case-sensitive: name another folder in IO_IDTECH_CASE_INSENSITIVE")
    (found / "probe").unlink()
    yield found
    shutil.rmtree(found)


@pytest.fixture
def convert(part, capfd):
    """Runs ``convert``; returns its status and what it printed."""
    main = part("command_line.command").main

    def run(*words: str | Path) -> tuple[int, str]:
        capfd.readouterr()
        status = main(["convert", *(str(word) for word in words)])
        return status, capfd.readouterr().out

    return run


@pytest.fixture
def models(folder: Path) -> Path:
    """A folder with an MD5 model, two animations, and an MD2 model."""
    found = folder / "models"
    found.mkdir()
    md5_scenes.write(found, "imp")
    for name in ("walk", "run"):
        write_animation(md5_scenes.animation(md5_scenes.model().joints), found / f"{name}.md5anim")
    md2_samples.write_sample(found)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder but the records."""
    found = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in found.items() if ".idtech" not in name.parts}


@pytest.mark.parametrize("jobs", [1, 2])
def test_sources_are_not_overwritten_through_another_spelling_of_their_folder(convert, models, jobs):
    before = contents(models)
    words = ("--to", models.with_name("MODELS"), "--format", "md5", "--force", "--jobs", jobs)
    status, table = convert(models / "imp.md5mesh", *words)
    assert status == 1
    assert "is an input file of this run" in table
    assert contents(models) == before


def test_sources_are_not_overwritten_when_they_are_given_in_another_case(convert, models):
    before = contents(models)
    status, table = convert(models / "IMP.md5mesh", models / "SAMPLE.MD2", "--to", models, "--format", "md5", "--force")
    assert status == 1
    assert "is an input file of this run" in table
    assert contents(models) == before | {
        name: data for name, data in contents(models).items() if name.lower() not in before
    }


def test_animations_that_are_used_are_not_overwritten(convert, models, folder):
    boss = folder / "boss"
    boss.mkdir()
    shutil.copy(models / "imp.md5mesh", boss / "boss.md5mesh")
    before = contents(models)
    words = ("--to", models.with_name("Models"), "--format", "md5", "--animations", models, "--force")
    status, table = convert(boss / "boss.md5mesh", *words)
    assert status == 1
    assert "is an input file of this run" in table
    assert {name: data for name, data in contents(models).items() if name in before} == before


def test_results_whose_names_differ_only_in_case_are_different_files(convert, models, folder):
    shutil.copy(models / "sample.md2", models / "IMP.md2")
    status, _ = convert(models / "imp.md5mesh", models / "IMP.md2", "--to", folder / "out")
    assert status == 0
    assert len(contents(folder / "out")) == 2


def test_a_second_run_finds_the_results_of_the_first(convert, models, folder):
    convert(models, "--to", folder / "out")
    status, table = convert(models, "--to", folder / "OUT")
    assert status == 0
    row = next(line.split() for line in table.splitlines() if line.startswith("all"))
    assert row[1:4] == ["0", "2", "0"]


def test_results_in_a_folder_of_the_sources_are_not_converted_again(convert, models):
    convert(models, "--to", models / "out", "--format", "md5")
    before = contents(models)
    status, _ = convert(models, "--to", models / "OUT", "--format", "md5")
    assert status == 0
    assert contents(models) == before


def test_an_export_replaces_the_file_of_the_same_name_in_another_case(models):
    bpy.ops.import_scene.md5(filepath=str(models / "imp.md5mesh"))
    bpy.ops.export_scene.md5mesh(filepath=str(models / "IMP.md5mesh"))
    assert [path.name.lower() for path in models.iterdir()].count("imp.md5mesh") == 1
    assert len(read_mesh(models / "imp.md5mesh").joints) == len(md5_scenes.NAMES)
    assert not [path for path in models.iterdir() if path.name.startswith(".io_idtech")]
