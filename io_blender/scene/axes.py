"""Scale and axes between a file and the scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Conversion:
    """The conversion of coordinates between a file and the scene."""

    scale: float  # the factor of all lengths
    rotation: npt.NDArray[np.float64]  # the rotation that follows, a matrix for columns of coordinates, float64 (3, 3)

    @property
    def is_identity(self) -> bool:
        """Whether coordinates stay as they are."""
        return self.scale == 1.0 and bool(np.array_equal(self.rotation, np.eye(3)))

    def points(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The converted points, (…, 3)."""
        if self.is_identity:
            return points
        return np.multiply(points, self.scale, dtype=np.float64) @ self.rotation.T

    def then(self, other: Conversion) -> Conversion:
        """This conversion followed by another one."""
        return Conversion(self.scale * other.scale, other.rotation @ self.rotation)

    def inverse(self) -> Conversion:
        """The inverse conversion."""
        return Conversion(1.0 / self.scale, self.rotation.T)


def identity() -> Conversion:
    """The conversion that leaves coordinates as they are in the file."""
    return Conversion(1.0, np.eye(3))


def from_file(global_scale: float, axis_forward: str, axis_up: str) -> Conversion:
    """The conversion of a file whose model faces `axis_forward`, `axis_up` above, to Blender's +Y and +Z."""
    return Conversion(global_scale, _axis_rotation(from_forward=axis_forward, from_up=axis_up))


def to_file(global_scale: float, axis_forward: str, axis_up: str) -> Conversion:
    """The conversion of Blender's +Y and +Z to a file whose model faces `axis_forward`, `axis_up` above."""
    return Conversion(global_scale, _axis_rotation(to_forward=axis_forward, to_up=axis_up))


def _axis_rotation(**sides: str) -> npt.NDArray[np.float64]:
    from bpy_extras import io_utils

    # The stubs say that it returns nothing.
    convert: Any = io_utils.axis_conversion
    return np.array(convert(**sides).to_3x3(), dtype=np.float64)
