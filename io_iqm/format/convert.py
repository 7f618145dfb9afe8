"""An IQM file as the joints, meshes and animations of `io_common.skeletal`, and back.

A joint of an IQM scales its children, and has a scale for each axis, also in the bind pose. The shared model has no
scale in the bind pose, and its `ScaleTable` one scale for each joint, which its children do not inherit. So positions
of the shared model include the scales of the parents, and a `ScaleTable` has the scale of a joint relative to its bind
pose with those of its parents: what `skin` needs, and what keys a bone whose *Inherit Scale* is *None*. Joints that
scale their axes differently get the mean, with a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...io_common.skeletal.model import Animation, Floats, Joints, Mesh, Model
from ...io_common.skeletal.scales import ScaleTable
from .model import Iqm, VertexArray


@dataclass(eq=False)
class NamedAnimation:
    """An animation of a file.

    Attributes:
        name: in the file.
        animation: of J joints; its bounds are zeros where the file has none.
        scales: of the joints, with those of their parents; None if all are 1.
        is_loop: whether games repeat it.
        warnings: about what the shared model cannot hold.
    """

    name: str
    animation: Animation
    scales: ScaleTable | None = None
    is_loop: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Attributes:
    """What an IQM has for the V vertices of a mesh beyond a `Mesh`; None or empty for what it has not.

    Attributes:
        normals: float64 (V, 3).
        tangents: float64 (V, 4); the last is the sign of the bitangent, cross(normal, tangent) · sign.
        colors: uint8 (V, 4), red, green, blue and alpha.
        custom: other arrays, of these vertices.
    """

    normals: Floats | None = None
    tangents: Floats | None = None
    colors: NDArray[np.uint8] | None = None
    custom: list[VertexArray] = field(default_factory=list)


def to_model(iqm: Iqm) -> Model:
    """The bind pose and the meshes of a file.

    Each vertex has the weights of its bytes that are not 0, as biases of 1/255. A vertex without any hangs on the first
    joint, and a file without joints gets a joint `origin`.

    Raises:
        IqmError: a blend index is no joint, or there are no positions.
    """
    raise NotImplementedError


def to_attributes(iqm: Iqm) -> list[Attributes]:
    """What `to_model` leaves out, for each mesh."""
    raise NotImplementedError


def bind_scales(iqm: Iqm) -> Floats:
    """The scale of each joint in the bind pose relative to its parent, (J, 3); ones in most files."""
    raise NotImplementedError


def to_animations(iqm: Iqm, joints: Joints | None = None, scales: Floats | None = None) -> list[NamedAnimation]:
    """The animations of a file.

    Args:
        iqm: with F frames of P poses.
        joints: of the model, if the file has none.
        scales: `bind_scales` of that model; ones if None.

    Raises:
        IqmError: poses and joints differ in number or parents, or there are no joints.
    """
    raise NotImplementedError


def from_model(
    model: Model,
    animations: Sequence[NamedAnimation] = (),
    attributes: Sequence[Attributes] = (),
    *,
    scales: Floats | None = None,
) -> Iqm:
    """A file of a model and its animations.

    Vertices get the four largest weights, as bytes that sum to 255. Frames have the least error that 16 bits allow,
    and adjacency and bounds are always there.

    Args:
        model: whose vertices are already split where normals, texture coordinates or colors differ.
        animations: of its joints.
        attributes: of each mesh; normals and tangents that are not given are computed.
        scales: of the joints in the bind pose, (J, 3), as `bind_scales` of the imported file; ones if None.

    Raises:
        IqmError: the model or an animation is not valid, or an animation has other joints.
    """
    raise NotImplementedError


def animations_alone(iqm: Iqm) -> Iqm:
    """The poses and animations of a file, without joints and meshes, as Cube engines load them."""
    raise NotImplementedError


__all__ = ["Mesh"]
