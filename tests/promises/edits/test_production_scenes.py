"""What productions do beside editing: linked rigs, other modes, odd F-curves, keyed visibility, texts and instances."""

from __future__ import annotations

import addon_utils
import bpy
import md2_compare
import md5_compare
import pytest
import scene_state
import workbench
from animation_edits import HAS_SLOTS, bags_of, curves_of
from installed import read_empty_scene
from md5_compare import compared, said
from workbench import Bench

pytestmark = pytest.mark.slow


def exported(folder, **options) -> md5_compare.Comparison:
    folder = folder / "out"
    folder.mkdir(exist_ok=True)
    bpy.context.view_layer.update()
    return md5_compare.export(folder, **options)


def exported_md2(folder, **options) -> tuple[int, int, list[str]]:
    """The number of frames and of triangles, and the warnings."""
    bpy.context.view_layer.update()
    file, said = md2_compare.export(folder / "out.md2", **options)
    return len(file.frame_names), len(file.triangles(0)), said


def exported_bytes(folder) -> dict[str, bytes]:
    """The files that an export of the active action writes."""
    exported(folder, actions="ACTIVE")
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


def link(obj) -> None:
    bpy.context.scene.collection.objects.link(obj)


def shown_triangles(*objects) -> int:
    graph = bpy.context.evaluated_depsgraph_get()
    count = 0
    for obj in objects:
        mesh = obj.evaluated_get(graph).data
        mesh.calc_loop_triangles()
        count += len(mesh.loop_triangles)
    return count


def written_triangles(result: md5_compare.Comparison) -> int:
    return sum(len(block.triangles) for block in result.model.blocks)


# F-curves


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_sampled_curves_are_exported_as_they_play(tmp_path, actions):
    bench = workbench.made()
    for curve in curves_of(bench):
        curve.convert_to_samples(1, 10)
    md5_compare.assert_exact(compared(tmp_path, bench, actions))


@pytest.mark.parametrize(("channel", "index"), [("location", 3), ("scale", 5), ("rotation_quaternion", 4)])
def test_curves_of_an_axis_that_no_channel_has_are_ignored_as_blender_does(tmp_path, channel, index):
    bench = workbench.made()
    action = bench.armature.animation_data.action
    bags_of(action)[0].fcurves.new(f'pose.bones["mid"].{channel}', index=index).keyframe_points.insert(1, 5.0)
    md5_compare.assert_exact(compared(tmp_path, bench))


def test_a_key_that_is_not_a_number_is_named_with_bone_and_frame(tmp_path):
    bench = workbench.made()
    bone = bench.armature.pose.bones["mid"]
    bone.keyframe_insert("scale", frame=1)
    curve = next(curve for curve in curves_of(bench) if curve.data_path.endswith("scale"))
    curve.keyframe_points[0].co.y = float("nan")
    with pytest.raises(RuntimeError, match=r"[Tt]he pose of mid is not a number on frame 1 of Bend"):
        exported(tmp_path, actions="ACTIVE")


@pytest.mark.parametrize("middle", [6, 6.5])
def test_a_rotation_that_passes_through_zero_is_what_blender_shows(tmp_path, middle):
    bench = workbench.made()
    bench.armature.animation_data_clear()
    bone = bench.armature.pose.bones["mid"]
    last = 2 * middle - 1
    for frame, w in ((1, 1.0), (last, -1.0)):
        bone.rotation_quaternion = (w, 0.0, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves_of(bench):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    bpy.context.scene.frame_end = int(last)
    bench.mesh.modifiers.new("Triangulate", "TRIANGULATE")
    bench.mesh.modifiers.move(1, 0)
    md5_compare.assert_exact(compared(tmp_path, bench))


# Linked data


def save_library(folder, *objects) -> str:
    """Saves objects in the collection `Library` of a .blend file and begins a new one."""
    collection = bpy.data.collections.new("Library")
    bpy.context.scene.collection.children.link(collection)
    for obj in objects:
        bpy.context.scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    path = str(folder / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    read_empty_scene()
    return path


def load_library(path: str, *, linked: bool) -> None:
    with bpy.data.libraries.load(path, link=linked) as (available, wanted):
        wanted.collections, wanted.actions = ["Library"], available.actions
    bpy.context.scene.collection.children.link(wanted.collections[0])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    bpy.context.scene.frame_set(1)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("kind", ["linked", "override"])
def test_a_rig_of_another_file_is_exported_as_one_of_its_own(tmp_path, mode, kind):
    bench = workbench.made()
    # With Euler angles, Blender has to evaluate the poses.
    bench.armature.pose.bones["tip"].rotation_mode = mode
    bench.armature.animation_data.action.use_fake_user = True
    bench.armature.animation_data.action = None
    for bone in bench.armature.pose.bones:
        bone.location, bone.rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    bench.armature.pose.bones["tip"].keyframe_insert("location", frame=1)
    bench.armature.animation_data.action.name = "Still"
    bench.armature.animation_data.action.use_fake_user = True
    bench.armature.animation_data.action = bpy.data.actions["Bend"]
    path = save_library(tmp_path, bench.armature, bench.mesh)
    files = []
    for linked in (False, True):
        read_empty_scene()
        load_library(path, linked=linked)
        link(bpy.data.objects.new("Other", None))
        if linked and kind == "override":
            for name in ("Rig", "Tube"):
                bpy.data.objects[name].override_create(remap_local_usages=True)
        bpy.context.view_layer.objects.active = next(
            obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"
        )
        result = exported(tmp_path, actions="ALL")
        assert result.findings == []
        assert not said(result.warnings, "off from what Blender shows")
        files.append({file.name: file.read_bytes() for file in (tmp_path / "out").glob("*.md5anim")})
    assert set(files[0]) == {"Bend.md5anim", "Still.md5anim"}
    assert files[0] == files[1]


def test_objects_with_the_name_of_a_linked_one_are_exported(tmp_path):
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "Prop"
    path = save_library(tmp_path, bpy.context.object)
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=1)
    bpy.context.object.name = "Prop"
    load_library(path, linked=True)
    assert [obj.name for obj in bpy.context.view_layer.objects] == ["Prop", "Prop"]
    assert written_triangles(exported(tmp_path)) == 12 + 20
    assert exported_md2(tmp_path)[1] == 12 + 20


# Modes


def test_what_is_in_edit_mode_but_not_active_is_exported_as_edited(tmp_path):
    bench = workbench.made()
    bpy.ops.mesh.primitive_cube_add()
    other, view = bpy.context.object, bpy.context.view_layer
    bpy.context.scene.tool_settings.lock_object_mode = False
    other.select_set(False)
    for edited in (bench.mesh, bench.armature):
        view.objects.active = edited
        bpy.ops.object.mode_set(mode="EDIT")
    bench.armature.data.edit_bones["tip"].head.x += 0.5
    view.objects.active = other
    modes = (bench.mesh.mode, bench.armature.mode, other.mode)
    assert modes == ("EDIT", "EDIT", "OBJECT")
    result = exported(tmp_path)
    assert (bench.mesh.mode, bench.armature.mode, other.mode) == modes
    assert (view.objects.active, other.select_get()) == (other, False)
    assert written_triangles(result) == 96
    for edited in (bench.mesh, bench.armature):
        view.objects.active = edited
        bpy.ops.object.mode_set(mode="OBJECT")
    assert written_triangles(exported(tmp_path)) == 96
    assert result.model.positions[2] == pytest.approx(bench.armature.data.bones["tip"].head_local)


def test_a_selected_object_in_object_mode_stays_there(tmp_path):
    bench = workbench.made()
    bpy.ops.mesh.primitive_cube_add()
    other = bpy.context.object
    workbench.activate(bench.mesh)
    bpy.ops.object.mode_set(mode="EDIT")
    other.select_set(True)
    exported(tmp_path)
    assert (bench.mesh.mode, other.mode, other.select_get()) == ("EDIT", "OBJECT", True)


@pytest.mark.parametrize("mode", ["SCULPT", "WEIGHT_PAINT", "VERTEX_PAINT"])
def test_paint_modes_are_left_for_the_export(tmp_path, mode):
    bench = workbench.made()
    bench.mesh.modifiers.new("Multires", "MULTIRES")
    workbench.activate(bench.mesh)
    bpy.ops.object.multires_subdivide(modifier="Multires", mode="CATMULL_CLARK")
    bench.mesh.modifiers.move(1, 0)
    bpy.context.view_layer.update()
    count = shown_triangles(bench.mesh)
    assert count == 4 * 96
    bpy.ops.object.mode_set(mode=mode)
    assert written_triangles(exported(tmp_path)) == count
    assert bench.mesh.mode == mode


# Visibility


def hide_from(obj, frame: int) -> None:
    for number, hidden in ((1, False), (frame, True)):
        obj.hide_viewport = hidden
        obj.keyframe_insert("hide_viewport", frame=number)


@pytest.mark.parametrize("current", [1, 8])
def test_animated_visibility_is_named(tmp_path, current):
    bench = workbench.made()
    hide_from(bench.mesh, 6)
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.parent, cube.parent_type, cube.parent_bone = bench.armature, "BONE", "tip"
    bpy.context.scene.frame_set(current)
    words = "on all frames" if current == 1 else "hidden on the current frame"
    result = exported(tmp_path, actions="SCENE")
    assert said(result.warnings, bench.mesh.name, "visibility is animated", words)
    assert not said(result.warnings, "off from what Blender shows")
    assert said(exported_md2(tmp_path)[2], bench.mesh.name, "visibility is animated", words)


def test_an_emitter_that_only_shows_its_particles_is_not_exported(tmp_path):
    bench = workbench.made()
    bpy.ops.mesh.primitive_cube_add()
    emitter = bpy.context.object
    emitter.modifiers.new("Hair", "PARTICLE_SYSTEM")
    emitter.parent, emitter.parent_type, emitter.parent_bone = bench.armature, "BONE", "tip"
    assert written_triangles(exported(tmp_path)) == 96 + 12
    emitter.show_instancer_for_viewport = False
    result = exported(tmp_path)
    assert written_triangles(result) == 96
    assert said(result.warnings, emitter.name, "its instances are left out")


# What no file holds


def add_text() -> str:
    curve = bpy.data.curves.new("Sign", "FONT")
    curve.body = "idtech"
    link(bpy.data.objects.new("Sign", curve))
    return "Sign"


def add_instance() -> str:
    collection = bpy.data.collections.new("Crates")
    mesh = bpy.data.meshes.new("Crate")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [], [(0, 1, 2)])
    collection.objects.link(bpy.data.objects.new("Crate", mesh))
    instance = bpy.data.objects.new("Crates here", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    link(instance)
    return instance.name


@pytest.mark.parametrize("add", [add_text, add_instance])
@pytest.mark.parametrize("with_rig", [True, False])
def test_what_is_shown_but_not_exported_is_named(tmp_path, add, with_rig):
    bench = workbench.made()
    if not with_rig:
        bench.mesh.modifiers.clear()
        bench.mesh.parent = None
        bpy.data.objects.remove(bench.armature)
    name = add()
    assert said(exported(tmp_path).warnings, name)
    assert said(exported_md2(tmp_path)[2], name)


def test_curves_without_faces_are_not_named(tmp_path):
    workbench.made()
    bpy.ops.curve.primitive_bezier_curve_add()
    assert exported(tmp_path).warnings == []


# Motion that no file holds


def fold(bench: Bench) -> None:
    """Moves one corner of a quad across the opposite diagonal."""
    bench.armature.pose.bones["tip"].scale = (1.0, 1.0, 1.0)
    mesh = bpy.data.meshes.new("Sheet")
    mesh.from_pydata([(0, 0, 0), (2, 0, 0), (2, 0, 2), (0, 0, 2)], [], [(0, 1, 2, 3)])
    mesh.materials.append(bpy.data.materials.new("Sheet"))
    sheet = bpy.data.objects.new("Sheet", mesh)
    link(sheet)
    for name, vertices in (("root", [0, 2, 3]), ("tip", [1])):
        sheet.vertex_groups.new(name=name).add(vertices, 1.0, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = bench.armature
    bench.meshes.append(sheet)
    bone = bench.armature.pose.bones["tip"]
    for frame, place in ((1, (0.0, 0.0, 0.0)), (10, (-3.0, 3.0, 3.0))):
        bone.location = place
        bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)


def test_faces_that_blender_splits_otherwise_in_motion_are_named(tmp_path):
    bench = workbench.made()
    fold(bench)
    result = compared(tmp_path, bench)
    assert said(result.warnings, "Sheet", "triangulated differently", "on frame", "Triangulate modifier")
    bench.meshes[-1].modifiers.new("Triangulate", "TRIANGULATE")
    bench.meshes[-1].modifiers.move(1, 0)
    assert not said(compared(tmp_path, bench).warnings, "Sheet", "triangulated differently")


@pytest.mark.parametrize(
    ("kind", "name", "value", "words"),
    [
        ("ARRAY", "offset_u", 0.5, "texture coordinates"),
        ("MIRROR", "offset_u", 0.5, "texture coordinates"),
        ("SOLIDIFY", "material_offset", 1, "materials"),
    ],
)
def test_modifiers_that_change_uvs_or_materials_over_time_are_named(tmp_path, kind, name, value, words):
    bench = workbench.made()
    bench.mesh.data.materials.append(bpy.data.materials.new("Second"))
    modifier = bench.mesh.modifiers.new(kind, kind)
    bench.mesh.modifiers.move(1, 0)
    modifier = bench.mesh.modifiers[0]
    modifier.keyframe_insert(name, frame=1)
    setattr(modifier, name, value)
    modifier.keyframe_insert(name, frame=10)
    bpy.context.scene.frame_set(1)
    assert said(exported(tmp_path, actions="SCENE").warnings, bench.mesh.name, words)


def _shrinkwrap(bench: Bench) -> str:
    modifier = bench.mesh.modifiers.new("Shrink", "SHRINKWRAP")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5)
    ball = bpy.context.object
    modifier.target = ball
    bench.mesh.modifiers.move(1, 0)
    for frame in (1, 10):
        ball.location.x = frame / 5.0
        ball.keyframe_insert("location", frame=frame)
    return "modifiers that depend on other objects: Shrink"


def _animated_parent(bench: Bench) -> str:
    holder = bpy.data.objects.new("Holder", None)
    link(holder)
    holder.parent, holder.parent_type, holder.parent_bone = bench.armature, "BONE", "tip"
    bench.mesh.modifiers.clear()
    bench.mesh.parent = holder
    for frame in (1, 10):
        holder.location.x = frame / 5.0
        holder.keyframe_insert("location", frame=frame)
    return "its parents are animated: Holder"


def _flat(bench: Bench) -> str:
    bench.mesh.scale.y = 0.0
    return "scaled to nothing"


@pytest.mark.parametrize("arrange", [_shrinkwrap, _animated_parent, _flat])
def test_the_likely_cause_of_a_difference_is_named(tmp_path, arrange):
    bench = workbench.made()
    cause = arrange(bench)
    bpy.context.view_layer.objects.active = bench.armature
    bpy.context.scene.frame_set(1)
    assert said(exported(tmp_path, actions="SCENE").warnings, bench.mesh.name, "Likely cause", cause)


def _stretched(bones) -> None:
    target = bpy.data.objects.new("Target", None)
    link(target)
    target.location.z = 8.0
    bones["mid"].constraints.new("STRETCH_TO").target = target


def _scaled(bones) -> None:
    bones["mid"].scale = (1.0, 1.5, 1.0)


@pytest.mark.parametrize(
    ("arrange", "cause"),
    [(_stretched, "Stretch To scales bones: mid"), (_scaled, "bones are scaled, which joints cannot be: mid, tip")],
)
def test_of_scaled_bones_those_that_move_vertices_are_named_with_what_scales_them(tmp_path, arrange, cause):
    bench = workbench.made()
    workbench.activate(bench.armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = bench.armature.data.edit_bones
    for name in ("control", "stretched control"):
        bones.new(name).tail = (0.0, 1.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    posed = bench.armature.pose.bones
    posed["control"].scale = (2.0, 2.0, 2.0)
    constraint = posed["stretched control"].constraints.new("STRETCH_TO")
    constraint.target, constraint.subtarget = bench.armature, "tip"
    arrange(posed)
    for bone in bench.armature.data.bones:
        bone.bbone_segments = 4
    warnings = exported(tmp_path, actions="ACTIVE").warnings
    assert said(warnings, bench.mesh.name, f"Likely cause: {cause}; Bendy Bones: root, mid, tip")


def test_a_constraint_that_scales_is_named_with_its_bone_and_keyed_scale_is_to_be_removed(tmp_path):
    bench = workbench.made()
    posed = bench.armature.pose.bones
    _stretched(posed)
    warnings = exported(tmp_path, actions="ACTIVE").warnings
    assert said(warnings, "constraints scale bones", "mid (Stretch To). Disable them")
    assert not said(warnings, "remove the scale")
    posed["mid"].constraints.remove(posed["mid"].constraints[0])
    _scaled(posed)
    warnings = exported(tmp_path, actions="ACTIVE").warnings
    assert said(warnings, "bones are scaled in the animation", "mid: remove the scale")
    assert not said(warnings, "constraints scale bones")


def test_a_spline_that_scales_the_bones_of_its_chain_is_named(tmp_path):
    bench = workbench.made()
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions = "3D"
    points = curve.splines.new("POLY").points
    points.add(2)
    for index, point in enumerate(points):
        point.co = (index, 0.5 * index, 3.0 * index, 1.0)
    path = bpy.data.objects.new("Path", curve)
    bpy.context.scene.collection.objects.link(path)
    constraint = bench.armature.pose.bones["tip"].constraints.new("SPLINE_IK")
    constraint.target, constraint.chain_count = path, 3
    warnings = exported(tmp_path, actions="ACTIVE").warnings
    assert said(warnings, "constraints scale bones", "root (Spline IK)")
    assert not said(warnings, "remove the scale")


def test_an_imported_mesh_that_lost_its_uv_map_is_named(tmp_path):
    bench = workbench.sample(tmp_path)
    mesh = bench.mesh.data
    mesh.uv_layers.remove(mesh.uv_layers[0])
    assert said(exported(tmp_path).warnings, bench.mesh.name, "no UV map")


# Parents


def _held(bench: Bench) -> bpy.types.Object:
    """An empty as the parent of the armature."""
    holder = bpy.data.objects.new("Character", None)
    link(holder)
    bench.armature.parent = holder
    return holder


def test_an_armature_under_an_empty_is_exported_as_before(tmp_path):
    bench = workbench.sample(tmp_path)
    before = exported_bytes(tmp_path)
    _held(bench)
    assert len(before) == 2
    assert before == exported_bytes(tmp_path)


def _still(holder) -> None:
    pass


def _animated(holder) -> None:
    for frame in (1, 10):
        holder.location.x = frame / 5.0
        holder.keyframe_insert("location", frame=frame)


def _driven(holder) -> None:
    holder.driver_add("location", 1).driver.expression = "frame / 4"


def _follows(holder) -> None:
    target = bpy.data.objects.new("Target", None)
    link(target)
    _animated(target)
    holder.constraints.new("COPY_LOCATION").target = target


def _grandchild(holder) -> None:
    holder.parent = bpy.data.objects.new("Scene", None)
    link(holder.parent)
    _animated(holder.parent)


@pytest.mark.parametrize("move", [_still, _animated, _driven, _follows, _grandchild])
@pytest.mark.parametrize("make", [workbench.made, None])
def test_an_armature_moves_with_its_parent(tmp_path, move, make):
    bench = make() if make is not None else workbench.sample(tmp_path)
    holder = _held(bench)
    holder.location, holder.rotation_euler, holder.scale = (1.0, 2.0, 3.0), (0.3, 0.2, 0.1), (2.0, 2.0, 2.0)
    move(holder)
    bpy.context.scene.frame_set(1)
    md5_compare.assert_exact(compared(tmp_path, bench))


# Scripts that run on each frame


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
def test_bones_that_scripts_move_are_exported_as_shown(tmp_path, on_each_frame, actions):
    bench = workbench.made()
    bone = bench.armature.pose.bones["tip"]

    def wiggle(scene, *_rest) -> None:
        bone.location.x = 0.1 * scene.frame_current

    on_each_frame(wiggle)
    bpy.context.scene.frame_set(1)
    md5_compare.assert_exact(compared(tmp_path, bench, actions))


def test_a_mesh_that_scripts_move_is_named_with_the_cause(tmp_path, on_each_frame):
    bench = workbench.made()

    def slide(scene, *_rest) -> None:
        bench.mesh.delta_location.x = 0.1 * scene.frame_current

    on_each_frame(slide)
    assert said(exported(tmp_path, actions="ACTIVE").warnings, bench.mesh.name, "Likely cause: a script")


def test_scripts_that_move_no_bone_change_no_byte(tmp_path, on_each_frame):
    bench = workbench.sample(tmp_path)
    before = exported_bytes(tmp_path)
    called = []
    on_each_frame(lambda scene, *_rest: called.append(scene.frame_current))
    after = exported_bytes(tmp_path)
    assert called
    assert before == after
    assert bench.armature.animation_data.action is not None


# Rigs of Rigify, which is part of Blender


@pytest.fixture
def rigify_bench():
    """A generated rig whose controls are keyed, with a beam along each bone that deforms."""
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_basic_human_metarig_add()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.data.objects.remove(metarig)
    for name, angle in (("torso", 0.3), ("hand_ik.L", 0.5), ("foot_ik.R", 0.4), ("chest", -0.4), ("head", 0.6)):
        control = rig.pose.bones[name]
        for frame, factor in ((1, 0.0), (8, 1.0)):
            control.rotation_mode = "XYZ"
            control.rotation_euler = angle * factor, 0.0, 0.5 * angle * factor
            control.location = 0.0, 0.0, 0.1 * factor
            control.keyframe_insert("rotation_euler", frame=frame)
            control.keyframe_insert("location", frame=frame)
    yield Bench(rig, [_beams(rig)])
    addon_utils.disable("rigify", default_set=True)


def _beams(rig):
    bones = [bone for bone in rig.data.bones if bone.use_deform]
    points, faces = [], []
    for bone in bones:
        first = len(points)
        width = 0.1 * bone.length
        for place in (bone.head_local, bone.tail_local):
            points += [place + width * bone.x_axis, place + width * bone.z_axis, place - width * bone.x_axis]
        corners = ((0, 1, 3), (1, 4, 3), (1, 2, 4), (2, 5, 4), (2, 0, 5), (0, 3, 5))
        faces += [[first + corner for corner in face] for face in corners]
    mesh = bpy.data.meshes.new("Beams")
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new("Beams", mesh)
    link(obj)
    for number, bone in enumerate(bones):
        obj.vertex_groups.new(name=bone.name).add(list(range(6 * number, 6 * number + 6)), 1.0, "ADD")
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    return obj


RIGIFY = {"deform_only": True, "add_origin": "ALWAYS", "game": "DOOM3"}


def test_the_controls_of_rigify_move_the_bones_that_deform(rigify_bench, tmp_path):
    rig = rigify_bench.armature
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            constraint.mute = constraint.mute or constraint.type == "STRETCH_TO"
        bone.ik_stretch = 0.0
    for bone in rig.data.bones:
        bone.bbone_segments = 1
    result = compared(tmp_path, rigify_bench, **RIGIFY)
    md5_compare.assert_exact(result)
    assert result.model.names[0] == "origin"
    assert {name[:4] for name in result.model.names[1:]} == {"DEF-"}


def test_bones_that_rigify_stretches_are_named(rigify_bench, tmp_path):
    result = compared(tmp_path, rigify_bench, **RIGIFY)
    assert said(result.warnings, "Beams", "Likely cause: Stretch To scales bones: DEF-")


# State


def test_an_unkeyed_pose_in_another_scene_is_kept(tmp_path):
    bench = workbench.made()
    control = workbench.scripted_scenes.rig("Control")
    bpy.context.scene.collection.objects.unlink(control)
    bpy.data.scenes.new("Controls").collection.objects.link(control)
    constraint = bench.armature.pose.bones["tip"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = control, "tip"
    bpy.context.view_layer.objects.active = bench.armature
    bpy.context.scene.frame_set(4)
    control.pose.bones["root"].location = (0.0, 5.0, 0.0)
    assert exported(tmp_path, actions="SCENE").findings == []
    assert tuple(control.pose.bones["root"].location) == (0.0, 5.0, 0.0)


@pytest.mark.every_version
@pytest.mark.skipif(not HAS_SLOTS, reason="before Blender 4.4 there are no slots")
@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_the_slot_that_blender_would_choose_next_is_kept(tmp_path, actions):
    bench = workbench.made()
    data = bench.armature.animation_data
    data.action.use_fake_user = True
    if actions == "ALL":
        data.action = None
    data.last_slot_identifier = "OBOther"
    exported(tmp_path, actions=actions)
    assert data.last_slot_identifier == "OBOther"


def test_custom_properties_keep_their_precision(tmp_path):
    bench = workbench.made()
    bone = bench.armature.pose.bones["mid"]
    for frame, value in ((1, 0.1), (10, 0.7)):
        bone["share"] = value
        bone.keyframe_insert('["share"]', frame=frame)
    bpy.context.scene.frame_set(4)
    bone["share"] = 0.123456789
    exported(tmp_path, actions="SCENE")
    assert bone["share"] == 0.123456789


# MD2


def imported_tube(folder):
    return md2_compare.bench_of(folder).mesh


def test_an_animated_texture_of_a_modifier_makes_frames_those_of_the_scene(tmp_path):
    tube = imported_tube(tmp_path)
    texture = bpy.data.textures.new("Noise", "CLOUDS")
    modifier = tube.modifiers.new("Displace", "DISPLACE")
    modifier.texture, modifier.strength = texture, 5.0
    for frame, size in ((0, 0.2), (5, 2.0)):
        texture.noise_scale = size
        texture.keyframe_insert("noise_scale", frame=frame)
    bpy.context.scene.frame_set(0)
    md2_compare.assert_matches_blender(md2_compare.compare(tmp_path))


def test_moving_objects_of_a_collection_make_frames_those_of_the_scene(tmp_path):
    bpy.ops.mesh.primitive_cube_add(size=4.0)
    cube = bpy.context.object
    cube.shape_key_add(name="Basis")
    cube.shape_key_add(name="Other")
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(2.0, 0.3, 0.2))
    cutter = bpy.context.object
    collection = bpy.data.collections.new("Cutters")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(cutter)
    collection.objects.link(cutter)
    modifier = cube.modifiers.new("Boolean", "BOOLEAN")
    modifier.operand_type, modifier.collection, modifier.solver = "COLLECTION", collection, "EXACT"
    for frame, x in ((1, 2.0), (6, 2.4)):
        cutter.location.x = x
        cutter.keyframe_insert("location", frame=frame)
    cutter.hide_set(True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    scene.frame_set(1)
    assert exported_md2(tmp_path)[0] == 6


def test_handlers_that_move_objects_make_frames_those_of_the_scene(tmp_path, on_each_frame):
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.shape_key_add(name="Basis")
    cube.shape_key_add(name="Other")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 4

    def move(scene, *_rest):
        cube.location.x = scene.frame_current

    on_each_frame(move)
    assert md2_compare.compare(tmp_path).wrong == []


def test_a_muted_group_of_frames_plays_as_this_version_does(tmp_path):
    tube = imported_tube(tmp_path)
    keys = tube.data.shape_keys.animation_data
    for curve in bags_of(keys.action)[0].fcurves:
        curve.group.mute = True
    bpy.context.scene.frame_set(0)
    count = exported_md2(tmp_path)[0]
    md2_compare.assert_matches_blender(md2_compare.compare(tmp_path, frames=list(range(count))))


def test_uvs_that_move_where_no_vertex_does_are_named(tmp_path):
    bpy.ops.mesh.primitive_cube_add()
    modifier = bpy.context.object.modifiers.new("Warp", "UV_WARP")
    modifier.uv_layer = "UVMap"
    for frame, offset in ((1, 0.0), (10, 0.5)):
        modifier.offset = (offset, 0.0)
        modifier.keyframe_insert("offset", frame=frame)
    bpy.context.scene.frame_end = 10
    bpy.context.scene.frame_set(1)
    assert said(exported_md2(tmp_path)[2], "Cube", "UVs", "over time")


# Cameras


def test_a_camera_whose_transform_is_not_a_number_is_named_with_the_frame(tmp_path):
    camera = bpy.data.objects.new("Crane", bpy.data.cameras.new("Crane"))
    link(camera)
    bpy.context.scene.camera = camera
    for frame in (1, 3):
        camera.keyframe_insert("location", frame=frame)
    curve = bags_of(camera.animation_data.action)[0].fcurves[0]
    for point in curve.keyframe_points:
        point.interpolation = "CONSTANT"
    curve.keyframe_points[1].co.y = float("nan")
    with pytest.raises(RuntimeError, match="the transform of Crane is not a number on frame 3: delete the key"):
        bpy.ops.export_scene.md5camera(filepath=str(tmp_path / "out.md5camera"))


def test_an_animated_lens_shift_is_named_and_an_animated_type_refused(tmp_path):
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    link(camera)
    scene = bpy.context.scene
    scene.camera, scene.frame_end = camera, 10
    camera.data.keyframe_insert("shift_x", frame=1)
    camera.data.shift_x = 0.4
    camera.data.keyframe_insert("shift_x", frame=10)
    scene.frame_set(1)
    before = scene_state.everything()
    path = str(tmp_path / "out.md5camera")
    said_now = md5_compare.call(bpy.ops.export_scene.md5camera, filepath=path)
    assert said(said_now, "Camera", "lens shift")
    assert scene_state.differences(before, scene_state.everything()) == []
    camera.data.type = "PERSP"
    camera.data.keyframe_insert("type", frame=1)
    camera.data.type = "ORTHO"
    camera.data.keyframe_insert("type", frame=5)
    scene.frame_set(1)
    with pytest.raises(RuntimeError, match="Orthographic on frame 5"):
        bpy.ops.export_scene.md5camera(filepath=path)
