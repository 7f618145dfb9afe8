"""Rigs of several armatures, props, geometry nodes: exported as shown, or named as left out."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import made_scenes
import md5_judge
import numpy as np
import pytest
import workbench
from mathutils import Matrix
from workbench import Bench


def judged(folder, bench: Bench, actions="ACTIVE", **options) -> md5_judge.Judgement:
    folder = folder / "out"
    folder.mkdir(exist_ok=True)
    bpy.context.view_layer.update()
    return md5_judge.judge(folder, bench.armature, actions=actions, **{**bench.options, **options})


def shaders_of(result: md5_judge.Judgement) -> set[str]:
    return {block.shader for block in result.model.blocks}


# Two armatures


def _second_rig(bench: Bench):
    """A face rig that deforms the mesh after the body, with a bone of its own and one that moves."""
    face = bpy.data.objects.new("Face rig", bpy.data.armatures.new("Face rig"))
    bpy.context.scene.collection.objects.link(face)
    with workbench.mode(face, "EDIT"):
        bone = face.data.edit_bones.new("jaw")
        bone.head, bone.tail = (0, 0, 30), (0, 0, 40)
    group = bench.mesh.vertex_groups.new(name="jaw")
    group.add([0, 1, 2], 0.5, "REPLACE")
    modifier = bench.mesh.modifiers.new("Face", "ARMATURE")
    modifier.object = face
    return face


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("first", [False, True])
def test_a_second_armature_at_rest_changes_nothing_but_is_mentioned(tmp_path, setting, first):
    bench = workbench.sample(tmp_path, setting)
    face = _second_rig(bench)
    if first:
        bench.mesh.modifiers.move(1, 0)
    workbench.activate(bench.armature)
    folder = tmp_path / "out"
    folder.mkdir()
    result = md5_judge.judge(folder, bench.armature, actions="ACTIVE", **bench.options)
    assert any("Face rig" in text and bench.mesh.name in text for text in result.warnings), result.warnings
    assert set(result.model.names) == {bone.name for bone in bench.armature.data.bones}
    # The mesh was told of, so the judge excuses all of it: without the second rig it has to be exact.
    bench.mesh.modifiers.remove(next(one for one in bench.mesh.modifiers if one.object == face))
    result.warnings.clear()
    again = md5_judge.judge_again(result, bench.armature, actions="ACTIVE", **bench.options)
    md5_judge.assert_as_shown(again)


def test_the_rig_that_is_exported_is_the_active_one(tmp_path):
    bench = workbench.sample(tmp_path)
    face = _second_rig(bench)
    workbench.activate(face)
    result = md5_judge.export(tmp_path)
    assert result.model.names == ["jaw"]
    workbench.activate(bench.armature)
    result = md5_judge.export(tmp_path)
    assert "hips" in result.model.names
    assert "jaw" not in result.model.names


def test_a_second_armature_that_is_posed_is_told_of_or_exact(tmp_path):
    bench = workbench.sample(tmp_path)
    face = _second_rig(bench)
    face.pose.bones["jaw"].location = (2.0, 1.0, 0.0)
    workbench.activate(bench.armature)
    result = judged(tmp_path, bench)
    md5_judge.assert_as_shown(result)
    assert any("Face rig" in text and bench.mesh.name in text for text in result.warnings), result.warnings


@pytest.mark.parametrize("selected", ["first", "second"])
def test_of_two_imported_models_the_active_one_is_exported(tmp_path, selected):
    (tmp_path / "b").mkdir()
    first, second = workbench.sample(tmp_path), workbench.sample(tmp_path / "b")
    second.armature.location.x = 40.0
    bench = first if selected == "first" else second
    workbench.activate(bench.armature)
    result = judged(tmp_path, bench)
    md5_judge.assert_exact(result)
    assert len(result.model.blocks) == 2


# Props


def _control_bone(bench: Bench, parent: str | None, *, moves: bool):
    """A bone that deforms nothing, above or beside those that do."""
    armature = bench.armature
    with workbench.mode(armature, "EDIT"):
        bone = armature.data.edit_bones.new("control")
        bone.head, bone.tail = (1, 2, 30), (1, 2, 36)
        bone.use_deform = False
        bone.parent = armature.data.edit_bones[parent] if parent else None
    if moves:
        posed = armature.pose.bones["control"]
        posed.rotation_mode = "QUATERNION"
        for frame, turn in ((0, 0.0), (5, 0.8)):
            posed.rotation_quaternion = (1.0, turn, 0.2 * turn, 0.0)
            posed.keyframe_insert("rotation_quaternion", frame=frame)
    return armature.data.bones["control"]


def _prop(bench: Bench, name="Sword"):
    bpy.ops.mesh.primitive_cube_add(size=3.0, location=(2, 2, 34))
    prop = bpy.context.view_layer.objects.active
    prop.name = name
    prop.data.materials.append(bpy.data.materials.new(f"{name} steel"))
    bpy.context.view_layer.update()
    return prop


def _hang_on_bone(prop, armature, bone: str) -> None:
    world = prop.matrix_world.copy()
    prop.parent, prop.parent_type, prop.parent_bone = armature, "BONE", bone
    prop.matrix_world = world
    bpy.context.view_layer.update()


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("bone", ["head", "origin", "leg.L"])
@pytest.mark.parametrize("use_relative", [False, True])
def test_a_prop_on_a_bone_is_exact(tmp_path, setting, bone, use_relative):
    bench = workbench.sample(tmp_path, setting)
    prop = _prop(bench)
    bench.armature.data.bones[bone].use_relative_parent = use_relative
    _hang_on_bone(prop, bench.armature, bone)
    result = judged(tmp_path, bench)
    md5_judge.assert_exact(result)
    assert "Sword steel" in shaders_of(result)


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("parent", [None, "head", "hips"])
@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_a_prop_on_a_control_bone_is_exact_with_deform_bones_only(tmp_path, setting, parent, moves, actions):
    bench = workbench.sample(tmp_path, setting)
    _control_bone(bench, parent, moves=moves)
    _hang_on_bone(_prop(bench), bench.armature, "control")
    workbench.activate(bench.armature)
    result = judged(tmp_path, bench, actions, deform_only=True)
    md5_judge.assert_as_shown(result)
    assert "Sword steel" in shaders_of(result)
    if moves:
        assert "control" in result.model.names
        assert any("control" in text and "Sword" in text for text in result.warnings), result.warnings
    elif parent is not None:
        assert "control" not in result.model.names


def test_a_prop_on_a_control_bone_that_a_constraint_moves_keeps_the_bone(tmp_path):
    bench = workbench.sample(tmp_path)
    _control_bone(bench, "hips", moves=False)
    copy = bench.armature.pose.bones["control"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = bench.armature, "head"
    _hang_on_bone(_prop(bench), bench.armature, "control")
    workbench.activate(bench.armature)
    result = judged(tmp_path, bench, deform_only=True)
    md5_judge.assert_as_shown(result)
    assert "control" in result.model.names


def _empty(parent=None, bone="", name="Holder"):
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    if parent is not None:
        empty.parent = parent
        if bone:
            empty.parent_type, empty.parent_bone = "BONE", bone
    bpy.context.view_layer.update()
    return empty


def _parent_keeping_place(child, parent) -> None:
    world = child.matrix_world.copy()
    child.parent = parent
    child.matrix_world = world
    bpy.context.view_layer.update()


def _child_of(prop, bench: Bench, bone: str) -> None:
    constraint = prop.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = bench.armature, bone
    inverse = bench.armature.matrix_world @ bench.armature.pose.bones[bone].matrix
    constraint.inverse_matrix = inverse.inverted()


def _on_empty(prop, bench: Bench) -> None:
    _parent_keeping_place(prop, _empty(bench.armature, "head"))


def _on_two_empties(prop, bench: Bench) -> None:
    below = _empty(_empty(bench.armature, "head"), name="Second holder")
    below.location = (1.0, 0.0, 2.0)
    below.rotation_euler = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    _parent_keeping_place(prop, below)


def _on_object(prop, bench: Bench) -> None:
    _parent_keeping_place(prop, bench.armature)


def _on_mesh(prop, bench: Bench) -> None:
    _parent_keeping_place(prop, bench.mesh)


def _on_vertex(prop, bench: Bench) -> None:
    prop.parent, prop.parent_type = bench.mesh, "VERTEX"
    prop.parent_vertices[0] = 2


def _constrained(prop, bench: Bench) -> None:
    _child_of(prop, bench, "head")


def _empty_constrained(prop, bench: Bench) -> None:
    holder = _empty()
    _child_of(holder, bench, "head")
    bpy.context.view_layer.update()
    _parent_keeping_place(prop, holder)


def _copied(prop, bench: Bench) -> None:
    constraint = prop.constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = bench.armature, "head"


def _armature_constraint(prop, bench: Bench) -> None:
    constraint = prop.constraints.new("ARMATURE")
    target = constraint.targets.new()
    target.target, target.subtarget = bench.armature, "head"


def _on_parented_prop(prop, bench: Bench) -> None:
    other = _prop(bench, "Hilt")
    _hang_on_bone(other, bench.armature, "head")
    _parent_keeping_place(prop, other)


HANGING: dict[str, Callable] = {
    "an empty on a bone": _on_empty,
    "an empty on an empty on a bone": _on_two_empties,
    "the armature object": _on_object,
    "another mesh": _on_mesh,
    "a vertex of another mesh": _on_vertex,
    "a Child Of constraint": _constrained,
    "an empty with a Child Of constraint": _empty_constrained,
    "a Copy Transforms constraint": _copied,
    "an Armature constraint": _armature_constraint,
    "a prop on a bone": _on_parented_prop,
}


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes", "scaled and turned"])
@pytest.mark.parametrize("deform_only", [False, True])
@pytest.mark.parametrize("way", HANGING)
def test_what_hangs_on_the_rig_is_exported_as_shown_or_named_as_left_out(tmp_path, setting, way, deform_only):
    bench = workbench.sample(tmp_path, setting)
    prop = _prop(bench)
    HANGING[way](prop, bench)
    workbench.activate(bench.armature)
    result = judged(tmp_path, bench, deform_only=deform_only)
    md5_judge.assert_as_shown(result)
    told = any("Sword" in text for text in result.warnings)
    assert "Sword steel" in shaders_of(result) or told


def test_what_does_not_hang_on_the_rig_is_left_out_of_a_selection_by_name(tmp_path):
    bench = workbench.sample(tmp_path)
    prop = _prop(bench)
    workbench.activate(bench.armature, *bench.meshes, prop)
    result = judged(tmp_path, bench, use_selection=True)
    md5_judge.assert_exact(result)
    assert any("Sword" in text for text in result.warnings)
    assert "Sword steel" not in shaders_of(result)


# Geometry nodes


def _group(obj, build: Callable, first=True):
    """A node group as modifier before the armature; `build` adds nodes between the group's input and output."""
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    result = build(tree, start.outputs[0])
    tree.links.new(result, end.inputs[0])
    modifier = obj.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    if first:
        obj.modifiers.move(len(obj.modifiers) - 1, 0)
    bpy.context.view_layer.update()
    return modifier


def _set_material(tree, geometry):
    node = tree.nodes.new("GeometryNodeSetMaterial")
    node.inputs["Material"].default_value = bpy.data.materials.new("from nodes")
    tree.links.new(geometry, node.inputs["Geometry"])
    return node.outputs[0]


def _set_material_of_some(tree, geometry):
    node = tree.nodes.new("GeometryNodeSetMaterial")
    node.inputs["Material"].default_value = bpy.data.materials.new("from nodes")
    index = tree.nodes.new("GeometryNodeInputIndex")
    compare = tree.nodes.new("FunctionNodeCompare")
    compare.data_type, compare.operation = "INT", "GREATER_THAN"
    inputs = [one for one in compare.inputs if one.type == "INT"]
    inputs[1].default_value = 6
    tree.links.new(index.outputs[0], inputs[0])
    tree.links.new(compare.outputs[0], node.inputs["Selection"])
    tree.links.new(geometry, node.inputs["Geometry"])
    return node.outputs[0]


def _join_primitive(tree, geometry):
    cube = tree.nodes.new("GeometryNodeMeshCube")
    cube.inputs["Size"].default_value = (4.0, 4.0, 4.0)
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    tree.links.new(geometry, join.inputs[0])
    tree.links.new(cube.outputs["Mesh"], join.inputs[0])
    return join.outputs[0]


def _join_primitive_first(tree, geometry):
    cube = tree.nodes.new("GeometryNodeMeshCube")
    cube.inputs["Size"].default_value = (4.0, 4.0, 4.0)
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    tree.links.new(cube.outputs["Mesh"], join.inputs[0])
    tree.links.new(geometry, join.inputs[0])
    return join.outputs[0]


def _object_info(tree, name):
    info = tree.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = bpy.data.objects[name]
    info.transform_space = "RELATIVE"
    return info


def _join_other_mesh(tree, geometry):
    """The other mesh of the model: its vertex groups have other numbers."""
    info = _object_info(tree, "skin")
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    tree.links.new(info.outputs["Geometry"], join.inputs[0])
    tree.links.new(geometry, join.inputs[0])
    return join.outputs[0]


def _realised_instances(tree, geometry):
    info = _object_info(tree, "skin")
    line = tree.nodes.new("GeometryNodeMeshLine")
    line.inputs["Count"].default_value = 3
    line.inputs["Offset"].default_value = (0.0, 8.0, 1.0)
    instances = tree.nodes.new("GeometryNodeInstanceOnPoints")
    realise = tree.nodes.new("GeometryNodeRealizeInstances")
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    tree.links.new(line.outputs["Mesh"], instances.inputs["Points"])
    tree.links.new(info.outputs["Geometry"], instances.inputs["Instance"])
    tree.links.new(instances.outputs["Instances"], realise.inputs["Geometry"])
    tree.links.new(realise.outputs["Geometry"], join.inputs[0])
    tree.links.new(geometry, join.inputs[0])
    return join.outputs[0]


def _subdivide(tree, geometry):
    node = tree.nodes.new("GeometryNodeSubdivideMesh")
    tree.links.new(geometry, node.inputs["Mesh"])
    return node.outputs[0]


def _triangulate(tree, geometry):
    node = tree.nodes.new("GeometryNodeTriangulate")
    tree.links.new(geometry, node.inputs["Mesh"])
    return node.outputs[0]


def _extrude(tree, geometry):
    node = tree.nodes.new("GeometryNodeExtrudeMesh")
    node.inputs["Offset Scale"].default_value = 1.5
    tree.links.new(geometry, node.inputs["Mesh"])
    return node.outputs["Mesh"]


def _flip(tree, geometry):
    node = tree.nodes.new("GeometryNodeFlipFaces")
    tree.links.new(geometry, node.inputs["Mesh"])
    return node.outputs[0]


def _set_position(tree, geometry):
    node = tree.nodes.new("GeometryNodeSetPosition")
    node.inputs["Offset"].default_value = (1.0, 0.5, 2.0)
    tree.links.new(geometry, node.inputs["Geometry"])
    return node.outputs[0]


def _delete_some(tree, geometry):
    node = tree.nodes.new("GeometryNodeDeleteGeometry")
    index = tree.nodes.new("GeometryNodeInputIndex")
    compare = tree.nodes.new("FunctionNodeCompare")
    compare.data_type, compare.operation = "INT", "LESS_THAN"
    inputs = [one for one in compare.inputs if one.type == "INT"]
    inputs[1].default_value = 4
    tree.links.new(index.outputs[0], inputs[0])
    tree.links.new(compare.outputs[0], node.inputs["Selection"])
    tree.links.new(geometry, node.inputs["Geometry"])
    return node.outputs[0]


def _store_uvs(tree, geometry):
    """UVs that the nodes compute: a map that no object has as its active one."""
    return _store_vector(tree, geometry, "Nodes UV")


def _overwrite_uvs(tree, geometry):
    return _store_vector(tree, geometry, "UVMap")


def _store_vector(tree, geometry, name):
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type, store.domain = "FLOAT2", "CORNER"
    store.inputs["Name"].default_value = name
    position = tree.nodes.new("GeometryNodeInputPosition")
    value = next(one for one in store.inputs if one.name == "Value" and one.type == "VECTOR")
    tree.links.new(position.outputs[0], value)
    tree.links.new(geometry, store.inputs["Geometry"])
    return store.outputs[0]


def _store_weights(tree, geometry):
    """Weights that the nodes compute, in a group that the object has."""
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type, store.domain = "FLOAT", "POINT"
    store.inputs["Name"].default_value = "hips"
    next(one for one in store.inputs if one.name == "Value" and one.type == "VALUE").default_value = 0.6
    tree.links.new(geometry, store.inputs["Geometry"])
    return store.outputs[0]


def _set_material_index(tree, geometry):
    node = tree.nodes.new("GeometryNodeSetMaterialIndex")
    node.inputs["Material Index"].default_value = 1
    tree.links.new(geometry, node.inputs["Geometry"])
    return node.outputs[0]


NODES = {
    "Set Material": _set_material,
    "Set Material on some faces": _set_material_of_some,
    "Join Geometry with a cube": _join_primitive,
    "Join Geometry, the cube first": _join_primitive_first,
    "Join Geometry with another mesh of the model": _join_other_mesh,
    "realised instances": _realised_instances,
    "Subdivide": _subdivide,
    "Triangulate": _triangulate,
    "Extrude": _extrude,
    "Flip Faces": _flip,
    "Set Position": _set_position,
    "Delete Geometry": _delete_some,
    "stored UVs beside those there are": _store_uvs,
    "UVs overwritten": _overwrite_uvs,
    "stored weights": _store_weights,
    "Set Material Index": _set_material_index,
}
# The cube has no weights.
BARE = {"Join Geometry with a cube", "Join Geometry, the cube first"}


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("nodes", NODES)
def test_geometry_nodes_are_exact(tmp_path, setting, nodes):
    bench = workbench.sample(tmp_path, setting)
    if nodes == "Set Material Index":
        bench.mesh.data.materials.append(bpy.data.materials.new("models/test/second"))
    _group(bench.mesh, NODES[nodes])
    result = judged(tmp_path, bench)
    if nodes in BARE:
        md5_judge.assert_as_shown(result)
    else:
        md5_judge.assert_exact(result)


@pytest.mark.parametrize("nodes", ["realised instances", "Join Geometry with another mesh of the model"])
def test_geometry_nodes_on_an_object_without_uv_map_or_groups_of_its_own(tmp_path, nodes):
    """A UV map that exists on the evaluated mesh but is not the active one of the object."""
    bench = workbench.sample(tmp_path)
    mesh = bpy.data.meshes.new("Bare")
    mesh.from_pydata([(0, 0, 30), (4, 0, 30), (0, 4, 30)], [], [(0, 1, 2)])
    bare = bpy.data.objects.new("Bare", mesh)
    bpy.context.scene.collection.objects.link(bare)
    for bone in bench.armature.data.bones:
        bare.vertex_groups.new(name=bone.name)
    bare.vertex_groups["hips"].add([0, 1, 2], 1.0, "REPLACE")
    bare.parent = bench.armature
    _group(bare, NODES[nodes])
    bare.modifiers.new("Armature", "ARMATURE").object = bench.armature
    md5_judge.assert_as_shown(judged(tmp_path, bench))


@pytest.mark.parametrize("setting", workbench.SETTINGS)
def test_an_inactive_uv_map_is_not_taken_for_the_active_one(tmp_path, setting):
    bench = workbench.sample(tmp_path, setting)
    layers = bench.mesh.data.uv_layers
    other = layers.new(name="Other")
    for one in other.uv:
        one.vector = (0.5, 0.5)
    layers.active = layers[0]
    md5_judge.assert_exact(judged(tmp_path, bench))


@pytest.mark.parametrize("setting", workbench.SETTINGS)
def test_a_uv_map_made_by_a_modifier_is_exact(tmp_path, setting):
    bench = workbench.sample(tmp_path, setting)
    projector = _empty(name="Projector")
    projector.matrix_world = Matrix.Rotation(0.7, 4, "X")
    modifier = bench.mesh.modifiers.new("Project", "UV_PROJECT")
    modifier.projectors[0].object = projector
    modifier.uv_layer = bench.mesh.data.uv_layers[0].name
    bench.mesh.modifiers.move(1, 0)
    md5_judge.assert_exact(judged(tmp_path, bench))


@pytest.mark.parametrize("kind", ["UV_WARP", "DATA_TRANSFER", "HOOK", "LATTICE", "SHRINKWRAP", "CAST", "MASK"])
def test_modifiers_that_need_other_objects_are_exact(tmp_path, kind):
    bench = workbench.sample(tmp_path)
    obj = bench.mesh
    modifier = obj.modifiers.new("Other", kind)
    if kind == "UV_WARP":
        modifier.offset, modifier.rotation = (0.2, 0.1), 0.4
    elif kind == "DATA_TRANSFER":
        modifier.object = bench.meshes[1]
        modifier.use_loop_data, modifier.data_types_loops = True, {"UV"}
    elif kind == "HOOK":
        modifier.object = _empty()
        modifier.object.location = (0.0, 0.0, 3.0)
        modifier.vertex_indices_set([0, 1, 2, 3])
    elif kind == "LATTICE":
        lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
        bpy.context.scene.collection.objects.link(lattice)
        lattice.scale, lattice.location = (20, 20, 30), (0, 0, 30)
        lattice.data.points[0].co_deform.x += 1.0
        modifier.object = lattice
    elif kind == "SHRINKWRAP":
        modifier.target = bench.meshes[1]
    elif kind == "CAST":
        modifier.factor = 0.4
    elif kind == "MASK":
        modifier.vertex_group = obj.vertex_groups[0].name
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    md5_judge.assert_as_shown(judged(tmp_path, bench))


# Kinds of objects


def test_meshes_that_are_not_visible_are_left_out(tmp_path):
    bench = workbench.sample(tmp_path)
    bench.meshes[1].hide_set(True)
    result = judged(tmp_path, bench)
    md5_judge.assert_as_shown(result)
    assert len(result.model.blocks) == 1


@pytest.mark.parametrize("place", ["Rig", "Tube"])
@pytest.mark.parametrize("scale", [(2.0, 2.0, 2.0), (-1.0, 1.0, 1.0), (1.0, 1.0, -0.5)])
def test_a_made_rig_under_parents_with_transforms_is_exact(tmp_path, place, scale):
    bench = workbench.made()
    holder = _empty()
    holder.matrix_world = made_scenes.transform() @ Matrix.Scale(1.5, 4)
    bench.armature.parent = holder
    bpy.data.objects[place].scale = scale
    bpy.context.view_layer.update()
    result = judged(tmp_path, bench)
    md5_judge.assert_as_shown(result)
    if place == "Tube" or np.ptp(np.abs(scale)) == 0.0:
        md5_judge.assert_exact(result)
