"""How much of what a model has, which is what games limit."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Md2Model


@dataclass(frozen=True)
class Counts:
    """Numbers of a model.

    Attributes:
        triangles: with degenerate ones.
        vertices: of a frame.
        frames: how many.
        skins: names of skins.
        skin_width: in texels.
        skin_height: in texels.
        st: texture coordinates.
    """

    triangles: int = 0
    vertices: int = 0
    frames: int = 0
    skins: int = 0
    skin_width: int = 0
    skin_height: int = 0
    st: int = 0

    @classmethod
    def of(cls, model: Md2Model) -> Counts:
        """Those of a model."""
        return cls(
            triangles=model.num_triangles,
            vertices=model.num_vertices,
            frames=model.num_frames,
            skins=len(model.skins),
            skin_width=model.skin_width,
            skin_height=model.skin_height,
            st=len(model.st),
        )
