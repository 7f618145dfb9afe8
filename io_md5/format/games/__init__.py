"""The rules of the games, and preparation of files for them; see `profiles` for the games themselves."""

from __future__ import annotations

from .checks import NameRule, Subject
from .profiles import COMMON, OTHER_NAMES, PROFILES, Comments, Game, Profile, Writing, game_named, mesh_limits, rules_of
from .writing import prepare_animation, prepare_model, rest_pose, safe_names

__all__ = [
    "COMMON", "OTHER_NAMES", "PROFILES", "Comments", "Game", "NameRule", "Profile", "Subject", "Writing", "game_named",
    "mesh_limits", "prepare_animation", "prepare_model", "rest_pose", "rules_of", "safe_names",
]  # fmt: skip
