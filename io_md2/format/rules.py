"""Rules: what a loader refuses or shows otherwise, with the source where that stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .counts import Counts
from .findings import Finding
from .model import Md2Model

Check = Callable[["Rule", "Subject"], Iterator[Finding]]


@dataclass(frozen=True)
class Subject:
    """What is judged.

    Attributes:
        model: the model.
        counts: its numbers.
        former: those of the file that it was imported from; None if there is none.
    """

    model: Md2Model
    counts: Counts
    former: Counts | None = None


@dataclass(frozen=True)
class Rule:
    """What a game asks of a file.

    Attributes:
        code: its name, for programs.
        is_error: whether the game refuses what breaks it.
        check: finds what breaks it.
        engine: whose loader it is.
        says: the rule, as the documentation has it.
        why: what the loader does with what breaks it; the middle of a message.
        remedy: what to do; the end of a message.
        source: where it stands in the loader.
        limit: the most, or least, that is taken; 0 where that says nothing.
    """

    code: str
    is_error: bool
    check: Check
    engine: str
    says: str
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
        is_former: bool = False,
    ) -> Finding:
        """A finding of this rule.

        Args:
            what: what breaks it, with its place and the value; the beginning of the message.
            found: the value.
            vertices: indices of vertices.
            triangles: indices of triangles.
            is_former: the file that the model was imported from broke it as well; then it is only a warning.
        """
        tail = "; the imported file was so too" if is_former else f": {self.remedy}" if self.remedy else ""
        indices = [tuple(np.asarray(part, dtype=np.int64).ravel().tolist()) for part in (vertices, triangles)]
        return Finding(
            self.code,
            self.is_error and not is_former,
            "".join([what, f"; {self.why}" if self.why else "", tail]),
            found=str(found),
            limit=f"{self.limit:g}" if self.limit else "",
            engine=self.engine,
            remedy=self.remedy,
            mesh=0 if any(indices) else -1,
            vertices=indices[0],
            triangles=indices[1],
        )
