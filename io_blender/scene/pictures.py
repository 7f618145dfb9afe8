"""Pictures of what a scene shows, rendered by Cycles on the processor: that needs neither a window nor a graphics card.

All pictures look from the same side at models that look along +X, with the same light. How much a picture shows is a
power of two, so that models of about the same size are seen at the same scale.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix, Vector

from .. import state, versions

if TYPE_CHECKING:
    from bpy.types import ID, Object, Scene

Array = npt.NDArray[np.float32]

# From the front, a third to the side, and a little from above.
_VIEW = Matrix.Rotation(math.radians(120.0), 3, "Z") @ Matrix.Rotation(math.radians(78.0), 3, "X")
_SUN = _VIEW @ Matrix.Rotation(math.radians(-30.0), 3, "Y") @ Matrix.Rotation(math.radians(-35.0), 3, "X")
_SUN_STRENGTH, _LIGHT_AROUND = 1.9, 0.5
# Black monsters and white weapons stand out from it.
_BACKGROUND = (0.085, 0.095, 0.11, 1.0)
_GAMMA = 1.2
_MARGIN = 1.08
_SMALLEST, _LARGEST = 1e-6, 1e6  # that the camera can show
# The shape of a bone: where the square at its widest is, and how wide that is, in lengths of the bone.
_BONE_MIDDLE, _BONE_WIDTH = 0.15, 0.07
_SQUARE = ((1, 0), (0, 1), (-1, 0), (0, -1))
_BONE_FACES = [face for one in range(4) for face in ((0, 2 + one, 2 + (one + 1) % 4), (1, 2 + (one + 1) % 4, 2 + one))]


class NoRendererError(ValueError):
    """This Blender has no renderer for pictures."""


class Studio:
    """A scene of its own that shows what is in another one, and is rendered for pictures."""

    def __init__(self, scene: Scene, camera: Object) -> None:
        self._scene = scene
        self._camera = camera
        self._bones: Object | None = None

    def extent(self, frame: int) -> float:
        """How much a picture of a frame has to show."""
        low, high = self._bounds(frame)
        return float((high - low)[:2].max()) * _MARGIN

    def take(self, size: int, samples: int, frame: int, extent: float = 0.0) -> Array:
        """A picture of a frame, (size, size, 4), from the bottom up, as screens show it; 0: as for all models."""
        scene, render = self._scene, self._scene.render
        self._aim(*self._bounds(frame), extent)
        render.resolution_x = render.resolution_y = size
        scene.cycles.samples = samples
        render.filepath = os.path.join(bpy.app.tempdir, "io_idtech_picture.png")
        # Its argument for the scene would take the frame of another one.
        with bpy.context.temp_override(scene=scene):
            bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(render.filepath)
        pixels = np.empty((size, size, 4), dtype=np.float32)
        values: Any = image.pixels
        values.foreach_get(pixels.ravel())
        bpy.data.images.remove(image)
        return pixels

    def _bounds(self, frame: int) -> tuple[Array, Array]:
        """The lowest and the highest coordinates of a frame, as the camera sees it."""
        self._scene.frame_set(frame)
        points = self._points()
        if not len(points):
            points = self._show_bones()
        seen = points @ np.array(_VIEW, dtype=np.float32) if len(points) else np.zeros((1, 3), dtype=np.float32)
        return seen.min(axis=0), seen.max(axis=0)

    def _points(self) -> Array:
        """The vertices of the evaluated meshes, (V, 3), in the scene."""
        graph = self._scene.view_layers[0].depsgraph
        found = [np.empty((0, 3), dtype=np.float32)]
        for instance in graph.object_instances:
            if instance.object.type == "MESH":
                mesh = instance.object.to_mesh()
                points = np.empty((len(mesh.vertices), 3), dtype=np.float32)
                mesh.vertices.foreach_get("co", points.ravel())
                found.append(_moved(points, instance.matrix_world))
                instance.object.to_mesh_clear()
        return np.concatenate(found)

    def _show_bones(self) -> Array:
        """Shows the bones of all armatures as a mesh; returns its vertices."""
        graph = self._scene.view_layers[0].depsgraph
        shapes = [np.empty((0, 3), dtype=np.float32)]
        for obj in (obj for obj in self._scene.objects if obj.type == "ARMATURE"):
            posed = obj.evaluated_get(graph)
            shapes += [_bone_shape(posed.matrix_world @ bone.matrix, bone.length) for bone in posed.pose.bones]
        points = np.concatenate(shapes)
        mesh = bpy.data.meshes.new("Picture")
        count = len(shapes) - 1
        mesh.from_pydata(
            points.tolist(), [], [[6 * bone + one for one in face] for bone in range(count) for face in _BONE_FACES]
        )
        if self._bones is not None:
            bpy.data.objects.remove(self._bones)
        self._bones = bpy.data.objects.new("Picture", mesh)
        self._scene.collection.objects.link(self._bones)
        return points

    def _aim(self, low: Array, high: Array, extent: float) -> None:
        own = float((high - low)[:2].max()) * _MARGIN
        scale = extent or (2.0 ** math.ceil(math.log2(own)) if _SMALLEST < own < _LARGEST else 1.0)
        middle = (low + high) / 2.0
        middle[2] = high[2] + scale
        camera: Any = self._camera.data
        camera.ortho_scale = scale
        camera.clip_start, camera.clip_end = scale * 0.01, float(high[2] - low[2]) + 2.0 * scale
        self._camera.matrix_world = Matrix.Translation(_VIEW @ Vector(middle.tolist())) @ _VIEW.to_4x4()


@contextmanager
def studio(scene: Scene) -> Iterator[Studio]:
    """A studio for what is in a scene; all that it adds is removed afterwards."""
    known = {data.session_uid for data in state.data_blocks()}
    copy = bpy.data.scenes.new("Picture")
    try:
        for child in scene.collection.children:
            copy.collection.children.link(child)
        for obj in scene.collection.objects:
            copy.collection.objects.link(obj)
        yield Studio(copy, _set_up(copy))
    finally:
        bpy.data.scenes.remove(copy)
        bpy.data.batch_remove([data for data in state.data_blocks() if data.session_uid not in known])


def _set_up(scene: Any) -> Object:
    """Sets up the renderer, the light and the camera, which is returned."""
    render = scene.render
    try:
        render.engine = "CYCLES"
    except TypeError as error:
        raise NoRendererError("this Blender has no Cycles, which renders the pictures: use another Blender") from error
    scene.cycles.device = "CPU"
    scene.cycles.use_adaptive_sampling = scene.cycles.use_denoising = False
    # Enough for light from all sides.
    scene.cycles.max_bounces, scene.cycles.transparent_max_bounces = 1, 16
    # Images stay in memory between pictures.
    render.use_persistent_data = True
    render.resolution_percentage = 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.image_settings.compression = 0
    scene.view_settings.view_transform, scene.view_settings.gamma = "Standard", _GAMMA
    scene.world = _world()
    sun: Any = bpy.data.lights.new("Picture", "SUN")
    sun.energy = _SUN_STRENGTH
    camera = bpy.data.cameras.new("Picture")
    camera.type = "ORTHO"
    lamp, scene.camera = (bpy.data.objects.new("Picture", data) for data in (sun, camera))
    lamp.rotation_euler = _SUN.to_euler()
    for obj in (lamp, scene.camera):
        scene.collection.objects.link(obj)
    return scene.camera


def _world() -> Any:
    """The light from all sides, and what the camera sees behind the model."""
    world = bpy.data.worlds.new("Picture")
    versions.enable_nodes(world)
    # Without noise: each ray that leaves a surface finds the same light, unless something is in its way.
    settings: Any = world
    settings.cycles.sampling_method = "NONE"
    tree: Any = world.node_tree
    tree.nodes.clear()
    kinds = ("OutputWorld", "MixShader", "LightPath", "Background", "Background")
    output, mix, path, light, seen = (tree.nodes.new(f"ShaderNode{kind}") for kind in kinds)
    light.inputs["Color"].default_value = (*[_LIGHT_AROUND] * 3, 1.0)
    seen.inputs["Color"].default_value = _BACKGROUND
    for source, target in (
        (path.outputs["Is Camera Ray"], mix.inputs[0]),
        (light.outputs[0], mix.inputs[1]),
        (seen.outputs[0], mix.inputs[2]),
        (mix.outputs[0], output.inputs["Surface"]),
    ):
        tree.links.new(source, target)
    return world


def _bone_shape(matrix: Matrix, length: float) -> Array:
    """The ends of a bone and a square between them, (6, 3)."""
    middle = [(x * _BONE_WIDTH, _BONE_MIDDLE, z * _BONE_WIDTH) for x, z in _SQUARE]
    shape = np.array([(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), *middle], dtype=np.float32) * length
    return _moved(shape, matrix)


def _moved(points: Array, matrix: Matrix) -> Array:
    whole: Array = np.array(matrix, dtype=np.float32)
    moved: Array = points @ whole[:3, :3].T + whole[:3, 3]
    return moved


def set_preview(data: ID, pixels: Array) -> None:
    """Makes a picture the preview of a data-block."""
    preview: Any = data.preview_ensure()
    preview.image_size = pixels.shape[:2]
    preview.image_pixels_float.foreach_set(pixels.ravel())
