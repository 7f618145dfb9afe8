"""All games, with the rules of each.

The rules come from the published source code of the loaders, and were confirmed by running loaders on real models and
exports. A rule is an error if the loader refuses the file or crashes, a warning if it shows something different from
Blender.
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
    """The rules of a game: its own, and those of every game that it does not override by code."""
    own = {rule.code for rule in PROFILES[game].rules}
    return (*(rule for rule in COMMON if rule.code not in own), *PROFILES[game].rules)


def game_named(name: str) -> Game:
    """The game with a name; `Game.ANY` for names of games that have no MD5 files."""
    # q2pro and the re-release read both formats.
    return Game(name) if name in Game.__members__ else Game.QUAKE2 if name == "QUAKE2_MODERN" else Game.ANY
