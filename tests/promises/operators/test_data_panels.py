"""The panels MD5, MD2 and MD3, and the tab id Tech: what they play, show and edit, and where they appear."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import md2_samples
import md3_samples
import md5_cameras
import md5_scenes
import numpy as np
import pytest
from enabled_families import FAMILIES
from game_samples import RED, plain, png

from io_idtech.io_blender.operators.registration import declared_in
from io_idtech.io_blender.skeletal.operators import panels as skeletal
from io_idtech.io_blender.skeletal.operators import retarget
from io_idtech.io_md2.format import read_model, write_model
from io_idtech.io_md5.format import read_animation, read_camera, read_mesh, write_animation, write_mesh

JUNK = [3, "text", [1.0, 2.0], {}, b"\xff", {"name": 5, "index": "x", "frame_rate": float("nan")},
        {"import_warnings": 7, "own_skin_size": [0, -1], "frame_rate": 1e30, "shader": 3, "skin": {"a": 1}},
        {"import_warnings": "x\n" * 10_000, "own_skin_size": [1, 2, 3], "index": -5, "entries": "no"}]  # fmt: skip


class Layout:
    """Takes whatever a panel draws, and notes it."""

    def __init__(self, drawn: list[tuple[str, str]] | None = None) -> None:
        self.drawn = [] if drawn is None else drawn

    def _part(self, *words: Any, **options: Any) -> Layout:
        return Layout(self.drawn)

    row = column = _part

    def panel(self, *words: Any, **options: Any) -> tuple[Layout, Layout]:
        return Layout(self.drawn), Layout(self.drawn)

    def separator(self) -> None:
        pass

    def label(self, text: str = "", icon: str = "") -> None:
        self.drawn.append(("label", text))

    def prop(self, owner: Any, name: str, **options: Any) -> None:
        assert name in owner.bl_rna.properties
        getattr(owner, name)
        self.drawn.append(("prop", name))

    def operator(self, name: str, **options: Any) -> SimpleNamespace:
        self.drawn.append(("operator", name))
        return SimpleNamespace()

    def operator_menu_enum(self, name: str, *words: Any, **options: Any) -> None:
        self.drawn.append(("operator", name))

    def template_list(self, kind: str, *words: Any, **options: Any) -> None:
        self.drawn.append(("list", kind))

    def texts(self, kind: str) -> list[str]:
        return [text for name, text in self.drawn if name == kind]


OF_SKELETAL = [cls for module in (skeletal, retarget) for cls in declared_in(module)[0]]
CLASSES = (*OF_SKELETAL, *(cls for family in FAMILIES for cls in family.blender().classes))
PANELS = [cls for cls in CLASSES if issubclass(cls, bpy.types.Panel)]
OWN = [cls for cls in PANELS if cls.bl_space_type != "VIEW_3D"]


def context(obj=None, **more):
    """What a panel gets, for an object."""
    bpy.context.view_layer.objects.active = obj
    given = {"object": obj, "bone": None, "material": None, "region": None, "active_action": None} | more
    return SimpleNamespace(
        **given, view_layer=bpy.context.view_layer, scene=bpy.context.scene, window_manager=bpy.context.window_manager
    )


def shown(obj=None, panels=OWN, **more):
    """The panels that appear, by name, with what they draw."""
    found = {}
    for cls in panels:
        ctx = context(obj, **more)
        if cls.poll(ctx):
            layout = Layout()
            own = {name: getattr(cls, name, None) for name in ("record", "found")}
            cls.draw(SimpleNamespace(layout=layout, **own), ctx)
            found[cls.__name__] = layout
    return found


def tab(obj=None):
    """The panels of the tab id Tech that appear, by title, with what they draw."""
    panels = [cls for cls in bpy.types.Panel.__subclasses__() if getattr(cls, "bl_category", "") == "id Tech"]
    panels = [cls for cls in panels if cls.is_registered]
    titles = {cls.__name__: cls.bl_label for cls in panels}
    return {titles[name]: layout for name, layout in shown(obj, panels).items()}


def import_md5(path, **options):
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}


def armature():
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")


def meshes():
    return [obj for obj in bpy.data.objects if obj.type == "MESH"]


@pytest.fixture
def model(tmp_path) -> Path:
    joints = md5_scenes.skeleton()
    return md5_scenes.write(
        tmp_path,
        "imp",
        run=md5_scenes.animation(joints, frames=9),
        walk=md5_scenes.animation(joints, frames=5, rate=30.0),
    )


@pytest.fixture
def box(tmp_path) -> Path:
    return md2_samples.write_two_sequences(tmp_path)


# Animations


def test_one_click_makes_an_animation_active_with_its_slot_rate_and_range(model):
    import_md5(model, animations="FOLDER", frame_start=5)
    scene = bpy.context.scene
    for name, count, rate in (("walk", 5, 30.0), ("run", 9, 24.0)):
        assert bpy.ops.object.md5_play_animation(action=name) == {"FINISHED"}
        data = armature().animation_data
        assert data.action.name == name
        assert getattr(data, "action_slot", data.action) is not None
        assert (scene.frame_start, scene.frame_end) == (5, 5 + count - 1)
        assert scene.render.fps / scene.render.fps_base == pytest.approx(rate)
        assert scene.frame_start <= scene.frame_current <= scene.frame_end


def bags(action):
    """The owners of an action's F-curves: one for each slot, or the action itself before Blender 4.4."""
    return action.layers[0].strips[0].channelbags if hasattr(action, "slots") else [action]


def shown_frames(action, obj):
    """What the panel of an action says about its frames."""
    ctx = context(obj, active_action=action)
    layout = Layout()
    bpy.types.DOPESHEET_PT_md5_action.draw(SimpleNamespace(layout=layout), ctx)
    (text,) = layout.texts("label")
    return text


def exported_frames(folder, name):
    bpy.ops.export_scene.md5anim(filepath=str(folder / f"{name}.md5anim"))
    return read_animation(folder / f"{name}.md5anim").frame_count


def test_what_is_played_and_shown_is_what_an_export_writes_when_keys_follow_the_imported_frames(model, tmp_path):
    import_md5(model, animations="FOLDER")
    action, scene = bpy.data.actions["run"], bpy.context.scene
    for curve in bags(action)[0].fcurves:
        curve.keyframe_points.insert(scene.frame_start + 19, 0.5)
    bpy.ops.object.md5_play_animation(action="run")
    assert scene.frame_end - scene.frame_start + 1 == 20
    assert shown_frames(action, armature()).startswith("20 frames")
    assert exported_frames(tmp_path, "run") == 20


def test_other_slots_of_an_action_change_neither_what_is_played_nor_what_is_shown(model, tmp_path):
    import_md5(model, animations="FOLDER")
    action, scene = bpy.data.actions["run"], bpy.context.scene
    if not hasattr(action, "slots"):
        pytest.skip("slots are new in Blender 4.4")
    action.use_frame_range = False
    bag = action.layers[0].strips[0].channelbag(action.slots.new("OBJECT", "Lamp"), ensure=True)
    bag.fcurves.new("location", index=0).keyframe_points.insert(200, 1.0)
    bpy.ops.object.md5_play_animation(action="run")
    assert scene.frame_end - scene.frame_start + 1 == 9
    assert shown_frames(action, armature()).startswith("9 frames")
    assert exported_frames(tmp_path, "run") == 9


def test_the_list_in_the_panel_shows_and_sets_the_active_animation(model):
    import_md5(model, animations="FOLDER")
    manager = bpy.context.window_manager
    actions = bpy.data.actions
    assert actions[manager.md5_active_animation].name == "run"
    manager.md5_active_animation = actions.find("walk")
    assert armature().animation_data.action.name == "walk"
    assert actions[manager.md5_active_animation].name == "walk"
    armature().animation_data.action = None
    assert manager.md5_active_animation == -1


def test_arrows_step_through_the_animations_of_the_armature_and_around(model):
    import_md5(model, animations="FOLDER")
    # Neither an action of another object nor one of other bones is an animation of the armature.
    bpy.data.actions.new("empty")
    played = []
    for step in (1, 1, -1, -1, 3):
        assert bpy.ops.object.md5_step_animation(step=step) == {"FINISHED"}
        played.append(armature().animation_data.action.name)
    assert played == ["walk", "run", "walk", "run", "walk"]
    armature().animation_data.action = None
    bpy.ops.object.md5_step_animation(step=1)
    assert armature().animation_data.action.name == "run"
    armature().animation_data.action = None
    bpy.ops.object.md5_step_animation(step=-1)
    assert armature().animation_data.action.name == "walk"


def test_an_animation_is_played_from_the_mesh_too_and_out_of_tweak_mode(model):
    import_md5(model, animations="FOLDER", nla_tracks=True)
    bpy.context.view_layer.objects.active = meshes()[0]
    bpy.ops.object.md5_play_animation(action="walk")
    data = armature().animation_data
    assert data.action.name == "walk"
    track = data.nla_tracks["run"]
    track.strips[0].mute = False
    data.nla_tracks.active = track
    track.strips[0].select = True
    data.use_tweak_mode = True
    bpy.ops.object.md5_play_animation(action="walk")
    assert not data.use_tweak_mode
    assert data.action.name == "walk"


@pytest.mark.parametrize("name", ["nothing", "empty", "other"])
def test_what_is_no_animation_of_the_armature_is_refused(model, tmp_path, name):
    joints = md5_scenes.skeleton(["wheel", "axle"], md5_scenes.PARENTS[:2], md5_scenes.OFFSETS[:2])
    (tmp_path / "car").mkdir()
    write_animation(md5_scenes.animation(joints, moving=("axle",)), tmp_path / "car" / "other.md5anim")
    import_md5(tmp_path / "car" / "other.md5anim")
    import_md5(model, animation_filter="run")
    bpy.data.actions.new("empty")
    before = armature_named("imp").animation_data.action
    with pytest.raises(RuntimeError):
        bpy.ops.object.md5_play_animation(action=name)
    assert armature_named("imp").animation_data.action == before


def armature_named(name):
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.name.startswith(name))


def test_without_an_armature_nothing_is_played():
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.object.md5_play_animation(action="run")
    assert shown(None) == {}


def test_playing_is_one_step_of_undo(model):
    import_md5(model, animations="FOLDER")
    bpy.ops.ed.undo_push(message="a model")
    bpy.ops.object.md5_play_animation("EXEC_DEFAULT", True, action="walk")
    assert armature().animation_data.action.name == "walk"
    bpy.ops.ed.undo()
    assert armature().animation_data.action.name == "run"
    assert bpy.context.scene.frame_end == 8


# Sequences


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
@pytest.mark.parametrize("separate", [False, True])
def test_a_sequence_of_an_md2_is_played_over_its_frames(box, kind, separate):
    bpy.ops.import_scene.md2(filepath=str(box), animation=kind, frame_start=10, sequence_actions=separate)
    scene, obj = bpy.context.scene, bpy.context.object
    keys = obj.data.shape_keys
    if separate:
        # An action of one sequence begins at the first frame, so it does not show others at their place.
        keys.animation_data.action = bpy.data.actions["run"]
    bpy.ops.object.md2_play_sequence(sequence="run")
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (13, 13, 13)
    assert scene.render.fps == 10
    assert keys.animation_data.action.name == "box"
    bpy.ops.object.md2_step_sequence(step=1)
    assert (scene.frame_start, scene.frame_end) == (10, 12)
    bpy.ops.object.md2_step_sequence(step=-1)
    assert scene.frame_start == 13


def test_the_list_in_the_panel_shows_and_plays_the_sequence(box):
    bpy.ops.import_scene.md2(filepath=str(box))
    manager, scene = bpy.context.window_manager, bpy.context.scene
    layout = tab(bpy.context.object)["Animations"]
    assert [(item.name, item.first, item.frame_count) for item in manager.md2_sequences] == [
        ("stand", 0, 3), ("run", 3, 1),
    ]  # fmt: skip
    assert "IO_MD2_UL_sequences" in layout.texts("list")
    assert manager.md2_active_sequence == -1
    manager.md2_active_sequence = 0
    assert (scene.frame_start, scene.frame_end) == (0, 2)
    assert manager.md2_active_sequence == 0


def test_the_frame_rate_of_the_import_is_played_again_and_can_be_changed(box):
    bpy.ops.import_scene.md2(filepath=str(box), fps=12.5)
    mesh = bpy.context.object.data
    assert mesh.md2_frame_rate == 12.5
    mesh.md2_frame_rate = 20.0
    bpy.ops.object.md2_play_sequence(index=1)
    assert bpy.context.scene.render.fps == 20


def test_an_unknown_sequence_is_refused(box):
    bpy.ops.import_scene.md2(filepath=str(box))
    for options in ({"sequence": "swim"}, {"index": 7}):
        with pytest.raises(RuntimeError):
            bpy.ops.object.md2_play_sequence(**options)
    bpy.ops.mesh.primitive_cube_add()
    with pytest.raises(RuntimeError):
        bpy.ops.object.md2_step_sequence()


def test_playing_a_sequence_is_one_step_of_undo(box):
    bpy.ops.import_scene.md2(filepath=str(box))
    bpy.ops.ed.undo_push(message="a model")
    bpy.ops.object.md2_play_sequence("EXEC_DEFAULT", True, sequence="run")
    assert bpy.context.scene.frame_start == 3
    bpy.ops.ed.undo()
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 3)


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
def test_the_button_of_the_frame_selects_its_shape_key(box, kind):
    bpy.ops.import_scene.md2(filepath=str(box), animation=kind, frame_start=10)
    scene, obj = bpy.context.scene, bpy.context.object
    obj.active_shape_key_index = 0
    scene.frame_set(13)
    assert "object.md2_select_key" in tab(obj)["Animations"].texts("operator")
    assert bpy.ops.object.md2_select_key() == {"FINISHED"}
    assert obj.active_shape_key_index == 3
    # Keys are found by their names.
    obj.data.shape_keys.key_blocks[3].name = "other"
    with pytest.raises(RuntimeError, match="no shape key for frame 13"):
        bpy.ops.object.md2_select_key()
    scene.frame_set(50)
    assert "object.md2_select_key" not in tab(obj)["Animations"].texts("operator")
    with pytest.raises(RuntimeError, match="no shape key for frame 50"):
        bpy.ops.object.md2_select_key()


def test_an_edit_of_the_selected_shape_key_changes_one_frame_of_the_export(box, tmp_path):
    bpy.ops.import_scene.md2(filepath=str(box))
    bpy.context.scene.frame_set(2)
    bpy.ops.object.md2_select_key()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(5.0, 0.0, 0.0))
    bpy.ops.object.mode_set(mode="OBJECT")
    path = tmp_path / "edited.md2"
    bpy.ops.export_scene.md2(filepath=str(path))
    before, after = (
        model.vertices * model.scale[:, None] + model.translate[:, None]
        for model in (read_model(box), read_model(path))
    )
    changed = [index for index in range(len(before)) if not np.array_equal(before[index], after[index])]
    assert changed == [2]


def test_selecting_the_basis_warns_that_its_edits_change_all_frames(box, capfd):
    bpy.ops.import_scene.md2(filepath=str(box))
    bpy.context.scene.frame_set(0)
    assert bpy.ops.object.md2_select_key() == {"FINISHED"}
    assert "an edit of it changes all frames" in capfd.readouterr().out
    bpy.context.scene.frame_set(1)
    assert bpy.ops.object.md2_select_key() == {"FINISHED"}
    assert "changes all frames" not in capfd.readouterr().out


# Where panels appear


def test_panels_appear_only_where_they_apply(model, box, tmp_path):
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.data.materials.append(bpy.data.materials.new("plain"))
    bpy.ops.object.camera_add()
    camera = bpy.context.object
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    for obj in (None, cube, camera, rig):
        bone = obj.data.bones[0] if obj == rig else None
        assert shown(obj, bone=bone) == {}
    assert shown(cube, material=cube.data.materials[0]) == {}

    import_md5(model, animations="FOLDER")
    imported = armature_named("imp")
    assert set(shown(imported)) == {"DATA_PT_md5_armature", "DOPESHEET_PT_md5_action"}
    assert "BONE_PT_md5" in shown(imported, bone=imported.data.bones[0])
    mesh = next(obj for obj in meshes() if obj.parent == imported)
    assert {"DATA_PT_md5_mesh", "MATERIAL_PT_md5"} <= set(shown(mesh))
    assert not any("md2" in name for name in shown(mesh))

    bpy.ops.import_scene.md2(filepath=str(box))
    assert set(shown(bpy.context.object)) == {"DATA_PT_md2", "MATERIAL_PT_md2"}

    write = md5_cameras.write_camera
    path = tmp_path / "cut.md5camera"
    write(straight_camera(), path)
    import_md5(path)
    assert set(shown(bpy.context.object)) == {"DATA_PT_md5_camera"}


def straight_camera():
    from io_idtech.io_md5.format import Camera

    return Camera(np.array([2], np.int32), np.zeros((5, 3)), np.zeros((5, 3)), np.full(5, 90.0), frame_rate=30.0)


def test_every_panel_is_titled_by_its_format():
    assert {cls.bl_label for cls in OWN} == {"MD5", "MD5, IQM", "MD2", "MD3"}


# What is edited


def test_an_edited_shader_is_exported(model, tmp_path):
    import_md5(model)
    material = meshes()[0].active_material
    assert material.md5_shader == "models/test/skin"
    material.md5_shader = 'models/"other"\n/skin'
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"))
    assert read_mesh(tmp_path / "out.md5mesh").meshes[0].shader == "models/other/skin"
    material.md5_shader = ""
    assert material.md5_shader == material.name


@pytest.fixture
def painted(tmp_path):
    """The material of an imported model, which shows an image of its game folder."""
    folder = tmp_path / "base" / "models" / "test"
    folder.mkdir(parents=True)
    picture(folder / "skin.png")
    picture(folder / "blue.png")
    import_md5(md5_scenes.write(folder, "imp"))
    return meshes()[0].active_material


def exported_shader(folder):
    bpy.ops.export_scene.md5mesh(filepath=str(folder / "out.md5mesh"))
    return read_mesh(folder / "out.md5mesh").meshes[0].shader


def test_the_shader_of_another_image_is_shown_as_it_is_exported(painted, tmp_path):
    color_image(painted).filepath = str(tmp_path / "base" / "models" / "test" / "blue.png")
    assert painted.md5_shader == "models/test/blue" == exported_shader(tmp_path)
    bpy.ops.material.md5_find_images(material=painted.name)
    assert color_image(painted).filepath.endswith("blue.png")
    assert painted.md5_shader == "models/test/blue" == exported_shader(tmp_path)


def test_an_emptied_shader_is_the_name_of_a_material_that_shows_an_image(painted, tmp_path):
    painted.name = "declared"
    painted.md5_shader = ""
    assert painted.md5_shader == "declared" == exported_shader(tmp_path)


def test_a_shader_can_be_given_to_a_material_made_by_hand(model, tmp_path):
    import_md5(model)
    material = bpy.data.materials.new("By hand")
    meshes()[0].data.materials[0] = material
    assert material.md5_shader == "By hand"
    material.md5_shader = "textures/own"
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"))
    assert read_mesh(tmp_path / "out.md5mesh").meshes[0].shader == "textures/own"


def test_an_edited_skin_is_exported(box, tmp_path):
    bpy.ops.import_scene.md2(filepath=str(box))
    material = bpy.context.object.active_material
    assert material.md2_skin == "models/box/skin.pcx"
    material.md2_skin = "models/box/blue.pcx"
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2"))
    assert read_model(tmp_path / "out.md2").skins == ["models/box/blue.pcx"]


def test_an_edited_frame_rate_of_an_action_is_exported_and_played(model, tmp_path):
    import_md5(model, animation_filter="run")
    action = bpy.data.actions["run"]
    assert action.md5_frame_rate == 24.0
    action.md5_frame_rate = 12.0
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "out.md5anim"))
    assert read_animation(tmp_path / "out.md5anim").frame_rate == 12.0
    bpy.ops.object.md5_play_animation(action="run")
    assert bpy.context.scene.render.fps == 12
    action.md5_frame_rate = 0.0
    bpy.context.scene.render.fps = 60
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "out.md5anim"))
    assert read_animation(tmp_path / "out.md5anim").frame_rate == 60.0


def test_an_edited_frame_rate_of_a_camera_is_exported(tmp_path):
    md5_cameras.write_camera(straight_camera(), tmp_path / "cut.md5camera")
    import_md5(tmp_path / "cut.md5camera")
    data = bpy.context.scene.camera.data
    assert data.md5_frame_rate == 30.0
    data.md5_frame_rate = 25.0
    bpy.ops.export_scene.md5camera(filepath=str(tmp_path / "out.md5camera"))
    assert read_camera(tmp_path / "out.md5camera").frame_rate == 25.0


def test_an_edited_joint_has_its_new_name_and_place_in_mesh_and_animations(model, tmp_path):
    import_md5(model, animation_filter="run")
    bones = armature().data.bones
    assert (bones["leg.L"].md5_joint_name, bones["leg.L"].md5_joint_index) == ("leg.L", 4)
    bones["leg.L"].md5_joint_name = "Lleg"
    bones["leg.L"].md5_joint_index, bones["leg.R"].md5_joint_index = 5, 4
    folder = tmp_path / "out"
    folder.mkdir()
    bpy.ops.export_scene.md5mesh(filepath=str(folder / "out.md5mesh"), actions="ACTIVE")
    assert read_mesh(folder / "out.md5mesh").joints.names[4:] == ["leg.R", "Lleg"]
    assert read_animation(folder / "run.md5anim").names[-1] == "Lleg"
    bones["leg.L"].md5_joint_name = ""
    assert bones["leg.L"].md5_joint_name == "leg.L"
    bones["leg.L"].md5_joint_index = -1
    assert bones["leg.L"].md5_joint_index == -1


def test_a_joint_is_unchanged_if_its_properties_are_set_to_what_they_are(model, tmp_path):
    import_md5(model)
    for bone in armature().data.bones:
        bone.md5_joint_name, bone.md5_joint_index = bone.md5_joint_name, bone.md5_joint_index
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"))
    before, after = read_mesh(model), read_mesh(tmp_path / "out.md5mesh")
    assert before.joints.names == after.joints.names
    np.testing.assert_array_equal(before.joints.positions, after.joints.positions)


def test_an_edited_skin_size_is_exported_with_texture_coordinates_that_fit(box, tmp_path):
    bpy.ops.import_scene.md2(filepath=str(box))
    mesh = bpy.context.object.data
    assert tuple(mesh.md2_skin_size) == (64, 32)
    mesh.md2_skin_size = (128, 128)
    # Saved files have it by this name.
    assert "own_skin_size" in mesh["md2"]
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2"))
    out = read_model(tmp_path / "out.md2")
    assert (out.skin_width, out.skin_height) == (128, 128)
    before = read_model(box)
    np.testing.assert_allclose(np.sort(out.st / [128, 128], axis=0), np.sort(before.st / [64, 32], axis=0), atol=0.02)
    mesh.md2_skin_size = (0, 0)
    assert tuple(mesh.md2_skin_size) == (64, 32)
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2"))
    assert (tmp_path / "out.md2").read_bytes() == box.read_bytes() or np.array_equal(
        read_model(tmp_path / "out.md2").st, before.st
    )


# Images


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png(plain(RED)))


def color_image(material):
    (shader,) = [node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED"]
    links = shader.inputs["Base Color"].links
    return links[0].from_node.image if links else None


def test_images_that_were_missing_are_found_beside_the_model_later(model):
    import_md5(model)
    mesh = meshes()[0]
    material = mesh.active_material
    bpy.context.view_layer.objects.active = mesh
    assert bpy.ops.material.md5_find_images() == {"CANCELLED"}
    assert color_image(material) is None
    picture(model.parent / "skin.png")
    bpy.ops.ed.undo_push(message="a model")
    assert bpy.ops.material.md5_find_images("EXEC_DEFAULT", True) == {"FINISHED"}
    assert color_image(material).filepath.endswith("skin.png")
    bpy.ops.export_scene.md5mesh(filepath=str(model.parent / "out.md5mesh"))
    assert read_mesh(model.parent / "out.md5mesh").meshes[0].shader == "models/test/skin"
    bpy.ops.ed.undo()
    assert color_image(bpy.data.materials[0]) is None


def test_images_of_another_shader_are_found_and_the_shader_is_kept(model):
    picture(model.parent / "skin.png")
    picture(model.parent / "blue.png")
    import_md5(model)
    material = meshes()[0].active_material
    material.md5_shader = "models/test/blue"
    bpy.ops.material.md5_find_images(material=material.name)
    assert color_image(material).filepath.endswith("blue.png")
    bpy.ops.export_scene.md5mesh(filepath=str(model.parent / "out.md5mesh"))
    assert read_mesh(model.parent / "out.md5mesh").meshes[0].shader == "models/test/blue"


def test_images_are_found_in_another_folder(model, tmp_path):
    import_md5(model)
    material = meshes()[0].active_material
    picture(tmp_path / "elsewhere" / "skin.png")
    assert bpy.ops.material.md5_find_images(material=material.name, folder=str(tmp_path / "elsewhere")) == {"FINISHED"}
    assert color_image(material).filepath.endswith("skin.png")


def test_the_image_of_a_skin_is_found_later(box):
    bpy.ops.import_scene.md2(filepath=str(box))
    obj = bpy.context.object
    assert bpy.ops.material.md2_find_images() == {"CANCELLED"}
    picture(box.parent / "skin.png")
    assert bpy.ops.material.md2_find_images() == {"FINISHED"}
    assert color_image(obj.active_material).filepath.endswith("skin.png")
    assert obj.active_material.md2_skin == "models/box/skin.pcx"


@pytest.mark.parametrize("family", ["md5", "md2"])
def test_a_material_that_does_not_exist_is_refused(family):
    with pytest.raises(RuntimeError, match="no such material"):
        getattr(bpy.ops.material, f"{family}_find_images")(material="nothing")
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="no such material"):
        getattr(bpy.ops.material, f"{family}_find_images")()


def test_a_material_for_strokes_is_refused():
    material = bpy.data.materials.new("Ink")
    bpy.data.materials.create_gpencil_data(material)
    with pytest.raises(RuntimeError, match="strokes"):
        bpy.ops.material.md5_find_images(material="Ink")


@pytest.mark.parametrize("model", ["/dev/zero", "\0", "//", "x" * 5000, "\udcff/a.md5mesh"])
def test_a_stored_path_of_a_model_can_be_anything(model):
    material = bpy.data.materials.new("odd")
    material["md5"] = {"shader": "a/b", "model": model.encode("utf-8", "surrogateescape")}
    assert bpy.ops.material.md5_find_images(material="odd") == {"CANCELLED"}


# Warnings


def test_the_warnings_of_the_last_import_are_shown_and_go_with_the_next(model, tmp_path):
    import_md5(model, animation_filter="run")
    obj = armature()
    assert "Last Import" not in tab(obj)
    joints = md5_scenes.skeleton(md5_scenes.NAMES[:4], md5_scenes.PARENTS[:4], md5_scenes.OFFSETS[:4])
    write_animation(md5_scenes.animation(joints, moving=("spine",)), tmp_path / "part.md5anim")
    import_md5(tmp_path / "part.md5anim")
    assert "bones without a joint" in " ".join(tab(obj)["Last Import"].texts("label"))
    import_md5(tmp_path / "walk.md5anim")
    assert "Last Import" not in tab(obj)


def test_facts_of_the_file_are_in_a_closed_panel_and_not_among_the_warnings(model, box, capfd):
    model.write_text(model.read_text() + "\nunknown words\n")
    import_md5(model)
    box.write_bytes(box.read_bytes() + b"more")
    bpy.ops.import_scene.md2(filepath=str(box))
    md2 = bpy.context.object
    for obj, told in ((armature(), "belongs to no block"), (armature().children[0], "block"), (md2, "4 bytes follow")):
        assert told in " ".join(tab(obj)["About the File"].texts("label"))
        assert "Last Import" not in tab(obj)
    assert "DEFAULT_CLOSED" in bpy.types.VIEW3D_PT_io_idtech_facts.bl_options
    assert "Info: box.md2: 4 bytes follow" in capfd.readouterr().out


def test_warnings_are_in_the_saved_file(box, tmp_path):
    bpy.ops.import_scene.md2(filepath=str(box))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "box.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "box.blend"))
    obj = meshes()[0]
    assert "skin.pcx" in tab(obj)["Missing Images"].texts("label")
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.md2_play_sequence(sequence="run") == {"FINISHED"}


def test_what_a_check_found_is_shown_for_its_model_alone(model):
    import_md5(model)
    checked = armature()
    import_md5(model)
    (other,) = (obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj != checked)
    bpy.context.view_layer.objects.active = checked
    assert bpy.ops.object.md5_check_game(game="UNVANQUISHED") == {"FINISHED"}
    for obj, is_checked in ((checked, True), (checked.children[0], True), (other, False)):
        texts = tab(obj)["Check for Game"].texts("label")
        assert any("Unvanquished" in text for text in texts) == is_checked


# Hostile data


@pytest.mark.parametrize("value", JUNK, ids=range(len(JUNK)))
def test_no_stored_value_breaks_a_panel_or_a_property(model, box, tmp_path, value):
    import_md5(model, animations="FOLDER")
    bpy.ops.import_scene.md2(filepath=str(box))
    md5_cameras.write_camera(straight_camera(), tmp_path / "cut.md5camera")
    import_md5(tmp_path / "cut.md5camera")
    for blocks in (bpy.data.meshes, bpy.data.armatures, bpy.data.actions, bpy.data.materials, bpy.data.cameras):
        for data in blocks:
            for key in ("md5", "md2"):
                data[key] = value
    rig = armature()
    for bone in rig.data.bones:
        bone["md5"] = value
    for obj in bpy.data.objects:
        bone = rig.data.bones[1] if obj == rig else None
        action = obj.animation_data.action if obj.animation_data is not None else None
        shown(obj, bone=bone, active_action=action)
        tab(obj)
    bone = rig.data.bones[1]
    bone.md5_joint_name, bone.md5_joint_index = "new", 3
    assert (bone.md5_joint_name, bone.md5_joint_index) == ("new", 3)
    action = bpy.data.actions["run"]
    action.md5_frame_rate = 15.0
    assert action.md5_frame_rate == 15.0
    camera = bpy.data.cameras[0]
    camera.md5_frame_rate = 15.0
    assert camera.md5_frame_rate == 15.0
    for material in bpy.data.materials:
        material.md5_shader, material.md2_skin = "a", "b"
        assert (material.md5_shader, material.md2_skin) == ("a", "b")
        bpy.ops.material.md5_find_images(material=material.name)
    mesh = next(obj.data for obj in meshes() if obj.parent is None)
    mesh.md2_frame_rate, mesh.md2_skin_size = 5.0, (8, 16)
    assert (mesh.md2_frame_rate, tuple(mesh.md2_skin_size)) == (5.0, (8, 16))


def test_odd_names_are_shown_and_exported_again(tmp_path):
    made = md5_scenes.model()
    made.joints.names[4] = 'q\\"uote'.replace('"', "'") + "-\u00e9\udcff"
    write_mesh(made, tmp_path / "odd.md5mesh")
    import_md5(tmp_path / "odd.md5mesh")
    rig = armature()
    for bone in rig.data.bones:
        assert bone.md5_joint_name
        shown(rig, bone=bone)
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"), make_names_safe=False)
    assert read_mesh(tmp_path / "out.md5mesh").joints.names[4] == made.joints.names[4]


def test_a_model_without_shape_keys_lists_no_sequences(tmp_path):
    path = tmp_path / "one.md2"
    write_model(md2_samples.make_model(1), path)
    bpy.ops.import_scene.md2(filepath=str(path), animation="NONE")
    assert "Animations" not in tab(bpy.context.object)
    with pytest.raises(RuntimeError):
        bpy.ops.object.md2_play_sequence(index=0)


# Missing images


def test_all_images_of_a_model_are_looked_up_at_once_and_the_warning_goes(model, tmp_path):
    import_md5(model)
    obj = armature()
    assert "object.io_idtech_find_all_images" in tab(obj)["Missing Images"].texts("operator")
    find_all = bpy.ops.object.io_idtech_find_all_images
    find_all()
    assert "Missing Images" in tab(obj)
    for material in bpy.data.materials:
        image = tmp_path / f"{Path(material.md5_shader).name}.png"
        image.write_bytes(png(plain(RED)))
    find_all(group="md5")
    assert not {"Missing Images", "Last Import"} & tab(obj).keys()
    assert all(image.size[0] for image in bpy.data.images)


def test_images_are_looked_up_only_for_imported_models():
    bpy.ops.mesh.primitive_cube_add()
    with pytest.raises(RuntimeError, match="select an imported model"):
        bpy.ops.object.io_idtech_find_all_images(group="md5")


def test_each_material_with_a_missing_image_is_a_row_with_its_file_and_the_places_in_the_tooltip(model):
    import_md5(model)
    materials = {obj.active_material for obj in meshes()}
    for obj in (armature(), meshes()[0]):
        layout = tab(obj)["Missing Images"]
        assert layout.texts("label") == ["skin"] * len(materials)
        assert layout.texts("operator").count("material.md5_find_images") == len(materials)
    (material,) = materials
    told = bpy.types.MATERIAL_OT_md5_find_images.description(None, SimpleNamespace(material=material.name))
    assert "Not found:\nmodels/test/skin" in told
    assert str(model.parent / "skin") in told


def test_a_material_that_the_user_gave_an_image_misses_none(model, tmp_path):
    import_md5(model)
    picture(tmp_path / "own.png")
    for material in bpy.data.materials:
        nodes = material.node_tree.nodes
        nodes.new("ShaderNodeTexImage").image = bpy.data.images.load(str(tmp_path / "own.png"))
    assert "Missing Images" not in tab(armature())


def test_the_images_of_all_surfaces_of_an_md3_are_missing_from_any_of_its_objects(tmp_path):
    bpy.ops.import_scene.md3(filepath=str(md3_samples.write_sample(tmp_path)))
    rows = [tab(obj)["Missing Images"].texts("label") for obj in bpy.data.objects]
    assert len(rows) > 2
    assert rows[0]
    assert rows == [rows[0]] * len(rows)


# The tab


@pytest.mark.parametrize("family", ["md5", "md2"])
def test_an_imported_model_is_checked_for_games_of_its_format_and_any_other_for_those_of_all(model, box, family):
    bpy.ops.mesh.primitive_cube_add()
    checks = tab(bpy.context.object)["Check for Game"].texts("operator")
    assert {"object.md5_check_game", "object.md2_check_game", "object.md3_check_game"} <= set(checks)
    getattr(bpy.ops.import_scene, family)(filepath=str(model if family == "md5" else box))
    checks = tab(bpy.context.object)["Check for Game"].texts("operator")
    assert checks == [f"object.{family}_check_game"]


def test_the_tab_shows_what_applies_to_the_active_object(model, box):
    assert tab(None) == {}
    bpy.ops.object.camera_add()
    assert tab(bpy.context.object) == {}
    bpy.ops.mesh.primitive_cube_add()
    assert set(tab(bpy.context.object)) == {"Check for Game"}
    bpy.ops.object.armature_add()
    assert set(tab(bpy.context.object)) == {"Check for Game", "Animation Between Skeletons"}
    import_md5(model, animations="FOLDER")
    own = {"Animations", "Missing Images", "Check for Game"}
    assert set(tab(armature_named("imp"))) == own | {"Animation Between Skeletons"}
    assert set(tab(armature_named("imp").children[0])) == own
    bpy.ops.import_scene.md2(filepath=str(box))
    layouts = tab(bpy.context.object)
    assert set(layouts) == own | {"Skins"}
    assert layouts["Skins"].texts("prop") == ["md2_skin"]


def test_a_further_family_is_in_the_tab_by_its_entry(part, monkeypatch):
    sidebar = part("io_blender.operators.sidebar")
    entry = part("io_blender.part").BlenderPart(
        None, (), None, None, has_animations=lambda context: True,
        draw_animations=lambda layout, context: layout.label(text="its sequences"),
    )  # fmt: skip
    monkeypatch.setattr(sidebar, "registered", [SimpleNamespace(name="tri", blender=lambda: entry)])
    assert tab(None)["Animations"].texts("label") == ["its sequences"]


# Playing


def test_the_play_button_is_a_pause_sign_while_the_scene_plays(part, monkeypatch):
    panel_parts = part("io_blender.operators.panel_parts")
    icons = []
    for is_playing in (False, True):
        layout = SimpleNamespace(
            row=lambda **_: SimpleNamespace(
                operator=lambda name, text="", icon="": icons.append((name, icon)) or SimpleNamespace()
            )
        )
        screen = SimpleNamespace(is_animation_playing=is_playing)
        monkeypatch.setattr(panel_parts, "bpy", SimpleNamespace(context=SimpleNamespace(screen=screen)))
        panel_parts.draw_player(layout, "object.md5_step_animation", 0, 2, "animations")
    assert [icon for name, icon in icons if name == "screen.animation_play"] == ["PLAY", "PAUSE"]
