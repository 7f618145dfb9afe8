"""Camera paths stored in the property group ``md5`` of camera data-blocks.

The group holds the table of the file, seven numbers for each entry, because Blender cannot store the end of a shot at
the instant of a cut, and its 32-bit floats are less exact; the cuts with their groups and the name of their markers;
the first frame, the frame rate, the command line, and the scale and axes of the import.

All values are checked when they are loaded: one of the wrong type, size or range counts as missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...io_blender import stored_values as values
from ...io_blender.scene import names
from ...io_blender.scene.axes import Conversion, identity
from ...io_blender.scene.imported_conversion import load_conversion, store_conversion
from ..format import Camera
from ..format.cuts import cuts_at, timeline
from ..format.model import Ints
from ..format.validation import are_valid_groups, is_writable
from ..importing.conversion import convert_camera
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Camera as CameraData

_ENTRIES = "entries"
_CUTS = "cuts"
_CUT_GROUPS = "cut_groups"
_CUT_MARKER = "cut_marker"
_FRAME_START = "frame_start"
_FRAME_RATE = "frame_rate"
_COMMANDLINE = "commandline"

_COLUMNS = 7
_TOLERANCE = 1e-6
# Groups contain no tabs.
_SEPARATOR = "\t"

# The limit of Blender's scene frames.
_MAX_FRAME = 1_048_574
_MIN_RATE, _MAX_RATE = 1e-3, 1e6
# Far larger than any map and any angle.
_MAX_NUMBER = 1e9


@dataclass(frozen=True, eq=False)
class StoredCamera:
    """The file that a camera was imported from.

    Attributes:
        camera: as in the file, in the coordinates of the file to be written.
        frame_start: the scene frame of its first frame.
        frame_entries: the entry of each frame, int32 (n,).
        instants: the first frame after each cut, rising, int32 (K,).
        ends: the entry with the end of the shot at each cut, int32 (K,).
    """

    camera: Camera
    frame_start: int
    frame_entries: Ints
    instants: Ints
    ends: Ints

    def cuts_at(self, frame: int) -> list[int]:
        """The indices of the cuts directly before a scene frame."""
        return np.flatnonzero(self.instants == frame - self.frame_start).tolist()

    def is_outermost(self, frame: int) -> bool:
        """Whether a scene frame is the first or the one after the last, where only invalid files have cuts."""
        return frame - self.frame_start in (0, len(self.frame_entries))


def store_camera(
    data: CameraData, camera: Camera, conversion: Conversion, frame_start: int, cut_marker: str
) -> None:
    """Stores a camera path, as in the file, on a new camera data-block.

    `conversion` is that of the import, `frame_start` the scene frame of the first frame, and `cut_marker` the name of
    the markers of its cuts.
    """
    table = np.column_stack([camera.positions, camera.orientations, camera.fields_of_view])
    data[GROUP] = {
        _ENTRIES: table.ravel(),
        _FRAME_START: frame_start,
        _FRAME_RATE: float(camera.frame_rate),
    }
    group = data[GROUP]
    if len(camera.cuts):
        group[_CUTS] = camera.cuts.tolist()
        names.store_text(group, _CUT_MARKER, cut_marker)
    if any(camera.cut_groups):
        names.store_text(group, _CUT_GROUPS, _SEPARATOR.join(camera.cut_groups))
    if camera.commandline:
        names.store_text(group, _COMMANDLINE, camera.commandline)
    store_conversion(group, conversion)


def load_camera(data: CameraData, conversion: Conversion) -> StoredCamera | None:
    """The stored path of a camera data-block; None if there is none, or if it is invalid.

    `conversion` goes from the scene to the new file.
    """
    group = values.read_group(data, GROUP)
    table = values.read_floats(group, _ENTRIES, _COLUMNS)
    cuts = np.zeros(0, dtype=np.int32)
    if _CUTS in group:
        numbers = values.read_integers(group, _CUTS, 1)
        if numbers is None:
            return None
        cuts = numbers[:, 0].astype(np.int32)
    frame_start = group.get(_FRAME_START)
    if table is None or type(frame_start) is not int or abs(frame_start) > _MAX_FRAME:
        return None
    if len(table) == 0 or not (np.abs(table) <= _MAX_NUMBER).all() or (cuts >= len(table)).any():
        return None
    groups = [""] * len(cuts)
    if _CUT_GROUPS in group:
        groups = (values.read_text(group, _CUT_GROUPS) or "").split(_SEPARATOR)
    if len(groups) != len(cuts) or not all(are_valid_groups(text) for text in groups):
        return None
    camera = Camera(cuts, table[:, :3], table[:, 3:6], table[:, 6], cut_groups=groups)
    change = (load_conversion(group) or identity()).then(conversion)
    # The product of a conversion and its inverse is not exact, because the operators' scales have 32 bits.
    if abs(change.scale - 1.0) > _TOLERANCE or np.abs(change.rotation - np.eye(3)).max() > _TOLERANCE:
        camera = convert_camera(camera, change)
    frame_entries, instants = timeline(cuts, len(table))
    ends = np.minimum(cuts_at(instants), len(table) - 1).astype(np.int32)
    return StoredCamera(camera, frame_start, frame_entries, instants, ends)


def load_frame_rate(data: CameraData) -> float | None:
    """The frames per second of the file that a camera data-block was imported from; None if unknown."""
    group = values.read_group(data, GROUP)
    return values.read_number(group, _FRAME_RATE, lowest=_MIN_RATE, highest=_MAX_RATE)


def change_frame_rate(data: CameraData, rate: float) -> None:
    """Stores another frame rate; 0 removes it, so that the scene's is used."""
    group = values.own_group(data, GROUP)
    if rate > 0.0:
        group[_FRAME_RATE] = float(rate)
    elif _FRAME_RATE in group:
        del group[_FRAME_RATE]


def load_commandline(data: CameraData) -> str:
    """The command line of the file that a camera data-block was imported from; empty if missing or invalid."""
    text = values.read_text(values.read_group(data, GROUP), _COMMANDLINE) or ""
    return text if is_writable(text) else ""


def load_cut_marker(data: CameraData) -> str | None:
    """The name of the markers of an imported camera's cuts; None if unknown."""
    return values.read_text(values.read_group(data, GROUP), _CUT_MARKER) or None
