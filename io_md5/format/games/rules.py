"""Rules: what a loader refuses or shows otherwise, with the source where that stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model import Animation, Joints, Model
from .findings import Finding

_NAMES = 5


@dataclass(frozen=True)
class Subject:
    """What is judged: a model, or an animation, or what belongs together.

    Attributes:
        model: the mesh file.
        animation: the animation file.
        joints: of the model that the animation is for; None if that is not known.
        has_animation: whether an animation lies beside the mesh; None if that is not known.
    """

    model: Model | None = None
    animation: Animation | None = None
    joints: Joints | None = None
    has_animation: bool | None = None


Check = Callable[["Rule", Subject], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """What a game asks of a file.

    Attributes:
        code: its name, for programs.
        is_error: whether the game refuses what breaks it.
        check: finds what breaks it.
        engine: whose loader it is.
        requirement: what a file has to be like, as the documentation states it.
        why: what the loader does with what breaks it; the middle of a message.
        remedy: what to do; the end of a message.
        source: where it stands in the loader.
        limit: the most, or least, that is taken; 0 where that says nothing.
    """

    code: str
    is_error: bool
    check: Check
    engine: str
    requirement: str
    why: str
    remedy: str
    source: str
    limit: float = 0

    def finding(
        self,
        what: str,
        found: object = "",
        *,
        mesh: int = -1,
        joints: npt.ArrayLike = (),
        vertices: npt.ArrayLike = (),
        triangles: npt.ArrayLike = (),
        remedy: str = "",
    ) -> Finding:
        """A finding of this rule.

        Args:
            what: what breaks it, with its place and the value; the beginning of the message.
            found: the value.
            mesh: the index of the mesh.
            joints: indices of joints.
            vertices: indices of vertices of the mesh.
            triangles: indices of triangles of the mesh.
            remedy: in place of the rule's own.
        """
        remedy = remedy or self.remedy
        return Finding(
            self.code,
            self.is_error,
            "".join([what, f"; {self.why}" if self.why else "", f": {remedy}" if remedy else ""]),
            found=str(found),
            limit=f"{self.limit:g}" if self.limit else "",
            engine=self.engine,
            remedy=remedy,
            mesh=mesh,
            joints=indices(joints),
            vertices=indices(vertices),
            triangles=indices(triangles),
        )


def indices(values: npt.ArrayLike) -> tuple[int, ...]:
    """Whole numbers as a tuple."""
    return tuple(np.asarray(values, dtype=np.int64).ravel().tolist())


def listing(names: list[Any]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _NAMES
    return ", ".join(map(str, names[:_NAMES])) + (f" and {more} more" if more > 0 else "")
