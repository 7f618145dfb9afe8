"""Timeline markers that are cuts of cameras.

A marker is a cut if its name begins with the word ``cut`` (``Cut``, ``cut 3``, ``cut.001``, ``cut to the door``). If
its name is ``cut`` and the name of a camera (``cut intro``), it is a cut of that camera only.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ..io_common.scene import names, versions
from .source.camera import load_cut_marker

if TYPE_CHECKING:
    from bpy.types import Object, Scene

_CUT = re.compile(r"cut(?![a-z])", re.IGNORECASE)


def marker_name(camera_name: str) -> str:
    """The name of the markers of a camera's cuts."""
    return names.for_blender(f"cut {camera_name}", versions.MAX_NAME, "cut")


def cut_frames(scene: Scene, cameras: list[Object]) -> Counter[int]:
    """The frames with markers that are cuts of some cameras of a scene, with the count on each."""
    own: set[str] = set()
    foreign: set[str] = set()
    for obj in scene.objects:
        if obj.type == "CAMERA":
            name = marker_name(obj.name)
            (own if obj in cameras else foreign).update({name, load_cut_marker(obj.data) or name})
    return Counter(
        marker.frame
        for marker in scene.timeline_markers
        if marker.name in own or (_CUT.match(marker.name) and marker.name not in foreign)
    )
