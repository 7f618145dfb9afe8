"""Whether what an object shows depends on the frame of the scene, and on simulations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import bpy
from bpy.types import Modifier, NodesModifier, NodeTree, Object, Scene

from .. import state, versions
from ..reports import Report

# Modifiers other than Geometry Nodes whose result depends on the frame even if they are not animated.
TIMED_MODIFIERS = {
    "BUILD", "CLOTH", "COLLISION", "DYNAMIC_PAINT", "EXPLODE", "FLUID", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "OCEAN",
    "PARTICLE_INSTANCE", "PARTICLE_SYSTEM", "SOFT_BODY", "WAVE",
}  # fmt: skip

_TIMED_CONSTRAINTS = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER", "TRANSFORM_CACHE"}

# Modifiers and nodes with geometry that change neither vertices nor faces, at any time.
_SHADING_MODIFIERS = {"NORMAL_EDIT", "WEIGHTED_NORMAL"}
_SHADING_NODES = {"GeometryNodeGroup", "GeometryNodeSetShadeSmooth", "NodeGroupInput", "NodeGroupOutput", "NodeReroute"}


def depends_on_time(obj: Object) -> bool:
    """Whether anything but its own shape keys, such as an object it refers to, may change an object."""
    # It may be True for an object that does not move, but never False for one that does.
    return any(_changes_by_itself(other, with_keys=other is not obj) for other in _with_related(obj, set()))


def changes_apart_from(obj: Object, armature: Object) -> bool:
    """Whether anything but the bones of its armature may change an object, such as shape keys."""
    return (
        has_frame_handlers()
        or bool(obj.constraints)
        or any(_changes_by_itself(other, with_keys=True) for other in _with_related(obj, {armature}))
    )


def has_frame_handlers() -> bool:
    """Whether scripts run on each frame, which may move anything."""
    return bool(bpy.app.handlers.frame_change_pre or bpy.app.handlers.frame_change_post)


def warn_of_simulations(objects: Iterable[Object], scene: Scene, report: Report) -> bool:
    """Warns of simulations that are not baked: no two runs need give the same. True if there are any."""
    seen: set[Object] = set()
    found = [warning for obj in objects for other in _with_related(obj, seen) for warning in _unbaked(other, scene)]
    for subject, text in found:
        report.warn(text, subject)
    return bool(found)


def _unbaked(obj: Object, scene: Scene) -> Iterator[tuple[str, str]]:
    """The simulations of an object that are not baked, each with a warning."""
    text = (
        "its simulation is not baked, so the export may differ from what Blender shows, and from one export to the "
        "next: bake it first"
    )
    world, body = scene.rigidbody_world, obj.rigid_body
    if (
        world is not None
        and world.enabled
        and body is not None
        and body.type == "ACTIVE"
        and body.enabled
        and not body.kinematic
        and not world.point_cache.is_baked
    ):
        yield f"{obj.name} (rigid body)", text
    for modifier in obj.modifiers:
        cache = getattr(modifier, "point_cache", None)
        if modifier.show_viewport and cache is not None and not cache.is_baked:
            yield f"{obj.name} ({modifier.type.replace('_', ' ').lower()})", text
    # Whether they are baked into the file cannot be asked.
    if any(
        node.bl_idname == "GeometryNodeSimulationOutput"
        for tree in _node_trees(modifier for modifier in obj.modifiers if modifier.show_viewport)
        for node in tree.nodes
    ):
        text = "Blender does not tell whether its simulation zone is baked: bake it first, or frames may differ from "
        yield obj.name, f"{text}what Blender shows"


def keeps_shape(modifier: Modifier) -> bool:
    """Whether a modifier changes neither vertices nor faces at any time, such as *Smooth by Angle*."""
    if modifier.type != "NODES":
        return modifier.type in _SHADING_MODIFIERS
    return all(
        node.bl_idname in _SHADING_NODES or all(socket.type != "GEOMETRY" for socket in node.outputs)
        for tree in _node_trees([modifier])
        for node in tree.nodes
    )


def _node_trees(modifiers: Iterable[Modifier]) -> list[NodeTree]:
    """The trees of Geometry Nodes modifiers, and those of groups in them, each once."""
    trees: list[Any] = [cast("NodesModifier", one).node_group for one in modifiers if one.type == "NODES"]
    trees = [tree for tree in dict.fromkeys(trees) if tree is not None]
    for tree in trees:
        inner = {node.node_tree for node in tree.nodes if node.bl_idname == "GeometryNodeGroup"}
        trees += inner - {None, *trees}
    return trees


def _with_related(obj: Object, seen: set[Object]) -> Iterator[Object]:
    """An object and all that its parents, constraints and modifiers refer to, but for those seen before."""
    waiting = [obj]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        yield current
        if current.parent is not None:
            waiting.append(current.parent)
        for owner in (*current.modifiers, *_constraints(current)):
            for value in references(owner):
                if isinstance(value, bpy.types.Object):
                    waiting.append(value)
                elif isinstance(value, bpy.types.Collection):
                    waiting += value.all_objects


def _changes_by_itself(obj: Object, *, with_keys: bool) -> bool:
    """Whether an object may change over time whatever it refers to does; by shape keys if `with_keys`."""
    data: Any = obj.data
    owners = [obj, data]
    if with_keys:
        owners.append(getattr(data, "shape_keys", None))
    return (
        any(is_animated(owner) for owner in owners if owner is not None)
        or obj.rigid_body is not None
        or any(
            modifier.type in TIMED_MODIFIERS or (modifier.type == "NODES" and not keeps_shape(modifier))
            for modifier in obj.modifiers
        )
        or any(constraint.type in _TIMED_CONSTRAINTS for constraint in _constraints(obj))
        or any(
            isinstance(value, bpy.types.Texture) and _is_moving_texture(value)
            for modifier in obj.modifiers
            for value in references(modifier)
        )
    )


def _is_moving_texture(texture: Any) -> bool:
    """Whether a texture may change: by itself, its nodes, or an image of several frames."""
    image = getattr(texture, "image", None)
    return (
        is_animated(texture)
        or (texture.node_tree is not None and is_animated(texture.node_tree))
        or (image is not None and image.source in {"MOVIE", "SEQUENCE"})
    )


def _constraints(obj: Object) -> list[Any]:
    holders: list[Any] = [obj]
    if obj.pose is not None:
        holders += obj.pose.bones
    return [constraint for holder in holders for constraint in holder.constraints]


def is_animated(owner: Any) -> bool:
    """Whether an action, NLA tracks or drivers animate a data-block."""
    data = owner.animation_data
    return data is not None and bool(data.action or data.drivers or (data.use_nla and data.nla_tracks))


def is_property_animated(obj: Object, *paths: str) -> bool:
    """Whether the active action, NLA tracks or drivers animate one of some data paths of an object."""
    data = obj.animation_data
    if data is None:
        return False
    strips = state.strips_of(data) if data.use_nla else []
    curves = [*versions.played_fcurves(data), *data.drivers]
    for strip in strips:
        curves += versions.all_fcurves(strip.action) if strip.action is not None else ()
    return any(curve.data_path in paths for curve in curves)


def references(owner: Any) -> Iterator[Any]:
    """The data-blocks that a modifier or constraint refers to, such as objects, collections and textures."""
    for prop in owner.bl_rna.properties:
        if prop.type == "POINTER":
            value = getattr(owner, prop.identifier)
            if isinstance(value, bpy.types.ID):
                yield value
    for target in getattr(owner, "targets", ()):
        if target.target is not None:
            yield target.target
