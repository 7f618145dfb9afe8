"""What a camera remembers of its file, and which timeline markers are its cuts.

The camera data-block knows, in custom properties: ``md5_entries`` (the table of the file, seven numbers an entry:
Blender has no place for the end of a shot at the instant of the cut, and its 32-bit floats cannot hold the rest
exactly), ``md5_cuts``, ``md5_cut_groups`` (a line for each cut), ``md5_frame_start``, ``md5_frame_rate``,
``md5_commandline``, ``md5_cut_marker`` (what the markers were called), and the scale and axes of the import.

A marker is a cut if its name begins with the word ``cut`` (``Cut``, ``cut 3``, ``cut.001``, ``cut to the door``). If
``cut`` and the name of a camera is all (``cut intro``), it is one of that camera's, which keeps several cameras apart.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io_common import names, versions
from ..io_common.axes import Conversion
from .conversion import convert_camera
from .format import Camera
from .format.cuts import numbered, timeline
from .format.model import Ints
from .source.armatures import read_conversion, store_conversion

if TYPE_CHECKING:
    from bpy.types import Object, Scene

ENTRIES = "md5_entries"
CUTS = "md5_cuts"
CUT_GROUPS = "md5_cut_groups"
CUT_MARKER = "md5_cut_marker"
FRAME_START = "md5_frame_start"
FRAME_RATE = "md5_frame_rate"
COMMANDLINE = "md5_commandline"

_COLUMNS = 7
_SAME = 1e-6
_CUT = re.compile(r"cut(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Memory:
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


def remember(data: Any, camera: Camera, conversion: Conversion, frame_start: int, marker: str) -> None:
    """Keeps a file on a camera data-block."""
    table = np.column_stack([camera.positions, camera.orientations, camera.fields_of_view])
    data[ENTRIES] = table.ravel()
    if len(camera.cuts):
        data[CUTS] = camera.cuts.tolist()
        names.keep_text(data, CUT_MARKER, marker)
    if any(camera.cut_groups):
        data[CUT_GROUPS] = "\n".join(camera.cut_groups)
    data[FRAME_START] = frame_start
    data[FRAME_RATE] = camera.frame_rate
    if camera.commandline:
        names.keep_text(data, COMMANDLINE, camera.commandline)
    store_conversion(data, conversion)


def recall(data: Any, conversion: Conversion) -> Memory | None:
    """The file that a camera data-block remembers; None if it remembers none, or if that was tampered with.

    Args:
        data: the camera data-block.
        conversion: from the scene to the new file.
    """
    table = np.array(data.get(ENTRIES, ()), dtype=np.float64)
    cuts = np.array(data.get(CUTS, ()), dtype=np.int32)
    if len(table) == 0 or len(table) % _COLUMNS:
        return None
    table = table.reshape(-1, _COLUMNS)
    if ((cuts < 0) | (cuts >= len(table))).any():
        return None
    groups = str(data[CUT_GROUPS]).split("\n") if CUT_GROUPS in data else [""] * len(cuts)
    if len(groups) != len(cuts):
        return None
    camera = Camera(cuts, table[:, :3], table[:, 3:6], table[:, 6], cut_groups=groups)
    between = read_conversion(data).then(conversion)
    # There and back again is only nearly nothing, as the operators' scales have 32 bits.
    if abs(between.scale - 1.0) > _SAME or np.abs(between.turn - np.eye(3)).max() > _SAME:
        camera = convert_camera(camera, between)
    shown, instants = timeline(cuts, len(table))
    ends = np.minimum(numbered(instants), len(table) - 1).astype(np.int32)
    return Memory(camera, int(data.get(FRAME_START, 0)), shown, instants, ends)


def marker_name(camera_name: str) -> str:
    """What the markers of a camera's cuts are called."""
    return names.for_blender(f"cut {camera_name}", versions.MAX_NAME, "cut")


def cut_frames(scene: Scene, cameras: list[Object]) -> Counter[int]:
    """The frames with markers that are cuts of some cameras of a scene, and how many are there."""
    own: set[str] = set()
    foreign: set[str] = set()
    for obj in scene.objects:
        if obj.type == "CAMERA":
            known_as = {marker_name(obj.name), names.kept_text(obj.data, CUT_MARKER, marker_name(obj.name))}
            (own if obj in cameras else foreign).update(known_as)
    return Counter(
        marker.frame
        for marker in scene.timeline_markers
        if marker.name in own or (_CUT.match(marker.name) and marker.name not in foreign)
    )
