"""After any edit of an imported armature, the export matches the evaluated meshes, at rest and in motion."""

from __future__ import annotations

import armature_edits
import bpy
import md5_compare
import mesh_edits
import pytest
import workbench
from installed import read_empty_scene
from workbench import Bench

pytestmark = pytest.mark.slow

# The settings of the import matter most here: bones have the axes of joints or not.
POINTS = workbench.starting_points()
# What makes vertices without weights: Blender leaves them where they are, a file must bind them to a joint.
BARE = {
    "deform off for bones without weights",
    "delete",
    "delete a root",
    "dissolve",
    "deform off",
    "swap vertex group names",
    "separate a bone",
}


def compared(folder, bench: Bench, name: str = "out", **options) -> md5_compare.Comparison:
    folder = folder / name
    folder.mkdir()
    bpy.context.view_layer.update()
    result = md5_compare.export_and_compare(folder, bench.armature, actions="ACTIVE", **bench.options, **options)
    assert result.clips
    return result


def assert_exact_unless_bare(result: md5_compare.Comparison, edit: str) -> None:
    if edit in BARE:
        md5_compare.assert_matches_blender(result)
    else:
        md5_compare.assert_exact(result)


@pytest.mark.parametrize(("name", "setting"), POINTS)
@pytest.mark.parametrize("edit", armature_edits.EDITS)
def test_an_edited_armature_is_exact_with_all_bones_and_with_those_that_deform(tmp_path, name, setting, edit):
    bench = workbench.bench_of(tmp_path, name, setting)
    before = workbench.scene_fingerprint(), bench.armature.name
    armature_edits.EDITS[edit](bench)
    bpy.context.view_layer.update()
    placed = bench.armature.matrix_world != bench.armature.matrix_world.Identity(4)
    rotates = [bone.use_inherit_rotation for bone in bench.armature.data.bones]
    assert (workbench.scene_fingerprint(), bench.armature.name) != before or placed or not all(rotates)
    assert_exact_unless_bare(compared(tmp_path, bench), edit)
    result = compared(tmp_path, bench, "deforming", deform_only=True)
    assert_exact_unless_bare(result, edit)
    assert len(result.model.names) == sum(bone.use_deform for bone in bench.armature.data.bones)


@pytest.mark.parametrize("name", ["sample", "robot"])
@pytest.mark.parametrize("edit", armature_edits.EDITS)
def test_an_edited_armature_with_an_edited_mesh_is_exact(tmp_path, name, edit):
    bench = workbench.bench_of(tmp_path, name)
    mesh_edits.EDITS["move one"](bench)
    armature_edits.EDITS[edit](bench)
    assert_exact_unless_bare(compared(tmp_path, bench), edit)


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("edit", ["roll", "head", "apply the pose as rest pose with the meshes", "scale applied"])
def test_two_exports_in_a_row_are_both_exact(tmp_path, setting, edit):
    bench = workbench.sample(tmp_path, setting)
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        armature_edits.EDITS[edit](bench)
        md5_compare.assert_exact(compared(folder, bench))


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("kind", ["roll", "tail", "rename", "subdivide", "object scaled"])
def test_an_edited_armature_that_is_exported_and_imported_again_is_exact(tmp_path, setting, kind):
    bench = workbench.sample(tmp_path, setting)
    armature_edits.EDITS[kind](bench)
    md5_compare.assert_exact(compared(tmp_path, bench))
    written = tmp_path / "out" / "exported.md5mesh"
    (clip,) = (tmp_path / "out").glob("*.md5anim")
    read_empty_scene()
    again = workbench.load([written, clip])
    folder = tmp_path / "again"
    folder.mkdir()
    md5_compare.assert_exact(compared(folder, again))
