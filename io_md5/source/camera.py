"""A camera path as the property group ``md5`` of its camera data-block.

It holds the table of the file, seven numbers an entry, since Blender has no place for the end of a shot at the instant
of a cut, and its 32-bit floats cannot hold the rest exactly; the cuts with their groups and what their markers were
called; the first frame, the frame rate, the command line, and the scale and axes of the import.

Whatever is read is checked: a value of the wrong type, size or range counts as none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.scene import names
from ...io_common.scene import stored_values as values
from ...io_common.scene.axes import Conversion
from ..conversion import convert_camera
from ..format import Camera
from ..format.camera_file import is_groups
from ..format.cuts import numbered, timeline
from ..format.model import Ints
from ..format.text.printing import is_writable
from . import GROUP
from .armatures import read_conversion, store_conversion

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
_SAME = 1e-6
# Groups are words and numbers with blanks between.
_SEPARATOR = "\t"

# The frames that a scene can have.
_MAX_FRAME = 1_048_574
_MIN_RATE, _MAX_RATE = 1e-3, 1e6
# Far beyond any map and any angle.
_MAX_NUMBER = 1e9


@dataclass(frozen=True, eq=False)
class StoredCamera:
    """The file that a camera came from.

    Attributes:
        camera: as in the file, in the coordinates of the new one.
        frame_start: the scene frame of its first frame.
        shown: the entry on each frame, int32 (n,).
        instants: the first frame after each cut, rising, int32 (K,).
        ends: the entry with the end of the shot at each cut, int32 (K,).
    """

    camera: Camera
    frame_start: int
    shown: Ints
    instants: Ints
    ends: Ints

    def cuts_at(self, frame: int) -> list[int]:
        """The cuts just before a scene frame; their numbers count from 0."""
        return np.flatnonzero(self.instants == frame - self.frame_start).tolist()

    def is_outermost(self, frame: int) -> bool:
        """Whether a scene frame is the first, or the one after the last, where only odd files have cuts."""
        return frame - self.frame_start in (0, len(self.shown))


def store_camera(
    data: CameraData, camera: Camera, conversion: Conversion, frame_start: int, cut_marker: str
) -> None:
    """Stores a camera path on a camera data-block.

    Args:
        data: of the new camera.
        camera: as in the file.
        conversion: that it was imported with.
        frame_start: the scene frame of its first frame.
        cut_marker: what the markers of its cuts are called.
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
    store_conversion(data, conversion)


def load_camera(data: CameraData, conversion: Conversion) -> StoredCamera | None:
    """The path that `store_camera` stored; None if there is none, or if it is not valid.

    Args:
        data: a camera data-block.
        conversion: from the scene to the new file.
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
    if len(groups) != len(cuts) or not all(is_groups(text) for text in groups):
        return None
    camera = Camera(cuts, table[:, :3], table[:, 3:6], table[:, 6], cut_groups=groups)
    between = read_conversion(data).then(conversion)
    # There and back again is only nearly nothing, as the operators' scales have 32 bits.
    if abs(between.scale - 1.0) > _SAME or np.abs(between.rotation - np.eye(3)).max() > _SAME:
        camera = convert_camera(camera, between)
    shown, instants = timeline(cuts, len(table))
    ends = np.minimum(numbered(instants), len(table) - 1).astype(np.int32)
    return StoredCamera(camera, frame_start, shown, instants, ends)


def load_frame_rate(data: CameraData) -> float | None:
    """The frames per second of the file that a camera data-block came from, if that is known."""
    group = values.read_group(data, GROUP)
    return values.read_number(group, _FRAME_RATE, lowest=_MIN_RATE, highest=_MAX_RATE)


def load_commandline(data: CameraData) -> str:
    """The command line of the file that a camera data-block came from; one that no file can hold counts as none."""
    text = values.read_text(values.read_group(data, GROUP), _COMMANDLINE) or ""
    return text if is_writable(text) else ""


def load_cut_marker(data: CameraData) -> str | None:
    """What the markers of the cuts of an imported camera data-block were called."""
    return values.read_text(values.read_group(data, GROUP), _CUT_MARKER) or None
