"""Asset libraries of games: what a conversion of characters to assets does besides."""

from __future__ import annotations

from pathlib import Path

from ..io_common.asset_library import catalog_of_animations, write_catalogs
from ..io_common.texts import counted
from .plan import Plan


def start_library(library: Path, plan: Plan) -> None:
    """Writes the catalogs of a library; raises OSError if they cannot be written."""
    named = [(task.character, task.catalog) for task in plan.tasks]
    write_catalogs(library, [one for name, catalog in named for one in (catalog, catalog_of_animations(name, catalog))])


def size_of(count: int) -> str:
    """How many assets there are, and how large the library may become."""
    # With its animations, their pictures, and images out of archives.
    return f"{counted(count, 'assets')}: about {count:,} MB"
