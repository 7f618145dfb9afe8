"""Every script of a real model builds a character."""

from __future__ import annotations

import bpy
import pytest
from paths import CORPUS

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


def scripts(name: str):
    found = sorted(CORPUS.rglob(name)) if CORPUS.is_dir() else []
    return [
        pytest.param(path, id=path.relative_to(CORPUS).as_posix())
        for path in found
        # Two lack their model in the corpus.
        if path.parent.name not in ("misc", "debris")
    ] or [pytest.param(None, marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]


@pytest.mark.parametrize("path", [*scripts("md5.cfg"), *scripts("md2.cfg")])
def test_every_script_of_a_model_builds_a_character_that_comes_back(path, tmp_path):
    project = CORPUS.joinpath(*path.relative_to(CORPUS).parts[:2])
    name = path.parent.relative_to(project).as_posix()
    assert bpy.ops.import_scene.idtech_character(game=str(project), name=name) == {"FINISHED"}
    root = bpy.context.view_layer.objects.active
    declared = path.read_text(encoding="latin-1")
    if "md5anim" in declared and "if (" not in declared:
        assert bpy.data.actions
    assert root.type in ("ARMATURE", "MESH")
    assert bpy.ops.export_scene.idtech_character(directory=str(tmp_path)) == {"FINISHED"}
    assert list(tmp_path.rglob(path.name))
