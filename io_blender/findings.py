"""Where in a scene the findings of a game are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..io_common.rules import Finding

if TYPE_CHECKING:
    from bpy.types import Object

VERTICES, FACES, BONES, NOTHING = "VERTICES", "FACES", "BONES", "NOTHING"


@dataclass(frozen=True)
class Location:
    """What a finding is about: vertices, faces or bones of an object; without one, the model as a whole."""

    obj: Object | None = None
    kind: str = NOTHING
    elements: tuple[int | str, ...] = ()


LocatedFinding: TypeAlias = tuple[Finding, Location]
