"""Timeline markers where the sequences of imported frames begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import versions
from ..scene import names

if TYPE_CHECKING:
    from bpy.types import Scene

_NAMELESS = "frame"


def marker_name(sequence: str) -> str:
    """The name of the marker of a sequence."""
    return names.for_blender(sequence, versions.MAX_NAME, _NAMELESS)


def add_markers(scene: Scene, starts: Iterable[tuple[str, int]]) -> None:
    """Adds a marker for each sequence, unless the same marker is there already.

    `starts` holds the name of each sequence, and the scene frame on which it begins.
    """
    existing = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    for sequence, frame in starts:
        name = marker_name(sequence)
        if (name, frame) not in existing:
            scene.timeline_markers.new(name, frame=frame)
