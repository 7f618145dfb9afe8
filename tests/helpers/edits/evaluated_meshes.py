"""What Blender shows of an armature and its meshes: evaluated triangles in the space of the scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np
from triangles import Triangles


@dataclass(eq=False)
class Part:
    """The triangles of an object that have one material.

    Attributes:
        name: of the object.
        labels: what a file may call the material: its name, else a text that it remembers.
        triangles: as shown.
    """

    name: str
    labels: list[str]
    triangles: Triangles


def meshes_of(armature) -> list:
    """The visible mesh objects that an armature moves: by modifier, or as parent or constraint of them or above."""
    return [
        obj
        for obj in bpy.context.view_layer.objects
        if obj.type == "MESH" and obj.visible_get() and _hangs_on(obj, armature)
    ]


def _hangs_on(obj, armature) -> bool:
    if obj == armature:
        return True
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object == armature:
            return True
    for constraint in obj.constraints:
        targets = [one.target for one in getattr(constraint, "targets", ())]
        if armature in (getattr(constraint, "target", None), *targets):
            return True
    return obj.parent is not None and _hangs_on(obj.parent, armature)


class Triangulation:
    """How the faces of objects are cut into triangles: as at first, for as long as the faces are the same.

    Blender cuts a quad the other way when it is folded, which a file cannot follow. Where it cuts a quad into a line
    and a triangle, as after subdividing an edge of a triangle, a file has the other two triangles.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, np.ndarray, np.ndarray]] = {}

    def of(self, name: str, mesh) -> tuple[np.ndarray, np.ndarray]:
        """The corners (T, 3) and the face (T,) of each triangle."""
        faces = _array(mesh.loops, "vertex_index", len(mesh.loops), np.int32).tobytes()
        faces += _array(mesh.polygons, "loop_start", len(mesh.polygons), np.int32).tobytes()
        if name not in self._known or self._known[name][0] != faces:
            mesh.calc_loop_triangles()
            count = len(mesh.loop_triangles)
            loops = _array(mesh.loop_triangles, "loops", count * 3, np.int32).reshape(count, 3)
            polygons = _array(mesh.loop_triangles, "polygon_index", count, np.int32)
            _cut_lines(mesh, loops, polygons)
            self._known[name] = faces, loops, polygons
        return self._known[name][1:]


def _cut_lines(mesh, loops, polygons) -> None:
    """Cuts quads of which one triangle is a line the other way."""
    vertices = _array(mesh.loops, "vertex_index", len(mesh.loops), np.int32)
    places = _array(mesh.vertices, "co", len(mesh.vertices) * 3, np.float32).reshape(-1, 3).astype(float)

    def smallest_area(pairs) -> np.ndarray:
        a, b, c = np.moveaxis(places[vertices[pairs]], 2, 0)
        return np.linalg.norm(np.cross(b - a, c - a), axis=2).min(axis=1)

    counts = np.bincount(polygons)[polygons] if len(polygons) else polygons
    rows = np.flatnonzero(counts == 2).reshape(-1, 2)
    pairs = loops[rows]
    starts = pairs.min(axis=(1, 2))
    corners = pairs[:, 0] - starts[:, None]
    is_even = (corners == 0).any(axis=1) & (corners == 2).any(axis=1)
    others = np.where(is_even[:, None, None], [(0, 1, 3), (1, 2, 3)], [(0, 1, 2), (0, 2, 3)]) + starts[:, None, None]
    are_lines = smallest_area(pairs) < 1e-4 * smallest_area(others)
    loops[rows[are_lines]] = others[are_lines]


def parts(objects, cut: Triangulation) -> list[Part]:
    """What is shown of mesh objects at the present frame, by material."""
    graph = bpy.context.evaluated_depsgraph_get()
    return [part for obj in objects for part in _parts(obj, obj.evaluated_get(graph), cut)]


def is_steady(objects, times=4) -> bool:
    """Whether Blender shows the same of the current frame each time, whatever frame it has shown before.

    Bevel on many threads does not compute the same UVs twice, and where bones are in a dependency cycle, each update
    starts from the result of the last. A constraint to a bone that was deleted has an effect until the next update.
    """
    scene = bpy.context.scene
    current = scene.frame_current
    armatures = [obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"]
    before = None
    for number in range(times):
        for obj in (*armatures, *objects):
            obj.update_tag(refresh={"OBJECT", "DATA"})
        bpy.context.view_layer.update()
        scene.frame_set(current + number)
        scene.frame_set(current)
        found = [(part.triangles.places, part.triangles.uvs) for part in parts(objects, Triangulation())]
        found += [(np.array([bone.matrix for bone in obj.pose.bones]),) for obj in armatures]
        if before is not None and not _same_arrays(before, found):
            return False
        before = found
    return _is_stable_at_rest(objects) and not any(_has_missing_target(obj) for obj in armatures)


def _has_missing_target(armature) -> bool:
    return any(
        getattr(constraint, "subtarget", "") and constraint.subtarget not in constraint.target.pose.bones
        for bone in armature.pose.bones
        for constraint in bone.constraints
        if getattr(constraint, "target", None) is not None and constraint.target.type == "ARMATURE"
    )


def _is_stable_at_rest(objects) -> bool:
    """Whether Armature modifiers change nothing at rest but the last digits, and these change nothing else.

    Bevel and Decimate take other UVs when what they work on moves by as little as 1e-5. Where modifiers change the
    vertex groups, an Armature modifier may show the last pose at rest.
    """
    armatures = [one.object for obj in objects for one in obj.modifiers if one.type == "ARMATURE" and one.object]
    if not armatures:
        return True
    with_modifiers = at_rest(armatures[0], objects, Triangulation())
    with hidden_armature_modifiers(objects):
        without = at_rest(armatures[0], objects, Triangulation())
    return len(with_modifiers) == len(without) and all(
        one.triangles.uvs.shape == other.triangles.uvs.shape
        and np.allclose(one.triangles.uvs, other.triangles.uvs, rtol=0.0, atol=5e-6)
        and np.allclose(one.triangles.places, other.triangles.places, atol=1e-3)
        for one, other in zip(with_modifiers, without, strict=True)
    )


def _same_arrays(before, found) -> bool:
    return len(before) == len(found) and all(
        one.shape == other.shape and np.allclose(one, other, atol=1e-6)
        for pair in zip(before, found, strict=True)
        for one, other in zip(*pair, strict=True)
    )


@contextmanager
def hidden_armature_modifiers(objects) -> Iterator[None]:
    """Objects without the effect of their armature modifiers."""
    hidden = [one for obj in objects for one in obj.modifiers if one.type == "ARMATURE" and one.show_viewport]
    for modifier in hidden:
        modifier.show_viewport = False
    bpy.context.view_layer.update()
    yield
    for modifier in hidden:
        modifier.show_viewport = True


def without_armatures(objects) -> Triangulation:
    """How faces are cut without armature modifiers: where a face can be cut in two equal ways, rounding decides."""
    cut = Triangulation()
    with hidden_armature_modifiers(objects):
        parts(objects, cut)
    return cut


def at_rest(armature, objects, cut: Triangulation) -> list[Part]:
    """What is shown with an armature, and the others that deform its meshes, in the rest position."""
    others = [one.object for obj in objects for one in obj.modifiers if one.type == "ARMATURE" and one.object]
    before = {one.data: one.data.pose_position for one in (armature, *others)}
    for data in before:
        data.pose_position = "REST"
    bpy.context.view_layer.update()
    result = parts(objects, cut)
    for data, position in before.items():
        data.pose_position = position
    bpy.context.view_layer.update()
    return result


def at_frame(objects, frame: float, cut: Triangulation) -> list[Part]:
    """What is shown at a frame of the scene."""
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    return parts(objects, cut)


def _parts(obj, evaluated, cut: Triangulation) -> list[Part]:
    mesh = evaluated.data
    loops, polygons = cut.of(obj.name, mesh)
    materials = _array(mesh.polygons, "material_index", len(mesh.polygons), np.int32)[polygons]
    vertices = _array(mesh.loops, "vertex_index", len(mesh.loops), np.int32)[loops]
    places = _array(mesh.vertices, "co", len(mesh.vertices) * 3, np.float32).reshape(-1, 3).astype(float)
    world = np.array(evaluated.matrix_world)
    places = places @ world[:3, :3].T + world[:3, 3]
    uvs = _shown_uvs(mesh)
    if np.linalg.det(world[:3, :3]) < 0.0:
        # Blender turns the faces of a mirrored object.
        loops, vertices = loops[:, [0, 2, 1]], vertices[:, [0, 2, 1]]
    everything = Triangles(places[vertices], uvs[loops], np.zeros(len(loops), dtype=int))
    # An index beyond the last material shows the last one.
    materials = np.clip(materials, 0, max(len(mesh.materials) - 1, 0))
    return [
        Part(obj.name, _labels(obj, mesh, slot), everything.chosen(materials == slot))
        for slot in np.unique(materials).tolist()
    ]


def _shown_uvs(mesh):
    """The active UV map of what is shown; the first where none is active; zeros where there is none."""
    layer = mesh.uv_layers.active or (mesh.uv_layers[0] if len(mesh.uv_layers) else None)
    if layer is None:
        return np.full((len(mesh.loops), 2), (0.0, 1.0)) if len(mesh.loops) else np.empty((0, 2))
    return _array(layer.uv, "vector", len(mesh.loops) * 2, np.float32).reshape(-1, 2).astype(float)


def _array(collection, name, size, dtype):
    result = np.empty(size, dtype=dtype)
    collection.foreach_get(name, result)
    return result


def _labels(obj, mesh, slot) -> list[str]:
    """What a material may be called; an object without material gives its own name."""
    material = mesh.materials[slot] if slot < len(mesh.materials) else None
    if slot < len(obj.material_slots) and obj.material_slots[slot].link == "OBJECT":
        material = obj.material_slots[slot].material or material
    if material is None:
        return [obj.name]
    return [material.name, *sorted(set(_texts(material.original)))]


def _texts(material):
    """Every text among the stored properties of a material."""
    groups = [dict(material.items())]
    if hasattr(material, "bl_system_properties_get"):
        stored = material.bl_system_properties_get()
        groups.append(stored.to_dict() if stored is not None else {})
    while groups:
        for value in groups.pop().values():
            if isinstance(value, str):
                yield value
            elif isinstance(value, bytes):
                yield value.decode("utf-8", "surrogateescape")
            elif hasattr(value, "to_dict"):
                groups.append(value.to_dict())
            elif isinstance(value, dict):
                groups.append(value)
