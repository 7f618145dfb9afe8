"""The games: what each takes, with the source of every rule, and how files for it are written.

The facts were read in the published sources of the loaders and seen by running them over real models and exports. A
rule is an error where the loader refuses the file or crashes, a warning where it shows something else than Blender.
"""

from __future__ import annotations

from .common import COMMON
from .doom3 import DOOM3, DOOM3_BFG
from .others import ANY, SAUERBRATEN, UNVANQUISHED
from .profile import Game, Profile
from .quake import QUAKE, QUAKE2
from .rules import Rule

PROFILES: dict[Game, Profile] = {
    profile.game: profile for profile in (ANY, DOOM3, DOOM3_BFG, QUAKE, QUAKE2, SAUERBRATEN, UNVANQUISHED)
}
"""All games, `Game.ANY` first."""


def rules_of(game: Game) -> tuple[Rule, ...]:
    """The rules of a game: those of every game, unless it has its own of that name, and its own."""
    own = {rule.code for rule in PROFILES[game].rules}
    return (*(rule for rule in COMMON if rule.code not in own), *PROFILES[game].rules)


def game_named(name: str) -> Game:
    """The game of a name that also games of other formats may have; `Game.ANY` for what has no MD5 files of its own."""
    # q2pro and the re-release read both formats.
    return Game(name) if name in Game.__members__ else Game.QUAKE2 if name == "QUAKE2_MODERN" else Game.ANY
