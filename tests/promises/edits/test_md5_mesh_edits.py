"""After any edit of an imported mesh, the export matches the evaluated mesh, at rest and in motion."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy
import md5_compare
import mesh_edits
import pytest
import workbench
from installed import read_empty_scene
from workbench import Bench

pytestmark = pytest.mark.slow

# The axes of bones matter little to meshes.
POINTS = workbench.starting_points(sampled=("merged", "unmerged joint axes", "scaled and turned"))


def compared(folder, bench: Bench) -> md5_compare.Comparison:
    folder = folder / "out"
    folder.mkdir()
    result = md5_compare.export_and_compare(folder, bench.armature, actions="ACTIVE", **bench.options)
    assert result.clips
    return result


def assert_exact_unless_bare(result: md5_compare.Comparison, edit: str) -> None:
    if edit in mesh_edits.WITHOUT_WEIGHTS:
        md5_compare.assert_matches_blender(result)
    else:
        md5_compare.assert_exact(result)


@pytest.mark.parametrize(("name", "setting"), POINTS)
@pytest.mark.parametrize("edit", mesh_edits.EDITS)
def test_an_edited_mesh_is_exact(tmp_path, name, setting, edit):
    bench = workbench.bench_of(tmp_path, name, setting)
    before = workbench.scene_fingerprint()
    mesh_edits.EDITS[edit](bench)
    bpy.context.view_layer.update()
    was_edited = workbench.scene_fingerprint() != before
    assert was_edited or edit in mesh_edits.MAY_GIVE_THE_SAME, "nothing was edited"
    assert_exact_unless_bare(compared(tmp_path, bench), edit)


@pytest.mark.parametrize("edit", mesh_edits.EDITS)
def test_an_edited_mesh_of_blenders_own_on_an_imported_armature_is_exact(tmp_path, edit):
    bench = workbench.sample(tmp_path)
    own = bench.mesh.copy()
    names = [group.name for group in own.vertex_groups]
    own.data = bpy.data.meshes.new("Own")
    for name in names:
        own.vertex_groups.new(name=name)
    copied = bmesh.new()
    copied.from_mesh(bench.mesh.data)
    copied.to_mesh(own.data)
    copied.free()
    for attribute in list(own.data.attributes):
        if attribute.name.startswith("md5"):
            own.data.attributes.remove(attribute)
    bpy.context.scene.collection.objects.link(own)
    own.data.materials.append(bpy.data.materials.new("own"))
    own.name = "Own"
    bpy.data.objects.remove(bench.meshes.pop(0))
    bench.meshes.insert(0, own)
    mesh_edits.EDITS[edit](bench)
    bpy.context.view_layer.update()
    assert_exact_unless_bare(compared(tmp_path, bench), edit)


@pytest.mark.parametrize(("name", "setting"), POINTS)
@pytest.mark.parametrize("kind", mesh_edits.MODIFIERS)
@pytest.mark.parametrize("applied", [False, True], ids=["live", "applied"])
def test_modifiers_before_the_armature_are_exact(tmp_path, name, setting, kind, applied):
    bench = workbench.bench_of(tmp_path, name, setting)
    modifier = mesh_edits.add_modifier(bench.mesh, kind)
    if applied:
        with workbench.mode(bench.mesh, "OBJECT"):
            bpy.ops.object.modifier_apply(modifier=modifier.name)
    assert_exact_unless_bare(compared(tmp_path, bench), kind)


@pytest.mark.parametrize(
    "pair", [("move one", "subdivide"), ("duplicate and edit", "move one"), ("split", "move seam")]
)
@pytest.mark.parametrize(("name", "setting"), workbench.starting_points(("sample",)))
def test_two_exports_in_a_row_are_both_exact(tmp_path, name, setting, pair):
    bench = workbench.bench_of(tmp_path, name, setting)
    for number, edit in enumerate(pair):
        mesh_edits.EDITS[edit](bench)
        folder = tmp_path / str(number)
        folder.mkdir()
        md5_compare.assert_matches_blender(compared(folder, bench))


def _no_change(bench: Bench) -> None:
    """Nothing at all."""


def _hidden_faces(bench: Bench) -> None:
    with workbench.edit_mesh(bench.mesh, "two faces", "FACE"):
        bpy.ops.mesh.hide()


def _edit_mode(bench: Bench) -> None:
    workbench.activate(bench.mesh)
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(bench.mesh.data)
    mesh.verts.ensure_lookup_table()
    mesh.verts[2].co.x += 2.0
    bmesh.update_edit_mesh(bench.mesh.data)


def _new_scene_copy(bench: Bench) -> None:
    bpy.ops.scene.new(type="FULL_COPY")
    bench.armature = next(obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE")


def _saved_and_opened(bench: Bench) -> None:
    path = bpy.path.ensure_ext(bpy.app.tempdir + "edits", ".blend")
    names = [obj.name for obj in bench.meshes], bench.armature.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bench.meshes = [bpy.data.objects[name] for name in names[0]]
    bench.armature = bpy.data.objects[names[1]]


SITUATIONS: dict[str, Callable[[Bench], None]] = {
    "nothing": _no_change,
    "hidden faces": _hidden_faces,
    "edit mode": _edit_mode,
    "a full copy of the scene": _new_scene_copy,
    "saved and opened": _saved_and_opened,
}


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_situations_are_exact(tmp_path, setting, situation):
    bench = workbench.sample(tmp_path, setting)
    SITUATIONS[situation](bench)
    md5_compare.assert_exact(compared(tmp_path, bench))


@pytest.mark.parametrize("setting", workbench.SETTINGS)
def test_a_model_appended_to_another_file_is_exact(tmp_path, setting):
    bench = workbench.sample(tmp_path, setting)
    mesh_edits.EDITS["move one"](bench)
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {bpy.context.scene})
    read_empty_scene()
    other = workbench.sample(tmp_path, setting)
    for obj in [*other.meshes, other.armature]:
        bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(library) as (there, into):
        into.objects = there.objects
    for obj in into.objects:
        bpy.context.scene.collection.objects.link(obj)
    armature = next(obj for obj in into.objects if obj.type == "ARMATURE")
    bench = Bench(armature, [obj for obj in into.objects if obj.type == "MESH"], other.options)
    md5_compare.assert_exact(compared(tmp_path, bench))


@pytest.mark.parametrize("actions", ["NONE", "ACTIVE"])
def test_two_imported_models_joined_into_one_rig_are_exact(tmp_path, actions):
    """The second model's meshes are bound to the first one's armature, whose joints have the same names."""
    (tmp_path / "b").mkdir()
    bench, other = workbench.sample(tmp_path), workbench.sample(tmp_path / "b", "unmerged joint axes")
    workbench.activate(bench.armature, other.armature)
    other.armature.animation_data_clear()
    bpy.ops.object.join()
    for obj in other.meshes:
        obj.modifiers[0].object = bench.armature
    (tmp_path / "out").mkdir()
    result = md5_compare.export_and_compare(tmp_path / "out", bench.armature, actions=actions)
    md5_compare.assert_matches_blender(result)
