"""What a file cannot hold, or not always: each with the words by which a warning tells of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bpy
import workbench
from mathutils import Matrix
from workbench import Bench


@dataclass(frozen=True)
class Cause:
    """Something that may keep an export from being exact.

    Attributes:
        arrange: sets it up.
        words: one of them must be in the warning, in any case.
    """

    arrange: Callable[[Bench], None]
    words: tuple[str, ...]


CAUSES: dict[str, Cause] = {}


def cause(name: str, *words: str):
    def add(function):
        CAUSES[name] = Cause(function, words)
        return function

    return add


def moving_bone(bench: Bench):
    """A posed bone that moves the first mesh, with a parent."""
    groups = [group.name for group in bench.mesh.vertex_groups]
    return next(bone for bone in bench.armature.pose.bones if bone.name in groups and bone.parent)


@cause("scaled bones", "scale")
def _scaled(bench: Bench) -> None:
    bone = moving_bone(bench)
    for frame, size in ((0, 1.0), (3, 1.6)):
        bone.scale = (size, 1.0, size)
        bone.keyframe_insert("scale", frame=frame)


@cause("evenly scaled bones", "scale")
def _evenly_scaled(bench: Bench) -> None:
    bone = moving_bone(bench)
    bone.scale = (1.4, 1.4, 1.4)


@cause("scaled parent bone", "scale")
def _scaled_parent(bench: Bench) -> None:
    bone = moving_bone(bench).parent
    bone.scale = (1.0, 1.5, 1.0)


def _target(bench: Bench, place=(3.0, 4.0, 80.0)):
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = place
    bpy.context.view_layer.update()
    return target


@cause("Stretch To", "stretch")
def _stretch(bench: Bench) -> None:
    moving_bone(bench).constraints.new("STRETCH_TO").target = _target(bench)


@cause("IK stretch", "stretch")
def _ik_stretch(bench: Bench) -> None:
    bone = moving_bone(bench)
    constraint = bone.constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.use_stretch = _target(bench), 2, True
    for one in (bone, bone.parent):
        one.ik_stretch = 0.5


@cause("scale by a constraint", "scale")
def _copy_scale(bench: Bench) -> None:
    target = _target(bench)
    target.scale = (1.5, 1.0, 1.0)
    moving_bone(bench).constraints.new("COPY_SCALE").target = target


@cause("maintained volume", "scale")
def _volume(bench: Bench) -> None:
    bone = moving_bone(bench)
    bone.scale = (1.0, 1.5, 1.0)
    bone.constraints.new("MAINTAIN_VOLUME")


@cause("scaled armature", "scale")
def _uneven_armature(bench: Bench) -> None:
    bench.armature.scale = (1.0, 1.6, 1.0)


@cause("scaled parent with shear", "shear", "scale")
def _shear(bench: Bench) -> None:
    parent = _target(bench, (0, 0, 0))
    parent.scale = (1.0, 2.0, 1.0)
    bench.armature.parent = parent
    bench.armature.rotation_euler = (0.6, 0.4, 0.3)


@cause("keyed scale of the armature", "scale")
def _keyed_armature_scale(bench: Bench) -> None:
    for frame, size in ((0, 1.0), (3, 1.5)):
        bench.armature.scale = (size, size, size)
        bench.armature.keyframe_insert("scale", frame=frame)


@cause("B-Bones", "b-bone", "bendy")
def _bbones(bench: Bench) -> None:
    for bone in bench.armature.data.bones:
        bone.bbone_segments = 5
    for bone in bench.armature.pose.bones:
        bone.bbone_curveoutx, bone.bbone_curveinz = 2.0, 3.0


@cause("Preserve Volume", "preserve volume")
def _preserve(bench: Bench) -> None:
    for obj in bench.meshes:
        obj.modifiers[0].use_deform_preserve_volume = True


@cause("a vertex group mask on the modifier", "mask", "vertex group")
def _mask(bench: Bench) -> None:
    group = bench.mesh.vertex_groups.new(name="mask")
    group.add(list(range(0, len(bench.mesh.data.vertices), 2)), 0.5, "REPLACE")
    bench.mesh.modifiers[0].vertex_group = "mask"


@cause("an inverted vertex group mask", "mask", "vertex group")
def _inverted_mask(bench: Bench) -> None:
    _mask(bench)
    bench.mesh.modifiers[0].invert_vertex_group = True


@cause("a disabled modifier", "disabled", "hidden", "modifier")
def _disabled(bench: Bench) -> None:
    bench.mesh.modifiers[0].show_viewport = False


@cause("a parent without a modifier", "modifier", "parent")
def _parented_only(bench: Bench) -> None:
    bench.mesh.modifiers.clear()


@cause("subdivision after the armature", "after", "modifier")
def _subdivided(bench: Bench) -> None:
    bench.mesh.modifiers.new("Subdivision", "SUBSURF").levels = 1


@cause("smoothing after the armature", "after", "modifier")
def _smoothed(bench: Bench) -> None:
    bench.mesh.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").factor = 0.9
    bench.mesh.modifiers.new("Smooth", "SMOOTH").iterations = 4


@cause("decimation after the armature", "after", "modifier")
def _decimated(bench: Bench) -> None:
    bench.mesh.modifiers.new("Decimate", "DECIMATE").ratio = 0.5


@cause("mirroring after the armature", "after", "modifier")
def _mirrored(bench: Bench) -> None:
    modifier = bench.mesh.modifiers.new("Mirror", "MIRROR")
    modifier.use_axis = (True, False, False)


@cause("displacement along another object", "after", "modifier")
def _displaced(bench: Bench) -> None:
    bench.mesh.modifiers.new("Displace", "DISPLACE").strength = 2.0


@cause("a keyed modifier before the armature", "modifier", "keyed", "animat")
def _keyed_modifier(bench: Bench) -> None:
    modifier = bench.mesh.modifiers.new("Displace", "DISPLACE")
    bench.mesh.modifiers.move(1, 0)
    for frame, strength in ((0, 0.0), (3, 2.0)):
        modifier.strength = strength
        modifier.keyframe_insert("strength", frame=frame)


def _shape_key(bench: Bench):
    bench.mesh.shape_key_add(name="Basis")
    key = bench.mesh.shape_key_add(name="Fat")
    for point in key.data:
        point.co.x += 2.0
    return key


@cause("a keyed shape key", "shape key")
def _keyed_shape(bench: Bench) -> None:
    key = _shape_key(bench)
    for frame, value in ((0, 0.0), (3, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


@cause("a driven shape key", "shape key")
def _driven_shape(bench: Bench) -> None:
    key = _shape_key(bench)
    driver = key.driver_add("value").driver
    variable = driver.variables.new()
    variable.name, variable.type = "turn", "TRANSFORMS"
    variable.targets[0].id = bench.armature
    variable.targets[0].bone_target = moving_bone(bench).parent.name
    variable.targets[0].transform_type = "LOC_X"
    driver.expression = "0.2 + abs(turn)"


@cause("several armatures", "armature", "rig")
def _several(bench: Bench) -> None:
    other = bpy.data.objects.new("Face rig", bpy.data.armatures.new("Face rig"))
    bpy.context.scene.collection.objects.link(other)
    with workbench.mode(other, "EDIT"):
        bone = other.data.edit_bones.new("jaw")
        bone.head, bone.tail = (0, 0, 30), (0, 0, 40)
    bench.mesh.vertex_groups.new(name="jaw").add([0, 1, 2], 0.5, "REPLACE")
    bench.mesh.modifiers.new("Face", "ARMATURE").object = other
    other.pose.bones["jaw"].location = (2.0, 0.0, 1.0)
    workbench.activate(bench.armature)


@cause("a keyed mesh object", "keyed", "animat", "object")
def _keyed_mesh(bench: Bench) -> None:
    for frame, x in ((0, 0.0), (3, 4.0)):
        bench.mesh.location.x = x
        bench.mesh.keyframe_insert("location", frame=frame)


@cause("a mesh object that a constraint moves", "constraint", "object")
def _constrained_mesh(bench: Bench) -> None:
    constraint = bench.mesh.constraints.new("COPY_LOCATION")
    constraint.target = target = _target(bench)
    for frame, x in ((0, 0.0), (3, 4.0)):
        target.location = (x, 0.0, 0.0)
        target.keyframe_insert("location", frame=frame)


@cause("bone parenting plus a modifier", "bone", "parent")
def _both(bench: Bench) -> None:
    world = bench.mesh.matrix_world.copy()
    bench.mesh.parent_type, bench.mesh.parent_bone = "BONE", moving_bone(bench).name
    bench.mesh.matrix_world = world


@cause("envelopes", "envelope")
def _envelopes(bench: Bench) -> None:
    for obj in bench.meshes:
        obj.modifiers[0].use_vertex_groups, obj.modifiers[0].use_bone_envelopes = False, True
    for bone in bench.armature.data.bones:
        bone.envelope_distance = 20.0


@cause("envelopes beside vertex groups", "envelope")
def _both_kinds(bench: Bench) -> None:
    for obj in bench.meshes:
        obj.modifiers[0].use_bone_envelopes = True
        workbench.remove_weights(obj, obj.vertex_groups[0], 4)
    for bone in bench.armature.data.bones:
        bone.envelope_distance = 20.0


@cause("envelopes that multiply vertex groups", "envelope")
def _multiplied(bench: Bench) -> None:
    for bone in bench.armature.data.bones:
        bone.use_envelope_multiply = True
        bone.envelope_distance = 6.0


@cause("multi modifier", "modifier", "armature")
def _multi(bench: Bench) -> None:
    modifier = bench.mesh.modifiers.new("Second", "ARMATURE")
    modifier.object, modifier.use_multi_modifier = bench.armature, True
    bench.mesh.modifiers[0].vertex_group = bench.mesh.vertex_groups[0].name


@cause("the same armature twice", "modifier", "armature", "twice")
def _twice(bench: Bench) -> None:
    bench.mesh.modifiers.new("Second", "ARMATURE").object = bench.armature


@cause("a mirrored armature in an uneven parent", "scale", "shear")
def _mirrored_uneven(bench: Bench) -> None:
    parent = _target(bench, (0, 0, 0))
    parent.matrix_world = Matrix.Rotation(0.5, 4, "X") @ Matrix.Diagonal((-1.0, 1.7, 1.0, 1.0))
    bench.armature.parent = parent
    bench.armature.rotation_euler = (0.0, 0.4, 0.3)


@cause("weights below Blender's threshold", "weight")
def _tiny_weights(bench: Bench) -> None:
    """Blender does not move vertices whose weights add up to a ten thousandth."""
    for group in bench.mesh.vertex_groups:
        workbench.remove_weights(bench.mesh, group, 3)
    bench.mesh.vertex_groups[0].add([0, 1, 2], 5e-5, "REPLACE")


@cause("vertices without weights", "weight")
def _no_weights(bench: Bench) -> None:
    for group in bench.mesh.vertex_groups:
        workbench.remove_weights(bench.mesh, group, 3)


@cause("limits of weights", "weight")
def _limited(bench: Bench) -> None:
    """Exported with the option Bone Influences."""
    names = [bone.name for bone in bench.armature.data.bones]
    for name in names:
        group = bench.mesh.vertex_groups.get(name) or bench.mesh.vertex_groups.new(name=name)
        group.add(range(len(bench.mesh.data.vertices)), 0.2, "ADD")
