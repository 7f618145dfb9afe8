"""What users can change about an imported model: the frame rate, and a size of the skin other than the file's.

They are in the property group ``md2`` of the mesh as well, and each is validated by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_blender import stored_values as values
from ..format import FRAMES_PER_SECOND

if TYPE_CHECKING:
    from bpy.types import Mesh

GROUP = "md2"
"""The name of the property group."""

MAX_RATE = 1000.0
"""The highest frame rate."""

MAX_SKIN_SIZE = 32_767
"""The largest width and height of a skin."""

_FRAME_RATE = "frame_rate"
_OWN_SKIN_SIZE = "own_skin_size"


def load_frame_rate(mesh: Mesh) -> float:
    """The frames per second of a model; Quake II's 10 if unknown."""
    rate = values.read_number(values.read_group(mesh, GROUP), _FRAME_RATE, lowest=1e-2, highest=MAX_RATE)
    return FRAMES_PER_SECOND if rate is None else rate


def store_frame_rate(mesh: Mesh, rate: float) -> None:
    """Stores the frames per second of a model."""
    values.own_group(mesh, GROUP)[_FRAME_RATE] = float(rate)


def load_own_skin_size(mesh: Mesh) -> tuple[int, int] | None:
    """The width and height of the skin that the user has set; None if there is none."""
    sizes = values.read_integers(values.read_group(mesh, GROUP), _OWN_SKIN_SIZE, 2)
    if sizes is None or len(sizes) != 1 or not (sizes > 0).all() or (sizes > MAX_SKIN_SIZE).any():
        return None
    return int(sizes[0, 0]), int(sizes[0, 1])


def store_own_skin_size(mesh: Mesh, size: tuple[int, int] | None) -> None:
    """Stores a width and height of the skin; None removes them."""
    group = values.own_group(mesh, GROUP)
    if size is not None:
        group[_OWN_SKIN_SIZE] = [int(value) for value in size]
    elif _OWN_SKIN_SIZE in group:
        del group[_OWN_SKIN_SIZE]
