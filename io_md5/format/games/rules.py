"""Rules: what a loader refuses or shows differently from Blender, with the source of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....io_common.findings import Finding
from ..joint_scales import ScaleTable
from ..model import Animation, Camera, Joints, Model

_NAMES = 5


@dataclass(frozen=True)
class Subject:
    """What is checked: a model, an animation or a camera.

    Attributes:
        model: the mesh file.
        animation: the animation file.
        joints: of the model that the animation is for; None if unknown.
        has_animation: whether there is an animation beside the mesh; None if unknown.
        scales: of the joints of the animation; None if they have none, or if it is unknown.
        camera: the camera file.
        animations: of the model, in whose poses it is checked too.
    """

    model: Model | None = None
    animation: Animation | None = None
    joints: Joints | None = None
    has_animation: bool | None = None
    scales: ScaleTable | None = None
    camera: Camera | None = None
    animations: Sequence[Animation] = ()

    @property
    def frame_rate(self) -> float | None:
        """Of the animation or camera."""
        file = self.animation or self.camera
        return file.frame_rate if file is not None else None


Check = Callable[["Rule", Subject], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A requirement of a game.

    Attributes:
        code: its name, for programs.
        is_error: whether the game refuses a file that breaks it.
        check: yields the findings.
        engine: the engine whose loader has the rule.
        requirement: what a file has to be like, as the documentation states it.
        why: what the loader does with a file that breaks it; the middle of a message.
        remedy: what to do; the end of a message.
        source: where it is in the loader's source code.
        limit: the most, or least, that is accepted; 0 where the rule has no number.
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

        `what` is what breaks it, where, and the value; the beginning of the message. Joints, vertices and triangles are
        indices, the latter two in the mesh. `remedy` replaces the rule's own.
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
    """Integers as a tuple."""
    return tuple(np.asarray(values, dtype=np.int64).ravel().tolist())


def listing(names: list[Any]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _NAMES
    return ", ".join(map(str, names[:_NAMES])) + (f" and {more} more" if more > 0 else "")
