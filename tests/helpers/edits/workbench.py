"""Imported models and made rigs to work on, and Blender's operators on chosen parts of them."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import bmesh
import bpy
import md5_reader
import md5_scenes
import numpy as np
import pytest
import scripted_scenes
from installed import SCENES
from paths import CORPUS

from io_idtech.io_md5.format import Model, write_animation, write_mesh

RATE = 24.0

SETTINGS = {
    "merged": ({}, {}),
    "unmerged joint axes": ({"merge_vertices": False, "bone_direction": "JOINT"}, {}),
    "scaled and turned": ({"global_scale": 0.25, "axis_forward": "X"}, {"scale": 4.0, "axes": ("X", "Z")}),
}
"""Options of the import, and how to export."""

REAL = {
    "flag": ("redeclipse+props/flag/mesh", ["redeclipse+props/flag/anim"]),
    "robot": (
        "AntonioND+dsma-library/models/robot/Robot",
        ["AntonioND+dsma-library/models/robot/Bow", "AntonioND+dsma-library/models/robot/Walk"],
    ),
    "wiggle": ("AntonioND+dsma-library/models/wiggle/Wiggle", ["AntonioND+dsma-library/models/wiggle/Shake"]),
}
"""Small real models and animations of theirs."""


@dataclass
class Bench:
    """What is worked on.

    Attributes:
        armature: the armature object.
        meshes: its mesh objects.
        options: how to export.
    """

    armature: bpy.types.Object
    meshes: list[bpy.types.Object] = field(default_factory=list)
    options: dict = field(default_factory=dict)

    @property
    def mesh(self):
        return self.meshes[0]


def write_sample(folder: Path, *, with_oddities=False) -> Path:
    """A model of six joints and two tubes with UV seams, and two animations beside it.

    Args:
        folder: for the files.
        with_oddities: with what Blender cannot hold: a degenerate triangle, vertices of no triangle, long names,
            a command line, a name of the mesh, weights that do not agree on the place of their vertex.
    """
    shutil.copytree(_made_sample(with_oddities), folder, dirs_exist_ok=True)
    return folder / "sample.md5mesh"


@cache
def _made_sample(with_oddities: bool) -> Path:
    folder = SCENES / ("odd" if with_oddities else "sample")
    folder.mkdir()
    joints = md5_scenes.skeleton()
    blocks = [
        md5_scenes.patch(joints, "models/test/skin", width=5),
        md5_scenes.patch(joints, "models/test/belt", width=4, joint=1, other=4),
    ]
    # The belt lies apart from the skin.
    away = np.array([[9.0, 2.0, 1.0]])
    back = joints.orientations[blocks[1].weight_joints] * (1.0, -1.0, -1.0, -1.0)
    blocks[1].weight_positions[:] += md5_reader.rotate(back, away)
    model = Model(joints, blocks)
    if with_oddities:
        _make_odd(model)
    write_mesh(model, folder / "sample.md5mesh")
    for name, frames, moving in (("walk", 6, ("spine", "leg.L")), ("wave", 4, ("hips", "head"))):
        write_animation(
            md5_scenes.animation(joints, frames=frames, rate=RATE, moving=moving), folder / f"{name}.md5anim"
        )
    return folder


def _make_odd(model: Model) -> None:
    model.commandline = "mesh odd.mb -dest odd.md5mesh"
    joints = model.joints
    joints.names[-1] = "a joint with a name that is far too long for Blender, of eighty letters or more " + "x" * 9
    for block in model.meshes:
        block.name = f"{block.shader} by name"
        block.shader += " with a name that is far too long for Blender 4, of eighty letters or more " + "x" * 9
        flat = np.array([[0, 0, 1], [2, 3, 2]], dtype=np.int32)
        block.triangles = np.concatenate([flat[:1], block.triangles, flat[1:]])
        block.uvs = np.concatenate([block.uvs, [[0.25, 0.75], [0.5, 0.5]]])
        block.weight_starts = np.concatenate([block.weight_starts, [0, 1]]).astype(np.int32)
        block.weight_counts = np.concatenate([block.weight_counts, [1, 1]]).astype(np.int32)


def load(paths: list[Path], **options) -> Bench:
    """Imports a model and animations of it."""
    bpy.ops.import_scene.md5(filepath=str(paths[0]), use_textures=False, **options)
    for path in paths[1:]:
        bpy.ops.import_scene.md5(filepath=str(path))
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    return _bench_of_active()


def _bench_of_active() -> Bench:
    armature = bpy.context.view_layer.objects.active
    return Bench(armature, [child for child in armature.children if child.type == "MESH"])


def load_by_setting(name: str, paths: list[Path], setting: str) -> Bench:
    """Imports a model and animations of it; into an empty scene once, and then from a .blend, which is faster."""
    importing, exporting = SETTINGS[setting]
    blend = SCENES / f"{name} {setting}.blend"
    is_empty = not bpy.data.objects
    if is_empty and blend.exists():
        bpy.ops.wm.read_homefile(filepath=str(blend))
        bench = _bench_of_active()
    else:
        bench = load(paths, **importing)
        if is_empty:
            bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True, compress=False)
    bench.options = dict(exporting)
    return bench


def sample(folder: Path, setting="merged") -> Bench:
    """The sample with its animations, imported by a setting."""
    path = write_sample(folder)
    return load_by_setting("sample", [path, path.with_name("walk.md5anim"), path.with_name("wave.md5anim")], setting)


def real(name: str, setting="merged") -> Bench:
    """A real model with its animations, imported by a setting."""
    if not CORPUS.is_dir():
        pytest.skip(f"no real files at {CORPUS} (IO_IDTECH_CORPUS names another place)")
    model, animations = REAL[name]
    paths = [CORPUS / "md5" / f"{model}.md5mesh", *(CORPUS / "md5" / f"{one}.md5anim" for one in animations)]
    return load_by_setting(name, paths, setting)


def made() -> Bench:
    """A rig and a tube made in Blender, with an action."""
    armature = scripted_scenes.rig()
    bench = Bench(armature, [scripted_scenes.tube(armature)])
    bpy.context.view_layer.update()
    return bench


def starting_points(names=("sample", *REAL), sampled=tuple(SETTINGS)) -> list:
    """Parameters for tests: the sample by some settings, real models by one each."""
    settings = list(SETTINGS)
    points = [("sample", setting) for setting in sampled] if "sample" in names else []
    points += [(name, settings[number % 2]) for number, name in enumerate(REAL) if name in names]
    if "made" in names:
        points.append(("made", "merged"))
    return [pytest.param(*point, id=" ".join(point)) for point in points]


def bench_of(folder: Path, name: str, setting="merged") -> Bench:
    """One of the starting points."""
    if name == "made":
        return made()
    return sample(folder, setting) if name == "sample" else real(name, setting)


def pairs():
    """The rows of the table of real models and their animations."""
    with (CORPUS / "pairs.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def remove_weights(obj, group, count: int) -> None:
    """Removes the first vertices of a mesh from a group. Blender crashes if one does not exist."""
    group.remove(range(len(obj.data.vertices))[:count])


# Modes and selections


def activate(*objects) -> None:
    """Selects objects alone; the first becomes the active one."""
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


@contextmanager
def mode(obj, name: str) -> Iterator[None]:
    """Another mode on one object alone."""
    activate(obj)
    bpy.ops.object.mode_set(mode=name)
    try:
        yield
    finally:
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")


@contextmanager
def edit_mesh(obj, choice="half", kind="VERT") -> Iterator[None]:
    """Edit Mode with some elements selected.

    Args:
        obj: the mesh object.
        choice: "all", "none", "half" (in the order of their numbers), "seam" (both sides of UV seams), "one face",
            "two faces" (neighbors).
        kind: of selection, VERT, EDGE or FACE.
    """
    with mode(obj, "EDIT"):
        bpy.ops.mesh.select_mode(type=kind)
        bpy.ops.mesh.select_all(action="DESELECT")
        mesh = bmesh.from_edit_mesh(obj.data)
        for vertex in chosen(mesh, choice):
            vertex.select_set(True)
        if choice in ("one face", "two faces"):
            for vertex in mesh.verts:
                vertex.select_set(False)
            mesh.faces.ensure_lookup_table()
            for face in _some_faces(mesh, choice):
                face.select_set(True)
        mesh.select_flush(True)
        bmesh.update_edit_mesh(obj.data)
        yield


def _some_faces(mesh, choice):
    first = mesh.faces[len(mesh.faces) // 3]
    if choice == "one face":
        return [first]
    other = next((face for edge in first.edges for face in edge.link_faces if face != first), None)
    return [first, other] if other is not None else [first]


def chosen(mesh, choice):
    """Vertices of a bmesh."""
    mesh.verts.ensure_lookup_table()
    vertices = list(mesh.verts)
    if choice == "all":
        return vertices
    if choice == "half":
        return vertices[: max(len(vertices) // 2, 3)]
    if choice == "seam":
        found = on_seams(mesh)
        return found or vertices[:2]
    return []


def on_seams(mesh) -> list:
    """The vertices of a bmesh whose corners have several UVs, or that lie on an open edge."""
    layer = mesh.loops.layers.uv.active
    return [
        vertex
        for vertex in mesh.verts
        if vertex.is_boundary
        or (layer and len({tuple(round(x, 5) for x in loop[layer].uv) for loop in vertex.link_loops}) > 1)
    ]


def fingerprint(obj) -> int:
    """A number that changes with places, faces, UVs, materials and weights of an object."""
    data = obj.data
    uvs = tuple(tuple(one.vector) for layer in data.uv_layers for one in layer.uv)
    faces = tuple((tuple(face.vertices), face.material_index) for face in data.polygons)
    weights = tuple(tuple((one.group, one.weight) for one in vertex.groups) for vertex in data.vertices)
    places = tuple(tuple(vertex.co) for vertex in data.vertices)
    keys = tuple((key.name, key.value) for key in data.shape_keys.key_blocks) if data.shape_keys else ()
    slots = tuple(slot.material and slot.material.name for slot in obj.material_slots)
    matrix = tuple(tuple(row) for row in obj.matrix_world)
    stack = tuple((one.type, one.name) for one in obj.modifiers)
    return hash((uvs, faces, weights, places, keys, slots, matrix, stack, obj.show_only_shape_key))


def scene_fingerprint() -> int:
    """A number that changes with any mesh object of the scene and with the bones of any armature."""
    meshes = tuple(sorted((obj.name, fingerprint(obj)) for obj in bpy.data.objects if obj.type == "MESH"))
    bones = tuple(
        (obj.name, bone.name, bone.use_deform, bone.use_connect, tuple(tuple(row) for row in bone.matrix_local))
        for obj in bpy.data.objects
        if obj.type == "ARMATURE"
        for bone in obj.data.bones
    )
    return hash((meshes, bones))


def positions_of(obj) -> np.ndarray:
    """The vertices of an object as they are stored (V, 3)."""
    return np.array([vertex.co for vertex in obj.data.vertices]).reshape(-1, 3)
