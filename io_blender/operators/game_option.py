"""The export option *Game*, whose default is set in the preferences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bpy.props import EnumProperty

from ...io_common.family import Profile


def game_items(profiles: Mapping[Any, Profile]) -> list[tuple[str, str, str]]:
    """The enum items of a family's games.

    The values of the games are the identifiers. The first game is the default.
    """
    return [(game.value, profile.label, profile.description) for game, profile in profiles.items()]


def game_property(profiles: Mapping[Any, Profile]) -> Any:
    """The property ``game`` of an export operator; see `game_items` for the argument."""
    items = game_items(profiles)
    return EnumProperty(
        name="Game",
        description="The game to export for. It decides how files are written and what is an error",
        items=items,
        default=items[0][0],
    )


def set_default(operator: Any, default: str) -> None:
    """Sets the game to that of the preferences, unless the user or a script has set it."""
    if not operator.properties.is_property_set("game"):
        operator.game = default


def game_or_default(operator: Any, default: str) -> str:
    """The game that the user or a script has set, else that of the preferences."""
    return str(operator.game) if operator.properties.is_property_set("game") else default
