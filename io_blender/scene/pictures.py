"""Pictures of what a scene shows, rendered by Cycles on the processor: that needs neither a window nor a graphics card.

All pictures look from the same side at models that face +X, with the same light. How much they show differs by powers
of the square root of two: models of about the same size are seen at the same scale.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import ID, Scene
from mathutils import Matrix, Vector

from .. import state, versions

# From the front, a third to the side, and a little from above.
_VIEW = Matrix.Rotation(math.radians(120.0), 3, "Z") @ Matrix.Rotation(math.radians(78.0), 3, "X")
_SUN = _VIEW @ Matrix.Rotation(math.radians(-30.0), 3, "Y") @ Matrix.Rotation(math.radians(-35.0), 3, "X")
_SUN_STRENGTH, _LIGHT_AROUND, _GAMMA = 1.9, (0.5, 0.5, 0.5, 1.0), 1.2
# Black monsters and white weapons stand out from it.
_BACKGROUND = (0.085, 0.095, 0.11, 1.0)
_MARGIN = 1.05
_SMALLEST = 1e-6  # that the camera can show
_BONE_WIDTH, _BONE_TIP = 0.08, 0.1  # in lengths of the bone, and in widths


class Studio:
    """A scene of its own that shows what is in another one, and is rendered for pictures."""

    def __init__(self, scene: Any, bones: Any) -> None:
        self._scene, self._bones = scene, bones

    def extent(self, frame: int) -> float:
        """How much a picture of a frame has to show."""
        low, high = self._bounds(frame)
        return max(_MARGIN * max((high - low)[:2]), _SMALLEST)

    def take(self, size: int, samples: int, frame: int, extent: float = 0.0) -> npt.NDArray[np.float32]:
        """A picture of a frame, (size, size, 4), from the bottom up, as screens show it; 0: as for all models."""
        scene, render, camera = self._scene, self._scene.render, self._scene.camera
        low, high = self._bounds(frame)
        scale = extent or 2.0 ** (math.ceil(2.0 * math.log2(self.extent(frame))) / 2.0)
        middle = (low + high) / 2.0
        middle.z = high.z + scale
        camera.matrix_world = Matrix.Translation(_VIEW @ middle) @ _VIEW.to_4x4()
        camera.data.ortho_scale, camera.data.clip_start = scale, scale * 0.01
        camera.data.clip_end = high.z - low.z + 2.0 * scale
        render.resolution_x = render.resolution_y = size
        scene.cycles.samples = samples
        render.filepath = os.path.join(bpy.app.tempdir, "io_idtech_picture.png")
        # The operator's argument for the scene would take the frame of another one.
        with bpy.context.temp_override(scene=scene):
            bpy.ops.render.render(write_still=True)
        image: Any = bpy.data.images.load(render.filepath)
        pixels = np.empty((size, size, 4), dtype=np.float32)
        image.pixels.foreach_get(pixels.ravel())
        bpy.data.images.remove(image)
        return pixels

    def _bounds(self, frame: int) -> tuple[Vector, Vector]:
        """The lowest and the highest coordinates of a frame, as the camera sees it."""
        self._bones.splines.clear()
        self._scene.frame_set(frame)
        corners = self._corners() or self._show_bones() or [Vector((0.0, 0.0, 0.0))]
        columns = list(zip(*(corner @ _VIEW for corner in corners), strict=True))
        return Vector(map(min, columns)), Vector(map(max, columns))

    def _corners(self) -> list[Vector]:
        """The corners of the boxes around the evaluated meshes."""
        # An instance is valid only while it is the current one.
        return [
            one.matrix_world @ Vector(corner)
            for one in self._scene.view_layers[0].depsgraph.object_instances
            if one.object.type == "MESH" and len(one.object.data.vertices)
            for corner in one.object.bound_box
        ]

    def _show_bones(self) -> list[Vector]:
        """Shows the bones of all armatures as cones; returns their ends."""
        graph, ends = self._scene.view_layers[0].depsgraph, []
        for obj in [obj.evaluated_get(graph) for obj in self._scene.objects if obj.type == "ARMATURE"]:
            for bone in obj.pose.bones:
                points = self._bones.splines.new("POLY").points
                points.add(1)
                for point, end, radius in zip(points, (bone.head, bone.tail), (1.0, _BONE_TIP), strict=True):
                    ends.append(obj.matrix_world @ end)
                    point.co, point.radius = (*ends[-1], 1.0), bone.length * radius
        return ends


@contextmanager
def studio(scene: Scene) -> Iterator[Studio]:
    """A studio for what is in a scene; all that it adds is removed afterwards."""
    known = {data.session_uid for data in state.data_blocks()}
    copy: Any = bpy.data.scenes.new("Picture")
    try:
        for child in scene.collection.children:
            copy.collection.children.link(child)
        for obj in scene.collection.objects:
            copy.collection.objects.link(obj)
        yield Studio(copy, _set_up(copy))
    finally:
        bpy.data.scenes.remove(copy)
        bpy.data.batch_remove([data for data in state.data_blocks() if data.session_uid not in known])


def _set_up(scene: Any) -> Any:
    """Adds a camera and light to a scene; returns the curves for bones."""
    render, cycles = scene.render, scene.cycles
    render.engine, cycles.device = "CYCLES", "CPU"
    cycles.use_adaptive_sampling = cycles.use_denoising = False
    cycles.max_bounces, cycles.transparent_max_bounces = 1, 16
    # Images stay in memory between pictures.
    render.use_persistent_data = True
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.image_settings.compression = 0
    scene.view_settings.view_transform, scene.view_settings.gamma = "Standard", _GAMMA
    data: list[Any] = [bpy.data.cameras.new("Picture"), bpy.data.lights.new("Picture", "SUN")]
    camera, sun, bones = (*data, bpy.data.curves.new("Picture", "CURVE"))
    camera.type, sun.energy, bones.dimensions, bones.bevel_depth = "ORTHO", _SUN_STRENGTH, "3D", _BONE_WIDTH
    scene.camera, lamp, shown = (bpy.data.objects.new("Picture", data) for data in (camera, sun, bones))
    lamp.rotation_euler = _SUN.to_euler()
    for obj in (scene.camera, lamp, shown):
        scene.collection.objects.link(obj)
    scene.world = bpy.data.worlds.new("Picture")
    versions.enable_nodes(scene.world)
    # Each ray that leaves a surface finds the same light, unless something is in its way: without noise.
    scene.world.cycles.sampling_method = "NONE"
    tree = scene.world.node_tree
    path, mix = tree.nodes.new("ShaderNodeLightPath"), tree.nodes.new("ShaderNodeMixRGB")
    mix.inputs[1].default_value, mix.inputs[2].default_value = _LIGHT_AROUND, _BACKGROUND
    ground = next(node for node in tree.nodes if node.type == "BACKGROUND")
    tree.links.new(path.outputs["Is Camera Ray"], mix.inputs[0])
    tree.links.new(mix.outputs[0], ground.inputs["Color"])
    return bones


def set_preview(data: ID, pixels: npt.NDArray[np.float32]) -> None:
    """Makes a picture the preview of a data-block."""
    preview: Any = data.preview_ensure()
    preview.image_size = pixels.shape[:2]
    preview.image_pixels_float.foreach_set(pixels.ravel())
