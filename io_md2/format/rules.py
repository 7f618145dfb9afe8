"""Rules: what a loader refuses or shows differently from Blender, with the source of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...io_common.findings import Finding
from .counts import Counts
from .model import Model

Check = Callable[["Rule", "Subject"], Iterator[Finding]]


@dataclass(frozen=True)
class Subject:
    """What is checked.

    Attributes:
        model: the model.
        counts: the numbers of triangles, vertices and so on.
        source_counts: those of the file that it was imported from; None if there is none.
    """

    model: Model
    counts: Counts
    source_counts: Counts | None = None


@dataclass(frozen=True)
class Rule:
    """A requirement of a game.

    Attributes:
        code: its name, for programs.
        is_error: whether the game refuses what breaks it.
        check: finds what breaks it.
        engine: whose loader has the rule.
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
    limit: int = 0

    def finding(
        self,
        what: str,
        found: object = "",
        *,
        vertices: npt.ArrayLike = (),
        triangles: npt.ArrayLike = (),
        is_in_source: bool = False,
    ) -> Finding:
        """A finding of this rule.

        `what` is what breaks it, where, and the value; the beginning of the message. Vertices and triangles are
        indices. `is_in_source` is whether the imported file already broke the rule; then it is only a warning.
        """
        tail = (
            "; the imported file already did" if is_in_source else f": {self.remedy}" if self.remedy else ""
        )
        indices = [tuple(np.asarray(part, dtype=np.int64).ravel().tolist()) for part in (vertices, triangles)]
        return Finding(
            self.code,
            self.is_error and not is_in_source,
            "".join([what, f"; {self.why}" if self.why else "", tail]),
            found=str(found),
            limit=f"{self.limit:g}" if self.limit else "",
            engine=self.engine,
            remedy=self.remedy,
            mesh=0 if any(indices) else -1,
            vertices=indices[0],
            triangles=indices[1],
        )
