"""The scales of joints in an animation, which children do not inherit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .model import Animation, Floats
from .skeleton import compose, local_poses, poses


@dataclass(frozen=True, eq=False)
class ScaleTable:
    """The scales of the joints of an animation.

    Attributes:
        values: of each joint in each frame, float64 (F, J).
        scales_position: which joints have `scale_positions`, bool (J,).
    """

    values: Floats
    scales_position: npt.NDArray[np.bool_]

    @property
    def is_used(self) -> bool:
        """Whether a scale is not 1 in 32 bits."""
        return bool(self.counts().any())

    def counts(self) -> npt.NDArray[np.int64]:
        """On how many frames each joint has a scale that is not 1 in 32 bits, (J,)."""
        return np.asarray((self.values.astype(np.float32) != 1.0).sum(axis=0, dtype=np.int64))

    def translation_factors(self) -> Floats:
        """The factor of each joint's own translation, (F, J)."""
        return np.where(self.scales_position, self.values, 1.0)


def scaled_poses(animation: Animation, scales: ScaleTable, *, as_read: bool = False) -> tuple[Floats, Floats]:
    """Every joint in the space of the model: positions (F, J, 3) and orientations w x y z (F, J, 4).

    With `as_read`, 32-bit floats are used, as games do.
    """
    positions, orientations = local_poses(animation, as_read=as_read)
    positions *= scales.translation_factors()[..., None]
    return compose(animation.parents, positions, orientations)


Poses = tuple[Floats, Floats, Floats | None]
"""Positions (…, J, 3), orientations w x y z (…, J, 4) and scales (…, J), None for 1, in the space of the model."""


@dataclass(eq=False)
class NamedAnimation:
    """An animation of a file that may have several.

    Attributes:
        name: in the file; empty for that of the file.
        animation: of J joints; its bounds are zeros where the file has none.
        scales: of the joints, with those of their parents; None if all are 1.
        is_loop: whether games repeat it; None if the file does not say.
    """

    name: str
    animation: Animation
    scales: ScaleTable | None = None
    is_loop: bool | None = None

    def poses(self) -> Poses:
        """Every joint in the space of the model: positions (F, J, 3), orientations (F, J, 4) and scales (F, J)."""
        if self.scales is None:
            return *poses(self.animation), None
        return *scaled_poses(self.animation, self.scales), self.scales.values
