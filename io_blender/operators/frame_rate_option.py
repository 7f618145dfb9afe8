"""The export option *Frame Rate*: the file's or Blender's, the scene's, or that of a game with a fixed rate."""

from __future__ import annotations

from typing import Any

from bpy.props import EnumProperty

AUTO, SCENE, GAME = "AUTO", "SCENE", "GAME"

_ITEMS = {
    SCENE: ("Scene's", "The frame rate of the scene: what Blender plays"),
    GAME: (
        "Game's",
        "In games that play 10 frames a second, sample the range at that rate, so that it lasts as long as in Blender. "
        "Frame Step has no effect",
    ),
}


def frame_rate_property(automatic: str, *others: str) -> Any:
    """The property ``frame_rate_from`` of an export operator.

    `automatic` is the description of *Automatic*. `others` are the other items, `SCENE` or `GAME`.
    """
    return EnumProperty(
        name="Frame Rate",
        description="Source of the frame rate",
        items=[(AUTO, "Automatic", automatic), *((name, *_ITEMS[name]) for name in others)],
        default=AUTO,
    )
