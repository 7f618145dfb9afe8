"""Asset libraries of games, as a conversion of all characters."""

from __future__ import annotations

from pathlib import Path

from ..io_common.asset_library import catalog_of_animations, write_catalogs
from ..io_common.texts import counted
from .plan import Plan

_MEGABYTES = 1  # of an asset, with its animations and pictures


def start_library(library: Path, plan: Plan) -> str:
    """Writes the catalogs of a library; returns what will be in it, and how large it may be."""
    named = [(task.character, task.catalog) for task in plan.tasks]
    write_catalogs(library, [one for name, catalog in named for one in (catalog, catalog_of_animations(name, catalog))])
    return f"{counted(len(named), 'assets')} in {library}: about {len(named) * _MEGABYTES:,} MB"
