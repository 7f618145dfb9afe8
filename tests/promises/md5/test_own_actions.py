"""An armature is exported with its own actions only, whatever else is in the .blend file."""

from __future__ import annotations

import sys

import bpy
import md2_samples
import md5_scenes
import numpy as np
import pytest
import scripted_scenes
from animation_edits import HAS_SLOTS
from installed import MODULE
from md5_compare import call, said

from io_idtech.io_md5.format import Model, read_animation, write_animation, write_mesh


def stems(folder):
    return sorted(path.stem for path in folder.glob("*.md5anim"))


def export_all(armature, folder, **options):
    """Exports *All Actions* of an armature; returns the names of the files and the warnings."""
    folder.mkdir(exist_ok=True)
    bpy.context.view_layer.objects.active = armature
    path = folder / "x.md5anim"
    warnings = call(bpy.ops.export_scene.md5anim, filepath=str(path), **{"actions": "ALL"} | options)
    return stems(folder), warnings


def imported(folder, name, names, joints=None):
    """A model with animations of several lengths; returns its armature."""
    folder.mkdir(exist_ok=True)
    joints = joints or md5_scenes.skeleton()
    path = folder / f"{name}.md5mesh"
    write_mesh(Model(joints, [md5_scenes.patch(joints, joint=1, other=2)]), path)
    for index, stem in enumerate(names):
        animation = md5_scenes.animation(joints, frames=3 + index, moving=joints.names[1:3])
        write_animation(animation, folder / f"{stem}.md5anim")
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    return bpy.context.view_layer.objects.active


def idle_action(armature, name):
    """A further action of an armature, which plays no more."""
    data = armature.animation_data
    played, slot = data.action, getattr(data, "action_slot", None)
    data.action = None
    armature.pose.bones["mid"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    armature.pose.bones["mid"].keyframe_insert("rotation_quaternion", frame=1)
    action = data.action
    action.name, action.use_fake_user = name, True
    data.action = played
    if slot is not None:
        data.action_slot = slot
    return action


def two_rigs():
    """Two armatures of equal bones, each with an action that plays."""
    hero, zombie = (scripted_scenes.rig(name) for name in ("Hero", "Zombie"))
    hero.animation_data.action.name, zombie.animation_data.action.name = "Hero Walk", "Zombie Walk"
    return hero, zombie


def test_an_action_that_plays_on_another_armature_is_left_out_and_named(tmp_path):
    hero, _zombie = two_rigs()
    names, warnings = export_all(hero, tmp_path)
    assert names == ["Hero Walk"]
    (warning,) = [text for text in warnings if "not exported" in text]
    assert "Zombie Walk (plays on Zombie)" in warning


def test_an_action_on_a_strip_of_another_armature_is_left_out(tmp_path):
    hero, zombie = two_rigs()
    action = zombie.animation_data.action
    zombie.animation_data.nla_tracks.new().strips.new("walk", 1, action)
    zombie.animation_data.action = None
    names, warnings = export_all(hero, tmp_path)
    assert names == ["Hero Walk"]
    assert said(warnings, "Zombie Walk (plays on Zombie)")


@pytest.mark.skipif(not HAS_SLOTS, reason="actions have slots from Blender 4.4 on")
def test_the_name_of_a_slot_tells_whose_an_action_is_that_plays_nowhere(tmp_path):
    hero, zombie = two_rigs()
    idle_action(hero, "Hero Idle")
    idle_action(zombie, "Zombie Idle")
    names, warnings = export_all(hero, tmp_path)
    assert names == ["Hero Idle", "Hero Walk"]
    assert said(warnings, "Zombie Idle (its slot is for Zombie)")


@pytest.mark.every_version
@pytest.mark.skipif(HAS_SLOTS, reason="from Blender 4.4 on, the slot tells")
def test_an_action_that_may_be_of_two_armatures_is_named(tmp_path):
    hero, zombie = two_rigs()
    idle_action(zombie, "Idle")
    names, warnings = export_all(hero, tmp_path)
    assert names == ["Hero Walk", "Idle"]
    assert said(warnings, "though they may be Zombie's, which has the same bones: Idle")


def test_an_unclaimed_action_of_which_most_bones_are_missing_is_left_out(tmp_path):
    hero, zombie = two_rigs()
    for bone in zombie.data.bones:
        bone.name = {"root": "root", "mid": "arm", "tip": "hand"}[bone.name]
    zombie.animation_data.action.use_fake_user = True
    if HAS_SLOTS:
        zombie.animation_data.action.slots[0].name_display = "Legacy Slot"
    bpy.data.objects.remove(zombie)
    names, warnings = export_all(hero, tmp_path)
    assert names == ["Hero Walk"]
    assert said(warnings, "Zombie Walk (most of what it animates is not in Hero)")


def test_two_imported_models_with_bones_in_common_keep_their_own_animations(tmp_path):
    few = md5_scenes.skeleton(["origin", "head", "hips"], md5_scenes.PARENTS[:3], md5_scenes.OFFSETS[:3])
    pistol = imported(tmp_path / "pistol", "pistol", ["idle", "fire"])
    shotgun = imported(tmp_path / "shotgun", "shotgun", ["idle", "reload"], few)
    for armature, name, expected in ((pistol, "pistol", ["fire", "idle"]), (shotgun, "shotgun", ["idle", "reload"])):
        names, warnings = export_all(armature, tmp_path / f"{name} out")
        assert names == expected
        assert said(warnings, "imported for")
        for stem in expected:
            written = read_animation(tmp_path / f"{name} out" / f"{stem}.md5anim")
            original = read_animation(tmp_path / name / f"{stem}.md5anim")
            assert (written.names, written.frame_count) == (original.names, original.frame_count)
            assert np.abs(written.frames - original.frames).max() < 1e-4


def test_one_model_imported_twice_has_its_own_animations_in_each_copy(tmp_path):
    first = imported(tmp_path / "imp", "imp", ["idle", "run"])
    second = imported(tmp_path / "imp", "imp", ["idle", "run"])
    for index, armature in enumerate((first, second)):
        names, _ = export_all(armature, tmp_path / str(index))
        assert names == ["idle", "run"]


def test_three_characters_in_one_file_each_have_their_own(tmp_path):
    first, second = (imported(tmp_path / "imp", "imp", ["idle", "run"]) for _ in range(2))
    third = scripted_scenes.rig("Hero")
    for index, (armature, expected) in enumerate(
        ((first, ["idle", "run"]), (second, ["idle", "run"]), (third, ["Bend"]))
    ):
        assert export_all(armature, tmp_path / str(index))[0] == expected


@pytest.mark.slow
def test_the_command_line_names_the_armatures_of_a_file_that_has_several(tmp_path, part, capfd):
    two_rigs()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    words = ["convert", str(tmp_path / "two.blend"), "--to", str(tmp_path / "out"), "--format", "md5"]
    assert part("command_line.command").main(words) == 1
    assert "several armatures: Hero, Zombie" in "".join(capfd.readouterr())


def test_the_actions_of_a_deleted_model_are_not_those_of_the_next(tmp_path):
    first = imported(tmp_path / "imp", "imp", ["idle", "run"])
    bpy.data.objects.remove(first)
    second = imported(tmp_path / "imp", "imp", ["idle"])
    names, warnings = export_all(second, tmp_path / "out")
    assert names == ["idle", "run"]
    assert len(read_animation(tmp_path / "out" / "idle.md5anim").names) == 6
    assert said(warnings, "2 animations were not exported", "imported for a model that is not in this file")


def test_a_copy_of_a_character_has_the_copies_of_the_actions_that_it_plays(tmp_path):
    first = imported(tmp_path / "imp", "imp", ["idle", "run"])
    second = first.copy()
    second.data = first.data.copy()
    bpy.context.scene.collection.objects.link(second)
    slot = getattr(first.animation_data, "action_slot", None)
    second.animation_data.action = first.animation_data.action.copy()
    if slot is not None:
        second.animation_data.action_slot = second.animation_data.action.slots[0]
    for armature in (first, second):
        folder = tmp_path / armature.name
        assert export_all(armature, folder)[0] == ["idle", "run"]


def test_objects_that_share_an_armature_share_its_actions(tmp_path):
    first = scripted_scenes.rig("Hero")
    idle_action(first, "Idle")
    second = first.copy()
    second.animation_data_clear()
    bpy.context.scene.collection.objects.link(second)
    assert export_all(second, tmp_path / "out")[0] == ["Bend", "Idle"]


@pytest.mark.parametrize("how", ["append", "link"])
def test_actions_stay_those_of_their_model_in_another_file(tmp_path, how):
    imported(tmp_path / "imp", "imp", ["idle", "run"])
    path = str(tmp_path / "imp.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
    imported(tmp_path / "cow", "cow", ["idle"])
    with bpy.data.libraries.load(path, link=how == "link") as (there, here):
        here.actions, here.objects = there.actions, ["imp"]
    imp = here.objects[0]
    bpy.context.scene.collection.objects.link(imp)
    if how == "link":
        imp = imp.override_create(remap_local_usages=True)
    assert export_all(imp, tmp_path / "out")[0] == ["idle", "run"]
    assert len(own(bpy.data.objects["cow"])) == 1


def test_animations_for_a_rig_of_another_file_stay_its_own(tmp_path):
    scripted_scenes.rig("Hero")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
    with bpy.data.libraries.load(str(tmp_path / "hero.blend"), link=True) as (_, here):
        here.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(here.objects[0])
    bpy.context.view_layer.objects.active = here.objects[0].override_create(remap_local_usages=True)
    joints = md5_scenes.skeleton(["root", "mid", "tip"], md5_scenes.PARENTS[:3], md5_scenes.OFFSETS[:3])
    for name in ("jump", "run"):
        write_animation(md5_scenes.animation(joints, moving=("mid",)), tmp_path / f"{name}.md5anim")
        bpy.ops.import_scene.md5(filepath=str(tmp_path / f"{name}.md5anim"))
    scripted_scenes.rig("Zombie")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"), load_ui=False)
    hero = next(obj for obj in bpy.context.scene.objects if obj.name == "Hero")
    assert {"jump", "run"} <= {action.name for action in own(hero)}
    assert not {"jump", "run"} & {action.name for action in own(bpy.data.objects["Zombie"])}


def test_an_animation_that_is_imported_onto_a_rig_is_its_own(tmp_path):
    hero, zombie = two_rigs()
    joints = md5_scenes.skeleton(["root", "mid", "tip"], md5_scenes.PARENTS[:3], md5_scenes.OFFSETS[:3])
    write_animation(md5_scenes.animation(joints, moving=("mid",)), tmp_path / "jump.md5anim")
    bpy.context.view_layer.objects.active = hero
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "jump.md5anim"))
    idle = hero.animation_data.action
    hero.animation_data.action = None
    assert idle in own(hero)
    assert idle not in own(zombie)


def test_choose_shows_what_is_of_others_last_and_unchecked_with_its_owner(tmp_path, part):
    hero, zombie = two_rigs()
    zombie.animation_data.action.name = "A Walk"
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.io_idtech_list_animations(source="ACTIONS")
    shown = part("io_blender.clips.clip").animation_list
    rows = shown(hero, bpy.context.scene).rows
    assert [(row.animation.name, row.is_checked, row.animation.foreign) for row in rows] == [
        ("Hero Walk", True, ""),
        ("A Walk", False, "plays on Zombie"),
    ]
    bpy.ops.object.io_idtech_check_animations(action="ALL")
    bpy.ops.object.io_idtech_move_animation(index=1, direction="UP")
    assert [row.animation.name for row in shown(hero, bpy.context.scene).checked] == ["Hero Walk"]
    hero.io_idtech_animations.rows[1].is_checked = True
    names, warnings = export_all(hero, tmp_path, actions="LIST")
    assert names == ["A Walk", "Hero Walk"]
    assert not said(warnings, "not exported")


def test_choose_names_what_is_of_others_unless_the_list_was_shown(tmp_path):
    hero, _zombie = two_rigs()
    names, warnings = export_all(hero, tmp_path, actions="LIST")
    assert names == ["Hero Walk"]
    assert said(warnings, "Zombie Walk (plays on Zombie)")


def test_an_action_of_another_model_never_takes_the_name_of_an_own_file(tmp_path):
    first = imported(tmp_path / "imp", "imp", ["idle"])
    second = imported(tmp_path / "imp", "imp", ["idle"])
    bpy.data.actions["idle"].frame_end += 5
    bpy.context.view_layer.objects.active = second
    bpy.ops.object.io_idtech_list_animations(source="ACTIONS")
    for row in second.io_idtech_animations.rows:
        row.is_checked = True
    names, _ = export_all(second, tmp_path / "out", actions="LIST")
    assert len(names) == 2
    assert read_animation(tmp_path / "out" / "idle.md5anim").frame_count == 3
    assert first.animation_data.action.name == "idle"


def test_the_panel_lists_only_the_own_actions():
    hero, zombie = two_rigs()
    assert [action.name for action in own(hero)] == ["Hero Walk"]
    assert [action.name for action in own(zombie)] == ["Zombie Walk"]


def test_collection_exporters_of_two_characters_write_the_own_actions_of_each(tmp_path):
    for armature in two_rigs():
        collection = bpy.data.collections.new(armature.name)
        bpy.context.scene.collection.children.link(collection)
        bpy.context.scene.collection.objects.unlink(armature)
        for obj in (armature, scripted_scenes.tube(armature, f"{armature.name} Tube")):
            for user in obj.users_collection:
                user.objects.unlink(obj)
            collection.objects.link(obj)
        layer = bpy.context.view_layer.layer_collection.children[collection.name]
        bpy.context.view_layer.active_layer_collection = layer
        bpy.ops.collection.exporter_add(name="IO_FH_md5")
        exporter = collection.exporters[0]
        folder = tmp_path / collection.name
        folder.mkdir()
        exporter.export_properties.filepath = str(folder / "model.md5mesh")
        exporter.export_properties.actions = "ALL"
        bpy.ops.collection.exporter_export(index=0)
        assert stems(folder) == [f"{armature.name} Walk"]


# Files that are there


def test_an_animation_of_another_model_is_not_replaced(tmp_path):
    few = md5_scenes.skeleton(["origin", "head", "hips"], md5_scenes.PARENTS[:3], md5_scenes.OFFSETS[:3])
    imported(tmp_path / "pistol", "pistol", ["idle"])
    shotgun = imported(tmp_path / "shotgun", "shotgun", ["idle"], few)
    before = (tmp_path / "pistol" / "idle.md5anim").read_bytes()
    with pytest.raises(RuntimeError, match=r"animation idle\.md5anim in this folder has other joints"):
        export_all(shotgun, tmp_path / "pistol")
    with pytest.raises(RuntimeError, match=r"animation idle\.md5anim in this folder has other joints"):
        bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "pistol" / "shotgun.md5mesh"), actions="ALL")
    assert (tmp_path / "pistol" / "idle.md5anim").read_bytes() == before
    assert not (tmp_path / "pistol" / "shotgun.md5mesh").exists()


@pytest.mark.parametrize("mesh_first", [True, False])
def test_a_model_with_a_changed_skeleton_replaces_its_own_files(tmp_path, mesh_first):
    armature = imported(tmp_path / "imp", "imp", ["idle"])
    armature.data.bones[-1].name = "renamed"
    path = str(tmp_path / "imp" / "imp.md5mesh")
    bpy.ops.export_scene.md5mesh(filepath=path, actions="NONE" if mesh_first else "ALL")
    if mesh_first:
        export_all(armature, tmp_path / "imp")
    assert "renamed" in read_animation(tmp_path / "imp" / "idle.md5anim").names


# Shape keys


def test_a_list_of_a_mesh_checks_the_actions_of_its_own_shape_keys(tmp_path, part):
    path = md2_samples.write_two_sequences(tmp_path)
    for _ in range(2):
        bpy.ops.import_scene.md2(filepath=str(path), sequence_actions=True)
    first, second = (obj for obj in bpy.data.objects if obj.type == "MESH")
    shown = part("io_blender.clips.clip").animation_list
    rows = [row.animation for row in shown(second, bpy.context.scene).checked]
    assert rows
    assert {row.action for row in rows}.isdisjoint(
        row.animation.action for row in shown(first, bpy.context.scene).checked
    )


def own(armature):
    """What the panel MD5 lists."""
    return sys.modules[f"{MODULE}.io_blender.clips.actions"].own_animations(armature)
