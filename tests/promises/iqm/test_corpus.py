"""Real IQM files in Blender: what they show is there, and untouched they come back byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import iqm_specification as specification
import numpy as np
import pytest

from io_idtech.io_iqm.format import ArrayType, read_iqm

ROOT = Path(__file__).resolve().parents[3]
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS") or ROOT.parent / "shared" / "corpus")
PATHS = sorted(CORPUS.glob("iqm/**/*.iqm"))
MODELS = [path for path in PATHS if read_iqm(path).meshes]
ALONE = [path for path in PATHS if path not in MODELS]

pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not PATHS, reason=f"no IQM files at {CORPUS} (IO_IDTECH_CORPUS)")]


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def load(path, **options):
    options = {"animations": "NONE"} | options
    assert bpy.ops.import_scene.iqm(filepath=str(path), **options) == {"FINISHED"}


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_an_untouched_model_comes_back_byte_for_byte(path, merge, tmp_path):
    load(path, merge_vertices=merge)
    out = tmp_path / "out.iqm"
    assert bpy.ops.export_scene.iqm(filepath=str(out), actions="ALL") == {"FINISHED"}
    assert out.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", ALONE, ids=name_of)
def test_an_untouched_animation_of_a_file_of_its_own_comes_back_byte_for_byte(path, tmp_path):
    count = len(read_iqm(path).pose_parents)
    model = next(other for other in MODELS if other.parent == path.parent and len(read_iqm(other).joint_names) == count)
    assert bpy.ops.import_scene.iqm(
        directory=str(path.parent), files=[{"name": model.name}, {"name": path.name}], animations="NONE"
    ) == {"FINISHED"}
    out = tmp_path / "out.iqm"
    assert bpy.ops.export_scene.iqm(filepath=str(out), actions="ALL", animation_files="SEPARATE") == {"FINISHED"}
    assert out.read_bytes() == model.read_bytes()
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
