"""What all file operators share: extensions, default names, the scale of the preferences, relative paths."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import md2_samples
import md5_scenes
import needs
import pytest
from enabled_families import EXPORTERS, IMPORTERS, OPERATORS, import_file, operator
from installed import MODULE

from io_idtech.io_md2.format import read_model
from io_idtech.io_md5.format import read_mesh


@pytest.fixture
def walker(tmp_path: Path) -> Path:
    """An imported model, with an action and a camera in its scene."""
    path = md5_scenes.write(tmp_path, "walker")
    bpy.ops.import_scene.md5(filepath=str(path))
    armature = bpy.context.view_layer.objects.active
    armature.keyframe_insert("location", frame=0)
    armature.animation_data.action.name = "stroll"
    bone = armature.pose.bones[0]
    bone.rotation_mode = "QUATERNION"
    bone.keyframe_insert("rotation_quaternion", frame=0)
    camera = bpy.data.objects.new("shot", bpy.data.cameras.new("shot"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    bpy.context.scene.frame_end = 3
    return path


@pytest.fixture
def preferences(extension):
    """The add-on's preferences, put back afterwards."""
    given = bpy.context.preferences.addons[extension.__name__].preferences
    yield given
    given.property_unset("default_scale")


def operator_class(name: str) -> Any:
    module, _, operator = name.partition(".")
    return getattr(bpy.types, f"{module.upper()}_OT_{operator}")


def positions(path: Path):
    return read_mesh(path).joints.positions


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_the_ending_is_added_when_missing_and_kept_when_there(walker, tmp_path, suffix):
    export = operator(EXPORTERS[suffix])
    for given, written in (
        ("plain", f"plain{suffix}"),
        ("v1.2", f"v1.2{suffix}"),
        (f"whole{suffix.upper()}", f"whole{suffix.upper()}"),
    ):
        export(filepath=str(tmp_path / given))
        assert (tmp_path / written).exists()


def test_paths_relative_to_the_blend_are_understood(walker, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.export_scene.md5mesh(filepath="//copy.md5mesh")
    bpy.ops.import_scene.md5(filepath="//copy.md5mesh")
    bpy.ops.import_scene.md5(directory="//", files=[{"name": "copy.md5mesh"}], filepath="//copy.md5mesh")
    assert {"copy", "copy.001"} <= set(bpy.data.collections.keys())


def test_names_are_offered_after_what_is_exported(walker):
    expected = {
        "md5mesh": "walker",
        "md5anim": "stroll",
        "md5camera": "shot",
        "md2": bpy.context.view_layer.objects.active.name,
    }
    for kind, name in expected.items():
        assert operator_class(f"export_scene.{kind}").default_name(None, bpy.context) == name


def invoked(name: str, *, filepath: str = "", given: tuple[str, ...] = ()) -> SimpleNamespace:
    """An export operator that opened its file browser with the path of the last export, or one that was given.

    Without a window no operator is invoked. Blender tells remembered values from given ones by `is_property_set`.
    """
    cls = operator_class(name)
    unset: list[str] = []
    stand = SimpleNamespace(
        bl_idname=cls.bl_idname, filename_ext=cls.filename_ext, filepath=filepath, unset=unset, collection="",
        actions="ALL", frames="AUTO", attached_armatures="AUTOMATIC", use_selection=False, use_active_collection=False,
        set_default_transform=lambda context: None, default_game=lambda: None,
        properties=SimpleNamespace(is_property_set=lambda name: name in given, property_unset=unset.append),
    )  # fmt: skip
    stand.default_name = lambda context: cls.default_name(stand, context)
    for owner in cls.__mro__:
        if "invoke" in vars(owner) and owner.__module__.startswith(MODULE):
            # The stand-in is no operator, so that no file browser opens.
            with pytest.raises(TypeError):
                vars(owner)["invoke"](stand, bpy.context, None)
    return stand


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_the_name_of_the_last_export_is_not_offered_but_its_folder_is(walker, tmp_path, suffix):
    name = EXPORTERS[suffix].removeprefix("bpy.ops.")
    last = str(tmp_path / "elsewhere" / f"another{suffix}")
    expected = Path(invoked(name).filepath).name
    assert expected not in ("", f"another{suffix}")
    assert invoked(name, filepath=last).filepath == str(tmp_path / "elsewhere" / expected)
    assert invoked(name, filepath=last, given=("filepath",)).filepath == last


def test_a_second_model_is_offered_under_its_own_name(tmp_path):
    for name in ("hero", "zombie"):
        bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, name)))
        path = invoked("export_scene.md5mesh", filepath=str(tmp_path / "hero.md5mesh")).filepath
        assert path == str(tmp_path / f"{name}.md5mesh")
    sample = md2_samples.write_sample(tmp_path)
    bpy.ops.import_scene.md2(filepath=str(sample))
    model = bpy.context.view_layer.objects.active
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.parent = model
    assert Path(invoked("export_scene.md2", filepath=str(tmp_path / "a.md2")).filepath).stem == model.name


@pytest.mark.parametrize("name", ["md5mesh", "md5anim"])
def test_the_last_choice_of_actions_is_offered_for_the_same_armature_only(tmp_path, name):
    armatures = []
    for model in ("hero", "zombie"):
        path = md5_scenes.write(tmp_path, model, run=md5_scenes.animation(md5_scenes.skeleton()))
        bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
        armatures.append(bpy.context.view_layer.objects.active)
    view_layer = bpy.context.view_layer
    view_layer.objects.active = armatures[0]
    getattr(bpy.ops.export_scene, name)(filepath=str(tmp_path / f"out.{name}"), actions="ALL")
    assert invoked(f"export_scene.{name}").unset == []
    view_layer.objects.active = armatures[1]
    assert invoked(f"export_scene.{name}").unset == ["actions"]
    assert invoked(f"export_scene.{name}", given=("actions",)).unset == []
    view_layer.objects.active = armatures[0]
    armatures[0].name = "renamed"
    assert invoked(f"export_scene.{name}").unset == []


def test_the_default_scale_is_applied_on_import_and_undone_on_export(tmp_path, preferences):
    path = md5_scenes.write(tmp_path)
    preferences.default_scale = 4.0
    bpy.ops.import_scene.md5(filepath=str(path))
    armature = bpy.context.view_layer.objects.active
    largest = max(bone.matrix_local.translation.length for bone in armature.data.bones)
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "back.md5mesh"))
    assert largest == pytest.approx(4 * max((positions(path) ** 2).sum(1)) ** 0.5, rel=1e-5)
    assert positions(tmp_path / "back.md5mesh") == pytest.approx(positions(path), abs=1e-5)


def test_an_explicit_scale_overrides_the_default(tmp_path, preferences):
    path = md5_scenes.write(tmp_path)
    preferences.default_scale = 4.0
    bpy.ops.import_scene.md5(filepath=str(path), global_scale=1.0)
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "back.md5mesh"), global_scale=2.0)
    assert positions(tmp_path / "back.md5mesh") == pytest.approx(2 * positions(path), abs=1e-5)


def test_the_default_scale_holds_for_md2_too(tmp_path, preferences):
    path = md2_samples.write_sample(tmp_path)
    preferences.default_scale = 0.25
    bpy.ops.import_scene.md2(filepath=str(path))
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "back.md2"))
    before, after = read_model(path), read_model(tmp_path / "back.md2")
    assert after.scale == pytest.approx(before.scale, rel=1e-5)


@needs.pipes
@pytest.mark.parametrize("suffix", IMPORTERS)
def test_pipes_and_devices_are_not_imported(tmp_path, suffix):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"device{suffix}").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        with pytest.raises(RuntimeError, match="not a regular file"):
            import_file(tmp_path / f"{name}{suffix}")


@pytest.mark.parametrize("start", [-(2**31), 2**31 - 1])
def test_any_start_frame_that_can_be_asked_for_is_possible(tmp_path, start):
    walk = md5_scenes.animation(md5_scenes.model().joints)
    path = md5_scenes.write(tmp_path, walk=walk)
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER", frame_start=start)
    bpy.ops.import_scene.md2(filepath=str(md2_samples.write_sample(tmp_path)), frame_start=start)


def test_nothing_of_a_new_mesh_is_selected_in_edit_mode(tmp_path):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path)))
    bpy.ops.import_scene.md2(filepath=str(md2_samples.write_sample(tmp_path)))
    for mesh in bpy.data.meshes:
        for part in (mesh.vertices, mesh.edges, mesh.polygons):
            assert not any(element.select for element in part)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["", ".", "folder/", "folder/..", "folder"])
@pytest.mark.parametrize("name", OPERATORS)
def test_a_path_without_a_file_is_an_error(walker, tmp_path, monkeypatch, name, given):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RuntimeError, match=r"no file selected|this is a folder"):
        operator(name)(filepath=given)
    assert sorted(tmp_path.rglob("*")) == before
