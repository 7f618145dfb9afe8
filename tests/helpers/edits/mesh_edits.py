"""What artists do to imported meshes, by Blender's own operators wherever there is one."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import bmesh
import bpy
import numpy as np
from workbench import Bench, activate, edit_mesh, mode, on_seams, positions_of, remove_weights

EDITS: dict[str, Callable[[Bench], None]] = {}
"""Each edit by its name; it is done to the first mesh."""

# In some versions the vertices come back in their old order.
MAY_GIVE_THE_SAME = {"split all and merge doubles"}
WITHOUT_WEIGHTS = {
    "new vertices and faces without weights",
    "new face of new and old vertices",
    "remesh",
    "REMESH",
    # Blender extends weights beyond a face, to less than none.
    "bevel edges",
    "inset individually",
}
"""What makes vertices without weights: Blender leaves them where they are, a file must bind them to a joint."""


def edit(name: str) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Adds a function to the edits."""

    def add(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
        assert name not in EDITS
        EDITS[name] = function
        return function

    return add


def _size(bench: Bench) -> float:
    return float(np.ptp(positions_of(bench.mesh), axis=0).max())


def _in_edit_mode(name: str, choice: str, kind: str, *steps: Callable[[float], set[str]]) -> None:
    """An edit that is one or more operators on a selection; they are given the size of the mesh."""

    def run(bench: Bench) -> None:
        size = _size(bench)
        with edit_mesh(bench.mesh, choice, kind):
            for step in steps:
                assert step(size) == {"FINISHED"}

    edit(name)(run)


def _on_mesh(name: str) -> Callable[[Callable], Callable]:
    """An edit that is done to a bmesh of the first mesh."""

    def add(function):
        def run(bench: Bench) -> None:
            mesh = bmesh.new()
            mesh.from_mesh(bench.mesh.data)
            mesh.verts.ensure_lookup_table()
            mesh.edges.ensure_lookup_table()
            mesh.faces.ensure_lookup_table()
            function(mesh)
            mesh.to_mesh(bench.mesh.data)
            mesh.free()
            bench.mesh.data.update()

        edit(name)(run)
        return function

    return add


def _apart(size: float) -> tuple[float, float, float]:
    return (0.11 * size, 0.07 * size, 0.13 * size)


ops = bpy.ops.mesh

# Places


@_on_mesh("move one")
def _move_one(mesh):
    vertex = (on_seams(mesh) or list(mesh.verts))[0]
    vertex.co.x += 1.5


@_on_mesh("move a little")
def _move_a_little(mesh):
    """By less than a hundredth of the model, but more than the tolerance."""
    extent = max((vertex.co - mesh.verts[0].co).length for vertex in mesh.verts)
    for vertex in list(mesh.verts)[::2]:
        vertex.co.y += 3e-4 * extent


@_on_mesh("move by less than is stored exactly")
def _move_hardly(mesh):
    extent = max((vertex.co - mesh.verts[0].co).length for vertex in mesh.verts)
    for vertex in mesh.verts:
        vertex.co.z += 2e-5 * extent


@_on_mesh("swap the places of two vertices")
def _swap(mesh):
    a, b = mesh.verts[0], mesh.verts[len(mesh.verts) // 2]
    a.co, b.co = b.co.copy(), a.co.copy()


@_on_mesh("all in one point")
def _one_point(mesh):
    for vertex in mesh.verts[: len(mesh.verts) // 2]:
        vertex.co = mesh.verts[0].co.copy()


_in_edit_mode("move", "half", "VERT", lambda size: bpy.ops.transform.translate(value=_apart(size)))
_in_edit_mode("move seam", "seam", "VERT", lambda size: bpy.ops.transform.translate(value=_apart(size)))
_in_edit_mode("move all", "all", "VERT", lambda size: bpy.ops.transform.translate(value=_apart(size)))
_in_edit_mode("scale all", "all", "VERT", lambda size: bpy.ops.transform.resize(value=(1.3, 0.8, 1.1)))
_in_edit_mode("mirror all", "all", "VERT", lambda size: bpy.ops.transform.resize(value=(-1.0, 1.0, 1.0)))
_in_edit_mode("rotate", "half", "VERT", lambda size: bpy.ops.transform.rotate(value=0.7, orient_axis="Z"))
_in_edit_mode("smooth", "all", "VERT", lambda size: ops.vertices_smooth(factor=0.5, repeat=2))
_in_edit_mode("shrink", "half", "VERT", lambda size: bpy.ops.transform.shrink_fatten(value=0.1 * size))
_in_edit_mode("randomize", "all", "VERT", lambda size: bpy.ops.transform.vertex_random(offset=0.05 * size, seed=3))

# Topology

_in_edit_mode("inset", "two faces", "FACE", lambda size: ops.inset(thickness=0.02 * size))
_in_edit_mode("inset individually", "all", "FACE", lambda size: ops.inset(thickness=0.01 * size, use_individual=True))
_in_edit_mode(
    "extrude", "two faces", "FACE", lambda size: ops.extrude_region_move(TRANSFORM_OT_translate={"value": _apart(size)})
)
_in_edit_mode(
    "extrude seam edges",
    "seam",
    "EDGE",
    lambda size: ops.extrude_region_move(TRANSFORM_OT_translate={"value": _apart(size)}),
)
_in_edit_mode("bevel edges", "half", "EDGE", lambda size: ops.bevel(offset=0.02 * size, segments=2))
_in_edit_mode("bevel vertices", "seam", "VERT", lambda size: ops.bevel(offset=0.02 * size, affect="VERTICES"))
_in_edit_mode("subdivide", "half", "EDGE", lambda size: ops.subdivide(number_cuts=1))
_in_edit_mode("subdivide smooth", "all", "EDGE", lambda size: ops.subdivide(number_cuts=2, smoothness=1.0))
_in_edit_mode("dissolve vertices", "one face", "VERT", lambda size: ops.dissolve_verts())
_in_edit_mode("dissolve edges", "two faces", "EDGE", lambda size: ops.dissolve_edges())
_in_edit_mode("dissolve limited", "all", "VERT", lambda size: ops.dissolve_limited(angle_limit=1.0))
_in_edit_mode("decimate", "all", "VERT", lambda size: ops.decimate(ratio=0.6))
_in_edit_mode("symmetrize", "all", "VERT", lambda size: ops.symmetrize(direction="NEGATIVE_Y"))
_in_edit_mode("merge by distance", "all", "VERT", lambda size: ops.remove_doubles(threshold=0.55 * size))
_in_edit_mode(
    "split all and merge doubles",
    "all",
    "VERT",
    lambda size: ops.edge_split(type="EDGE"),
    lambda size: ops.remove_doubles(threshold=1e-4 * size),
)
_in_edit_mode("merge at centre", "one face", "VERT", lambda size: ops.merge(type="CENTER"))
_in_edit_mode("collapse edges", "one face", "EDGE", lambda size: ops.merge(type="COLLAPSE"))
_in_edit_mode("split", "two faces", "FACE", lambda size: ops.split())
_in_edit_mode(
    "split and move",
    "half",
    "FACE",
    lambda size: ops.split(),
    lambda size: bpy.ops.transform.translate(value=_apart(size)),
)
_in_edit_mode("split edges", "half", "EDGE", lambda size: ops.edge_split(type="EDGE"))
_in_edit_mode("split off vertices", "half", "VERT", lambda size: ops.edge_split(type="VERT"))
_in_edit_mode("delete faces", "two faces", "FACE", lambda size: ops.delete(type="FACE"))
_in_edit_mode("delete vertices", "one face", "VERT", lambda size: ops.delete(type="VERT"))
_in_edit_mode("flip", "half", "FACE", lambda size: ops.flip_normals())
_in_edit_mode("triangles to quads", "all", "FACE", lambda size: ops.tris_convert_to_quads())
_in_edit_mode("poke", "two faces", "FACE", lambda size: ops.poke())
_in_edit_mode("solidify", "all", "FACE", lambda size: ops.solidify(thickness=0.05 * size))
_in_edit_mode("wireframe", "all", "FACE", lambda size: ops.wireframe(thickness=0.02 * size))
_in_edit_mode(
    "duplicate part", "half", "FACE", lambda size: ops.duplicate_move(TRANSFORM_OT_translate={"value": _apart(size)})
)
_in_edit_mode(
    "spin", "one face", "VERT", lambda size: ops.spin(steps=4, angle=pi / 2, center=(0, 0, 0), axis=(0, 0, 1))
)
_in_edit_mode("convex hull", "all", "VERT", lambda size: ops.convex_hull())
_in_edit_mode("rip apart and fill", "half", "EDGE", lambda size: ops.edge_split(type="EDGE"), lambda size: _fill())
_in_edit_mode("fill holes", "all", "EDGE", lambda size: ops.delete(type="ONLY_FACE"), lambda size: _fill())
_in_edit_mode(
    "sort by selection", "half", "FACE", lambda size: ops.sort_elements(type="REVERSE", elements={"VERT", "FACE"})
)
_in_edit_mode(
    "shuffle", "all", "FACE", lambda size: ops.sort_elements(type="RANDOMIZE", elements={"VERT", "FACE"}, seed=2)
)


def _fill() -> set[str]:
    ops.select_all(action="SELECT")
    return ops.edge_face_add() if not bpy.ops.mesh.fill_holes.poll() else ops.fill_holes(sides=0)


def _bisect(bench: Bench, **options) -> None:
    centre = positions_of(bench.mesh).mean(axis=0)
    with edit_mesh(bench.mesh, "all", "FACE"):
        result = ops.bisect(plane_co=centre, plane_no=(0.3, 0.9, 0.4), **options)
        assert result == {"FINISHED"}


edit("bisect")(lambda bench: _bisect(bench))
edit("bisect and clear")(lambda bench: _bisect(bench, clear_inner=True))
edit("bisect and fill")(lambda bench: _bisect(bench, clear_outer=True, use_fill=True))


@_on_mesh("knife")
def _knife(mesh):
    """What the knife does: a face is cut across, through new vertices on two of its edges."""
    for face in list(mesh.faces)[: max(len(mesh.faces) // 4, 1)]:
        first, other = face.edges[0], face.edges[1]
        vertices = [
            bmesh.utils.edge_split(edge, edge.verts[0], share)[1] for edge, share in ((first, 0.3), (other, 0.6))
        ]
        shared = [one for one in vertices[0].link_faces if vertices[1] in one.verts]
        if shared:
            bmesh.utils.face_split(shared[0], *vertices)


@_on_mesh("new face across a seam")
def _bridge(mesh):
    seam = on_seams(mesh)
    corner = seam[0]
    far = sorted(mesh.verts, key=lambda other: (other.co - corner.co).length)
    others = [one for one in far if not any(edge.other_vert(one) == corner for edge in one.link_edges)][-2:]
    face = mesh.faces.new([corner, *others])
    layer = mesh.loops.layers.uv.active
    if layer is not None:
        for number, loop in enumerate(face.loops):
            loop[layer].uv = (0.1 * number, 0.3 * number)


@_on_mesh("new vertices and faces without weights")
def _new_vertices(mesh):
    centre = mesh.verts[0].co.copy()
    made = [mesh.verts.new(centre + offset) for offset in _offsets(centre)]
    mesh.faces.new(made[:3])
    mesh.faces.new([made[0], made[2], made[3]])


def _offsets(centre):
    kind = type(centre)
    return [kind((5, 0, 0)), kind((5, 3, 0)), kind((5, 3, 4)), kind((5, 0, 4))]


@_on_mesh("new face of new and old vertices")
def _new_face(mesh):
    old = (on_seams(mesh) or list(mesh.verts))[:2]
    new = mesh.verts.new(old[0].co + _offsets(old[0].co)[2])
    face = mesh.faces.new([*old, new])
    face.material_index = 0


@_on_mesh("loose vertices and edges")
def _loose(mesh):
    centre = mesh.verts[0].co.copy()
    made = [mesh.verts.new(centre + offset) for offset in _offsets(centre)[:2]]
    mesh.edges.new(made)
    bmesh.ops.delete(mesh, geom=list(mesh.faces)[::3], context="FACES_ONLY")


@_on_mesh("n-gon that is not flat")
def _ngon(mesh):
    bmesh.ops.dissolve_faces(mesh, faces=_patch(mesh))
    for vertex in list(mesh.verts)[::3]:
        vertex.co.z += 0.4


def _patch(mesh):
    """A face and those around it."""
    middle = mesh.faces[len(mesh.faces) // 2]
    return list({middle, *(face for edge in middle.edges for face in edge.link_faces)})


@_on_mesh("reverse the order of faces and vertices")
def _reverse(mesh):
    for elements in (mesh.verts, mesh.faces):
        for number, element in enumerate(elements):
            element.index = len(elements) - 1 - number
        elements.sort()


@_on_mesh("turn the corners of faces")
def _turn_corners(mesh):
    """Each face begins with another corner than before."""
    layers = mesh.loops.layers.uv.active
    for face in list(mesh.faces):
        vertices = list(face.verts)
        uvs = [loop[layers].uv.copy() for loop in face.loops] if layers else []
        index = face.material_index
        mesh.faces.remove(face)
        made = mesh.faces.new([*vertices[1:], vertices[0]])
        made.material_index = index
        for loop, uv in zip(made.loops, [*uvs[1:], *uvs[:1]], strict=False):
            loop[layers].uv = uv


# Several objects


def _duplicate(bench: Bench, *, linked: bool, and_move: bool):
    activate(bench.mesh)
    bpy.ops.object.duplicate(linked=linked)
    copy = bpy.context.view_layer.objects.active
    if and_move:
        copy.location.y += 0.7 * _size(bench)
    return copy


edit("duplicate")(lambda bench: _duplicate(bench, linked=False, and_move=True) and None)
edit("duplicate in place")(lambda bench: _duplicate(bench, linked=False, and_move=False) and None)
edit("duplicate linked")(lambda bench: _duplicate(bench, linked=True, and_move=True) and None)


@edit("duplicate and edit")
def _duplicate_and_edit(bench: Bench) -> None:
    copy = _duplicate(bench, linked=False, and_move=False)
    for vertex in list(copy.data.vertices)[::2]:
        vertex.co.x += 0.3


@edit("duplicate linked and repaint one")
def _duplicate_and_repaint(bench: Bench) -> None:
    """Weights belong to the mesh, the names of the groups to the object."""
    copy = _duplicate(bench, linked=True, and_move=True)
    names = [group.name for group in copy.vertex_groups]
    for group, name in zip(copy.vertex_groups, reversed(names), strict=True):
        group.name = f"was {name}"
    for group, name in zip(copy.vertex_groups, reversed(names), strict=True):
        group.name = name


@edit("separate")
def _separate(bench: Bench) -> None:
    with edit_mesh(bench.mesh, "half", "FACE"):
        assert ops.separate(type="SELECTED") == {"FINISHED"}


@edit("separate and move")
def _separate_and_move(bench: Bench) -> None:
    _separate(bench)
    other = next(obj for obj in bpy.context.view_layer.objects if obj.type == "MESH" and obj not in bench.meshes)
    for vertex in other.data.vertices:
        vertex.co.z += 1.0


@edit("join with another imported mesh")
def _join(bench: Bench) -> None:
    other = bench.meshes[1] if len(bench.meshes) > 1 else _duplicate(bench, linked=False, and_move=True)
    activate(bench.mesh, other)
    assert bpy.ops.object.join() == {"FINISHED"}


@edit("join into the second")
def _join_into_second(bench: Bench) -> None:
    other = bench.meshes[1] if len(bench.meshes) > 1 else _duplicate(bench, linked=False, and_move=True)
    activate(other, bench.mesh)
    assert bpy.ops.object.join() == {"FINISHED"}


@edit("join with a new mesh")
def _join_with_new(bench: Bench) -> None:
    activate(bench.armature)
    bpy.ops.mesh.primitive_cube_add(size=0.3 * _size(bench), location=positions_of(bench.mesh)[0])
    cube = bpy.context.view_layer.objects.active
    cube.vertex_groups.new(name=bench.mesh.vertex_groups[0].name).add(range(8), 1.0, "REPLACE")
    activate(bench.mesh, cube)
    assert bpy.ops.object.join() == {"FINISHED"}


@edit("join a copy, then separate it by material")
def _join_and_separate(bench: Bench) -> None:
    copy = _duplicate(bench, linked=False, and_move=True)
    copy.data.materials[0] = bpy.data.materials.new("second")
    activate(bench.mesh, copy)
    bpy.ops.object.join()
    with edit_mesh(bench.mesh, "all", "FACE"):
        assert ops.separate(type="MATERIAL") == {"FINISHED"}


# Materials


@edit("second material on some faces")
def _second_material(bench: Bench) -> None:
    bench.mesh.data.materials.append(bpy.data.materials.new("models/test/second"))
    for face in list(bench.mesh.data.polygons)[::2]:
        face.material_index = 1


@edit("material order")
def _material_order(bench: Bench) -> None:
    _second_material(bench)
    materials = bench.mesh.data.materials
    materials[0], materials[1] = materials[1], materials[0]


@edit("rename material")
def _rename_material(bench: Bench) -> None:
    bench.mesh.data.materials[0].name = "models/test/renamed"
    bench.mesh.data.vertices[0].co.x += 1.0


@edit("material of the object")
def _material_of_object(bench: Bench) -> None:
    bench.mesh.material_slots[0].link = "OBJECT"
    bench.mesh.material_slots[0].material = bpy.data.materials.new("models/test/own")


@edit("no material on some faces")
def _no_material(bench: Bench) -> None:
    bench.mesh.data.materials.append(None)
    for face in list(bench.mesh.data.polygons)[::3]:
        face.material_index = 1


@edit("material index beyond the slots")
def _wild_index(bench: Bench) -> None:
    for face in list(bench.mesh.data.polygons)[::3]:
        face.material_index = 7


# UVs


@_on_mesh("move UVs of some faces")
def _move_uvs(mesh):
    layer = mesh.loops.layers.uv.active
    for face in list(mesh.faces)[::2]:
        for loop in face.loops:
            loop[layer].uv.x += 0.37


@_on_mesh("tear UVs of every corner")
def _tear_uvs(mesh):
    layer = mesh.loops.layers.uv.active
    for face in mesh.faces:
        for number, loop in enumerate(face.loops):
            loop[layer].uv += type(loop[layer].uv)((0.01 * face.index, 0.02 * number))


@_on_mesh("close UV seams")
def _close_uvs(mesh):
    """Each place has one UV."""
    layer = mesh.loops.layers.uv.active
    first = {}
    for vertex in mesh.verts:
        for loop in vertex.link_loops:
            place = tuple(round(number, 4) for number in vertex.co)
            loop[layer].uv = first.setdefault(place, loop[layer].uv.copy() * 0.9)


@_on_mesh("UVs closer than they are written")
def _close_together(mesh):
    layer = mesh.loops.layers.uv.active
    for face in mesh.faces:
        for loop in face.loops:
            loop[layer].uv.y += 4e-6 * (face.index % 3)


@_on_mesh("swap UVs along a seam")
def _swap_uvs(mesh):
    layer = mesh.loops.layers.uv.active
    for vertex in on_seams(mesh):
        values = [loop[layer].uv.copy() for loop in vertex.link_loops]
        for loop, uv in zip(vertex.link_loops, reversed(values), strict=True):
            loop[layer].uv = uv.yx


_in_edit_mode("unwrap", "all", "FACE", lambda size: bpy.ops.uv.unwrap(method="ANGLE_BASED", margin=0.01))
_in_edit_mode("smart project", "all", "FACE", lambda size: bpy.ops.uv.smart_project(island_margin=0.02))
_in_edit_mode("cube project", "half", "FACE", lambda size: bpy.ops.uv.cube_project(cube_size=size))
_in_edit_mode("rotate UVs", "half", "FACE", lambda size: ops.uvs_rotate())
_in_edit_mode("reverse UVs", "half", "FACE", lambda size: ops.uvs_reverse())


@edit("second UV map active")
def _second_map(bench: Bench) -> None:
    layers = bench.mesh.data.uv_layers
    made = layers.new(name="Second")
    for number, one in enumerate(made.uv):
        one.vector = (0.01 * (number % 90), 0.5)
    layers.active = made
    bench.mesh.data.vertices[1].co.x += 0.5


@edit("NaN-free UVs far away")
def _far_uvs(bench: Bench) -> None:
    for one in bench.mesh.data.uv_layers.active.uv:
        one.vector = (one.vector[0] + 30.0, one.vector[1] - 17.0)


@edit("no UV map")
def _no_map(bench: Bench) -> None:
    while bench.mesh.data.uv_layers:
        bench.mesh.data.uv_layers.remove(bench.mesh.data.uv_layers[0])


# Weights


def _seam_vertices(bench: Bench) -> list[int]:
    mesh = bmesh.new()
    mesh.from_mesh(bench.mesh.data)
    found = [vertex.index for vertex in on_seams(mesh)]
    mesh.free()
    return found or [0, 1]


@edit("paint weights on seam vertices")
def _paint(bench: Bench) -> None:
    """As the weight brush does: one group grows, the others stay."""
    for group in bench.mesh.vertex_groups:
        for number, vertex in enumerate(_seam_vertices(bench)[:3]):
            group.add([vertex], 0.1 * (number + group.index), "SUBTRACT")
            group.add([vertex], 0.02, "ADD")


@edit("paint one side of a seam")
def _paint_one_side(bench: Bench) -> None:
    others = [bone.name for bone in bench.armature.data.bones]
    name = others[-1]
    group = bench.mesh.vertex_groups.get(name) or bench.mesh.vertex_groups.new(name=name)
    group.add(_seam_vertices(bench)[:1], 0.5, "REPLACE")


@edit("weights that do not add up to one")
def _unnormalised(bench: Bench) -> None:
    for vertex in list(bench.mesh.data.vertices)[::2]:
        for element in vertex.groups:
            element.weight *= 0.4


@edit("smooth weights")
def _smooth_weights(bench: Bench) -> None:
    with mode(bench.mesh, "WEIGHT_PAINT"):
        bpy.ops.object.vertex_group_smooth(group_select_mode="ALL", factor=0.5, repeat=2)
    bench.mesh.data.vertices[0].co.x += 0.5


@edit("normalize and clean weights")
def _normalise(bench: Bench) -> None:
    with mode(bench.mesh, "WEIGHT_PAINT"):
        bpy.ops.object.vertex_group_levels(group_select_mode="ALL", offset=0.1)
        bpy.ops.object.vertex_group_normalize_all(lock_active=False)
        bpy.ops.object.vertex_group_clean(group_select_mode="ALL", limit=0.2)
    if len(bench.mesh.vertex_groups) > 1:
        bench.mesh.vertex_groups[0].add([0, 1], 0.7, "REPLACE")
    bench.mesh.data.vertices[0].co.x += 0.5


@edit("remove a vertex group")
def _remove_group(bench: Bench) -> None:
    mesh = bench.mesh
    if len(mesh.vertex_groups) > 1:
        mesh.vertex_groups.remove(mesh.vertex_groups[0])
        mesh.vertex_groups[0].add(range(len(mesh.data.vertices)), 0.3, "ADD")
    else:
        name = next(bone.name for bone in bench.armature.data.bones if bone.name not in mesh.vertex_groups)
        mesh.vertex_groups.new(name=name).add([0, 1, 2], 1.0, "ADD")
        remove_weights(mesh, mesh.vertex_groups[0], 3)


@edit("sort vertex groups")
def _sort_groups(bench: Bench) -> None:
    activate(bench.mesh)
    bench.mesh.vertex_groups.new(name="A mask").add([0, 1], 1.0, "REPLACE")
    bpy.ops.object.vertex_group_sort(sort_type="NAME")


@edit("mirror vertex groups")
def _mirror_groups(bench: Bench) -> None:
    activate(bench.mesh)
    bpy.ops.object.vertex_group_mirror(all_groups=True, flip_group_names=False)
    bench.mesh.data.vertices[0].co.x += 0.5


@edit("bind anew with automatic weights")
def _automatic_weights(bench: Bench) -> None:
    for obj in bench.meshes[:1]:
        obj.modifiers.clear()
        obj.vertex_groups.clear()
        obj.parent = None
        activate(bench.armature, obj)
        bpy.ops.object.parent_set(type="ARMATURE_NAME")
        bones = [bone.name for bone in bench.armature.data.bones if bone.use_deform]
        for number, vertex in enumerate(obj.data.vertices):
            obj.vertex_groups[bones[number % len(bones)]].add([vertex.index], 1.0, "REPLACE")


# Shape keys


def _add_key(bench: Bench, value: float):
    obj = bench.mesh
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.shape_key_add(name="Shape", from_mix=False)
    size = _size(bench)
    for number, point in enumerate(key.data):
        point.co.x += 0.1 * size * (number % 3)
    key.value = value
    return key


edit("shape key with a value")(lambda bench: _add_key(bench, 0.5) and None)
edit("shape key without a value")(lambda bench: _add_key(bench, 0.0) and None)


@edit("shape key pinned")
def _pinned(bench: Bench) -> None:
    _add_key(bench, 0.0)
    bench.mesh.active_shape_key_index = 1
    bench.mesh.show_only_shape_key = True


@edit("shape key muted")
def _muted(bench: Bench) -> None:
    _add_key(bench, 0.7).mute = True


@edit("shape key with a vertex group")
def _masked_key(bench: Bench) -> None:
    key = _add_key(bench, 0.8)
    key.vertex_group = bench.mesh.vertex_groups[0].name


@edit("basis edited under a shape key")
def _edited_basis(bench: Bench) -> None:
    _add_key(bench, 0.4)
    for point in bench.mesh.data.shape_keys.key_blocks[0].data[:][::2]:
        point.co.y += 0.2


@edit("shape keys applied as a mix")
def _applied_keys(bench: Bench) -> None:
    _add_key(bench, 0.6)
    bench.mesh.shape_key_add(name="Mix", from_mix=True)
    activate(bench.mesh)
    bpy.ops.object.shape_key_remove(all=True, apply_mix=True)


@edit("absolute shape keys")
def _absolute(bench: Bench) -> None:
    _add_key(bench, 0.0)
    keys = bench.mesh.data.shape_keys
    keys.use_relative = False
    keys.eval_time = 5.0


# Objects


def _transform(bench: Bench, **values) -> None:
    for name, value in values.items():
        setattr(bench.mesh, name, value)
    bpy.context.view_layer.update()


edit("object moved")(lambda bench: _transform(bench, location=(1.0, -2.0, 0.5)))
edit("object turned")(lambda bench: _transform(bench, rotation_euler=(0.3, -0.4, 1.0)))
edit("object scaled")(lambda bench: _transform(bench, scale=(1.5, 0.7, 1.2)))
edit("object mirrored")(lambda bench: _transform(bench, scale=(-1.0, 1.0, 1.0)))


def _transform_and_apply(bench: Bench, **values) -> None:
    _transform(bench, **values)
    activate(bench.mesh)
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)


edit("object moved and applied")(lambda bench: _transform_and_apply(bench, location=(1.0, -2.0, 0.5)))
edit("object scaled and applied")(lambda bench: _transform_and_apply(bench, scale=(1.5, 0.7, 1.2)))
edit("object mirrored and applied")(lambda bench: _transform_and_apply(bench, scale=(1.0, -1.0, 1.0)))


@edit("object unparented, transform kept")
def _unparent(bench: Bench) -> None:
    activate(bench.mesh)
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    bench.mesh.location.x += 1.0


@edit("parent inverse")
def _parent_inverse(bench: Bench) -> None:
    bench.mesh.location = (0.0, 1.0, 0.0)
    activate(bench.armature, bench.mesh)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=True)
    bench.mesh.scale = (1.1, 1.1, 1.1)


@edit("deltas")
def _deltas(bench: Bench) -> None:
    bench.mesh.delta_location = (0.4, 0.2, -1.0)
    bench.mesh.delta_scale = (1.0, 1.4, 1.0)
    bpy.context.view_layer.update()


@edit("origin to geometry")
def _origin(bench: Bench) -> None:
    activate(bench.mesh)
    bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY")


@edit("renamed")
def _renamed(bench: Bench) -> None:
    bench.mesh.name = "Cuirass"
    bench.mesh.data.name = "Cuirass data"
    bench.mesh.data.vertices[0].co.y += 1.0


@edit("mesh data of another object")
def _other_data(bench: Bench) -> None:
    if len(bench.meshes) > 1:
        bench.mesh.data = bench.meshes[1].data
    else:
        bench.mesh.data = bench.mesh.data.copy()
        bench.mesh.data.vertices[0].co.x += 1.0


@edit("single user copy of a linked duplicate")
def _single_user(bench: Bench) -> None:
    copy = _duplicate(bench, linked=True, and_move=True)
    activate(copy)
    bpy.ops.object.make_single_user(object=True, obdata=True)
    for vertex in copy.data.vertices[:3]:
        vertex.co.z += 1.0


@edit("remesh")
def _remesh(bench: Bench) -> None:
    activate(bench.mesh)
    bench.mesh.data.remesh_voxel_size = 0.1 * _size(bench)
    bpy.ops.object.voxel_remesh()


# Modifiers


def add_modifier(obj, kind: str, first=True):
    """A modifier with settings under which it does something; before the armature, or behind it."""
    modifier = obj.modifiers.new(kind.title(), kind)
    _settings(obj, modifier)
    if first:
        obj.modifiers.move(len(obj.modifiers) - 1, 0)
    return modifier


MODIFIERS = [
    "ARRAY",
    "BEVEL",
    "DECIMATE",
    "DISPLACE",
    "EDGE_SPLIT",
    "MIRROR",
    "REMESH",
    "SCREW",
    "SIMPLE_DEFORM",
    "SMOOTH",
    "SOLIDIFY",
    "SUBSURF",
    "TRIANGULATE",
    "VERTEX_WEIGHT_MIX",
    "WELD",
    "WIREFRAME",
]


def _settings(obj, modifier) -> None:
    size = float(np.ptp(positions_of(obj), axis=0).max())
    kind = modifier.type
    if kind == "MIRROR":
        modifier.use_axis = (False, True, False)
        modifier.use_mirror_vertex_groups = True
        modifier.offset_u = 0.25
    elif kind == "ARRAY":
        modifier.count = 2
        modifier.relative_offset_displace = (0.0, 1.2, 0.0)
    elif kind == "BEVEL":
        modifier.width, modifier.limit_method = 0.02 * size, "NONE"
    elif kind == "DECIMATE":
        modifier.ratio = 0.6
    elif kind == "DISPLACE":
        modifier.strength = 0.05 * size
    elif kind == "WELD":
        modifier.merge_threshold = 0.1 * size
    elif kind == "SMOOTH":
        modifier.iterations = 2
    elif kind == "SOLIDIFY":
        modifier.thickness = 0.05 * size
    elif kind == "SIMPLE_DEFORM":
        modifier.deform_method, modifier.angle = "TWIST", 0.6
    elif kind == "EDGE_SPLIT":
        modifier.split_angle = 0.1
    elif kind == "WIREFRAME":
        modifier.thickness = 0.03 * size
    elif kind == "REMESH":
        modifier.mode, modifier.octree_depth = "SMOOTH", 3
    elif kind == "SCREW":
        modifier.angle, modifier.steps, modifier.render_steps = 0.6, 2, 2
    elif kind == "VERTEX_WEIGHT_MIX":
        modifier.vertex_group_a = obj.vertex_groups[0].name
        modifier.default_weight_b, modifier.mix_set, modifier.mix_mode = 0.4, "ALL", "SET"
