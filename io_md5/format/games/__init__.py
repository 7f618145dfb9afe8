"""The rules of the games, and preparation of files for them; see `profiles` for the games themselves."""

from __future__ import annotations

from ....io_common.findings import Finding
from .common import COMMON
from .names import NameRule, safe_names
from .profile import Comments, Game, Profile, Writing
from .profiles import PROFILES, game_named, rules_of
from .rules import Rule, Subject
from .writing import Target, prepare_animation, prepare_model, rest_pose, with_all_components

__all__ = [
    "COMMON",
    "PROFILES",
    "Comments",
    "Finding",
    "Game",
    "NameRule",
    "Profile",
    "Rule",
    "Subject",
    "Target",
    "Writing",
    "game_named",
    "prepare_animation",
    "prepare_model",
    "rest_pose",
    "rules_of",
    "safe_names",
    "with_all_components",
]
