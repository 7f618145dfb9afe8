"""Floors: the minimum time of Blender's own calls for the same data, measured in the same process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import bpy
import numpy as np
import numpy.typing as npt

from io_idtech.io_common.skeletal.skinning import find_merged_vertices, skin, vertex_weights
from io_idtech.io_common.triangles import is_degenerate
from io_idtech.io_md2.format import Model as Md2Model
from io_idtech.io_md2.format import decompress
from io_idtech.io_md3.format import Model as Md3Model
from io_idtech.io_md3.format import normal_vectors, positions
from io_idtech.io_md5.format import Model

Singles = npt.NDArray[np.float32]
Corners = npt.NDArray[np.int32]

_NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])")


class NumberFloor:
    """`np.fromstring` over the numbers of a text, without words and brackets."""

    def __init__(self, data: bytes) -> None:
        numbers = _NUMBER.findall(re.sub(rb'"[^"]*"|//[^\n]*', b" ", data))
        self._text = b" ".join(numbers)
        self._count = len(numbers)

    def run(self) -> None:
        """Converts all numbers."""
        assert len(np.fromstring(self._text, dtype=np.float64, sep=" ")) == self._count


class ActionFloor:
    """Creating the F-curves of an action with the same numbers of keys.

    Args:
        fcurves: of the imported action.
        curves: the writer of F-curves in this Blender.
    """

    def __init__(self, fcurves: Iterable[bpy.types.FCurve], curves: type) -> None:
        self._curves = curves
        self._fcurves = [
            (curve.data_path, curve.array_index, curve.group.name, len(curve.keyframe_points)) for curve in fcurves
        ]
        count = max(keys for *_, keys in self._fcurves)
        self._points = np.zeros((count, 2), dtype=np.float32)
        self._points[:, 0] = np.arange(count)
        self._interpolation = np.ones(count, dtype=np.int32)

    def run(self) -> None:
        """Creates the action."""
        curves = self._curves(bpy.data.actions.new("floor"), "OBJECT")
        points = self._points.ravel()
        for path, index, group, count in self._fcurves:
            curve = curves.new(path, index, group)
            curve.keyframe_points.add(count)
            curve.keyframe_points.foreach_set("co", points[: 2 * count])
            curve.keyframe_points.foreach_set("interpolation", self._interpolation[:count])
            curve.update()


class ModelFloor:
    """Creating the bones, meshes and vertex groups of a model from finished arrays."""

    def __init__(self, model: Model, *, through_attributes: bool = False) -> None:
        self._fill = _fill_attributes if through_attributes else _fill
        self._joints = model.joints
        self._meshes = []
        for mesh in model.meshes:
            vertices = skin(mesh, model.joints.positions, model.joints.orientations)
            firsts = find_merged_vertices(mesh, vertices)
            kept = np.unique(firsts)
            triangles = np.searchsorted(kept, firsts)[mesh.triangles[~is_degenerate(mesh.triangles)]]
            self._meshes.append((
                vertices[kept].astype(np.float32).ravel(),
                triangles.astype(np.int32).ravel(),
                np.zeros(triangles.size * 2, dtype=np.float32),
                self._group_calls(mesh, kept),
            ))  # fmt: skip

    @staticmethod
    def _group_calls(mesh, kept) -> list[tuple[int, list[int], float]]:
        rows = vertex_weights(mesh)
        indices = np.full(mesh.vertex_count, -1)
        indices[kept] = np.arange(len(kept))
        calls: dict[tuple[int, float], list[int]] = {}
        for vertex, weight in zip(indices[rows.vertices].tolist(), rows.weights.tolist(), strict=True):
            if vertex >= 0:
                key = (int(mesh.weight_joints[weight]), float(mesh.weight_biases[weight]))
                calls.setdefault(key, []).append(vertex)
        return [(joint, vertices, bias) for (joint, bias), vertices in calls.items()]

    def run(self) -> None:
        """Creates the armature and its meshes."""
        self.make_bones()
        for vertices, triangles, uvs, calls in self._meshes:
            part = bpy.data.objects.new("floor", _mesh(vertices, triangles, uvs, self._fill))
            bpy.context.collection.objects.link(part)
            groups = [part.vertex_groups.new(name=name) for name in self._joints.names]
            for joint, members, bias in calls:
                groups[joint].add(members, bias, "REPLACE")

    def make_bones(self) -> None:
        """Creates only the armature."""
        armature = bpy.data.armatures.new("floor")
        obj = bpy.data.objects.new("floor", armature)
        bpy.context.collection.objects.link(obj)
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="EDIT")
        bones = [armature.edit_bones.new(name) for name in self._joints.names]
        for bone, head in zip(bones, self._joints.positions.tolist(), strict=True):
            bone.head, bone.tail = head, (head[0], head[1], head[2] + 1.0)
        bpy.ops.object.mode_set(mode="OBJECT")


class FramesFloor:
    """Decoding the positions of an MD2 or MD3 model of one surface, and creating mesh, keys and F-curves."""

    def __init__(self, model: Md2Model | Md3Model, curves: type, *, through_attributes: bool = False) -> None:
        self._curves = curves
        self._fill = _fill_attributes if through_attributes else _fill
        self._model = model
        self._names = model.frame_names
        triangles = model.surfaces[0].triangles if isinstance(model, Md3Model) else model.triangles
        self._triangles = triangles[:, [0, 2, 1]].astype(np.int32).ravel()
        self._uvs = np.zeros(self._triangles.size * 2, dtype=np.float32)
        self._points = np.array([0, 0, 1, 1, 2, 0], dtype=np.float32)
        self._interpolation = np.ones(3, dtype=np.int32)

    def run(self) -> None:
        """Creates the object and its action."""
        model = self._model
        if isinstance(model, Md3Model):
            frames = positions(model.surfaces[0].vertices).astype(np.float32)
        else:
            frames = decompress(model.vertices, model.scale, model.translate)
        frames = frames.reshape(model.frame_count, -1)
        mesh = _mesh(frames[0], self._triangles, self._uvs, self._fill)
        if isinstance(model, Md3Model):
            # An import of MD3 shows the normals of the file.
            normals = normal_vectors(model.surfaces[0].normals[0])
            mesh.normals_split_custom_set(normals[self._triangles].tolist())
        obj = bpy.data.objects.new("floor", mesh)
        bpy.context.collection.objects.link(obj)
        for name, points in zip(self._names, frames, strict=True):
            key = obj.shape_key_add(name=name, from_mix=False)
            key.points.foreach_set("co", points)
        curves = self._curves(bpy.data.actions.new("floor"), "KEY")
        for name in self._names[1:]:
            curve = curves.new(f'key_blocks["{name}"].value', 0, "Frames")
            curve.keyframe_points.add(3)
            curve.keyframe_points.foreach_set("co", self._points)
            curve.keyframe_points.foreach_set("interpolation", self._interpolation)
            curve.update()


def _mesh(vertices: Singles, triangles: Corners, uvs: Singles, fill: Callable[..., None]) -> bpy.types.Mesh:
    """A mesh of triangles with a UV map, from flat arrays."""
    mesh = bpy.data.meshes.new("floor")
    mesh.vertices.add(len(vertices) // 3)
    mesh.loops.add(len(triangles))
    mesh.polygons.add(len(triangles) // 3)
    fill(mesh, vertices, triangles)
    mesh.polygons.foreach_set("loop_start", np.arange(0, len(triangles), 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    mesh.uv_layers.new().uv.foreach_set("vector", uvs)
    return mesh


def _fill(mesh: bpy.types.Mesh, vertices: Singles, triangles: Corners) -> None:
    """Sets positions and corners as documented by Blender, through vertices and loops."""
    mesh.vertices.foreach_set("co", vertices)
    mesh.loops.foreach_set("vertex_index", triangles)


def _fill_attributes(mesh: bpy.types.Mesh, vertices: Singles, triangles: Corners) -> None:
    """Sets positions and corners through the attributes that hold them."""
    mesh.attributes["position"].data.foreach_set("vector", vertices)
    mesh.attributes[".corner_vert"].data.foreach_set("value", triangles)
