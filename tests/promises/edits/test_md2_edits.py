"""After any edit of an imported MD2, the export matches the evaluated mesh in every frame."""

from __future__ import annotations

import bpy
import md2_compare
import mesh_edits
import pytest
import workbench
from md2_compare import assert_matches_blender, bench_of, compare
from md2_edits import EDITS

pytestmark = pytest.mark.slow


def edited(bench, edit):
    before = workbench.scene_fingerprint()
    mesh_edits.EDITS[edit](bench)
    bpy.context.view_layer.update()
    assert workbench.scene_fingerprint() != before, "nothing was edited"


@pytest.mark.parametrize("setting", md2_compare.SETTINGS)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_mesh_is_exact(tmp_path, setting, edit):
    bench = bench_of(tmp_path, "tube", setting)
    edited(bench, edit)
    assert_matches_blender(compare(tmp_path, **bench.options))


@pytest.mark.parametrize("name", md2_compare.REAL)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_real_model_is_exact(tmp_path, name, edit):
    bench = bench_of(tmp_path, name)
    edited(bench, edit)
    assert_matches_blender(compare(tmp_path, gl_texels=1.5))
