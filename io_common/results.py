"""What an import or export gives back to whoever called it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .reports import Report

if TYPE_CHECKING:
    from bpy.types import Action, Object


@dataclass(eq=False)
class ImportResult:
    """What an import made.

    Attributes:
        objects: armatures, each followed by its meshes, then cameras.
        actions: one for each animation.
        report: counts and warnings.
    """

    objects: list[Object] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    report: Report = field(default_factory=Report)


@dataclass(eq=False)
class ExportResult:
    """What an export wrote.

    Attributes:
        paths: the files, the one that was asked for first.
        report: counts and warnings.
    """

    paths: list[Path] = field(default_factory=list)
    report: Report = field(default_factory=Report)
