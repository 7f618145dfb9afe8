"""The judge of edits: what warnings excuse, and that nothing else is."""

from __future__ import annotations

import bpy
import md5_compare
import pytest
import workbench
from workbench import Bench

pytestmark = pytest.mark.slow

# Of the four frames of the sample's animation all but one.
LAST_WITH_FACES = 2.5


@pytest.fixture
def exported(tmp_path):
    bench = workbench.sample(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    result = md5_compare.export(folder, actions="ACTIVE")
    assert result.warnings == []
    return bench, result


def again(bench: Bench, result, *warnings: str):
    """Judges the same files once more, as if there had been such warnings."""
    result.warnings[:], result.findings[:] = warnings, []
    return md5_compare.compare_again(result, bench.armature, actions="ACTIVE", frames=6)


def move_in_motion(bench: Bench) -> str:
    """Moves a mesh 3 units up, but not at rest."""
    modifier = bench.mesh.modifiers.new("Up", "DISPLACE")
    modifier.direction, modifier.mid_level = "Z", 0.0
    modifier.strength = 3.0
    driver = modifier.driver_add("strength").driver
    variable = driver.variables.new()
    variable.targets[0].id_type = "ARMATURE"
    variable.targets[0].id = bench.armature.data
    variable.targets[0].data_path = "pose_position"
    driver.expression = f"3.0 * ({variable.name} == 0)"
    bpy.context.view_layer.update()
    return bench.mesh.name


def told(name: str, distance: float) -> str:
    return f"{name}: the export is up to {distance} units (1%) off from what Blender shows on frame 1. Likely cause: x"


def test_a_difference_is_found_and_excused_by_a_warning_of_its_size(exported):
    name = move_in_motion(exported[0])
    assert again(*exported).findings
    assert again(*exported, told(name, 3.0)).findings == []


@pytest.mark.parametrize(
    "warning",
    [
        "{name}: the export is up to 2 units (1%) off from what Blender shows on frame 1. Likely cause: x",
        "{name}: the export is up to 9 units (1%) and 0 in UV space off from what Blender shows at rest",
        "{name}: modifiers move texture coordinates by up to 0.5 on frame 1; the export has those at rest",
        "{name}: also moved by Face rig, which is not exported",
        "{name}: its instances are left out: make them real, or add a Realize Instances node",
        "other: the export is up to 9 units (1%) off from what Blender shows on frame 1. Likely cause: {name}",
    ],
)
def test_a_warning_of_another_kind_or_size_or_object_excuses_nothing(exported, warning):
    name = move_in_motion(exported[0])
    assert again(*exported, warning.format(name=name)).findings


def test_texture_coordinates_are_not_excused_by_a_distance(exported):
    bench, _ = exported
    for one in bench.mesh.data.uv_layers.active.uv:
        one.vector.x += 0.25
    assert again(*exported, told(bench.mesh.name, 100.0)).findings
    rest = "the export is up to 0 units (0%) and 0.25 in UV space off from what Blender shows at rest"
    assert again(*exported, f"{bench.mesh.name}: {rest}").findings == []


@pytest.mark.parametrize("share", ["all", "some"])
def test_faces_that_vanish_in_motion_are_those_of_their_object(exported, share):
    bench, _ = exported
    tree = bpy.data.node_groups.new("vanish", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    delete = tree.nodes.new("GeometryNodeDeleteGeometry")
    delete.mode, delete.domain = "ONLY_FACE", "FACE"
    later = tree.nodes.new("FunctionNodeCompare")
    later.operation = "GREATER_THAN"
    later.inputs[1].default_value = LAST_WITH_FACES
    tree.links.new(tree.nodes.new("GeometryNodeInputSceneTime").outputs["Frame"], later.inputs[0])
    chosen = later.outputs[0]
    if share == "some":
        both, first = tree.nodes.new("FunctionNodeBooleanMath"), tree.nodes.new("FunctionNodeCompare")
        first.data_type, first.operation = "INT", "LESS_THAN"
        numbers = [one for one in first.inputs if one.type == "INT"]
        numbers[1].default_value = 3
        tree.links.new(tree.nodes.new("GeometryNodeInputIndex").outputs[0], numbers[0])
        tree.links.new(chosen, both.inputs[0])
        tree.links.new(first.outputs[0], both.inputs[1])
        chosen = both.outputs[0]
    tree.links.new(chosen, delete.inputs["Selection"])
    tree.links.new(start.outputs[0], delete.inputs[0])
    tree.links.new(delete.outputs[0], end.inputs[0])
    bench.mesh.modifiers.new("Vanish", "NODES").node_group = tree
    bpy.context.scene.frame_set(0)
    name = bench.mesh.name
    found = [text for text in again(*exported).findings if "does not show" in text]
    assert len(found) == 1
    assert found[0].startswith(f"{name}: frame 3 of wave")
    bpy.context.scene.frame_set(0)
    excused = again(*exported, f"{name}: modifiers change its faces or their materials on frame 3; the rest")
    assert not excused.findings
    bpy.context.scene.frame_set(0)
    assert again(*exported, told(name, 100.0)).findings
