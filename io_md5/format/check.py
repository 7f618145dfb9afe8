"""What a game takes, judged before a file is written.

An error is what the game would refuse to load; a warning is what it would load and show otherwise than Blender. The
rules, with their sources, are those of the game's profile: see `games.profiles`.
"""

from __future__ import annotations

from .games import Finding, Game, Subject, rules_of
from .model import Animation, Joints, Model

__all__ = ["Finding", "Game", "check_animation", "check_model"]


def check_model(model: Model, game: Game = Game.ANY, *, has_animation: bool | None = None) -> list[Finding]:
    """Judges a model.

    Args:
        model: as it is to be written, or was read.
        game: whose loader is to take it.
        has_animation: whether an animation of the same name lies beside it; None if that is not known.

    Returns:
        What was found, errors first; an empty list is a clean model.
    """
    return _judge(Subject(model=model, has_animation=has_animation), game)


def check_animation(
    animation: Animation, model_joints: Joints | None = None, game: Game = Game.ANY
) -> list[Finding]:
    """Judges an animation, and whether it is one of the given skeleton.

    Args:
        animation: as it is to be written, or was read.
        model_joints: of the mesh that it is for; None if that is not known.
        game: whose loader is to take it.

    Returns:
        What was found, errors first; an empty list is a clean animation.
    """
    return _judge(Subject(animation=animation, joints=model_joints), game)


def _judge(subject: Subject, game: Game) -> list[Finding]:
    found = [finding for rule in rules_of(game) for finding in rule.check(rule, subject)]
    return sorted(found, key=lambda finding: not finding.is_error)
