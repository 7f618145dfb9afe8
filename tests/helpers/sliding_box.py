"""A box on an armature that slides, with actions of known lengths, for exports of frames."""

from __future__ import annotations

import bpy
import numpy as np


def model_with_actions(counts: dict[str, int]) -> bpy.types.Object:
    """A box that slides, with an action of each name and number of frames; it has two materials."""
    bpy.ops.mesh.primitive_cube_add(size=20.0, location=(3, 2, 28))
    box = bpy.context.object
    box.name = "box"
    for name in ("models/imp/skin.png", "skin"):
        box.data.materials.append(bpy.data.materials.new(name))
    box.data.polygons[0].material_index = 1
    armature = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.new("hip").tail = (0, 0, 8)
    bpy.ops.object.mode_set(mode="OBJECT")
    box.vertex_groups.new(name="hip").add(range(8), 1.0, "REPLACE")
    box.modifiers.new("a", "ARMATURE").object = armature
    for number, (name, count) in enumerate(counts.items()):
        armature.animation_data_create().action = bpy.data.actions.new(name)
        bone = armature.pose.bones["hip"]
        for frame in range(count):
            bone.location = (frame * 0.5 + number, 0, number * 2.0)
            bone.keyframe_insert("location", frame=frame)
        armature.animation_data.action.use_fake_user = True
    bpy.context.scene.render.fps = 10
    return box


def hang_on_bone(obj: bpy.types.Object, rig: bpy.types.Object, bone: str) -> None:
    """Parents an object to a bone, where it is."""
    place = obj.matrix_world.copy()
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    obj.matrix_world = place


def shown_points(obj: bpy.types.Object) -> np.ndarray:
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    return np.array([obj.matrix_world @ vertex.co for vertex in mesh.vertices])
