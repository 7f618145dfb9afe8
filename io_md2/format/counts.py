"""The numbers of triangles, vertices, frames and so on, which games limit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .model import Model


@dataclass(frozen=True)
class Counts:
    """Numbers of a model.

    Attributes:
        triangles: with degenerate ones.
        vertices: in each frame.
        frames: how many.
        skins: names of skins.
        skin_width: in texels.
        skin_height: in texels.
        st: texture coordinates.
        repeated_names: frames with the name of an earlier one.
    """

    triangles: int = 0
    vertices: int = 0
    frames: int = 0
    skins: int = 0
    skin_width: int = 0
    skin_height: int = 0
    st: int = 0
    repeated_names: int = 0

    @classmethod
    def of(cls, model: Model) -> Counts:
        """The numbers of a model."""
        return cls(
            triangles=model.triangle_count,
            vertices=model.vertex_count,
            frames=model.frame_count,
            skins=len(model.skins),
            skin_width=model.skin_width,
            skin_height=model.skin_height,
            st=len(model.st),
            repeated_names=repeated_names(model.frame_names),
        )


def repeated_names(frame_names: list[str]) -> int:
    """How many frames have the name of an earlier one."""
    return sum(count - 1 for count in Counter(frame_names).values())
