"""Undo and redo after each operator do what they do after Blender's own importers and exporters."""

from __future__ import annotations

import bpy
import md5_scenes
import pytest
from enabled_families import EXPORTERS, IMPORTERS, operator, write_samples
from scripted_scenes import rig, tube
from whole_state import whole_state

pytestmark = pytest.mark.slow

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
OWN = ".obj"  # of Blender
IMPORTS = (*IMPORTERS, OWN)
EXPORTS = (*EXPORTERS, OWN)


@pytest.fixture
def folder(tmp_path):
    write_samples(tmp_path)
    for suffix in (".md5mesh", ".md5anim"):
        # Of one skeleton, unlike the samples.
        (tmp_path / f"sample{suffix}").unlink()
    md5_scenes.write(tmp_path, walk=md5_scenes.animation(md5_scenes.skeleton()))
    (tmp_path / "plain.obj").write_text(OBJ)
    return tmp_path


def importing(kind, folder):
    """Imports as the user does: with a step of undo."""
    if kind == OWN:
        return bpy.ops.wm.obj_import("EXEC_DEFAULT", True, filepath=str(folder / "plain.obj"))
    path = next(folder.glob(f"*{kind}"))
    return operator(IMPORTERS[kind])("EXEC_DEFAULT", True, filepath=str(path))


def exporting(kind, folder):
    if kind == OWN:
        return bpy.ops.wm.obj_export("EXEC_DEFAULT", True, filepath=str(folder / "out.obj"))
    return operator(EXPORTERS[kind])("EXEC_DEFAULT", True, filepath=str(folder / f"out{kind}"))


def users_scene(mode="OBJECT", of_model=None):
    """A model, a camera, and two steps that can be undone."""
    if of_model is None:
        mesh = tube(rig())
    else:
        bpy.ops.import_scene.md5(filepath=str(of_model))
        mesh = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    bpy.context.view_layer.objects.active = mesh
    mesh.select_set(True)
    bpy.ops.ed.undo_push(message="a scene")
    if mode != "OBJECT":
        bpy.ops.object.mode_set("EXEC_DEFAULT", True, mode=mode)
    return mesh


def seen():
    """What undo is expected to bring back; user counts are Blender's own affair."""
    state = whole_state()
    for name, rows in state.items():
        if rows and isinstance(rows, list) and isinstance(rows[0], tuple) and len(rows[0]) == 3:
            state[name] = [row[0] for row in rows]
    return state


# Blender's own leave other modes for good, or refuse to run in them.
MODES = [(kind, mode) for kind in IMPORTS for mode in ("OBJECT", "EDIT", "WEIGHT_PAINT")
         if kind != OWN or mode == "OBJECT"]  # fmt: skip


@pytest.mark.parametrize(("kind", "mode"), MODES)
def test_an_import_is_one_step(folder, kind, mode):
    users_scene(mode, of_model=folder / "test.md5mesh" if kind == ".md5anim" else None)
    before = seen()
    assert importing(kind, folder) == {"FINISHED"}
    after = seen()
    assert after != before
    bpy.ops.ed.undo()
    assert seen() == before
    bpy.ops.ed.redo()
    assert seen() == after
    bpy.ops.ed.undo()
    assert importing(kind, folder) == {"FINISHED"}
    assert seen() == after


@pytest.mark.parametrize(("kind", "mode"), [
    (kind, mode) for kind in EXPORTS for mode in ("OBJECT", "EDIT", "WEIGHT_PAINT")
    if kind != OWN or mode == "OBJECT"
])  # fmt: skip
def test_an_export_adds_no_undo_step(folder, kind, mode):
    mesh = users_scene(mode)
    if mode == "EDIT":
        bpy.ops.mesh.select_all("EXEC_DEFAULT", True, action="SELECT")
        bpy.ops.mesh.subdivide("EXEC_DEFAULT", True)
    else:
        bpy.context.scene.frame_set(5)
        bpy.ops.ed.undo_push(message="frame")
    after = seen()
    count = len(mesh.data.vertices)
    assert exporting(kind, folder) == {"FINISHED"}
    assert seen() == after
    bpy.ops.ed.undo()
    undone = seen()
    assert undone["mode"] == after["mode"]
    if mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
        assert len(bpy.data.objects["Tube"].data.vertices) == count
    else:
        assert undone["scene"][0] == 1


def test_a_refused_import_adds_no_undo_step(folder):
    users_scene()
    bpy.context.scene.frame_set(5)
    bpy.ops.ed.undo_push(message="frame")
    (folder / "bad.md5mesh").write_text("MD5Version 10")
    with pytest.raises(RuntimeError):
        bpy.ops.import_scene.md5("EXEC_DEFAULT", True, filepath=str(folder / "bad.md5mesh"))
    bpy.ops.ed.undo()
    assert bpy.context.scene.frame_current == 1
