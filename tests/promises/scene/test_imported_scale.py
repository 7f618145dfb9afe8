"""Exports have the scale and axes of the import, by whichever way they are started, unless the user sets others."""

from __future__ import annotations

from pathlib import Path

import bpy
import md2_samples
import md3_samples
import md5_scenes
import numpy as np
import pytest
from enabled_families import EXPORTERS, FAMILIES, export_file
from md5_cameras import make_camera

from io_idtech.io_iqm.format import read_iqm, to_model
from io_idtech.io_md2.format import decompress, read_model
from io_idtech.io_md3 import format as md3
from io_idtech.io_md5.format import read_animation, read_camera, read_mesh, write_camera

KINDS = pytest.mark.parametrize("suffix", EXPORTERS)
TURNED = {"axis_forward": "X", "axis_up": "Z"}


def imported(folder: Path, suffix: str, **options) -> Path:
    """Writes and imports a file of a kind; an animation comes with its mesh."""
    folder.mkdir(exist_ok=True)
    if suffix == ".md2":
        path = md2_samples.write_sample(folder)
        bpy.ops.import_scene.md2(filepath=str(path), **options)
    elif suffix == ".md3":
        path = md3_samples.write_sample(folder)
        bpy.ops.import_scene.md3(filepath=str(path), **options)
    elif suffix == ".md5camera":
        path = folder / "intro.md5camera"
        write_camera(make_camera([7], 20, 24), path)
        bpy.ops.import_scene.md5(filepath=str(path), **options)
    else:
        walk = md5_scenes.animation(md5_scenes.skeleton())
        mesh = md5_scenes.write(folder, "hero", walk=walk)
        bpy.ops.import_scene.md5(filepath=str(mesh), animations="FOLDER", **options)
        path = folder / ("walk.md5anim" if suffix == ".md5anim" else "hero.md5mesh")
    return path


def places(path: Path) -> np.ndarray:
    """What of a file has a length."""
    if path.suffix == ".md2":
        model = read_model(path)
        return decompress(model.vertices, model.scale, model.translate)
    if path.suffix == ".md3":
        model = md3.read_model(path)
        return np.concatenate([md3.positions(one.vertices) for one in model.surfaces], axis=1)
    if path.suffix == ".md5camera":
        return read_camera(path).positions
    if path.suffix == ".md5mesh":
        return read_mesh(path).joints.positions
    if path.suffix == ".iqm":
        return to_model(read_iqm(path)).joints.positions
    animation = read_animation(path)
    return np.concatenate([animation.base_positions.ravel(), animation.frames.ravel()])


def size(path: Path) -> float:
    """The largest coordinate."""
    if path.suffix == ".md5anim":
        return float(np.abs(read_animation(path).base_positions).max())
    return float(np.abs(places(path)).max())


def exported(folder: Path, suffix: str, **options) -> Path:
    path = folder / f"out{suffix}"
    assert export_file(path, **options) == {"FINISHED"}
    return path


@pytest.fixture
def warnings(warned):
    """What was warned of the imported file since the last call."""
    return lambda: warned("imported file")


@KINDS
@pytest.mark.parametrize("scale", [0.0254, 10.0])
def test_an_export_has_the_size_and_the_axes_of_the_imported_file(tmp_path, warnings, suffix, scale):
    path = imported(tmp_path / "in", suffix, global_scale=scale, **TURNED)
    out = exported(tmp_path, suffix)
    assert places(out) == pytest.approx(places(path), abs=2e-4)
    assert warnings() == []


@KINDS
def test_what_was_imported_without_a_scale_is_not_exported_at_the_default_of_the_preferences(
    tmp_path, extension, suffix
):
    path = imported(tmp_path / "in", suffix)
    preferences = bpy.context.preferences.addons[extension.__name__].preferences
    preferences.default_scale = 0.0254
    try:
        assert places(exported(tmp_path, suffix)) == pytest.approx(places(path), abs=2e-4)
    finally:
        preferences.property_unset("default_scale")


@KINDS
def test_setting_another_scale_is_warned_about_once_with_the_difference_in_size(tmp_path, warnings, suffix):
    path = imported(tmp_path / "in", suffix, global_scale=0.0254)
    warnings()
    # The default of the property counts if it is set.
    out = exported(tmp_path, suffix, global_scale=1.0)
    # Positions of an MD3 have steps of 1/64.
    assert size(out) == pytest.approx(size(path) * 0.0254, rel=1e-4, abs=0.5 / 64 if suffix == ".md3" else 0.0)
    (text,) = warnings()
    assert "39.4 times smaller" in text
    assert "Scale to 39.37" in text
    exported(tmp_path, suffix, global_scale=500.0)
    (text,) = warnings()
    assert "12.7 times as large" in text
    exported(tmp_path, suffix, global_scale=39.37)
    assert warnings() == []


@KINDS
def test_setting_other_axes_is_warned_about_with_those_of_the_import(tmp_path, warnings, suffix):
    imported(tmp_path / "in", suffix, **TURNED)
    warnings()
    exported(tmp_path, suffix, axis_forward="-Y")
    (text,) = warnings()
    assert "turned" in text
    assert "X and Z" in text
    exported(tmp_path, suffix, **TURNED)
    assert warnings() == []


def test_an_object_that_is_scaled_back_to_the_size_of_the_file_is_no_reason_to_warn(tmp_path, warnings):
    imported(tmp_path / "in", ".md5mesh", global_scale=0.5)
    bpy.context.view_layer.objects.active.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    exported(tmp_path, ".md5mesh", global_scale=1.0)
    assert warnings() == []


def test_meshes_and_rigs_made_in_blender_follow_the_model_that_they_belong_to(tmp_path, warnings):
    path = imported(tmp_path / "in", ".md2", global_scale=0.0254)
    bpy.ops.mesh.primitive_cube_add(size=0.1)
    cube = bpy.context.view_layer.objects.active
    out = exported(tmp_path, ".md2")
    assert size(out) == pytest.approx(size(path), rel=0.05)
    bpy.data.objects.remove(cube)
    mesh = imported(tmp_path / "other", ".md5mesh", global_scale=0.0254)
    armature = bpy.context.view_layer.objects.active
    bpy.ops.mesh.primitive_cube_add(size=0.1)
    cube = bpy.context.view_layer.objects.active
    cube.modifiers.new("Armature", "ARMATURE").object = armature
    # In the units of its armature.
    out = exported(tmp_path, ".md2", use_selection=True)
    assert size(out) == pytest.approx(0.05 / 0.0254, rel=0.01)
    bpy.data.objects.remove(cube)
    # Another rig for the imported mesh.
    armature.data = armature.data.copy()
    del armature.data["md5"]
    bpy.context.view_layer.objects.active = armature
    assert size(exported(tmp_path, ".md5mesh")) == pytest.approx(size(mesh), rel=1e-4)
    assert warnings() == []


def two_models(folder: Path) -> None:
    for name, scale in (("Hero", 0.0254), ("Crate", 1.0)):
        imported(folder / name, ".md2", global_scale=scale)
        bpy.context.view_layer.objects.active.name = name
    # An active model is exported alone.
    bpy.context.view_layer.objects.active = None


def test_several_models_of_different_scales_in_one_export_are_an_error_that_names_them(tmp_path):
    two_models(tmp_path)
    with pytest.raises(RuntimeError, match=r"different scales: Crate with 1, Hero with 0.0254") as error:
        exported(tmp_path, ".md2")
    assert "set Scale" in str(error.value)
    assert not (tmp_path / "out.md2").exists()
    exported(tmp_path, ".md2", global_scale=1.0)
    bpy.context.view_layer.objects["Crate"].hide_set(True)
    exported(tmp_path, ".md2")


def test_a_mesh_of_a_model_of_another_scale_on_an_armature_is_an_error_that_names_both(tmp_path):
    imported(tmp_path / "Hero", ".md5mesh", global_scale=0.0254)
    hero = bpy.context.view_layer.objects.active
    hero.name = "Hero"
    imported(tmp_path / "Helmet", ".md5mesh")
    (helmet,) = bpy.context.view_layer.objects.active.children
    helmet.name, helmet.modifiers[0].object, helmet.parent = "Helmet", hero, hero
    bpy.context.view_layer.objects.active = hero
    with pytest.raises(RuntimeError, match=r"different scales: Hero with 0.0254.*Helmet with 1"):
        exported(tmp_path, ".md5mesh")


def test_cameras_of_different_scales_in_one_export_are_an_error_that_names_them(tmp_path):
    for name, scale, frame in (("first", 0.0254, 0), ("second", 1.0, 10)):
        imported(tmp_path / name, ".md5camera", global_scale=scale)
        camera = bpy.context.scene.camera
        camera.name = name
        bpy.context.scene.timeline_markers.new(name, frame=frame).camera = camera
    with pytest.raises(RuntimeError, match=r"different scales: first with 0.0254, second with 1"):
        exported(tmp_path, ".md5camera")


@pytest.mark.parametrize("family", ["md5", "md2"])
def test_the_exporter_of_a_collection_takes_the_scale_of_what_is_in_it(tmp_path, warnings, family):
    suffix = ".md5mesh" if family == "md5" else ".md2"
    layers = bpy.context.view_layer.layer_collection
    out = {}
    for name, scale in (("large", 10.0), ("small", 0.0254)):
        bpy.context.view_layer.active_layer_collection = layers
        made = bpy.data.collections.new(name)
        layers.collection.children.link(made)
        bpy.context.view_layer.active_layer_collection = layers.children[name]
        path = imported(tmp_path / name, suffix, global_scale=scale)
        bpy.ops.collection.exporter_add(name=f"IO_FH_{family}")
        out[name] = tmp_path / f"{name}{suffix}"
        made.exporters[0].export_properties.filepath = str(out[name])
    warnings()
    bpy.ops.wm.collection_export_all()
    assert warnings() == []
    for written in out.values():
        assert places(written) == pytest.approx(places(path), abs=2e-4)
    made.exporters[0].export_properties.global_scale = 1.0
    bpy.ops.collection.exporter_export(index=0)
    assert size(out["small"]) == pytest.approx(size(path) * 0.0254, rel=1e-3)
    (text,) = warnings()
    assert "39.4 times smaller" in text


@pytest.mark.parametrize("format_name", ["md5", "md2"])
def test_the_command_line_exports_a_blend_with_the_scale_of_the_import(tmp_path, part, capfd, format_name):
    suffix = ".md5mesh" if format_name == "md5" else ".md2"
    path = imported(tmp_path / "in", suffix, global_scale=0.0254)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    idtech = part("command_line.command").main
    words = ["convert", str(tmp_path / "hero.blend"), "--to", str(tmp_path / "out"), "--format", format_name]
    assert idtech(words) == 0
    assert "imported file" not in capfd.readouterr().err
    out = tmp_path / "out" / f"hero{suffix}"
    assert places(out) == pytest.approx(places(path), abs=2e-4)
    assert idtech([*words, "--scale", "1"]) == 0
    assert "39.4 times smaller" in capfd.readouterr().err
    assert size(out) == pytest.approx(size(path) * 0.0254, rel=1e-3)


def test_the_command_line_names_models_of_different_scales(tmp_path, part, capfd):
    two_models(tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    words = ["convert", str(tmp_path / "two.blend"), "--to", str(tmp_path / "out"), "--format", "md2"]
    assert part("command_line.command").main(words) == 1
    assert "different scales: Crate with 1, Hero with 0.0254" in "".join(capfd.readouterr())


class Dialog:
    """Stands for an operator whose dialog is open; its properties are real ones, not set yet."""

    def __init__(self, suffix: str) -> None:
        operators = [one for family in FAMILIES for one in family.blender().exporters]
        cls = next(one for one in operators if one.filename_ext == suffix)
        properties = bpy.context.window_manager.operator_properties_last(cls.bl_idname)
        for prop in properties.bl_rna.properties:
            if not prop.is_readonly:
                properties.property_unset(prop.identifier)
        vars(self).update(cls=cls, properties=properties)

    def __getattr__(self, name: str):
        for base in self.cls.__mro__:
            found = vars(base).get(name)
            if found is not None:
                return found.__get__(self) if callable(found) else found
        return getattr(self.properties, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.properties, name, value)


@KINDS
def test_the_dialog_shows_the_scale_and_axes_of_the_import(tmp_path, warnings, suffix):
    imported(tmp_path / "in", suffix, global_scale=0.0254, **TURNED)
    dialog = Dialog(suffix)
    opens = next(base for base in dialog.cls.__mro__ if base.__name__ == "ExportFile")
    with pytest.raises(TypeError):
        # The stand-in is no operator, so that no file browser opens.
        opens.invoke(dialog, bpy.context, None)
    shown = dialog.global_scale, dialog.axis_forward, dialog.axis_up
    assert shown == (pytest.approx(1.0 / 0.0254), "X", "Z")
    # What the dialog shows was not set by the user: the export finds out again what it exports.
    assert dialog.chosen_transform() == {}
    dialog.global_scale = 1.0
    assert dialog.chosen_transform() == {"global_scale": 1.0}


def test_the_dialog_shows_the_default_for_what_was_not_imported(extension):
    bpy.ops.mesh.primitive_cube_add()
    preferences = bpy.context.preferences.addons[extension.__name__].preferences
    preferences.default_scale = 0.25
    dialog = Dialog(".md2")
    dialog.set_default_transform(bpy.context)
    assert (dialog.global_scale, dialog.axis_forward, dialog.axis_up) == (4.0, "Y", "Z")
    preferences.property_unset("default_scale")


def test_a_panel_without_a_dialog_tells_the_scale_that_is_used(tmp_path):
    """Collection exporters have none."""
    imported(tmp_path / "in", ".md2", global_scale=0.5, **TURNED)
    dialog = Dialog(".md2")
    assert dialog.other_defaults() == ["2 (import)", "Forward X, Up Z (import)"]
    dialog.global_scale, dialog.axis_forward = 3.0, "-X"
    assert dialog.other_defaults() == []


def test_stored_scales_that_are_not_valid_count_as_unknown(tmp_path):
    for value in ("wide", 0.0, float("nan"), -1.0, 1e9):
        path = imported(tmp_path / "in", ".md5mesh", global_scale=0.5)
        armature = bpy.context.view_layer.objects.active
        for data in (armature.data, *(child.data for child in armature.children)):
            data["md5"]["global_scale"] = value
        exported(tmp_path, ".md5mesh", collection=armature.users_collection[0].name)
        assert size(tmp_path / "out.md5mesh") == pytest.approx(size(path) * 0.5, rel=1e-4)
