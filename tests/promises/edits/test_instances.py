"""Instances are in Blender's picture and in no mesh: an export names the object that shows them."""

from __future__ import annotations

import bpy
import md5_compare
import pytest
import workbench
from workbench import Bench

pytestmark = pytest.mark.slow

LEFT_OUT = "its instances are left out"


def _crate():
    mesh = bpy.data.meshes.new("Crate")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    return bpy.data.objects.new("Crate", mesh)


def _nodes(bench: Bench, *, realised=False, later=False):
    """Crates on the points of a mesh: all the time, or from frame 3 on."""
    tree = bpy.data.node_groups.new("crates", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    info = tree.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = _crate()
    instances = tree.nodes.new("GeometryNodeInstanceOnPoints")
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    tree.links.new(start.outputs[0], instances.inputs["Points"])
    tree.links.new(info.outputs["Geometry"], instances.inputs["Instance"])
    made = instances.outputs[0]
    if realised:
        realise = tree.nodes.new("GeometryNodeRealizeInstances")
        tree.links.new(made, realise.inputs[0])
        made = realise.outputs[0]
    if later:
        time, compare = tree.nodes.new("GeometryNodeInputSceneTime"), tree.nodes.new("FunctionNodeCompare")
        compare.operation = "GREATER_THAN"
        compare.inputs[1].default_value = 2.5
        tree.links.new(time.outputs["Frame"], compare.inputs[0])
        tree.links.new(compare.outputs[0], instances.inputs["Selection"])
    tree.links.new(made, join.inputs[0])
    tree.links.new(start.outputs[0], join.inputs[0])
    tree.links.new(join.outputs[0], end.inputs[0])
    bench.mesh.modifiers.new("Crates", "NODES").node_group = tree
    return bench.mesh.name


def _later_nodes(bench: Bench):
    return _nodes(bench, later=True)


def _particles(bench: Bench):
    modifier = bench.mesh.modifiers.new("Hair", "PARTICLE_SYSTEM")
    settings = modifier.particle_system.settings
    settings.type, settings.count = "HAIR", 5
    settings.render_type, settings.instance_object = "OBJECT", _crate()
    return bench.mesh.name


def _collection(bench: Bench):
    """A sword that is the instance of a collection, on a bone."""
    collection = bpy.data.collections.new("Sword")
    collection.objects.link(_crate())
    empty = bpy.data.objects.new("Hand", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, empty.parent_type = bench.armature, "BONE"
    empty.parent_bone = bench.armature.pose.bones[-1].name
    return "Hand"


def _warnings(folder, file: str) -> list[str]:
    bpy.context.view_layer.update()
    if file == "md5":
        return md5_compare.export(folder, actions="SCENE", verify="SOME").warnings
    return md5_compare.call(bpy.ops.export_scene.md2, filepath=str(folder / "a.md2"), frames="SCENE", game="ANY")


@pytest.fixture
def bench(tmp_path) -> Bench:
    found = workbench.sample(tmp_path)
    workbench.activate(found.armature)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 4
    return found


@pytest.mark.parametrize("file", ["md5", "md2"])
@pytest.mark.parametrize("show", [_nodes, _later_nodes, _particles, _collection])
def test_instances_are_left_out_by_name(tmp_path, bench, show, file):
    name = show(bench)
    told = [text for text in _warnings(tmp_path, file) if LEFT_OUT in text]
    assert len(told) == 1
    assert name in told[0]


@pytest.mark.parametrize("file", ["md5", "md2"])
def test_realised_instances_are_none(tmp_path, bench, file):
    _nodes(bench, realised=True)
    assert not [text for text in _warnings(tmp_path, file) if LEFT_OUT in text]


def test_a_collection_that_does_not_follow_the_armature_is_named_as_a_mesh_would_be(tmp_path, bench):
    _collection(bench)
    bpy.data.objects["Hand"].parent = None
    assert [text for text in _warnings(tmp_path, "md5") if LEFT_OUT in text]
