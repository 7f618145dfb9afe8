"""What an import of MD5 files creates."""

from __future__ import annotations

import csv
from pathlib import Path

import bpy
import md5_scenes
import numpy as np
import pytest
from mathutils import Matrix, Vector
from md5_deviation import meshes_of, worst_error
from paths import CORPUS

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_md5.format import Joints, Md5Error, read_animation, read_mesh, write_animation, write_mesh


def import_md5(path, **options):
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def snapshot():
    """What an import that is refused must leave alone."""
    view_layer = bpy.context.view_layer
    active = view_layer.objects.active
    return {
        "data": {name: sorted(item.name for item in getattr(bpy.data, name)) for name in (
            "objects", "meshes", "armatures", "actions", "materials", "images", "collections", "scenes", "cameras")},
        "selected": sorted(obj.name for obj in view_layer.objects if obj.select_get()),
        "active": active.name if active else None,
        "mode": bpy.context.mode,
        "frame": bpy.context.scene.frame_current,
        "range": (bpy.context.scene.frame_start, bpy.context.scene.frame_end, bpy.context.scene.render.fps),
    }  # fmt: skip


def curves_of(part, action):
    return {
        (curve.data_path, curve.array_index): curve
        for curve in part("io_blender.versions").action_fcurves(action, "OBJECT")
    }


def keys_of(curve):
    points = np.empty(2 * len(curve.keyframe_points))
    curve.keyframe_points.foreach_get("co", points)
    return points.reshape(-1, 2)


# Models


def test_a_model_becomes_an_armature_with_its_meshes_in_a_collection_of_its_name(tmp_path):
    armature = import_md5(md5_scenes.write(tmp_path, "walker"))
    assert armature.type == "ARMATURE"
    assert [collection.name for collection in armature.users_collection] == ["walker"]
    (mesh,) = meshes_of(armature)
    assert [collection.name for collection in mesh.users_collection] == ["walker"]
    assert mesh.parent == armature
    (modifier,) = mesh.modifiers
    assert (modifier.type, modifier.object) == ("ARMATURE", armature)
    assert [slot.material["md5"]["shader"] for slot in mesh.material_slots] == ["models/test/skin"]
    assert {obj.name for obj in bpy.context.selected_objects} == {armature.name, mesh.name}


def test_bones_have_the_names_hierarchy_and_order_of_the_joints(tmp_path):
    path = md5_scenes.write(tmp_path)
    armature = import_md5(path)
    bones = sorted(armature.data.bones, key=lambda bone: bone["md5"]["index"])
    joints = read_mesh(path).joints
    assert [bone.name for bone in bones] == joints.names
    parents = [joints.names[parent] if parent >= 0 else None for parent in joints.parents]
    assert [bone.parent.name if bone.parent else None for bone in bones] == parents


def test_a_joint_before_its_parent_moves_its_own_vertices(tmp_path):
    walker = read_mesh(md5_scenes.write(tmp_path))
    joints, (mesh,) = walker.joints, walker.meshes
    turned = np.arange(len(joints))[::-1]
    parents = np.where(joints.parents < 0, -1, len(joints) - 1 - joints.parents)
    walker.joints = Joints(
        joints.names[::-1], parents[turned].astype(np.int32), joints.positions[turned], joints.orientations[turned]
    )
    expected = skin(mesh, joints.positions, joints.orientations)
    mesh.weight_joints = (len(joints) - 1 - mesh.weight_joints).astype(np.int32)
    write_mesh(walker, tmp_path / "turned.md5mesh")
    (part,) = meshes_of(import_md5(tmp_path / "turned.md5mesh", merge_vertices=False))
    np.testing.assert_allclose([vertex.co for vertex in part.data.vertices], expected, atol=1e-4)
    for vertex in part.data.vertices:
        start, count = mesh.weight_starts[vertex.index], mesh.weight_counts[vertex.index]
        owners = {walker.joints.names[joint] for joint in mesh.weight_joints[start : start + count]}
        assert {part.vertex_groups[group.group].name for group in vertex.groups} == owners


def test_vertex_groups_are_the_weights(tmp_path):
    path = md5_scenes.write(tmp_path)
    armature = import_md5(path, merge_vertices=False)
    (obj,) = meshes_of(armature)
    joints, mesh = read_mesh(path).joints, read_mesh(path).meshes[0]
    for vertex in obj.data.vertices:
        found = {obj.vertex_groups[group.group].name: group.weight for group in vertex.groups}
        start = mesh.weight_starts[vertex.index]
        rows = slice(start, start + mesh.weight_counts[vertex.index])
        wanted = dict(zip(
            (joints.names[joint] for joint in mesh.weight_joints[rows]), mesh.weight_biases[rows], strict=True
        ))  # fmt: skip
        assert found == pytest.approx(wanted)


def test_uvs_are_upright(tmp_path):
    path = md5_scenes.write(tmp_path)
    (obj,) = meshes_of(import_md5(path, merge_vertices=False))
    mesh = read_mesh(path).meshes[0]
    for loop, uv in zip(obj.data.loops, obj.data.uv_layers.active.uv, strict=True):
        s, t = mesh.uvs[loop.vertex_index]
        assert tuple(uv.vector) == pytest.approx((s, 1.0 - t))


def test_faces_look_outwards(tmp_path):
    (obj,) = meshes_of(import_md5(md5_scenes.write(tmp_path)))
    for polygon in obj.data.polygons:
        assert polygon.normal.x * polygon.center.x + polygon.normal.y * polygon.center.y > 0.0


def test_meshes_of_one_shader_share_a_material(tmp_path):
    joints = md5_scenes.skeleton()
    model = md5_scenes.model()
    model.meshes = [md5_scenes.patch(joints), md5_scenes.patch(joints), md5_scenes.patch(joints, shader="other")]
    write_mesh(model, tmp_path / "three.md5mesh")
    first, second, third = meshes_of(import_md5(tmp_path / "three.md5mesh"))
    assert first.active_material == second.active_material != third.active_material


def test_two_models_are_imported_in_one_call(tmp_path):
    for name in ("one", "two"):
        md5_scenes.write(tmp_path, name)
    files = [{"name": "one.md5mesh"}, {"name": "two.md5mesh"}]
    bpy.ops.import_scene.md5(directory=str(tmp_path), files=files)
    assert {obj.name for obj in bpy.data.objects if obj.type == "ARMATURE"} == {"one", "two"}


# Merging of vertices


def test_copies_along_uv_seams_become_one_vertex(tmp_path):
    path = md5_scenes.write(tmp_path)
    (merged,) = meshes_of(import_md5(path))
    assert len(merged.data.vertices) == 12
    assert read_mesh(path).meshes[0].vertex_count == 15
    # Every edge but those of the two open ends has two faces: nothing tears.
    (split,) = meshes_of(import_md5(path, merge_vertices=False))
    assert len(split.data.vertices) == 15


def test_seams_do_not_show_when_vertices_stay_apart(tmp_path):
    (split,) = meshes_of(import_md5(md5_scenes.write(tmp_path), merge_vertices=False))
    normals = {}
    for loop, normal in zip(split.data.loops, split.data.corner_normals, strict=True):
        place = tuple(round(value, 4) for value in split.data.vertices[loop.vertex_index].co)
        normals.setdefault(place, []).append(Vector(normal.vector))
    for around in normals.values():
        assert all((normal - around[0]).length < 1e-3 for normal in around)


def test_both_sides_of_a_leaf_stay_apart(tmp_path):
    joints = md5_scenes.skeleton()
    model = md5_scenes.model()
    mesh = md5_scenes.patch(joints)
    count = mesh.vertex_count
    # The same vertices again, with the faces turned round.
    for name in ("uvs", "weight_starts", "weight_counts"):
        setattr(mesh, name, np.concatenate([getattr(mesh, name)] * 2))
    mesh.triangles = np.concatenate([mesh.triangles, mesh.triangles[:, ::-1] + count]).astype(np.int32)
    model.meshes = [mesh]
    write_mesh(model, tmp_path / "leaf.md5mesh")
    (obj,) = meshes_of(import_md5(tmp_path / "leaf.md5mesh"))
    assert len(obj.data.polygons) == len(mesh.triangles)
    faces = [frozenset(polygon.vertices) for polygon in obj.data.polygons]
    assert len(set(faces)) == len(faces)
    assert len(obj.data.vertices) == 24


def test_degenerate_triangles_are_left_out_and_duplicates_stay(tmp_path):
    model = md5_scenes.model()
    mesh = model.meshes[0]
    extra = [[0, 0, 1], mesh.triangles[0].tolist()]
    mesh.triangles = np.concatenate([mesh.triangles, extra]).astype(np.int32)
    write_mesh(model, tmp_path / "odd.md5mesh")
    (obj,) = meshes_of(import_md5(tmp_path / "odd.md5mesh"))
    assert len(obj.data.polygons) == len(mesh.triangles) - 1


# Bones


@pytest.mark.parametrize("direction", ["CHILD", "JOINT"])
def test_the_joints_are_there_whatever_bones_look_like(tmp_path, direction):
    path = md5_scenes.write(tmp_path)
    model = read_mesh(path)
    animation = md5_scenes.animation(model.joints)
    write_animation(animation, tmp_path / "turn.md5anim")
    armature = import_md5(path, bone_direction=direction)
    import_md5(tmp_path / "turn.md5anim")
    for frame in range(5):
        bpy.context.scene.frame_set(frame)
        assert worst_error(armature, model, read_animation(tmp_path / "turn.md5anim"), frame) < 1e-3


def test_bones_as_joints_have_the_axes_of_the_joints(tmp_path):
    path = md5_scenes.write(tmp_path)
    armature = import_md5(path, bone_direction="JOINT")
    joints = read_mesh(path).joints
    for bone in armature.data.bones:
        axes = quat.to_matrices(joints.orientations[joints.names.index(bone.name)])
        np.testing.assert_allclose(np.array(bone.matrix_local.to_3x3()), axes, atol=1e-4)


def test_bones_to_child_end_where_their_only_child_begins(tmp_path):
    armature = import_md5(md5_scenes.write(tmp_path))
    bones = armature.data.bones
    assert (bones["spine"].tail_local - bones["head"].head_local).length < 1e-3
    assert (bones["hips"].tail_local - bones["spine"].head_local).length < 1e-3


def test_bones_are_as_long_as_the_model_is_large(tmp_path):
    path = md5_scenes.write(tmp_path)
    large = {bone.name: bone.length for bone in import_md5(path).data.bones}
    small = {bone.name: bone.length for bone in import_md5(path, global_scale=0.01).data.bones}
    assert small == pytest.approx({name: 0.01 * length for name, length in large.items()}, rel=1e-3)
    assert min(large.values()) > 0.1


# Animations


def test_an_animation_is_an_action_with_a_range_a_fake_user_and_its_rate(tmp_path, part):
    path = md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(read_mesh(path).joints, frames=7, rate=30.0), tmp_path / "walk1.md5anim")
    armature = import_md5(path)
    import_md5(tmp_path / "walk1.md5anim")
    action = bpy.data.actions["walk1"]
    assert armature.animation_data.action == action
    assert action.use_fake_user
    assert tuple(action.frame_range) == (0.0, 6.0)
    assert action["md5"]["frame_rate"] == 30.0
    scene = bpy.context.scene
    assert (scene.render.fps / scene.render.fps_base, scene.frame_start, scene.frame_end) == (30.0, 0, 6)


def test_file_frame_i_is_scene_frame_start_plus_i(tmp_path, part):
    path = md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(read_mesh(path).joints), tmp_path / "a.md5anim")
    import_md5(path)
    import_md5(tmp_path / "a.md5anim", frame_start=101)
    curve = curves_of(part, bpy.data.actions["a"])['pose.bones["spine"].rotation_quaternion', 0]
    assert keys_of(curve)[:, 0].tolist() == [101, 102, 103, 104, 105]


def test_what_moves_has_linear_keys_of_continuous_sign_and_what_does_not_has_one(tmp_path, part):
    path = md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(read_mesh(path).joints, frames=30), tmp_path / "a.md5anim")
    import_md5(path)
    import_md5(tmp_path / "a.md5anim")
    curves = curves_of(part, bpy.data.actions["a"])
    for bone in md5_scenes.NAMES:
        rotation = [keys_of(curves[f'pose.bones["{bone}"].rotation_quaternion', index]) for index in range(4)]
        location = [keys_of(curves[f'pose.bones["{bone}"].location', index]) for index in range(3)]
        moving = bone in ("spine", "leg.L")
        assert {len(keys) for keys in rotation + location} == {30 if moving else 1}
        steps = np.diff(np.array([keys[:, 1] for keys in rotation]), axis=1)
        assert (np.linalg.norm(steps, axis=0) < 1.0).all()
    assert {point.interpolation for curve in curves.values() for point in curve.keyframe_points} == {"LINEAR"}


def test_several_animations_at_once_are_all_kept_and_the_first_is_active(tmp_path):
    path = md5_scenes.write(tmp_path)
    joints = read_mesh(path).joints
    for name, rate in (("b", 24.0), ("a", 60.0)):
        write_animation(md5_scenes.animation(joints, rate=rate), tmp_path / f"{name}.md5anim")
    armature = import_md5(path)
    bpy.ops.import_scene.md5(directory=str(tmp_path), files=[{"name": "b.md5anim"}, {"name": "a.md5anim"}])
    assert {action.name for action in bpy.data.actions} == {"a", "b"}
    assert armature.animation_data.action.name == "b"
    assert bpy.context.scene.render.fps == 24


def test_a_model_and_its_animations_are_imported_in_one_call_in_any_order(tmp_path):
    path = md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(read_mesh(path).joints), tmp_path / "a.md5anim")
    bpy.ops.import_scene.md5(directory=str(tmp_path), files=[{"name": "a.md5anim"}, {"name": "test.md5mesh"}])
    (armature,) = (obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert armature.animation_data.action.name == "a"
    assert meshes_of(armature)


def renamed(joints, **names):
    return Joints(
        [names.get(name, name) for name in joints.names], joints.parents, joints.positions, joints.orientations
    )


def test_joints_are_matched_by_name_whatever_their_order(tmp_path):
    path = md5_scenes.write(tmp_path)
    model = read_mesh(path)
    order = [0, 1, 4, 5, 2, 3]
    shuffled = md5_scenes.skeleton()
    new = {old: index for index, old in enumerate(order)}
    joints = Joints(
        [shuffled.names[old] for old in order],
        np.array([new.get(int(shuffled.parents[old]), -1) for old in order], dtype=np.int32),
        shuffled.positions[order],
        shuffled.orientations[order],
    )
    write_animation(md5_scenes.animation(joints), tmp_path / "a.md5anim")
    armature = import_md5(path)
    import_md5(tmp_path / "a.md5anim")
    bpy.context.scene.frame_set(3)
    assert worst_error(armature, model, read_animation(tmp_path / "a.md5anim"), 3) < 1e-3


def test_an_animation_of_another_skeleton_is_refused_with_the_number_of_joints_that_fit(tmp_path):
    path = md5_scenes.write(tmp_path)
    joints = renamed(read_mesh(path).joints, **{name: f"other {name}x" for name in md5_scenes.NAMES[1:]})
    joints.parents[-1] = 2
    write_animation(md5_scenes.animation(joints, moving=("other spinex",)), tmp_path / "other.md5anim")
    import_md5(path)
    with pytest.raises(RuntimeError, match=r"Only 1 of 6 joints fit\. Import this animation's own model, or map"):
        import_md5(tmp_path / "other.md5anim")


def test_extra_missing_and_differently_parented_joints_are_named_and_the_rest_moves(tmp_path, part, capfd):
    path = md5_scenes.write(tmp_path)
    joints = renamed(read_mesh(path).joints, head="tail")
    joints.parents[joints.names.index("leg.R")] = joints.names.index("spine")
    write_animation(md5_scenes.animation(joints), tmp_path / "odd.md5anim")
    import_md5(path)
    capfd.readouterr()
    import_md5(tmp_path / "odd.md5anim")
    said = "".join(capfd.readouterr())
    assert "joints without a bone in the armature: tail" in said
    assert "joints fit" not in said
    assert "bones without a joint in the animation: head" in said
    assert "not animated: leg.R" in said
    moved = {path.split('"')[1] for path, _ in curves_of(part, bpy.data.actions["odd"])}
    assert moved == {"origin", "hips", "spine", "leg.L"}


def test_an_animation_that_matches_nothing_is_refused(tmp_path):
    path = md5_scenes.write(tmp_path)
    other = renamed(read_mesh(path).joints, **{name: f"x{name}" for name in md5_scenes.NAMES})
    other.parents[-1] = 2
    write_animation(md5_scenes.animation(other, moving=()), tmp_path / "other.md5anim")
    import_md5(path)
    before = snapshot()
    with pytest.raises(RuntimeError, match=r"No bone matches a joint of the animation"):
        import_md5(tmp_path / "other.md5anim")
    assert snapshot() == before


def test_an_animation_alone_makes_its_own_armature(tmp_path):
    joints = md5_scenes.skeleton()
    write_animation(md5_scenes.animation(joints), tmp_path / "alone.md5anim")
    armature = import_md5(tmp_path / "alone.md5anim")
    assert armature.type == "ARMATURE"
    assert sorted(bone.name for bone in armature.data.bones) == sorted(md5_scenes.NAMES)
    assert armature.animation_data.action.name == "alone"


def test_of_two_armatures_the_active_one_is_animated(tmp_path):
    path = md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(read_mesh(path).joints), tmp_path / "a.md5anim")
    first, second = import_md5(path), import_md5(path)
    bpy.context.view_layer.objects.active = first
    import_md5(tmp_path / "a.md5anim")
    assert first.animation_data.action.name == "a"
    assert second.animation_data.action is None
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="Several armatures match the animation"):
        import_md5(tmp_path / "a.md5anim")


def test_animations_from_the_folder_are_those_with_the_same_joints(tmp_path):
    path = md5_scenes.write(tmp_path)
    joints = read_mesh(path).joints
    write_animation(md5_scenes.animation(joints), tmp_path / "mine.md5anim")
    foreign = renamed(joints, head="tail")
    foreign.parents[-1] = 2
    write_animation(md5_scenes.animation(foreign), tmp_path / "foreign.md5anim")
    (tmp_path / "broken.md5anim").write_text("MD5Version 10 hierarchy {", encoding="utf-8")
    import_md5(path)
    assert not bpy.data.actions
    import_md5(path, animations="FOLDER")
    assert [action.name for action in bpy.data.actions] == ["mine"]


def test_the_scene_keeps_its_timing_on_request(tmp_path):
    path = md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(read_mesh(path).joints, rate=60.0), tmp_path / "a.md5anim")
    import_md5(path)
    before = snapshot()["range"]
    import_md5(tmp_path / "a.md5anim", use_scene_timing=False)
    assert snapshot()["range"] == before


# Coordinates


def test_scale_and_axes_turn_the_whole_model_and_its_animations(tmp_path):
    path = md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(read_mesh(path).joints), tmp_path / "a.md5anim")
    plain = import_md5(path)
    import_md5(tmp_path / "a.md5anim")
    options = {"global_scale": 0.1, "axis_forward": "X", "axis_up": "Z"}
    turned = import_md5(path, **options)
    # The animation takes the scale and axes of the armature that it is for.
    import_md5(tmp_path / "a.md5anim")
    # +X forward becomes +Y forward: a quarter turn about +Z.
    expected = Matrix.Rotation(np.pi / 2.0, 4, "Z") @ Matrix.Scale(0.1, 4)
    for frame in (0, 2, 4):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        (one,), (two,) = meshes_of(plain), meshes_of(turned)
        for a, b in zip(one.evaluated_get(graph).data.vertices, two.evaluated_get(graph).data.vertices, strict=True):
            assert (expected @ a.co - b.co).length < 1e-4


def test_an_armature_of_an_animation_alone_has_the_scale_of_the_import(tmp_path):
    write_animation(md5_scenes.animation(md5_scenes.skeleton()), tmp_path / "a.md5anim")
    heads = []
    for scale in (1.0, 0.1):
        armature = import_md5(tmp_path / "a.md5anim", global_scale=scale)
        heads.append(np.array([bone.head_local for bone in armature.data.bones]))
        bpy.data.objects.remove(armature)
    np.testing.assert_allclose(heads[1], 0.1 * heads[0], atol=1e-5)


# Refusals and names


BROKEN = {
    "empty": b"",
    "other": b"IDP2 this is no MD5",
    "half": b'MD5Version 10\njoints {\n "origin" -1 ( 0 0 0 ) ( 0 0 0 )\n}\nmesh {\n vert 0 ( 0 0 ) 0 1\n',
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_file_that_is_refused_leaves_everything_as_it_was(tmp_path, name):
    good = md5_scenes.write(tmp_path)
    import_md5(good)
    bpy.ops.object.mode_set(mode="POSE")
    bad = tmp_path / f"{name}.md5mesh"
    bad.write_bytes(BROKEN[name])
    before = snapshot()
    with pytest.raises(RuntimeError, match=rf"{name}\.md5mesh"):
        import_md5(bad)
    with pytest.raises(RuntimeError, match=rf"{name}\.md5mesh"):
        bpy.ops.import_scene.md5(directory=str(tmp_path), files=[{"name": good.name}, {"name": bad.name}])
    assert snapshot() == before


def test_names_that_blender_cuts_or_makes_unique_are_remembered(tmp_path, part):
    long = "a" * 70
    joints = renamed(md5_scenes.skeleton(), head=long + "1", spine=long + "2", hips="")
    model = md5_scenes.model()
    model.joints = joints
    write_mesh(model, tmp_path / "long.md5mesh")
    write_animation(md5_scenes.animation(joints, moving=(long + "1",)), tmp_path / "a.md5anim")
    armature = import_md5(tmp_path / "long.md5mesh")
    assert part("io_blender.skeletal.rig").read_rig(armature.data).joints.names == joints.names
    import_md5(tmp_path / "a.md5anim")
    assert len(curves_of(part, bpy.data.actions["a"])) == 7 * len(joints.names)


def test_it_works_from_edit_mode_and_without_an_active_object(tmp_path):
    path = md5_scenes.write(tmp_path)
    import_md5(path)
    bpy.ops.object.mode_set(mode="EDIT")
    assert import_md5(path).name == "test.001"
    bpy.context.view_layer.objects.active = None
    assert import_md5(path).name == "test.002"


def test_it_works_where_the_active_collection_is_hidden(tmp_path):
    collection = bpy.data.collections.new("hidden")
    bpy.context.scene.collection.children.link(collection)
    layer = bpy.context.view_layer.layer_collection.children["hidden"]
    bpy.context.view_layer.active_layer_collection = layer
    layer.exclude = True
    assert meshes_of(import_md5(md5_scenes.write(tmp_path)))


def test_one_line_sums_up_what_was_imported(tmp_path, capfd):
    import_md5(md5_scenes.write(tmp_path))
    said = "".join(capfd.readouterr())
    assert "Imported test.md5mesh: 6 joints, 1 mesh, 12 vertices, 16 triangles, " in said


# Real files


def real_files():
    catalogue = CORPUS / "catalog.tsv"
    if not catalogue.is_file():
        return [pytest.param("", "", marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    with catalogue.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["kind"] in ("md5mesh", "md5anim")]
    return [pytest.param(row["path"], row["peculiarities"], id=row["path"].rpartition("/")[2]) for row in rows]


BROKEN_ON_PURPOSE = ("weight_joint_oob", "no_MD5Version")


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(("path", "peculiarities"), real_files())
def test_every_good_real_file_loads_and_every_broken_one_is_refused_in_words(corpus, path, peculiarities):
    before = snapshot()
    if any(mark in peculiarities for mark in BROKEN_ON_PURPOSE):
        with pytest.raises(RuntimeError, match=f"; found .*; expected .*{Path(path).name}, line \\d+"):
            import_md5(corpus / path)
        assert snapshot() == before
        return
    armature = import_md5(corpus / path)
    if path.endswith("md5mesh"):
        model = read_mesh(corpus / path)
        assert len(armature.data.bones) == len(model.joints)
        assert len(meshes_of(armature)) == len(model.meshes)
        assert worst_error(armature, model) <= 1e-5 * max(1.0, np.abs(model.joints.positions).max() * 10)
    else:
        assert armature.animation_data.action is not None


def test_md5error_is_what_the_format_half_raises(tmp_path):
    (tmp_path / "bad.md5mesh").write_bytes(BROKEN["half"])
    with pytest.raises(Md5Error) as caught:
        read_mesh(tmp_path / "bad.md5mesh")
    assert (caught.value.line, caught.value.expected) == (7, "}")


def test_names_that_are_not_text_are_reported_safely(tmp_path, capfd):
    path = md5_scenes.write(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"head"', b'"h\xe9ad"').replace(b'"spine"', b'"h\xe9ad"'))
    armature = import_md5(path)
    assert "more than once" in "".join(capfd.readouterr())
    assert len(armature.data.bones) == 6
    path.write_bytes(path.read_bytes().replace(b"weight 0 2", b'weight "\xe9" 2'))
    with pytest.raises(RuntimeError, match="wrong number of values"):
        import_md5(path)


# Folders with many animations


@pytest.fixture
def many(tmp_path) -> Path:
    """A model with twelve animations."""
    joints = md5_scenes.model().joints
    return md5_scenes.write(tmp_path, **{f"clip{number}": md5_scenes.animation(joints) for number in range(12)})


def test_one_progress_bar_shows_the_reading_and_the_building_of_all_animations(many, part):
    shown: list[float] = []
    importer = part("io_md5.importing.importer")
    job = importer.import_files(bpy.context, [many], importer.ImportOptions(animations="FOLDER"))
    shown.extend(job)
    assert len(bpy.data.actions) == 12
    assert len(shown) >= 24
    assert shown == sorted(shown)
    assert shown[-1] == 1.0


@pytest.mark.parametrize("existing", ["SKIP", "REPLACE"])
def test_the_actions_that_exist_are_looked_through_once(many, part, monkeypatch, existing):
    bpy.ops.import_scene.md5(filepath=str(many), animations="FOLDER")
    module, looked = part("io_blender.skeletal.importing.action"), []
    own_animations = module.own_animations
    monkeypatch.setattr(module, "own_animations", lambda obj: looked.append(obj) or own_animations(obj))
    bpy.ops.import_scene.md5(directory=str(many.parent), animations="FOLDER", existing_actions=existing)
    assert len(looked) == 1
    assert len(bpy.data.actions) == 12
