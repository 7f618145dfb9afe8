"""An internal error is reported as such, with where to send it; the .blend is unchanged and the traceback printed."""

from __future__ import annotations

import bpy
import md2_samples
import md5_samples
import md5_scenes
import pytest
from damaged_files import scene_in_edit_mode
from enabled_families import EXPORTERS, IMPORTERS, export_file, import_file, write_samples
from scripted_scenes import add_camera
from whole_state import whole_state


def spoil(monkeypatch, module, name, after=0):
    """Has a function of the extension fail from its call number `after` on."""
    original, calls = getattr(module, name), []

    def fails(*arguments, **options):
        calls.append(name)
        if len(calls) > after:
            raise KeyError("no such thing")
        return original(*arguments, **options)

    monkeypatch.setattr(module, name, fails)


def assert_reported_and_undone(call, path, capfd):
    """The report of a failing operator: whose fault, which file, where to; and all that there was."""
    before = whole_state()
    capfd.readouterr()
    with pytest.raises(RuntimeError) as caught:
        call(path)
    text = str(caught.value)
    assert path.name in text
    assert "internal error of the add-on" in text
    assert "KeyError: 'no such thing'" in text
    assert "The io_idtech developers" in text
    shown = capfd.readouterr().err
    assert "Traceback" in shown
    assert "in fails" in shown
    assert whole_state() == before


def by(operator):
    """A function that runs an operator on a file."""
    return lambda path: operator(filepath=str(path))


@pytest.fixture
def model(tmp_path):
    animation = md5_scenes.animation(md5_scenes.skeleton())
    (tmp_path / "shot.md5camera").write_text(md5_samples.CAMERA)
    return md5_scenes.write(tmp_path, walk=animation)


@pytest.mark.parametrize(
    ("module", "name", "after"),
    [
        ("io_md5.importing.importer", "read_mesh", 0),
        ("io_blender.skeletal.importing.model", "build_armature", 0),
        ("io_blender.skeletal.importing.model", "build_mesh", 0),
        ("io_blender.skeletal.importing.model", "add_vertex_groups", 0),
        ("io_blender.skeletal.importing.model", "_store_joints", 0),
        ("io_blender.materials.library", "build_nodes", 0),
    ],
)
def test_import_of_a_model(part, monkeypatch, capfd, model, module, name, after):
    scene_in_edit_mode()
    spoil(monkeypatch, part(module), name, after)
    assert_reported_and_undone(by(bpy.ops.import_scene.md5), model, capfd)


@pytest.mark.parametrize(
    ("module", "name"),
    [("io_blender.skeletal.importing.action", "build_action"), ("io_md5.importing.importer", "set_scene_timing")],
)
def test_import_of_an_animation_onto_the_users_armature(part, monkeypatch, capfd, model, module, name):
    bpy.ops.import_scene.md5(filepath=str(model))
    bpy.context.object.pose.bones["spine"].rotation_mode = "XYZ"
    spoil(monkeypatch, part(module), name)
    assert_reported_and_undone(by(bpy.ops.import_scene.md5), model.with_name("walk.md5anim"), capfd)


def test_import_of_an_animation_onto_an_armature_that_plays_another(part, monkeypatch, capfd, model):
    bpy.ops.import_scene.md5(filepath=str(model))
    bpy.ops.import_scene.md5(filepath=str(model.with_name("walk.md5anim")))
    bpy.context.scene.frame_set(2)
    spoil(monkeypatch, part("io_md5.importing.importer"), "set_scene_timing")
    assert_reported_and_undone(by(bpy.ops.import_scene.md5), model.with_name("walk.md5anim"), capfd)


def test_import_of_a_camera(part, monkeypatch, capfd, model):
    scene_in_edit_mode()
    spoil(monkeypatch, part("io_md5.importing.camera"), "store_camera")
    assert_reported_and_undone(by(bpy.ops.import_scene.md5), model.with_name("shot.md5camera"), capfd)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("io_blender.frames.models", "add_frame_keys"),
        ("io_blender.frames.models", "build_frame_action"),
        ("io_blender.frames.models", "add_markers"),
    ],
)
def test_import_of_an_md2(part, monkeypatch, capfd, tmp_path, module, name):
    scene_in_edit_mode()
    spoil(monkeypatch, part(module), name)
    assert_reported_and_undone(by(bpy.ops.import_scene.md2), md2_samples.write_sample(tmp_path), capfd)


@pytest.mark.parametrize(
    ("operator", "ending", "module", "name"),
    [
        ("md5mesh", "md5mesh", "io_blender.skeletal.exporting.build", "export_object"),
        ("md5mesh", "md5mesh", "io_md5.exporting", "format_mesh"),
        ("md5anim", "md5anim", "io_blender.skeletal.exporting.build", "encode_clip"),
        ("md5camera", "md5camera", "io_md5.exporting.camera", "format_camera"),
        ("md2", "md2", "io_md2.exporting", "sample_frames"),
        ("md2", "md2", "io_md2.format", "format_model"),
        ("md3", "md3", "io_md3.exporting", "sample_frames"),
    ],
)
def test_exports(part, monkeypatch, capfd, tmp_path, operator, ending, module, name):
    scene_in_edit_mode()
    add_camera()
    spoil(monkeypatch, part(module), name)
    path = tmp_path / f"out.{ending}"
    assert_reported_and_undone(by(getattr(bpy.ops.export_scene, operator)), path, capfd)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", IMPORTERS)
def test_an_import_of_any_kind_that_fails_after_its_last_step(part, monkeypatch, capfd, tmp_path, suffix):
    scene_in_edit_mode(has_armature=False)
    rollback = part("io_blender.operators.job_operator")
    original = rollback.all_or_nothing

    def fails(context, job):
        def fails_late():
            yield from job
            raise KeyError("no such thing")

        return original(context, fails_late())

    monkeypatch.setattr(rollback, "all_or_nothing", fails)
    assert_reported_and_undone(import_file, write_samples(tmp_path)[suffix], capfd)


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_an_export_of_any_kind_that_fails_while_writing(part, monkeypatch, capfd, tmp_path, suffix):
    scene_in_edit_mode()
    add_camera()
    spoil(monkeypatch, part("io_common.files"), "_stage")
    assert_reported_and_undone(export_file, tmp_path / f"out{suffix}", capfd)
    assert list(tmp_path.iterdir()) == []


def test_running_out_of_memory_is_not_reported_as_an_internal_error(part, monkeypatch, model):
    def fails(*_arguments, **_options):
        raise MemoryError

    before = whole_state()
    monkeypatch.setattr(part("io_blender.skeletal.importing.model"), "build_mesh", fails)
    with pytest.raises(RuntimeError, match=r"test\.md5mesh: there is not enough memory"):
        bpy.ops.import_scene.md5(filepath=str(model))
    assert whole_state() == before


def test_an_interruption_leaves_everything_as_it_was(part, model):
    scene_in_edit_mode()
    before = whole_state()
    importer = part("io_md5.importing.importer")

    def interrupted():
        paths = [model, model.with_name("shot.md5camera")]
        yield from importer.import_files(bpy.context, paths, importer.ImportOptions())
        assert whole_state() != before
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(part("io_blender.operators.job_operator").all_or_nothing(bpy.context, interrupted()))
    assert whole_state() == before
