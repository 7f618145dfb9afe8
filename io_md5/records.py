"""What the import of a camera path stores in the property group ``md5``, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Camera as CameraData

from ..io_blender.records import Integer, Number, Table, Text
from ..io_blender.scene import axes
from ..io_blender.skeletal.records import COMMANDLINE, CONVERSION, GROUP
from ..io_common.skeletal import quaternions as quat
from ..io_common.skeletal.model import Ints
from .format.model import Camera, Md5Error
from .format.text.camera_file import cuts_at, timeline
from .format.validation import validate_camera

# Of cameras: the table of the file, as Blender has no end of a shot at the instant of a cut, and only 32-bit floats.
CAMERA_RATE = Number(GROUP, "frame_rate", 1e-3, 1e6)
CUT_MARKER = Text(GROUP, "cut_marker")
_ENTRIES = Table(GROUP, "entries", "f8", 7, highest=1e9)  # above any place on a map
_CUTS = Table(GROUP, "cuts", "i4", 1, lowest=0)
_CUT_GROUPS = Text(GROUP, "cut_groups")
# The limit of Blender's scene frames.
_FRAME_START = Integer(GROUP, "frame_start", -1_048_574, 1_048_574)
_SAME_CONVERSION = 1e-6
_SEPARATOR = "\t"


@dataclass(frozen=True, eq=False)
class StoredCamera:
    """The file that a camera was imported from."""

    camera: Camera  # as in the file, in the coordinates of the file to be written
    frame_start: int  # in the scene
    frame_entries: Ints  # the entry of each frame
    instants: Ints  # the first frame after each cut, ascending, (K,)
    ends: Ints  # the entry with the end of the shot at each cut, (K,)

    def cuts_at(self, frame: int) -> list[int]:
        """The indices of the cuts directly before a scene frame."""
        return np.flatnonzero(self.instants == frame - self.frame_start).tolist()


def store_camera(
    data: CameraData, camera: Camera, conversion: axes.Conversion, frame_start: int, cut_marker: str
) -> None:
    """Stores a camera path as in the file, and the conversion of its import, on a new camera data-block."""
    data[GROUP] = {}
    _ENTRIES.write(data, np.column_stack([camera.positions, camera.orientations, camera.fields_of_view]))
    _FRAME_START.write(data, frame_start)
    CAMERA_RATE.write(data, camera.frame_rate)
    if len(camera.cuts):
        _CUTS.write(data, camera.cuts)
        CUT_MARKER.write(data, cut_marker)
    if any(camera.cut_groups):
        _CUT_GROUPS.write(data, _SEPARATOR.join(camera.cut_groups))
    COMMANDLINE.write(data, camera.commandline or None)
    CONVERSION.write(data, conversion)


def load_camera(data: CameraData, conversion: axes.Conversion) -> StoredCamera | None:
    """The stored path, converted for the new file; None if there is none, or it is not valid."""
    table, frame_start, cuts = _ENTRIES.read(data), _FRAME_START.read(data), _CUTS.read_rows(data)
    if table is None or frame_start is None or cuts is None:
        return None
    groups = [""] * len(cuts)
    if _CUT_GROUPS.is_stored(data):
        groups = (_CUT_GROUPS.read(data) or "").split(_SEPARATOR)
    try:
        camera = Camera(cuts[:, 0], table[:, :3], table[:, 3:6], table[:, 6], cut_groups=groups)
        validate_camera(camera)
    except Md5Error:
        return None
    change = (CONVERSION.read(data) or axes.identity()).then(conversion)
    # The product of a conversion and its inverse is not exact, because the operators' scales have 32 bits.
    if max(abs(change.scale - 1.0), np.abs(change.rotation - np.eye(3)).max()) > _SAME_CONVERSION:
        turned = quat.multiply(quat.from_matrices(change.rotation), quat.wxyz_from_xyz(camera.orientations))
        camera = replace(camera, positions=change.points(camera.positions), orientations=quat.xyz_from_wxyz(turned))
    frame_entries, instants = timeline(camera.cuts, len(table))
    ends = np.minimum(cuts_at(instants), len(table) - 1).astype(np.int32)
    return StoredCamera(camera, frame_start, frame_entries, instants, ends)
