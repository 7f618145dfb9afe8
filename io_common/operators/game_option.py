"""The choice of a game: an option of exports, with a default in the preferences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bpy.props import EnumProperty

from ..family import Profile


def game_items(profiles: Mapping[Any, Profile]) -> list[tuple[str, str, str]]:
    """The items of an enumeration of games.

    Args:
        profiles: by games, whose values are the identifiers; the first is the default.
    """
    return [(game.value, profile.label, profile.description) for game, profile in profiles.items()]


def game_property(profiles: Mapping[Any, Profile]) -> Any:
    """The property ``game`` of an export; for the argument see `game_items`."""
    items = game_items(profiles)
    return EnumProperty(
        name="Game",
        description="Which game is to load the files: it decides how they are written, and what is refused",
        items=items,
        default=items[0][0],
    )


def offer(operator: Any, default: str) -> None:
    """Shows the game of the preferences, to be changed by the user."""
    if not operator.properties.is_property_set("game"):
        operator.game = default


def chosen(operator: Any, default: str) -> str:
    """The game that counts: the one that was given, else that of the preferences."""
    return str(operator.game) if operator.properties.is_property_set("game") else default
