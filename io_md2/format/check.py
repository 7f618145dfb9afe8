"""What a game takes, judged before a file is written.

An error is what the game or the format refuses; a warning is what is shown otherwise than in Blender. The rules, with
their sources, are those of the game's profile: see `games`.
"""

from __future__ import annotations

from .counts import Counts
from .findings import Finding
from .games import COMMON, Game, rules_of
from .model import Md2Model
from .rules import Rule, Subject


def check_model(model: Md2Model, game: Game = Game.ANY, former: Counts | None = None) -> list[Finding]:
    """Return what is wrong with a model, errors first.

    Args:
        model: the model.
        game: whose loader is to take it.
        former: the numbers of the file that it was imported from. What was beyond a limit there is a warning: it is a
            model of another game.
    """
    found = _find(Subject(model, Counts.of(model), former), rules_of(game))
    return sorted(found, key=lambda finding: not finding.is_error)


def find_oddities(model: Md2Model) -> list[str]:
    """Return sentences on what is odd in a file that was read, its numbers beyond Quake II's included.

    Args:
        model: the model, with its GL commands.
    """
    subject = Subject(model, Counts.of(model))
    rules = [rule for rule in COMMON if rule.code in _OF_FILES]
    rules += [rule for rule in rules_of(Game.QUAKE2) if rule.code in _LIMITS]
    # What to do about it is a matter of the export.
    return [finding.text.removesuffix(f": {finding.remedy}") for finding in _find(subject, rules)]


_OF_FILES = ("no_vertices", "no_triangles", "bad_normals", "empty_skin", "st_outside_skin")
_LIMITS = ("too_many_triangles", "too_many_vertices", "too_many_frames", "too_many_skins", "skin_too_tall")


def _find(subject: Subject, rules: tuple[Rule, ...] | list[Rule]) -> list[Finding]:
    return [finding for rule in rules for finding in rule.check(rule, subject)]
