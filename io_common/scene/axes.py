"""Scale and axes between a file and the scene."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Conversion:
    """What is done to the coordinates of a file on their way into the scene, or back.

    Attributes:
        scale: the factor of all lengths.
        turn: the rotation that follows, a matrix for columns of coordinates, float64 (3, 3).
    """

    scale: float
    turn: npt.NDArray[np.float64]

    @property
    def is_identity(self) -> bool:
        """Whether coordinates stay as they are."""
        return self.scale == 1.0 and bool(np.array_equal(self.turn, np.eye(3)))

    def points(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Points (…, 3) converted."""
        return points if self.is_identity else (points * self.scale) @ self.turn.T

    def then(self, other: Conversion) -> Conversion:
        """This conversion followed by another one."""
        return Conversion(self.scale * other.scale, other.turn @ self.turn)

    def inverse(self) -> Conversion:
        """The way back."""
        return Conversion(1.0 / self.scale, self.turn.T)


def unchanged() -> Conversion:
    """Coordinates as they are in the file."""
    return Conversion(1.0, np.eye(3))


def importing(global_scale: float, axis_forward: str, axis_up: str) -> Conversion:
    """From a file whose model looks along `axis_forward` with `axis_up` above, into Blender's +Y and +Z."""
    from bpy_extras.io_utils import axis_conversion

    turn = axis_conversion(from_forward=axis_forward, from_up=axis_up).to_3x3()
    return Conversion(global_scale, np.array(turn, dtype=np.float64))


def exporting(global_scale: float, axis_forward: str, axis_up: str) -> Conversion:
    """Into a file whose model looks along `axis_forward` with `axis_up` above, from Blender's +Y and +Z."""
    from bpy_extras.io_utils import axis_conversion

    turn = axis_conversion(to_forward=axis_forward, to_up=axis_up).to_3x3()
    return Conversion(global_scale, np.array(turn, dtype=np.float64))
