"""The check of a model before it is written, and of a file that was read.

An error is what the game or the format refuses; a warning is what looks different from Blender. The rules, with their
sources, are those of the game's profile: see `games`.
"""

from __future__ import annotations

from ...io_common.findings import Finding
from .counts import Counts
from .errors import Md2Error
from .games import COMMON, Game, rules_of
from .model import Model
from .rules import Rule, Subject
from .validation import validate_structure


def check_model(model: Model, game: Game = Game.ANY, source_counts: Counts | None = None) -> list[Finding]:
    """What is wrong with a model, errors first. A model without errors can be written.

    Args:
        model: the model.
        game: the game that is to load it.
        source_counts: the numbers of the file that it was imported from. What exceeded a limit there is a warning only:
            it is a model of another game.
    """
    try:
        validate_structure(model)
    except Md2Error as error:
        # The rules rely on it.
        return [
            Finding("invalid_model", True, str(error), found=error.found or "", limit=error.expected or "")
        ]
    found = _find(Subject(model, Counts.of(model), source_counts), rules_of(game))
    return sorted(found, key=lambda finding: not finding.is_error)


def find_oddities(model: Model) -> list[str]:
    """Sentences about what is unusual in a file that was read, such as numbers beyond the limits of Quake II."""
    subject = Subject(model, Counts.of(model))
    rules = [rule for rule in COMMON if rule.code in _OF_FILES]
    rules += [rule for rule in rules_of(Game.QUAKE2) if rule.code in _LIMITS]
    # The remedy concerns an export, not a file that was read.
    return [finding.text.removesuffix(f": {finding.remedy}") for finding in _find(subject, rules)]


_OF_FILES = ("no_vertices", "no_triangles", "bad_normals", "empty_skin", "st_outside_skin")
_LIMITS = ("too_many_triangles", "too_many_vertices", "too_many_frames", "too_many_skins", "skin_too_tall")


def _find(subject: Subject, rules: tuple[Rule, ...] | list[Rule]) -> list[Finding]:
    return [finding for rule in rules for finding in rule.check(rule, subject)]
