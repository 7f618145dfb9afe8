"""The results of imports and exports."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .reports import Report

if TYPE_CHECKING:
    from bpy.types import Action, Object


@dataclass(eq=False)
class ImportResult:
    """The result of an import.

    Attributes:
        objects: the new objects; armatures are followed by their meshes, and cameras come last.
        actions: the new actions, one for each animation or sequence.
        divided: those of the new actions whose frames are also in an action of each sequence.
        replaced: for each action that is replaced, the new one.
        report: counts and warnings.
    """

    objects: list[Object] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    divided: list[Action] = field(default_factory=list)
    replaced: dict[Action, Action] = field(default_factory=dict)
    report: Report = field(default_factory=Report)


@dataclass(eq=False)
class ExportResult:
    """The result of an export.

    Attributes:
        paths: the files that were written, first the one that was asked for.
        report: counts and warnings.
    """

    paths: list[Path] = field(default_factory=list)
    report: Report = field(default_factory=Report)
