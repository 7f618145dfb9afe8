"""Files dropped onto the window, and exporters of collections."""

from __future__ import annotations

import bpy
import md5_scenes
import numpy as np
from enabled_families import FAMILIES, operator

from io_idtech.io_md5.format import read_animation, read_mesh, write_animation


def test_file_handlers_know_their_files_and_operators():
    taken = {}
    for family in FAMILIES:
        handler = getattr(bpy.types, f"IO_FH_{family.name}")
        taken[family.name] = handler.bl_file_extensions.split(";")
        assert taken[family.name] == list(family.suffixes)
        for idname in (handler.bl_import_operator, handler.bl_export_operator):
            assert operator(idname).get_rna_type() is not None
    assert taken["md5"] == [".md5mesh", ".md5anim", ".md5camera"]
    assert taken["md2"] == [".md2"]


def test_a_model_and_animations_dropped_together_become_one_model_with_actions(tmp_path):
    path = md5_scenes.write(tmp_path)
    for name in ("walk", "run"):
        write_animation(md5_scenes.animation(read_mesh(path).joints), tmp_path / f"{name}.md5anim")
    # What a drop hands over: the folder, all names, and one of them as the path.
    names = ["run.md5anim", "test.md5mesh", "walk.md5anim"]
    bpy.ops.import_scene.md5(
        filepath=str(tmp_path / names[0]), directory=str(tmp_path), files=[{"name": name} for name in names]
    )
    (armature,) = (obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert {action.name for action in bpy.data.actions} == {"walk", "run"}
    assert armature.animation_data.action is not None


def test_models_of_one_skeleton_dropped_with_an_animation_all_move(tmp_path):
    man, armour = md5_scenes.write(tmp_path, "man"), md5_scenes.write(tmp_path, "armour")
    write_animation(md5_scenes.animation(read_mesh(man).joints), tmp_path / "walk.md5anim")
    names = [man.name, armour.name, "walk.md5anim"]
    bpy.ops.import_scene.md5(directory=str(tmp_path), files=[{"name": name} for name in names])
    armatures = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    actions = {obj.animation_data.action for obj in armatures}
    assert len(armatures) == len(actions) == 2
    for obj in armatures:
        bpy.context.view_layer.objects.active = obj
        bpy.ops.export_scene.md5anim(filepath=str(tmp_path / f"{obj.name}_out"), collection=obj.name)
    out = [read_animation(tmp_path / f"{name}_out.md5anim").frames for name in ("man", "armour")]
    assert np.allclose(*out, atol=1e-5)


def test_a_collection_exports_itself(tmp_path):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "walker")))
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "other")))
    layer = bpy.context.view_layer.layer_collection.children["walker"]
    bpy.context.view_layer.active_layer_collection = layer
    for name, target in (("IO_FH_md5", "exported.md5mesh"), ("IO_FH_md2", "exported.md2")):
        bpy.ops.collection.exporter_add(name=name)
        layer.collection.exporters[-1].export_properties.filepath = str(tmp_path / target)
    bpy.ops.collection.exporter_export(index=0)
    bpy.ops.collection.exporter_export(index=1)
    assert read_mesh(tmp_path / "exported.md5mesh").joints.names == md5_scenes.NAMES
    assert (tmp_path / "exported.md2").read_bytes()[:4] == b"IDP2"


def test_the_scene_collection_exports_the_scene(tmp_path):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "walker")))
    out = tmp_path / "out.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out), collection=bpy.context.scene.collection.name)
    assert len(read_mesh(out).meshes) == 1


def test_export_all_writes_every_collection_beside_the_blend_with_its_animations(tmp_path):
    joints = md5_scenes.model().joints
    clips = {name: md5_scenes.animation(joints) for name in ("walk", "run")}
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "walker", **clips)), animations="FOLDER")
    out = tmp_path / "out"
    out.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(out / "scene.blend"))
    layer = bpy.context.view_layer.layer_collection.children["walker"]
    bpy.context.view_layer.active_layer_collection = layer
    for name in ("IO_FH_md5", "IO_FH_md2"):
        bpy.ops.collection.exporter_add(name=name)
    # Nobody chose a path: the exporters' own names are those of the collection.
    layer.collection.exporters[0].export_properties.actions = "ALL"
    bpy.ops.wm.collection_export_all()
    written = {path.name for path in out.iterdir()} - {"scene.blend"}
    assert written == {"walker.md5mesh", "walker.md2", "walk.md5anim", "run.md5anim"}
