"""What moves an armature, or keeps it from moving: poses, curves, drivers, constraints, modes."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
import workbench
from workbench import Bench

HAS_SLOTS = bpy.app.version >= (4, 4, 0)


def bags_of(action) -> list:
    """The owners of F-curves: one for each slot, or the action itself before Blender 4.4."""
    if not HAS_SLOTS:
        return [action]
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def curves_of(bench: Bench, action=None):
    action = action or bench.armature.animation_data.action
    return [curve for bag in bags_of(action) for curve in bag.fcurves]


def remove_curves(bench: Bench, bone: str, action=None) -> None:
    action = action or bench.armature.animation_data.action
    for owner in bags_of(action):
        for curve in list(owner.fcurves):
            if f'["{bone}"]' in curve.data_path:
                owner.fcurves.remove(curve)


def last_bone(bench: Bench):
    """A posed bone at the end of a chain that moves the mesh."""
    groups = {group.name for obj in bench.meshes for group in obj.vertex_groups}
    return next(bone for bone in reversed(bench.armature.pose.bones) if bone.name in groups)


def pose(bone) -> None:
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = (0.8, 0.3, -0.4, 0.2)
    bone.location = (0.5, 0.2, -0.3)


def size_of(bench: Bench) -> float:
    return float(np.ptp(workbench.positions_of(bench.mesh), axis=0).max())


# Active Action

SITUATIONS: dict[str, Callable[[Bench], None]] = {}


def situation(name: str):
    def add(function):
        SITUATIONS[name] = function
        return function

    return add


@situation("an unkeyed pose")
def _unkeyed(bench: Bench) -> None:
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    pose(bone)


@situation("all but one bone unkeyed, all posed")
def _mostly_unkeyed(bench: Bench) -> None:
    for bone in bench.armature.pose.bones:
        if bone != last_bone(bench):
            remove_curves(bench, bone.name)
            pose(bone)


@situation("muted curves")
def _muted(bench: Bench) -> None:
    for curve in curves_of(bench)[::2]:
        curve.mute = True


@situation("muted curves on a posed bone")
def _muted_posed(bench: Bench) -> None:
    bone = last_bone(bench)
    for curve in curves_of(bench):
        if f'["{bone.name}"]' in curve.data_path:
            curve.mute = True
    pose(bone)


@situation("muted groups")
def _muted_groups(bench: Bench) -> None:
    for curve in curves_of(bench)[::3]:
        if curve.group:
            curve.group.mute = True


@situation("a driver on a bone")
def _driver(bench: Bench) -> None:
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    bone.rotation_mode = "XYZ"
    bone.driver_add("rotation_euler", 0).driver.expression = "frame * 0.07"


@situation("a driver that reads another bone")
def _bone_driver(bench: Bench) -> None:
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    driver = bone.driver_add("location", 1).driver
    variable = driver.variables.new()
    variable.name, variable.type = "turn", "TRANSFORMS"
    variable.targets[0].id = bench.armature
    variable.targets[0].bone_target = bench.armature.pose.bones[0].name
    variable.targets[0].transform_type = "ROT_X"
    driver.expression = "turn * 3 + 0.2 * frame"


@situation("a constraint to an animated empty")
def _constraint(bench: Bench) -> None:
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    for frame, x in ((0, 0.0), (10, 2.0)):
        target.location = (x * size_of(bench), 1.0, 2.0)
        target.keyframe_insert("location", frame=frame)
    last_bone(bench).constraints.new("DAMPED_TRACK").target = target


@situation("a limit on rotation")
def _limit(bench: Bench) -> None:
    limit = last_bone(bench).constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.max_x, limit.min_y, limit.owner_space = 0.05, 0.02, "LOCAL"


@situation("a copy of another bone")
def _copy(bench: Bench) -> None:
    copy = last_bone(bench).constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = bench.armature, bench.armature.pose.bones[0].name


@situation("inverse kinematics")
def _ik(bench: Bench) -> None:
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (1.0, 1.0, 0.5)
    bpy.context.view_layer.update()
    reach = last_bone(bench).constraints.new("IK")
    reach.target, reach.chain_count, reach.use_stretch = target, 2, False


@situation("modifiers on curves")
def _curve_modifiers(bench: Bench) -> None:
    for curve in curves_of(bench)[:6]:
        noise = curve.modifiers.new("NOISE")
        noise.strength, noise.scale = 0.2, 3.0


@situation("extrapolation and easing")
def _easing(bench: Bench) -> None:
    for number, curve in enumerate(curves_of(bench)):
        curve.extrapolation = "LINEAR"
        for point in list(curve.keyframe_points)[1:-1:2]:
            point.interpolation = ("BOUNCE", "BEZIER", "CONSTANT")[number % 3]


@situation("keys removed between")
def _fewer_keys(bench: Bench) -> None:
    for curve in curves_of(bench):
        for point in list(curve.keyframe_points)[1:-1][::-1]:
            curve.keyframe_points.remove(point)
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"


@situation("keys at fractions of frames")
def _fractions(bench: Bench) -> None:
    for curve in curves_of(bench):
        for point in list(curve.keyframe_points)[1:-1]:
            point.co.x += 0.3
        curve.update()


@situation("euler angles")
def _euler(bench: Bench) -> None:
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    bone.rotation_mode = "ZYX"
    for frame, angle in ((0, 0.0), (3, 1.0), (5, 4.0)):
        bone.rotation_euler = (angle, -0.5 * angle, 0.3)
        bone.keyframe_insert("rotation_euler", frame=frame)


@situation("axis and angle")
def _axis_angle(bench: Bench) -> None:
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    bone.rotation_mode = "AXIS_ANGLE"
    for frame, angle in ((0, 0.0), (3, 1.0), (5, 3.0)):
        bone.rotation_axis_angle = (angle, 0.4, 1.0, 0.2)
        bone.keyframe_insert("rotation_axis_angle", frame=frame)


@situation("another rotation mode than the keys")
def _wrong_mode(bench: Bench) -> None:
    bone = last_bone(bench)
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = (0.4, 0.1, -0.6)


@situation("the armature object is keyed")
def _object_keys(bench: Bench) -> None:
    for frame, x in ((0, 0.0), (4, 3.0)):
        bench.armature.location.x = x
        bench.armature.rotation_euler.z = 0.3 * x
        bench.armature.keyframe_insert("location", frame=frame)
        bench.armature.keyframe_insert("rotation_euler", frame=frame)


@situation("the armature hangs on a keyed empty")
def _keyed_parent(bench: Bench) -> None:
    empty = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame, x in ((0, 0.0), (5, 3.0)):
        empty.location = (x, 0.5 * x, 0.0)
        empty.rotation_euler = (0.0, 0.2 * x, 0.1 * x)
        empty.keyframe_insert("location", frame=frame)
        empty.keyframe_insert("rotation_euler", frame=frame)
    bench.armature.parent = empty


@situation("rest position")
def _rest(bench: Bench) -> None:
    bench.armature.data.pose_position = "REST"


@situation("not at the first frame")
def _elsewhere(bench: Bench) -> None:
    bpy.context.scene.frame_set(3, subframe=0.5)
    pose(last_bone(bench))


@situation("between two negative frames")
def _below_zero(bench: Bench) -> None:
    # Frame -10.5.
    bpy.context.scene.frame_set(-11, subframe=0.5)
    pose(last_bone(bench))


@situation("in pose mode")
def _pose_mode(bench: Bench) -> None:
    workbench.activate(bench.armature)
    bpy.ops.object.mode_set(mode="POSE")


@situation("action influence below one")
def _influence(bench: Bench) -> None:
    bench.armature.animation_data.action_influence = 0.6


@situation("keys outside the action's range")
def _outside(bench: Bench) -> None:
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    bone.rotation_mode = "QUATERNION"
    for frame, turn in ((-3, 0.0), (2, 0.4), (14, 0.8)):
        bone.rotation_quaternion = (1.0, turn, 0.0, 0.2)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


@situation("bone drivers and custom properties")
def _properties(bench: Bench) -> None:
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    bench.armature["reach"] = 0.0
    for frame, value in ((0, 0.0), (5, 2.0)):
        bench.armature["reach"] = value
        bench.armature.keyframe_insert('["reach"]', frame=frame)
    driver = bone.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name = "reach"
    variable.targets[0].id, variable.targets[0].data_path = bench.armature, '["reach"]'
    driver.expression = "reach"
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
