"""Renaming the marker of an imported sequence renames its frames; other markers do not."""

from __future__ import annotations

import bpy
import pytest
from md2_samples import FRAME_NAMES, write_sample

from io_idtech.io_md2.format import read_model

# stand01 stand02 run1 run2 run2 pain101 pain102 odd
RUN, PAIN = 2, 5


@pytest.fixture
def imported(tmp_path):
    path = write_sample(tmp_path)
    bpy.ops.import_scene.md2(filepath=str(path), use_textures=False)
    return bpy.context.view_layer.objects.active


def exported(folder, capfd, **options):
    """The file, and the warnings that tell of markers."""
    capfd.readouterr()
    path = folder / "out.md2"
    bpy.ops.export_scene.md2(filepath=str(path), game="ANY", **options)
    told = [line for line in capfd.readouterr().out.splitlines() if "the marker of the sequence" in line]
    return read_model(path), told


def marker(name):
    return next(one for one in bpy.context.scene.timeline_markers if one.name == name)


@pytest.mark.parametrize("frames", ["AUTO", "SHAPE_KEYS", "SCENE"])
def test_a_renamed_marker_renames_its_sequence_and_nothing_else(tmp_path, capfd, imported, frames):
    before, _ = exported(tmp_path, capfd, frames=frames)
    marker("run").name = "sprint"
    marker("pain1").name = "ouch2"
    after, told = exported(tmp_path, capfd, frames=frames)
    names = list(before.frame_names)
    names[RUN:PAIN] = ["sprint1", "sprint2", "sprint3"]
    names[PAIN : PAIN + 2] = ["ouch201", "ouch202"]
    assert after.frame_names == names
    assert (after.vertices == before.vertices).all()
    assert len(told) == 2
    assert "run was renamed to sprint" in told[0]


def test_untouched_markers_change_and_tell_nothing(tmp_path, capfd, imported):
    model, told = exported(tmp_path, capfd)
    assert model.frame_names == FRAME_NAMES
    assert not told


def _delete(scene):
    scene.timeline_markers.remove(marker("run"))


def _move(scene):
    marker("run").frame += 1


def _add_beside(scene):
    scene.timeline_markers.new("footstep", frame=marker("run").frame)


def _add_within(scene):
    scene.timeline_markers.new("footstep", frame=marker("run").frame + 1)


def _bind_a_camera(scene):
    camera = bpy.data.objects.new("Eye", bpy.data.cameras.new("Eye"))
    scene.collection.objects.link(camera)
    frame = marker("run").frame
    _delete(scene)
    scene.timeline_markers.new("shot", frame=frame).camera = camera


def _of_another_model(scene):
    """All that is left is the marker of another imported model, which begins there."""
    frame = marker("run").frame
    _delete(scene)
    scene.timeline_markers.new("stand", frame=frame)


@pytest.mark.parametrize("edit", [_delete, _move, _add_beside, _add_within, _bind_a_camera, _of_another_model])
def test_other_edits_of_markers_leave_the_names_of_the_file(tmp_path, capfd, imported, edit):
    edit(bpy.context.scene)
    model, told = exported(tmp_path, capfd)
    assert model.frame_names == FRAME_NAMES
    assert not told


def test_a_renamed_shape_key_keeps_its_own_name(tmp_path, capfd, imported):
    imported.data.shape_keys.key_blocks[RUN + 1].name = "leap"
    marker("run").name = "sprint"
    model, _ = exported(tmp_path, capfd)
    assert model.frame_names[RUN:PAIN] == ["sprint1", "leap", "sprint2"]
