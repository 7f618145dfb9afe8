"""What a check finds in a model or animation: what a game would refuse, or would show differently from Blender."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        code: the name of the rule, for programs: lower case with underscores.
        is_error: whether the game or the format would refuse the file; otherwise it would look different from Blender.
        text: what is wrong and where, the limit and the game, and what to do.
        found: the value that was found, as text.
        limit: the limit, as text; empty if there is none.
        engine: the engine whose loader has the rule.
        remedy: what to do.
        mesh: the index of the mesh in the file, 0 where a format has one mesh; -1 if the finding is not about a mesh.
        joints: indices of the joints concerned; empty in formats without joints.
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
