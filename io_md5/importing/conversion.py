"""Models, animations and cameras converted to other units or axes. All lengths are scaled, but only values in the
space of the model are rotated: joints of the bind pose and roots of an animation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...io_blender.scene.axes import Conversion
from ..format import ROOT, Animation, Camera, Joints, Model
from ..format import quaternions as quat
from ..format.skeleton import components, with_components


def convert_model(model: Model, conversion: Conversion) -> Model:
    """A model with its coordinates converted."""
    if conversion.is_identity:
        return model
    return replace(
        model,
        joints=convert_joints(model.joints, conversion),
        meshes=[replace(mesh, weight_positions=mesh.weight_positions * conversion.scale) for mesh in model.meshes],
    )


def convert_joints(joints: Joints, conversion: Conversion) -> Joints:
    """Joints in the space of the model with their coordinates converted."""
    rotation = quat.from_matrices(conversion.rotation)
    return replace(
        joints, positions=conversion.points(joints.positions), orientations=quat.multiply(rotation, joints.orientations)
    )


def convert_animation(animation: Animation, conversion: Conversion) -> Animation:
    """An animation with its coordinates converted."""
    if conversion.is_identity:
        return animation
    table = components(animation)
    table[..., :3] *= conversion.scale
    roots = np.flatnonzero(animation.parents == ROOT)
    rotation = quat.from_matrices(conversion.rotation)
    table[:, roots, :3] = table[:, roots, :3] @ conversion.rotation.T
    table[:, roots, 3:] = quat.xyz_from_wxyz(quat.multiply(rotation, quat.wxyz_from_xyz(table[:, roots, 3:])))
    corners = conversion.points(animation.bounds)
    bounds = np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)
    return replace(with_components(animation, table), bounds=bounds)


def convert_camera(camera: Camera, conversion: Conversion) -> Camera:
    """A camera path with its coordinates converted."""
    if conversion.is_identity:
        return camera
    orientations = quat.multiply(quat.from_matrices(conversion.rotation), quat.wxyz_from_xyz(camera.orientations))
    return replace(camera, positions=conversion.points(camera.positions), orientations=quat.xyz_from_wxyz(orientations))
