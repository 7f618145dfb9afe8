"""The list of animations defines the sequences of an MD2: their order, names, frames and shapes."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
import scripted_scenes
from clouds import distance
from md2_samples import write_sample
from scripted_scenes import shown_vertices

from io_idtech.io_md2.format import PLAYER_SEQUENCES, find_sequences, read_model


@pytest.fixture
def imported(tmp_path):
    path = write_sample(tmp_path)
    bpy.ops.import_scene.md2(filepath=str(path), use_textures=False, sequence_actions=True)
    return bpy.context.view_layer.objects.active


def settings(source=None):
    """The list of the active object, brought up to date."""
    if source is not None:
        bpy.ops.object.io_idtech_list_animations(source=source)
    active = bpy.context.view_layer.objects.active
    return ((active.find_armature() if active.type == "MESH" else None) or active).io_idtech_animations


def exported(folder, **options):
    path = folder / "out.md2"
    bpy.ops.export_scene.md2(filepath=str(path), game="ANY", **{"frames": "LIST", **options})
    return read_model(path)


def rows(source="MARKERS"):
    """The rows of a source by name."""
    return {row.name: row for row in settings(source).rows if row.source == source}


def push_down(actions, keys):
    """Makes a muted strip of each action on a track of its own, all at frame 0."""
    keys.animation_data.action = None
    for action in actions:
        track = keys.animation_data.nla_tracks.new()
        strip = track.strips.new(action.name, 0, action)
        if hasattr(strip, "action_slot"):
            strip.action_slot = action.slots[0]
        track.mute = True


@pytest.mark.parametrize("source", ["MARKERS", "ACTIONS", "STRIPS"])
def test_all_sequences_of_an_imported_file_in_their_order_give_the_same_file(tmp_path, imported, source):
    expected = exported(tmp_path, frames="AUTO")
    before = (tmp_path / "out.md2").read_bytes()
    sequences = [sequence.name for sequence in find_sequences(expected.frame_names)]
    actions = [bpy.data.actions[name] for name in sequences]
    if source == "STRIPS":
        push_down(actions, imported.data.shape_keys)
    if source == "ACTIONS":
        # The action of all frames is listed as well.
        assert set(rows(source)) == {*sequences, imported.data.shape_keys.animation_data.action.name}
        rows(source)[imported.data.shape_keys.animation_data.action.name].is_checked = False
        for position, name in enumerate(sequences):
            order = [row.name for row in settings().rows]
            for _ in range(order.index(name) - position):
                bpy.ops.object.io_idtech_move_animation(
                    index=[row.name for row in settings().rows].index(name), direction="UP"
                )
    settings(source)
    scene = bpy.context.scene
    scene.frame_set(3)
    shown = shown_vertices([imported])
    exported(tmp_path)
    assert (tmp_path / "out.md2").read_bytes() == before
    assert np.array_equal(shown, shown_vertices([imported]))
    assert scene.frame_current == 3


def test_unchecked_sequences_are_left_out_and_others_follow_the_order_of_the_list(tmp_path, imported):
    before = exported(tmp_path, frames="AUTO")
    rows()["run"].is_checked = False
    bpy.ops.object.io_idtech_move_animation(index=2, direction="UP")
    bpy.ops.object.io_idtech_move_animation(direction="UP")
    after = exported(tmp_path)
    assert after.frame_names == ["pain101", "pain102", "stand01", "stand02", 'odd "\\name']
    order = [5, 6, 0, 1, 7]
    assert np.array_equal(after.vertices, before.vertices[order])
    assert np.array_equal(after.scale, before.scale[order])


def test_a_sequence_has_the_name_that_the_user_gave_it_in_the_form_of_the_game(tmp_path, imported, capfd):
    rows()["run"].export_name = "running away very fast"
    rows()["pain1"].export_name = "ouch 2"
    names = exported(tmp_path).frame_names
    assert names[2:5] == ["running_away_v1", "running_away_v2", "running_away_v3"]
    assert names[5:7] == ["ouch_201", "ouch_202"]
    assert all(len(name) <= 15 for name in names)
    assert "running away very fast: " in capfd.readouterr().out


def rigged(names_and_counts):
    """A rigged tube with an action of so many frames for each name; each ends in another pose."""
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    template = armature.animation_data.action
    for index, (name, count) in enumerate(names_and_counts):
        action = template.copy()
        action.name = name
        action.use_frame_range = True
        action.frame_start, action.frame_end = 1 + index % 4, index % 4 + count
    slot = getattr(armature.animation_data, "action_slot", None)
    bpy.data.actions.remove(template)
    assert slot is None or armature.animation_data.action_slot is None
    return armature, obj


def test_actions_of_an_armature_become_sequences_with_their_poses(tmp_path):
    armature, obj = rigged([("walk", 4), ("die", 6), ("pain1", 3)])
    assert [row.name for row in settings("ACTIONS").rows] == ["die", "pain1", "walk"]
    model = exported(tmp_path)
    assert model.frame_names == [
        "die1", "die2", "die3", "die4", "die5", "die6", "pain101", "pain102", "pain103", "walk1", "walk2", "walk3",
        "walk4",
    ]  # fmt: skip
    assert armature.animation_data.action is None
    for name, first in (("die", 0), ("pain1", 6), ("walk", 9)):
        action = bpy.data.actions[name]
        armature.animation_data.action = action
        if hasattr(armature.animation_data, "action_slot"):
            armature.animation_data.action_slot = action.slots[0]
        for frame in range(3):
            bpy.context.scene.frame_set(round(action.frame_start) + frame)
            seen = shown_vertices([obj])
            written = model.vertices[first + frame] * model.scale[first + frame] + model.translate[first + frame]
            assert distance(seen, written) <= 0.02


def test_strips_of_an_armature_show_the_same_as_their_actions_and_nothing_stays_changed(tmp_path):
    armature, obj = rigged([("walk", 4), ("die", 6)])
    settings("ACTIONS")
    expected = exported(tmp_path)
    actions = [bpy.data.actions[name] for name in ("die", "walk")]
    for index, action in enumerate(actions):
        track = armature.animation_data.nla_tracks.new()
        strip = track.strips.new(action.name, 100 * index + 7, action)
        if hasattr(strip, "action_slot"):
            strip.action_slot = action.slots[0]
        track.mute = index == 0
    bpy.context.scene.frame_set(108)
    shown = shown_vertices([obj])
    settings("STRIPS")
    found = exported(tmp_path)
    assert found.frame_names == expected.frame_names
    size = np.ptp(expected.vertices[0] * expected.scale[0], axis=0).max()
    for frame in range(found.frame_count):
        written = found.vertices[frame] * found.scale[frame] + found.translate[frame]
        wanted = expected.vertices[frame] * expected.scale[frame] + expected.translate[frame]
        assert np.abs(written - wanted).max() <= 0.01 * size
    assert [track.mute for track in armature.animation_data.nla_tracks] == [True, False]
    assert np.array_equal(shown, shown_vertices([obj]))


def test_a_quake2_player_is_written_in_the_order_of_the_game(tmp_path):
    rigged([(sequence.name, sequence.frame_count) for sequence in PLAYER_SEQUENCES])
    model = exported(tmp_path, sequence_template="QUAKE2_PLAYER")
    assert model.frame_count == 198
    assert tuple(find_sequences(model.frame_names)) == PLAYER_SEQUENCES


def test_what_a_template_misses_is_told_before_anything_is_written(tmp_path):
    made = [(sequence.name, sequence.frame_count) for sequence in PLAYER_SEQUENCES if sequence.name != "wave"]
    rigged([("stand", 39), *made[1:], ("extra", 3)])
    with pytest.raises(RuntimeError) as told:
        exported(tmp_path, sequence_template="QUAKE2_PLAYER")
    for text in ("wave: no animation, needs 11 frames", "stand: 39 frames instead of 40", "extra"):
        assert text in str(told.value)
    assert not list(tmp_path.iterdir())


def test_nothing_checked_is_an_error(tmp_path, imported):
    settings("MARKERS")
    bpy.ops.object.io_idtech_check_animations(action="NONE")
    with pytest.raises(RuntimeError, match="nothing is checked"):
        exported(tmp_path)
