"""What artists do to imported armatures, by Blender's own operators wherever there is one."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from workbench import Bench, activate, mode

EDITS: dict[str, Callable[[Bench], None]] = {}
"""Each edit by its name."""


def edit(name: str) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Adds a function to the edits."""

    def add(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
        assert name not in EDITS
        EDITS[name] = function
        return function

    return add


def middle_name(bench: Bench) -> str:
    """A bone that has a parent, a child where there is such a one, and weights."""
    groups = {group.name for obj in bench.meshes for group in obj.vertex_groups}
    bones = [bone for bone in bench.armature.data.bones if bone.parent]
    ranked = sorted(bones, key=lambda bone: (bone.name not in groups, not bone.children, bone.name))
    return (ranked or list(bench.armature.data.bones))[0].name


def size_of(bench: Bench) -> float:
    """The extent of the skeleton."""
    heads = np.array([bone.head_local for bone in bench.armature.data.bones])
    return max(float(np.ptp(heads, axis=0).max()), 1.0)


def _on_bones(name: str):
    """An edit in Edit Mode; the function takes the edit bones, the middle one of which is selected, and the bench."""

    def add(function):
        def run(bench: Bench) -> None:
            chosen = middle_name(bench)
            with mode(bench.armature, "EDIT"):
                bones = bench.armature.data.edit_bones
                bpy.ops.armature.select_all(action="DESELECT")
                select(bones[chosen])
                bones.active = bones[chosen]
                function(bones, bones[chosen], bench)

        edit(name)(run)
        return function

    return add


def select(bone) -> None:
    """Selects an edit bone with its ends."""
    bone.select = bone.select_head = bone.select_tail = True


def _finished(result) -> None:
    assert result == {"FINISHED"}


@_on_bones("roll")
def _roll(bones, bone, bench):
    bone.roll += 0.8


@_on_bones("roll of all recalculated")
def _all_rolls(bones, bone, bench):
    bpy.ops.armature.select_all(action="SELECT")
    _finished(bpy.ops.armature.calculate_roll(type="GLOBAL_POS_X"))
    bone.roll += 0.1


@_on_bones("tail")
def _tail(bones, bone, bench):
    bone.tail += Vector((0.1, 0.2, 0.15)) * size_of(bench)


@_on_bones("head")
def _head(bones, bone, bench):
    bone.head += Vector((0.02, -0.03, 0.05)) * size_of(bench)


@_on_bones("move")
def _move(bones, bone, bench):
    _finished(bpy.ops.transform.translate(value=Vector((0.1, 0.05, -0.1)) * size_of(bench)))


@_on_bones("move by less than is stored exactly")
def _move_hardly(bones, bone, bench):
    for one in bones:
        one.matrix = Matrix.Translation(Vector((1.5e-5, 0.0, 1.5e-5)) * size_of(bench)) @ one.matrix


@_on_bones("move all")
def _move_all(bones, bone, bench):
    bpy.ops.armature.select_all(action="SELECT")
    _finished(bpy.ops.transform.translate(value=Vector((0.1, 0.3, -0.2)) * size_of(bench)))


@_on_bones("rotate")
def _rotate(bones, bone, bench):
    for axis in "XYZ":
        _finished(bpy.ops.transform.rotate(value=0.4, orient_axis=axis))


@_on_bones("scale all")
def _scale_all(bones, bone, bench):
    bpy.ops.armature.select_all(action="SELECT")
    _finished(bpy.ops.transform.resize(value=(1.4, 1.4, 1.4)))


@_on_bones("connect")
def _connect(bones, bone, bench):
    bone.use_connect = True


@_on_bones("connect, moving the parent's tail")
def _connect_tail(bones, bone, bench):
    bone.parent.tail = bone.head
    bone.use_connect = True


@_on_bones("connect all")
def _connect_all(bones, bone, bench):
    for one in bones:
        if one.parent:
            one.use_connect = True


@_on_bones("disconnect")
def _disconnect(bones, bone, bench):
    bone.parent.tail = bone.head
    bone.use_connect = True
    bpy.ops.armature.parent_clear(type="DISCONNECT")
    bone.parent.tail += Vector((0, 0, 0.01)) * size_of(bench)


@_on_bones("switch direction")
def _switch(bones, bone, bench):
    _finished(bpy.ops.armature.switch_direction())


@_on_bones("switch direction of all")
def _switch_all(bones, bone, bench):
    bpy.ops.armature.select_all(action="SELECT")
    _finished(bpy.ops.armature.switch_direction())


@_on_bones("add a bone")
def _add(bones, bone, bench):
    made = bones.new("added")
    made.head, made.tail = bone.tail, bone.tail + Vector((0, 0, 0.3 * size_of(bench)))
    made.parent = bone


@_on_bones("add a bone and extrude it")
def _primitive(bones, bone, bench):
    _finished(bpy.ops.armature.bone_primitive_add(name="free"))
    select(bones["free"])
    _finished(bpy.ops.armature.extrude_move(TRANSFORM_OT_translate={"value": (0, 0, size_of(bench))}))


@_on_bones("insert a parent")
def _insert_parent(bones, bone, bench):
    made = bones.new("between")
    made.head, made.tail = bone.head, bone.head + Vector((0, 0.2 * size_of(bench), 0.1 * size_of(bench)))
    made.parent = bone.parent
    bone.parent = made


@_on_bones("new root above all")
def _new_root(bones, bone, bench):
    made = bones.new("new root")
    made.head, made.tail = (1, 2, 3), (1, 2, 4)
    for one in bones:
        if one.parent is None and one != made:
            one.parent = made


@_on_bones("delete")
def _delete(bones, bone, bench):
    _finished(bpy.ops.armature.delete())


@_on_bones("delete a root")
def _delete_root(bones, bone, bench):
    bones.remove(next(one for one in bones if one.parent is None))


@_on_bones("dissolve")
def _dissolve(bones, bone, bench):
    for one in bone.children[:1]:
        bone.tail = one.head
        one.use_connect = True
        select(one)
    _finished(bpy.ops.armature.dissolve())


@_on_bones("subdivide")
def _subdivide(bones, bone, bench):
    _finished(bpy.ops.armature.subdivide(number_cuts=2))


@_on_bones("duplicate")
def _duplicate(bones, bone, bench):
    value = Vector((0.3, 0.1, 0.0)) * size_of(bench)
    _finished(bpy.ops.armature.duplicate_move(TRANSFORM_OT_translate={"value": value}))


@_on_bones("duplicate, delete the original")
def _duplicate_swap(bones, bone, bench):
    name, before = bone.name, {one.name for one in bones}
    bpy.ops.armature.duplicate()
    copy = next(one for one in bones if one.name not in before)
    copy.roll += 0.01
    bones.remove(bones[name])
    copy.name = name


@_on_bones("reparent")
def _reparent(bones, bone, bench):
    below = {bone, *bone.children_recursive}
    other = next((one for one in reversed(list(bones)) if one not in below and one != bone.parent), None)
    bone.parent = other
    bone.head += Vector((0, 0, 1e-3)) * size_of(bench)


@_on_bones("clear the parent")
def _clear(bones, bone, bench):
    bpy.ops.armature.parent_clear(type="CLEAR")
    bone.tail += Vector((0, 0, 1e-3)) * size_of(bench)


@_on_bones("turn the hierarchy round")
def _turn_round(bones, bone, bench):
    """The bone's parent hangs under it."""
    above = bone.parent
    bone.parent = above.parent
    above.parent = bone


@_on_bones("align to the parent")
def _align(bones, bone, bench):
    bone.align_orientation(bone.parent)
    bone.roll += 0.2


@_on_bones("symmetrize")
def _symmetrize(bones, bone, bench):
    bone.name = "side.L"
    bone.head.x += 0.2 * size_of(bench)
    _finished(bpy.ops.armature.symmetrize())


@_on_bones("flip names")
def _flip(bones, bone, bench):
    bone.name = "side.L"
    bpy.ops.armature.flip_names()


def _rename(bench: Bench, old: str, new: str) -> None:
    bench.armature.data.bones[old].name = new


@edit("rename")
def _rename_one(bench: Bench) -> None:
    _rename(bench, middle_name(bench), "Renamed bone")


@edit("rename all")
def _rename_all(bench: Bench) -> None:
    for number, bone in enumerate(list(bench.armature.data.bones)):
        bone.name = f"bone {number}"


@edit("swap names")
def _swap_names(bench: Bench) -> None:
    one = middle_name(bench)
    other = next(bone.name for bone in bench.armature.data.bones if bone.name != one)
    for old, new in ((one, "\x7f"), (other, one), ("\x7f", other)):
        _rename(bench, old, new)


@edit("swap vertex group names")
def _swap_groups(bench: Bench) -> None:
    """The mesh hangs on other bones."""
    groups = bench.mesh.vertex_groups
    names = [bone.name for bone in bench.armature.data.bones]
    old = [group.name for group in groups]
    for number, group in enumerate(groups):
        group.name = f"free {number}"
    for group, name in zip(groups, old, strict=True):
        group.name = names[(names.index(name) + 1) % len(names)]
    bench.armature.data.bones[0].name += " "


def _posed(bench: Bench) -> None:
    for number, bone in enumerate(bench.armature.pose.bones):
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Quaternion((0.2, 1.0, 0.1 * number), 0.15 * (number + 1))
        bone.location = Vector((0.01, 0.02 * number, 0.0)) * size_of(bench)
    bpy.context.view_layer.update()


@edit("apply the pose as rest pose")
def _apply_pose(bench: Bench) -> None:
    _posed(bench)
    with mode(bench.armature, "POSE"):
        _finished(bpy.ops.pose.armature_apply(selected=False))


@edit("apply the pose of one bone as rest pose")
def _apply_some(bench: Bench) -> None:
    _posed(bench)
    name = middle_name(bench)
    with mode(bench.armature, "POSE"):
        bpy.ops.pose.select_all(action="DESELECT")
        bench.armature.data.bones.active = bench.armature.data.bones[name]
        bpy.ops.object.select_pattern(pattern=name, extend=False)
        _finished(bpy.ops.pose.armature_apply(selected=True))


@edit("apply the pose as rest pose with the meshes")
def _apply_pose_and_meshes(bench: Bench) -> None:
    _posed(bench)
    for obj in bench.meshes:
        activate(obj)
        bpy.ops.object.modifier_apply(modifier=obj.modifiers[0].name)
    with mode(bench.armature, "POSE"):
        _finished(bpy.ops.pose.armature_apply(selected=False))
    for obj in bench.meshes:
        obj.modifiers.new("Armature", "ARMATURE").object = bench.armature


@edit("apply the pose as rest pose with the meshes, twice and back")
def _apply_back(bench: Bench) -> None:
    _apply_pose_and_meshes(bench)
    for bone in bench.armature.pose.bones:
        bone.rotation_quaternion = bone.rotation_quaternion.inverted()
        bone.rotation_quaternion = Quaternion((0.2, 1.0, 0.3), -0.4)
    bpy.context.view_layer.update()
    for obj in bench.meshes:
        activate(obj)
        bpy.ops.object.modifier_apply(modifier=obj.modifiers[0].name)
    with mode(bench.armature, "POSE"):
        bpy.ops.pose.armature_apply(selected=False)
    for obj in bench.meshes:
        obj.modifiers.new("Armature", "ARMATURE").object = bench.armature


def _place(bench: Bench, **values) -> None:
    for name, value in values.items():
        setattr(bench.armature, name, value)
    bpy.context.view_layer.update()


edit("object moved")(lambda bench: _place(bench, location=(5.0, -3.0, 1.0)))
edit("object turned")(lambda bench: _place(bench, rotation_euler=(0.4, 1.1, -0.3)))
edit("object scaled")(lambda bench: _place(bench, scale=(2.5, 2.5, 2.5)))
edit("object mirrored")(lambda bench: _place(bench, scale=(-1.0, 1.0, 1.0)))
edit("object mirrored in all axes")(lambda bench: _place(bench, scale=(-0.5, -0.5, -0.5)))


def _apply(bench: Bench, *, with_meshes: bool, **values) -> None:
    _place(bench, **values)
    activate(bench.armature, *(bench.meshes if with_meshes else ()))
    _finished(bpy.ops.object.transform_apply(location=True, rotation=True, scale=True))


edit("scale applied")(lambda bench: _apply(bench, with_meshes=False, scale=(2.0, 2.0, 2.0)))
edit("scale applied with meshes")(lambda bench: _apply(bench, with_meshes=True, scale=(2.0, 2.0, 2.0)))
edit("rotation applied")(lambda bench: _apply(bench, with_meshes=False, rotation_euler=(0.0, 0.0, 1.57)))
edit("rotation applied with meshes")(lambda bench: _apply(bench, with_meshes=True, rotation_euler=(0.3, -0.2, 1.57)))
edit("all applied")(
    lambda bench: _apply(
        bench, with_meshes=False, location=(1, 2, 3), rotation_euler=(0.3, -0.2, 0.5), scale=(0.4, 0.4, 0.4)
    )
)
edit("all applied with meshes")(
    lambda bench: _apply(
        bench, with_meshes=True, location=(1, 2, 3), rotation_euler=(0.3, -0.2, 0.5), scale=(0.4, 0.4, 0.4)
    )
)
edit("uneven scale applied with meshes")(lambda bench: _apply(bench, with_meshes=True, scale=(1.0, 1.5, 0.8)))


def _deform_off(bench: Bench, *names: str) -> None:
    for name in names:
        bench.armature.data.bones[name].use_deform = False
    bpy.context.view_layer.update()


edit("deform off")(lambda bench: _deform_off(bench, middle_name(bench)))
edit("deform off for bones without weights")(
    lambda bench: _deform_off(
        bench,
        *(
            {bone.name for bone in bench.armature.data.bones}
            - {group.name for obj in bench.meshes for group in obj.vertex_groups}
            or {bench.armature.data.bones[-1].name}
        ),
    )
)


@edit("inherit no rotation")
def _no_rotation(bench: Bench) -> None:
    bone = bench.armature.data.bones[middle_name(bench)]
    bone.use_inherit_rotation = False
    bone.use_local_location = False


@edit("duplicate armature and meshes, export the copy")
def _copy_all(bench: Bench) -> None:
    activate(bench.armature, *bench.meshes)
    _finished(bpy.ops.object.duplicate())
    copies = list(bpy.context.selected_objects)
    for obj in [*bench.meshes, bench.armature]:
        bpy.data.objects.remove(obj)
    bench.armature = next(obj for obj in copies if obj.type == "ARMATURE")
    bench.meshes = [obj for obj in copies if obj.type == "MESH"]
    with mode(bench.armature, "EDIT"):
        bench.armature.data.edit_bones[middle_name(bench)].roll += 0.4
    activate(bench.armature)


@edit("join another armature")
def _join(bench: Bench) -> None:
    other = bpy.data.objects.new("Other", bpy.data.armatures.new("Other"))
    bpy.context.scene.collection.objects.link(other)
    with mode(other, "EDIT"):
        bone = other.data.edit_bones.new(bench.armature.data.bones[0].name)
        bone.head, bone.tail = (3, 3, 3), (3, 3, 5)
    activate(bench.armature, other)
    _finished(bpy.ops.object.join())


@edit("join into another armature")
def _join_into(bench: Bench) -> None:
    other = bpy.data.objects.new("Other", bpy.data.armatures.new("Other"))
    bpy.context.scene.collection.objects.link(other)
    with mode(other, "EDIT"):
        bone = other.data.edit_bones.new("other")
        bone.head, bone.tail = (3, 3, 3), (3, 3, 5)
    other.location = (4.0, 0.0, 0.0)
    action = bench.armature.animation_data.action
    activate(other, bench.armature)
    _finished(bpy.ops.object.join())
    bench.armature = other
    data = other.animation_data_create()
    data.action = action
    if hasattr(data, "action_slot"):
        data.action_slot = action.slots[0]
    for bone in other.pose.bones:
        bone.rotation_mode = "QUATERNION"
    for obj in bench.meshes:
        obj.modifiers[0].object = other


@edit("separate a bone")
def _separate(bench: Bench) -> None:
    with mode(bench.armature, "EDIT"):
        bpy.ops.armature.select_all(action="DESELECT")
        select(bench.armature.data.edit_bones[-1])
        _finished(bpy.ops.armature.separate())
    activate(bench.armature)
