"""The options of an export of MD5 files, with the game and what users do not set."""

from __future__ import annotations

from dataclasses import dataclass

from ...io_blender.skeletal.exporting import build
from .. import options
from ..format.games import PROFILES, Game, Writing, mesh_limits


@dataclass(frozen=True)
class ModelOptions(build.ModelOptions, options.ModelProperties):
    """The options of a model."""

    game: Game = Game.ANY

    @property
    def writing(self) -> Writing:
        """How files for the game are written."""
        return PROFILES[self.game].writing

    @property
    def mesh_limits(self) -> dict[str, int]:
        """How much a mesh for the game can have."""
        return mesh_limits(self.game)


@dataclass(frozen=True)
class ExportOptions(build.ExportOptions):
    """The options of an export of meshes or animations."""

    model: ModelOptions
    # In games that replace an MD2 or MDL, the animations have to be its sequences.
    match_companion: bool = True
