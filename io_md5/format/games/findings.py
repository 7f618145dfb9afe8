"""What was found about a model or animation that a game would not take, or not show as Blender does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was found; MD5 and MD2 have the same attributes.

    Attributes:
        code: the name of the rule, for programs: lower case with underscores.
        is_error: whether the game would refuse the file; else it would show it otherwise than Blender.
        text: what is wrong and where, the limit and the game, and what to do.
        found: the value that was found, as text.
        limit: the limit, as text; nothing where there is none.
        engine: whose loader it is about.
        remedy: what to do.
        mesh: the index of the mesh in the file, or -1.
        joints: indices of the joints concerned.
        vertices: indices of the vertices concerned, in that mesh.
        triangles: indices of the triangles concerned, in that mesh.
    """

    code: str
    is_error: bool
    text: str
    found: str = ""
    limit: str = ""
    engine: str = ""
    remedy: str = ""
    mesh: int = -1
    joints: tuple[int, ...] = ()
    vertices: tuple[int, ...] = ()
    triangles: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.text
