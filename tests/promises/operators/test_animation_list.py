"""The list of animations: stored in the .blend, changed by operators that can be undone and need no window."""

from __future__ import annotations

import bpy
import md2_samples
import md5_scenes
import pytest
from scripted_scenes import rig, tube

from io_idtech.io_md5.format import read_animation

NAMES = ("die", "run", "walk_fast", "walk_slow")


@pytest.fixture
def armature(tmp_path):
    animations = {name: md5_scenes.animation(md5_scenes.skeleton()) for name in NAMES}
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "imp", **animations)), animations="FOLDER")
    return bpy.context.view_layer.objects.active


def listed(armature):
    """The rows of the current source: name, and whether it is checked."""
    choice = armature.io_idtech_animations
    return [(row.name, row.is_checked) for row in choice.rows if row.source == choice.source]


def checked(armature):
    return [name for name, is_checked in listed(armature) if is_checked]


def check(action, **options):
    return bpy.ops.object.io_idtech_check_animations("EXEC_DEFAULT", True, action=action, **options)


def export(folder, **options):
    """The names of the files that an export of the list writes."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    bpy.ops.export_scene.md5anim(filepath=str(out / "name.md5anim"), actions="LIST", **options)
    return sorted(path.stem for path in out.iterdir())


def test_all_none_and_invert_change_what_matches_the_filter(armature):
    check("NONE")
    assert checked(armature) == []
    check("ALL", name_filter="WALK")
    assert checked(armature) == ["walk_fast", "walk_slow"]
    check("INVERT", name_filter="*_fast")
    assert checked(armature) == ["walk_slow"]
    armature.io_idtech_animations.name_filter = "r?n"
    check("ALL")
    assert checked(armature) == ["run", "walk_slow"]
    check("ALL", name_filter="")
    assert checked(armature) == list(NAMES)


def test_only_what_is_checked_is_exported_also_if_the_filter_hides_it(tmp_path, armature):
    check("NONE", name_filter="walk")
    armature.io_idtech_animations.name_filter = "nothing like this"
    assert export(tmp_path) == ["die", "run"]


def test_each_step_can_be_undone_and_redone(armature):
    bpy.ops.ed.undo_push(message="a scene")
    bpy.ops.object.io_idtech_list_animations("EXEC_DEFAULT", True)
    check("NONE")
    bpy.ops.object.io_idtech_move_animation("EXEC_DEFAULT", True, index=0, direction="DOWN")
    name = armature.name
    assert listed(armature)[0] == ("run", False)
    bpy.ops.ed.undo()
    assert listed(bpy.data.objects[name])[0] == ("die", False)
    bpy.ops.ed.undo()
    assert checked(bpy.data.objects[name]) == list(NAMES)
    bpy.ops.ed.redo()
    assert checked(bpy.data.objects[name]) == []


def test_the_choice_is_in_the_blend_file_one_for_each_source(tmp_path, armature):
    for index, name in enumerate(("start", "middle", "end")):
        bpy.context.scene.timeline_markers.new(name, frame=10 * index)
    check("NONE", name_filter="run")
    bpy.ops.object.io_idtech_list_animations(source="MARKERS")
    check("NONE", name_filter="end")
    choice = armature.io_idtech_animations
    choice.prefix, choice.pattern = "a_", "{object}-{marker}"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    name = armature.name
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    reopened = bpy.data.objects[name]
    assert listed(reopened) == [("start", True), ("middle", True), ("end", False)]
    assert export(tmp_path) == [f"a_{name}-middle", f"a_{name}-start"]
    bpy.ops.object.io_idtech_list_animations(source="ACTIONS")
    assert checked(reopened) == ["die", "walk_fast", "walk_slow"]


def test_a_renamed_action_keeps_its_row_and_a_new_one_is_checked(tmp_path, armature):
    check("NONE", name_filter="die")
    armature.io_idtech_animations.rows[1].export_name = "sprint"
    bpy.data.actions["run"].name = "zzz"
    bpy.data.actions["die"].name = "fall"
    bpy.data.actions["walk_slow"].copy().name = "crawl"
    bpy.data.actions.remove(bpy.data.actions["walk_fast"])
    assert export(tmp_path) == ["crawl", "sprint", "walk_slow"]
    bpy.ops.object.io_idtech_list_animations()
    assert listed(armature) == [("fall", False), ("zzz", True), ("walk_slow", True), ("crawl", True)]


def test_rows_move_past_those_that_the_filter_shows_and_stop_at_the_ends(armature, capfd):
    bpy.ops.object.io_idtech_list_animations()
    armature.io_idtech_animations.name_filter = "d"
    bpy.ops.object.io_idtech_move_animation(index=0, direction="UP")
    assert "already first" in capfd.readouterr().out
    armature.io_idtech_animations.name_filter = "*"
    bpy.ops.object.io_idtech_move_animation(index=3, direction="DOWN")
    assert "already last" in capfd.readouterr().out
    armature.io_idtech_animations.name_filter = "[dw]*"
    bpy.ops.object.io_idtech_move_animation(index=0, direction="DOWN")
    assert [name for name, _ in listed(armature)] == ["run", "walk_fast", "die", "walk_slow"]
    assert armature.io_idtech_animations.active_row == 2


def test_patterns_and_prefixes_make_names_that_are_fit_for_files_and_distinct(tmp_path, armature):
    choice = armature.io_idtech_animations
    bpy.ops.object.io_idtech_list_animations()
    choice.pattern = "{object}/same"
    choice.prefix = "p:"
    choice.rows[0].export_name = "P_IMP_SAME"
    stem = f"p_{armature.name}_same"
    assert export(tmp_path) == sorted(["P_IMP_SAME", f"{stem}_2", f"{stem}_3", f"{stem}_4"])


@pytest.mark.parametrize("suffix", ["md5mesh", "md5anim"])
def test_an_unknown_field_of_the_pattern_is_an_error_and_nothing_is_written(tmp_path, armature, suffix):
    armature.io_idtech_animations.pattern = "{walk}"
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(RuntimeError, match=r"unknown field \{walk\}"):
        getattr(bpy.ops.export_scene, suffix)(filepath=str(out / f"x.{suffix}"), actions="LIST")
    assert not list(out.iterdir())


@pytest.mark.parametrize(
    ("source", "remedy"),
    [("STRIPS", "no NLA strips: push down"), ("MARKERS", "no markers: add one"), ("ACTIONS", "animate its bones")],
)
def test_an_empty_list_says_what_to_do(tmp_path, source, remedy):
    armature = rig()
    tube(armature)
    if source == "ACTIONS":
        bpy.data.actions.remove(armature.animation_data.action)
    bpy.ops.object.io_idtech_list_animations(source=source)
    with pytest.raises(RuntimeError, match=remedy):
        bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "x.md5anim"), actions="LIST")


def test_the_scene_is_written_under_the_file_name_and_with_a_pattern_under_that(tmp_path, armature):
    bpy.ops.object.io_idtech_list_animations(source="SCENE")
    assert export(tmp_path) == ["name"]
    armature.io_idtech_animations.pattern = "{scene} of {object}"
    assert export(tmp_path) == sorted([f"Scene of {armature.name}", "name"])


def test_without_anything_stored_all_actions_are_exported_and_nothing_is_stored(tmp_path, armature):
    assert export(tmp_path) == list(NAMES)
    assert len(armature.io_idtech_animations.rows) == 0


def test_a_mesh_stands_for_its_armature_and_an_object_can_be_named(armature):
    mesh = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.object.io_idtech_list_animations()
    assert len(armature.io_idtech_animations.rows) == len(NAMES)
    bpy.context.view_layer.objects.active = None
    check("NONE", owner=armature.name)
    assert checked(armature) == []


@pytest.mark.parametrize("owner", ["", "nobody"])
def test_without_an_object_the_operators_say_so(owner):
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="select an armature or a mesh"):
        check("ALL", owner=owner)


def test_objects_without_animation_have_an_empty_list():
    for data in (None, bpy.data.cameras.new("Camera"), bpy.data.meshes.new("Mesh")):
        obj = bpy.data.objects.new("Object", data)
        bpy.context.scene.collection.objects.link(obj)
        bpy.context.view_layer.objects.active = obj
        for source in ("ACTIONS", "STRIPS", "MARKERS"):
            bpy.ops.object.io_idtech_list_animations(source=source)
            assert listed(obj) == []
        bpy.ops.object.io_idtech_move_animation(index=5)


@pytest.mark.parametrize("overridden", [False, True], ids=["linked", "library override"])
def test_a_linked_armature_is_exported_with_the_list_of_its_file(tmp_path, armature, overridden):
    check("NONE", name_filter="walk")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (source, wanted):
        wanted.collections, wanted.actions = ["imp"], list(source.actions)
    collection = wanted.collections[0]
    scene.collection.children.link(collection)
    if overridden:
        # From 5.3 on, Blender overrides only what is in the scene.
        override = collection.override_hierarchy_create(scene, bpy.context.view_layer)
        scene.collection.children.unlink(collection)
        collection = override
    linked = next(obj for obj in collection.all_objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = linked
    with pytest.raises(RuntimeError, match="linked from another file"):
        check("NONE")
    assert export(tmp_path, use_active_collection=False) == ["die", "run"]


def test_markers_of_one_name_are_told_apart_and_those_of_cameras_are_no_animations(tmp_path, armature):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 29
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    for frame, name in ((20, "walk"), (0, "walk"), (10, "Walk"), (5, "cut")):
        scene.timeline_markers.new(name, frame=frame)
    scene.timeline_markers["cut"].camera = camera
    bpy.ops.object.io_idtech_list_animations(source="MARKERS")
    assert [(row.name, row.occurrence) for row in armature.io_idtech_animations.rows if row.source == "MARKERS"] == [
        ("walk", 0), ("Walk", 0), ("walk", 1),
    ]  # fmt: skip
    armature.io_idtech_animations.rows[2].is_checked = False
    assert export(tmp_path) == ["Walk_2", "walk"]
    assert read_animation(tmp_path / "out" / "walk.md5anim").frame_count == 10


def test_markers_on_one_frame_leave_all_but_the_last_out_with_a_warning(tmp_path, armature, capfd):
    for name in ("first", "second"):
        bpy.context.scene.timeline_markers.new(name, frame=0)
    bpy.ops.object.io_idtech_list_animations(source="MARKERS")
    assert len(export(tmp_path)) == 1
    assert "another marker is on the same frame" in capfd.readouterr().out


def test_every_slot_that_fits_is_a_row_and_only_the_one_that_plays_is_checked(tmp_path):
    armature = rig()
    tube(armature)
    action = armature.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("slots are new in Blender 4.4")
    second = action.slots.new("OBJECT", "Second")
    strip = action.layers[0].strips[0]
    bag = strip.channelbag(second, ensure=True)
    curve = bag.fcurves.new('pose.bones["mid"].location', index=0)
    curve.keyframe_points.insert(1, 0.0)
    curve.keyframe_points.insert(10, 3.0)
    bpy.ops.object.io_idtech_list_animations(source="ACTIONS")
    rows = armature.io_idtech_animations.rows
    assert [(row.name, row.slot, row.is_checked) for row in rows] == [
        ("Bend", action.slots[0].name_display, True), ("Bend", "Second", False),
    ]  # fmt: skip
    rows[1].is_checked = True
    armature.io_idtech_animations.pattern = "{action}-{slot}"
    first, other = export(tmp_path)
    assert {first, other} == {f"Bend-{action.slots[0].name_display}", "Bend-Second"}
    animations = [read_animation(tmp_path / "out" / f"{name}.md5anim") for name in (first, other)]
    assert animations[0].frames.shape != animations[1].frames.shape


@pytest.mark.parametrize(
    "value", [5, "text", [1.0, 2.0], {"rows": 5, "source": "none"}, {"rows": {"a": 1}, "source": 77}]
)
def test_a_property_of_the_wrong_type_is_as_good_as_none(tmp_path, armature, value, part):
    group = part("io_blender.clips.clip").PROPERTY
    module, registration = (part(f"io_blender.operators.{name}") for name in ("animation_list", "registration"))
    registration.remove(*registration.declared_in(module))
    try:
        armature[group] = value
    finally:
        registration.add(*registration.declared_in(module))
    assert export(tmp_path) == list(NAMES)


def test_wild_values_of_the_properties_are_taken(tmp_path, armature):
    choice = armature.io_idtech_animations
    choice.active_row = 2**31 - 1
    choice.name_filter = "[" * 500
    row = choice.rows.add()
    row.name, row.occurrence, row.slot = "\n\t\u2603" * 9, 2**31 - 1, "no such slot"
    check("INVERT")
    choice.rows[0].export_name = "../" * 20 + "CON"
    names = export(tmp_path)
    assert len(names) == len(NAMES)
    assert not any("/" in name for name in names)


def test_a_collection_exporter_writes_what_is_checked(tmp_path, armature):
    check("NONE", name_filter="walk")
    layer = bpy.context.view_layer.layer_collection.children["imp"]
    bpy.context.view_layer.active_layer_collection = layer
    bpy.ops.collection.exporter_add(name="IO_FH_md5")
    options = layer.collection.exporters[0].export_properties
    (tmp_path / "out").mkdir()
    options.filepath, options.actions = str(tmp_path / "out" / "model.md5mesh"), "LIST"
    bpy.ops.collection.exporter_export(index=0)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"model.md5mesh", "die.md5anim", "run.md5anim"}


def test_the_list_of_a_mesh_without_armature_is_its_own(tmp_path):
    bpy.ops.import_scene.md2(filepath=str(md2_samples.write_sample(tmp_path)))
    mesh = bpy.context.view_layer.objects.active
    bpy.ops.object.io_idtech_list_animations(source="MARKERS")
    assert len(checked(mesh)) == 4
