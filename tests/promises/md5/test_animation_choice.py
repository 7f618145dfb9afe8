"""The choice of animations to import: the list, the filter, NLA tracks, actions of the same name, loops."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import bpy
import md5_scenes
import needs
import numpy as np
import pytest

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_md5.format import read_animation, write_animation


def walk(frames=5, rate=24.0, **options):
    return md5_scenes.animation(md5_scenes.skeleton(), frames=frames, rate=rate, **options)


def partial():
    """An animation of some of the joints."""
    joints = md5_scenes.skeleton(md5_scenes.NAMES[:4], md5_scenes.PARENTS[:4], md5_scenes.OFFSETS[:4])
    return md5_scenes.animation(joints, moving=("spine",))


def foreign():
    """An animation of another skeleton."""
    joints = md5_scenes.skeleton(["wheel", "axle"], md5_scenes.PARENTS[:2], md5_scenes.OFFSETS[:2])
    return md5_scenes.animation(joints, moving=("axle",))


@pytest.fixture
def model(tmp_path) -> Path:
    """A model with animations that fit fully, partly and not at all, one that is damaged, and a pipe."""
    path = md5_scenes.write(
        tmp_path, "imp", walk1=walk(), walk2=walk(7, 30.0), run=walk(9), part=partial(), other=foreign()
    )
    (tmp_path / "damaged.md5anim").write_text("MD5Version 10\nhierarchy {")
    if not needs.IS_WINDOWS:
        os.mkfifo(tmp_path / "pipe.md5anim")
    return path


def import_md5(path="", **options):
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}


def action_names():
    return sorted(action.name for action in bpy.data.actions)


def armature():
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")


def row(name, is_checked=True):
    """A row of the list, as Python passes it."""
    return {"name": f"{name}.md5anim", "is_checked": is_checked, "frame_count": 1, "frame_rate": 24.0,
            "fit": "FULL", "detail": ""}  # fmt: skip


def operator(part, **options):
    """The options of the operator as the list uses them."""

    class Items(list):
        def add(self):
            self.append(SimpleNamespace(name="", is_checked=True, fit="FULL", detail="", frame_count=0,
                                        frame_rate=0.0))  # fmt: skip
            return self[-1]

    return SimpleNamespace(animation_list=Items(), animation_filter="", listed_for="", active_animation=0, **options)


# The filter, for scripts


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("walk*", ["walk1", "walk2"]),
        ("WALK?", ["walk1", "walk2"]),
        ("*2", ["walk2"]),
        ("un", ["run"]),
        ("", ["run", "walk1", "walk2"]),
    ],
)
def test_a_pattern_chooses_the_animations_of_the_folder(model, pattern, expected):
    import_md5(model, animations="FOLDER", animation_filter=pattern)
    assert action_names() == expected


def test_a_script_that_sets_only_a_pattern_imports_the_animations_of_the_folder(model):
    import_md5(model, animation_filter="walk*")
    assert action_names() == ["walk1", "walk2"]


def test_an_animation_named_as_the_model_is_a_warning_if_its_joints_do_not_fit(tmp_path, capfd):
    joints = md5_scenes.skeleton(
        [*md5_scenes.NAMES, "tail"], [*md5_scenes.PARENTS, 1], [*md5_scenes.OFFSETS, [0.0, 0.0, -5.0]]
    )
    longer = md5_scenes.animation(joints)
    import_md5(md5_scenes.write(tmp_path, "ogre", Ogre=longer, walk=walk(), run=longer), animations="FOLDER")
    assert action_names() == ["walk"]
    shown = capfd.readouterr().out
    assert "Ogre.md5anim: skipped: it has 7 joints, which do not match the 6 of ogre" in shown
    assert "run" not in shown


def test_a_pattern_counts_for_the_folder_and_not_for_files_that_were_selected(model):
    import_md5(
        directory=str(model.parent), files=[{"name": "imp.md5mesh"}, {"name": "run.md5anim"}], animation_filter="walk1"
    )
    assert action_names() == ["run", "walk1"]


def test_a_pattern_that_matches_nothing_is_a_warning(model, capfd):
    import_md5(model, animation_filter="swim*")
    assert action_names() == []
    assert "no animation was imported: none in the folder fits and matches 'swim*'" in capfd.readouterr().out


def test_a_folder_alone_imports_its_animations_onto_the_active_armature(model):
    import_md5(model)
    import_md5(directory=str(model.parent), animation_filter="walk*")
    assert action_names() == ["walk1", "walk2"]
    assert len([obj for obj in bpy.data.objects if obj.type == "ARMATURE"]) == 1


def test_a_folder_alone_is_an_error_without_an_armature(model):
    with pytest.raises(RuntimeError, match="no file selected"):
        bpy.ops.import_scene.md5(directory=str(model.parent), animation_filter="walk*")


# The list


def test_choosing_imports_what_is_listed_and_fits_even_partly(model):
    chosen = [row("run"), row("part"), row("walk1", is_checked=False)]
    import_md5(model, animations="CHOOSE", animation_list=chosen)
    assert action_names() == ["part", "run"]


def test_choosing_without_a_list_is_the_same_as_from_the_folder(model):
    import_md5(model, animations="CHOOSE")
    assert action_names() == ["run", "walk1", "walk2"]


def test_the_filter_counts_for_what_is_chosen_too(model):
    chosen = [row("run"), row("walk1")]
    import_md5(model, animations="CHOOSE", animation_list=chosen, animation_filter="walk*")
    assert action_names() == ["walk1"]


def test_what_is_chosen_and_fits_nothing_or_cannot_be_read_is_skipped_with_a_warning(model, capfd):
    chosen = [row("other"), row("damaged"), row("run")]
    import_md5(model, animations="CHOOSE", animation_list=chosen)
    assert action_names() == ["run"]
    text = capfd.readouterr().out
    assert "other.md5anim: skipped: no bone matches" in text
    assert "damaged.md5anim" in text


def test_the_list_shows_frames_rate_and_fit_and_checks_what_fits_fully(model, part):
    choice = part("io_blender.skeletal.operators.import_models")
    options = operator(part)
    choice.fill(bpy.context, options, part("io_md5.format.files").FORMAT, model.parent, ["imp.md5mesh"])
    rows = {item.name.partition(".")[0]: item for item in options.animation_list}
    assert {name: item.fit for name, item in rows.items() if name != "pipe"} == {
        "walk1": "FULL", "walk2": "FULL", "run": "FULL", "part": "PART", "other": "NONE", "damaged": "NONE",
    }  # fmt: skip
    assert (rows["walk2"].frame_count, rows["walk2"].frame_rate) == (7, 30.0)
    assert {name for name, item in rows.items() if item.is_checked} == {"walk1", "walk2", "run"}
    assert rows["part"].detail == "Not moved: leg.L, leg.R"
    assert "damaged.md5anim" in rows["damaged"].detail
    assert not bpy.data.actions
    assert not bpy.data.objects


@needs.pipes
def test_a_pipe_in_the_folder_is_listed_as_unreadable(model, part):
    options = operator(part)
    part("io_blender.skeletal.operators.import_models").fill(
        bpy.context, options, part("io_md5.format.files").FORMAT, model.parent, ["imp.md5mesh"]
    )
    pipe = next(item for item in options.animation_list if item.name == "pipe.md5anim")
    assert (pipe.fit, pipe.is_checked) == ("NONE", False)
    assert "regular file" in pipe.detail


def test_the_list_keeps_check_boxes_until_another_model_is_chosen(model, part):
    fill = part("io_blender.skeletal.operators.import_models").fill
    options = operator(part)
    fill(bpy.context, options, part("io_md5.format.files").FORMAT, model.parent, ["imp.md5mesh"])
    for item in options.animation_list:
        item.is_checked = item.name == "run.md5anim"
    write_animation(walk(), model.parent / "new.md5anim")
    os.utime(model.parent, ns=(1, 1))
    fill(bpy.context, options, part("io_md5.format.files").FORMAT, model.parent, ["imp.md5mesh"])
    assert {item.name for item in options.animation_list if item.is_checked} == {"run.md5anim", "new.md5anim"}


def test_without_a_model_the_list_is_for_the_active_armature_and_nothing_is_checked(model, part):
    import_md5(model)
    options = operator(part)
    part("io_blender.skeletal.operators.import_models").fill(
        bpy.context, options, part("io_md5.format.files").FORMAT, model.parent, ["run.md5anim"]
    )
    rows = {item.name: item for item in options.animation_list}
    # What is selected is imported anyway.
    assert "run.md5anim" not in rows
    assert rows["walk1.md5anim"].fit == "FULL"
    assert not any(item.is_checked for item in rows.values())


@pytest.mark.parametrize(("pressed", "expected"), [
    ("ALL", {"walk1.md5anim", "walk2.md5anim"}), ("NONE", {"run.md5anim"}),
    ("INVERT", {"walk2.md5anim", "run.md5anim"}),
])  # fmt: skip
def test_the_buttons_check_what_the_filter_shows(model, part, pressed, expected):
    """All and none leave the rows alone that are not shown."""
    choice = part("io_blender.skeletal.operators.import_models")
    manager = bpy.types.WindowManager
    kind = part("io_blender.skeletal.operators.import_models").IO_MD5_PG_animation_file
    names = ("animation_list", "animation_filter", "check")
    manager.animation_list = bpy.props.CollectionProperty(type=kind)
    manager.animation_filter = bpy.props.StringProperty()
    buttons = part("io_blender.operators.panel_parts").check_boxes_option("check", choice.shown_items)
    manager.check = part("io_blender.options").property_of(buttons)
    owner = bpy.context.window_manager
    try:
        for name, checked in (("walk1", True), ("walk2", False), ("run", True), ("other", False)):
            item = owner.animation_list.add()
            item.name, item.is_checked = f"{name}.md5anim", checked
            item.fit = "NONE" if name == "other" else "FULL"
        owner.animation_filter = "walk*"
        owner.check = {pressed}
        found = {item.name for item in owner.animation_list if item.is_checked}
        assert owner.check == set()
    finally:
        owner.animation_list.clear()
        for name in names:
            delattr(manager, name)
    if pressed != "NONE":
        expected = expected | {"run.md5anim"}
    assert found == expected


# NLA tracks


def test_nla_tracks_hold_each_animation_as_a_muted_strip(model):
    import_md5(model, animations="FOLDER", nla_tracks=True, frame_start=3)
    data = armature().animation_data
    assert [track.name for track in data.nla_tracks] == ["run", "walk1", "walk2"]
    for track in data.nla_tracks:
        (strip,) = track.strips
        assert strip.mute
        assert strip.action == bpy.data.actions[track.name]
        assert (strip.frame_start, strip.frame_end) == tuple(strip.action.frame_range)
        assert getattr(strip, "action_slot", strip.action) is not None
    assert data.action.name == "run"


def test_a_later_import_adds_its_tracks(model):
    import_md5(model, animation_filter="walk*", nla_tracks=True)
    import_md5(model.parent / "run.md5anim", nla_tracks=True)
    assert [track.name for track in armature().animation_data.nla_tracks] == ["walk1", "walk2", "run"]


def test_strips_play_their_animation_once_they_are_not_muted(model):
    import_md5(model, animations="FOLDER", nla_tracks=True)
    obj = armature()
    scene = bpy.context.scene

    def poses(frame):
        scene.frame_set(frame)
        return np.array([bone.matrix for bone in obj.pose.bones])

    data = obj.animation_data
    for name in ("run", "walk2"):
        data.action = bpy.data.actions[name]
        if hasattr(data, "action_slot"):
            data.action_slot = data.action.slots[0]
        expected = poses(4)
        data.action = None
        track = data.nla_tracks[name]
        track.strips[0].mute = False
        np.testing.assert_allclose(poses(4), expected, atol=1e-5)
        track.strips[0].mute = True


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_files_come_back_the_same_with_nla_tracks(model, tmp_path, actions):
    import_md5(model, animations="FOLDER", nla_tracks=True)
    out = tmp_path / "out"
    out.mkdir()
    bpy.ops.export_scene.md5anim(filepath=str(out / "run.md5anim"), actions=actions)
    for path in out.iterdir():
        before, after = read_animation(model.parent / path.name), read_animation(path)
        assert after.frame_count == before.frame_count
        assert after.frame_rate == before.frame_rate
        np.testing.assert_allclose(after.frames, before.frames, atol=1e-5)
    assert len(list(out.iterdir())) == {"ACTIVE": 1, "ALL": 3}[actions]


@pytest.mark.slow
def test_strips_that_an_import_made_are_exported_as_the_same_files(tmp_path):
    """Forty of different lengths and rates, single frames among them, from any start frame."""
    animations = {f"a{index:02}": walk(1 + index % 4, 20.0 + index) for index in range(40)}
    path = md5_scenes.write(tmp_path, "imp", **animations)
    out = tmp_path / "out"
    out.mkdir()
    import_md5(path, animations="FOLDER", nla_tracks=True, frame_start=7)
    bpy.ops.object.io_idtech_list_animations(source="STRIPS")
    bpy.ops.export_scene.md5anim(filepath=str(out / "x.md5anim"), actions="LIST")
    assert {written.name for written in out.iterdir()} == {f"{name}.md5anim" for name in animations}
    for written in out.iterdir():
        before, after = read_animation(tmp_path / written.name), read_animation(written)
        assert (after.frame_count, after.frame_rate) == (before.frame_count, before.frame_rate)
        np.testing.assert_array_equal(after.flags, before.flags)
        np.testing.assert_allclose(after.frames, before.frames, atol=1e-6)


# Actions of the same name


def test_an_action_of_the_same_name_stays_and_the_new_one_gets_a_number(model):
    import_md5(model, animation_filter="run")
    import_md5(model.parent / "run.md5anim")
    assert action_names() == ["run", "run.001"]


def test_replacing_keeps_one_action_which_everything_plays(model):
    import_md5(model, animation_filter="run", nla_tracks=True)
    obj = armature()
    write_animation(walk(21, 12.0), model.parent / "run.md5anim")
    import_md5(model.parent / "run.md5anim", existing_actions="REPLACE", nla_tracks=True)
    assert action_names() == ["run"]
    action = bpy.data.actions["run"]
    assert tuple(action.frame_range) == (0, 20)
    data = obj.animation_data
    assert data.action == action
    ((strip,),) = [list(track.strips) for track in data.nla_tracks]
    assert strip.action == action
    assert (strip.frame_start, strip.frame_end) == (0, 20)
    if hasattr(data, "action_slot"):
        assert data.action_slot == strip.action_slot == action.slots[0]
    out = model.parent / "out.md5anim"
    bpy.ops.export_scene.md5anim(filepath=str(out))
    assert read_animation(out).frame_count == 21


def test_tracks_of_actions_that_replace_others_have_their_names(model):
    import_md5(model, animation_filter="run")
    import_md5(directory=str(model.parent), animation_filter="run", existing_actions="REPLACE", nla_tracks=True)
    (track,) = armature().animation_data.nla_tracks
    assert (track.name, track.strips[0].name, track.strips[0].action.name) == ("run", "run", "run")


def test_an_action_that_replaces_one_with_a_number_keeps_the_name_of_the_file(model, tmp_path):
    import_md5(model, animation_filter="run")
    import_md5(model.parent / "run.md5anim")
    (tmp_path / "out").mkdir()
    for _ in range(2):
        import_md5(model.parent / "run.md5anim", existing_actions="REPLACE")
        assert armature().animation_data.action.name == "run.001"
        bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out" / "imp.md5mesh"), actions="ACTIVE")
        assert {path.name for path in (tmp_path / "out").iterdir()} == {"imp.md5mesh", "run.md5anim"}


def test_replacing_leaves_the_action_of_another_armature_alone(model, tmp_path):
    joints = md5_scenes.skeleton(["wheel", "axle"], md5_scenes.PARENTS[:2], md5_scenes.OFFSETS[:2])
    (tmp_path / "car").mkdir()
    write_animation(md5_scenes.animation(joints, moving=("axle",)), tmp_path / "car" / "run.md5anim")
    import_md5(tmp_path / "car" / "run.md5anim")
    import_md5(model, animation_filter="run", existing_actions="REPLACE")
    assert action_names() == ["run", "run.001"]


def test_skipping_keeps_the_action_that_is_there(model):
    import_md5(model, animation_filter="run")
    action = bpy.data.actions["run"]
    write_animation(walk(21), model.parent / "run.md5anim")
    import_md5(directory=str(model.parent), animations="FOLDER", existing_actions="SKIP")
    assert action_names() == ["run", "walk1", "walk2"]
    assert tuple(action.frame_range) == (0, 8)
    assert armature().animation_data.action.name in ("run", "walk1")


@pytest.mark.parametrize("existing", ["REPLACE", "SKIP"])
def test_a_second_model_with_the_same_skeleton_gets_its_own_action(model, existing):
    import_md5(model, animation_filter="run")
    import_md5(model, animation_filter="run", existing_actions=existing)
    played = [obj.animation_data.action.name for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert sorted(played) == action_names() == ["run", "run.001"]


@needs.any_name
def test_a_name_that_is_no_text_can_be_chosen(model, part):
    odd = os.fsencode(model.parent / "odd") + b"\xff.md5anim"
    with open(odd, "wb") as file:
        file.write((model.parent / "run.md5anim").read_bytes())
    options = operator(part)
    choice = part("io_blender.skeletal.operators.import_models")
    choice.fill(bpy.context, options, part("io_md5.format.files").FORMAT, model.parent, ["imp.md5mesh"])
    (item,) = [item for item in options.animation_list if item.name.startswith("odd")]
    assert (item.fit, item.is_checked) == ("FULL", True)
    chosen = [row("run") | {"name": item.name}]
    import_md5(model, animations="CHOOSE", animation_list=chosen)
    assert len(bpy.data.actions) == 1


@pytest.mark.parametrize("pattern", ["[", "[!", "***********a***********b", "\\", "]["])
def test_odd_patterns_are_no_errors(model, pattern):
    import_md5(model, animation_filter=pattern)
    assert action_names() == []


# Loops


def loop(closed: bool):
    """An animation whose last frame repeats the first, or is one step before it."""
    animation = walk(9)
    joint = animation.names.index("spine")
    step = 8 if closed else 9
    angle = 2.0 * np.pi * np.arange(9) / step
    turn = np.zeros((9, 4))
    turn[:, 0], turn[:, 3] = np.cos(0.3 * np.sin(angle)), np.sin(0.3 * np.sin(angle))
    from io_idtech.io_common.skeletal.skeleton import encode_local_poses, local_poses

    positions, orientations = local_poses(animation)
    positions, orientations = np.repeat(positions[:1], 9, axis=0), np.repeat(orientations[:1], 9, axis=0)
    orientations[:, joint] = quat.multiply(orientations[:, joint], turn)
    return encode_local_poses(
        animation.names, animation.parents, positions, orientations, frame_rate=24.0, bounds=animation.bounds
    )


@pytest.mark.parametrize(
    ("name", "is_closed"), [("closed", True), ("open", False), ("run", False)], ids=["closed", "open", "none"]
)
def test_a_closed_loop_is_cyclic_and_plays_without_its_repeated_frame(model, tmp_path, name, is_closed):
    write_animation(loop(True), tmp_path / "closed.md5anim")
    write_animation(loop(False), tmp_path / "open.md5anim")
    import_md5(model, animation_filter=name)
    action, scene = bpy.data.actions[name], bpy.context.scene
    assert action.use_cyclic == is_closed
    assert tuple(action.frame_range) == (scene.frame_start, scene.frame_end) == (0, 8)
    assert scene.use_preview_range == is_closed
    if is_closed:
        assert (scene.frame_preview_start, scene.frame_preview_end) == (0, 7)
    out = tmp_path / "out.md5anim"
    bpy.ops.export_scene.md5anim(filepath=str(out))
    np.testing.assert_allclose(read_animation(out).frames, read_animation(tmp_path / f"{name}.md5anim").frames,
                               atol=1e-5)  # fmt: skip


def test_an_animation_that_is_no_loop_takes_the_preview_range_of_a_loop_away(model, tmp_path):
    write_animation(loop(True), tmp_path / "closed.md5anim")
    import_md5(model, animation_filter="closed")
    assert bpy.context.scene.use_preview_range
    import_md5(tmp_path / "run.md5anim")
    assert not bpy.context.scene.use_preview_range


# One step of undo


def test_replacing_and_tracks_are_undone_in_one_step(model):
    import_md5(model, animation_filter="run", nla_tracks=True)
    write_animation(walk(21), model.parent / "run.md5anim")
    bpy.ops.ed.undo_push(message="a model")
    bpy.ops.import_scene.md5(
        "EXEC_DEFAULT", True, directory=str(model.parent), animations="FOLDER", existing_actions="REPLACE",
        nla_tracks=True,
    )  # fmt: skip
    assert len(armature().animation_data.nla_tracks) == 3
    bpy.ops.ed.undo()
    assert action_names() == ["run"]
    assert tuple(bpy.data.actions["run"].frame_range) == (0, 8)
    assert [track.name for track in armature().animation_data.nla_tracks] == ["run"]


def test_an_internal_error_takes_new_tracks_back_and_keeps_the_actions(model, part, monkeypatch):
    import_md5(model, animation_filter="run", nla_tracks=True)

    def fail(*words, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(part("io_md5.importing.importer"), "set_scene_timing", fail)
    with pytest.raises(RuntimeError):
        bpy.ops.import_scene.md5(directory=str(model.parent), animation_filter="walk*", nla_tracks=True)
    assert action_names() == ["run"]
    assert [track.name for track in armature().animation_data.nla_tracks] == ["run"]
