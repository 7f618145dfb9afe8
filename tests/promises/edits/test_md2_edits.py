"""Whatever is done to an imported MD2, the export is what Blender shows, in every frame."""

from __future__ import annotations

import bpy
import md2_compare
import mesh_edits
import pytest
import workbench
from md2_compare import assert_as_shown, bench_of, compare

pytestmark = pytest.mark.slow

NOT_FOR_MD2 = {
    # Of weights and armatures.
    "paint weights on seam vertices", "paint one side of a seam", "weights that do not add up to one", "smooth weights",
    "normalize and clean weights", "remove a vertex group", "reorder vertex groups", "sort vertex groups",
    "mirror vertex groups", "bind anew with automatic weights", "parent inverse", "join with a new mesh",
    "shape key with a vertex group",
    # See test_md2_animation: keys of an imported model are frames.
    "shape key without a value", "shape key pinned", "absolute shape keys", "shape key muted",
    "basis edited under a shape key", "shape key with a value",
}  # fmt: skip
EDITS = [name for name in mesh_edits.EDITS if name not in NOT_FOR_MD2]


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
    assert_as_shown(compare(tmp_path, **bench.options))


@pytest.mark.parametrize("name", md2_compare.REAL)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_real_model_is_exact(tmp_path, name, edit):
    bench = bench_of(tmp_path, name)
    edited(bench, edit)
    assert_as_shown(compare(tmp_path))
