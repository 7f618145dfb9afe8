"""Other things in the scene of a model: a second rig, props, holders, geometry nodes."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import workbench
from workbench import Bench


def second_rig(bench: Bench):
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


def control_bone(bench: Bench, parent: str | None, *, moves: bool):
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


def add_prop(bench: Bench, name="Sword"):
    bpy.ops.mesh.primitive_cube_add(size=3.0, location=(2, 2, 34))
    prop = bpy.context.view_layer.objects.active
    prop.name = name
    prop.data.materials.append(bpy.data.materials.new(f"{name} steel"))
    bpy.context.view_layer.update()
    return prop


def hang_on_bone(prop, armature, bone: str) -> None:
    world = prop.matrix_world.copy()
    prop.parent, prop.parent_type, prop.parent_bone = armature, "BONE", bone
    prop.matrix_world = world
    bpy.context.view_layer.update()


def last_bone(bench: Bench) -> str:
    """The head, or where there is none the last bone."""
    names = [bone.name for bone in bench.armature.data.bones]
    return "head" if "head" in names else names[-1]


def add_empty(parent=None, bone="", name="Holder"):
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
    _parent_keeping_place(prop, add_empty(bench.armature, last_bone(bench)))


def _on_two_empties(prop, bench: Bench) -> None:
    below = add_empty(add_empty(bench.armature, last_bone(bench)), name="Second holder")
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
    _child_of(prop, bench, last_bone(bench))


def _empty_constrained(prop, bench: Bench) -> None:
    holder = add_empty()
    _child_of(holder, bench, last_bone(bench))
    bpy.context.view_layer.update()
    _parent_keeping_place(prop, holder)


def _copied(prop, bench: Bench) -> None:
    constraint = prop.constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = bench.armature, last_bone(bench)


def _armature_constraint(prop, bench: Bench) -> None:
    constraint = prop.constraints.new("ARMATURE")
    target = constraint.targets.new()
    target.target, target.subtarget = bench.armature, last_bone(bench)


def _on_parented_prop(prop, bench: Bench) -> None:
    other = add_prop(bench, "Hilt")
    hang_on_bone(other, bench.armature, last_bone(bench))
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


def node_group(obj, build: Callable, first=True):
    """A node group as modifier before the armature; `build` adds nodes between the group's input and output."""
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    tree["of"] = obj.name
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


def _other_mesh(tree) -> str:
    """Another mesh object than that of the nodes."""
    return next(obj.name for obj in bpy.data.objects if obj.type == "MESH" and obj.name != tree["of"])


def _object_info(tree, name):
    info = tree.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = bpy.data.objects[name]
    info.transform_space = "RELATIVE"
    return info


def _join_other_mesh(tree, geometry):
    """The other mesh of the model: its vertex groups have other numbers."""
    info = _object_info(tree, _other_mesh(tree))
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    tree.links.new(info.outputs["Geometry"], join.inputs[0])
    tree.links.new(geometry, join.inputs[0])
    return join.outputs[0]


def _realised_instances(tree, geometry):
    info = _object_info(tree, _other_mesh(tree))
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
