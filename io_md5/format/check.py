"""Checks whether a game accepts a model, animation or camera path.

An error is something that the game refuses to load; a warning is something that it shows in another way than Blender.
The rules and their sources are in the profile of each game: see `games.profiles`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .errors import Md5Error
from .games import Finding, Game, Subject, rules_of
from .joint_scales import ScaleTable
from .model import Animation, Camera, Joints, Model
from .validation import (
    check_animation_arrays,
    check_camera_arrays,
    check_model_arrays,
    validate_animation,
    validate_camera,
    validate_model,
)

__all__ = ["Finding", "Game", "check_animation", "check_camera", "check_model"]


def check_model(
    model: Model,
    game: Game = Game.ANY,
    *,
    has_animation: bool | None = None,
    animations: Sequence[Animation] = (),
) -> list[Finding]:
    """The findings about a model, by the rules of a game.

    Args:
        model: before it is written, or as it was read.
        game: the game to check for.
        has_animation: whether there is an animation of the same name beside it; None if unknown.
        animations: in whose poses the model is compared with what games keep of it.

    Returns:
        The findings, errors first; empty if there are none.
    """
    return _validate(Subject(model=model, has_animation=has_animation, animations=animations), game)


def check_animation(
    animation: Animation,
    model_joints: Joints | None = None,
    game: Game = Game.ANY,
    *,
    scales: ScaleTable | None = None,
) -> list[Finding]:
    """The findings about an animation, by the rules of a game, and whether it fits the given skeleton.

    Args:
        animation: before it is written, or as it was read.
        model_joints: of the mesh that it is for; None if unknown.
        game: the game to check for.
        scales: of its joints, in games that have them; None for 1, or if unknown.

    Returns:
        The findings, errors first; empty if there are none.
    """
    return _validate(Subject(animation=animation, joints=model_joints, scales=scales), game)


def check_camera(camera: Camera, game: Game = Game.ANY) -> list[Finding]:
    """The findings about a camera path, by the rules of a game, errors first; empty if there are none."""
    return _validate(Subject(camera=camera), game)


def _validate(subject: Subject, game: Game) -> list[Finding]:
    if broken := _invalid(lambda: _check_arrays(subject)):
        # The rules rely on the shapes of arrays.
        return [broken]
    found = [finding for rule in rules_of(game) for finding in rule.check(rule, subject)]
    if not any(finding.is_error for finding in found) and (
        invalid := _invalid(lambda: _check_values(subject))
    ):
        found.append(invalid)
    return sorted(found, key=lambda finding: not finding.is_error)


def _check_arrays(subject: Subject) -> None:
    if subject.model is not None:
        check_model_arrays(subject.model)
    if subject.animation is not None:
        check_animation_arrays(subject.animation)
    if subject.camera is not None:
        check_camera_arrays(subject.camera)


def _check_values(subject: Subject) -> None:
    if subject.model is not None:
        validate_model(subject.model)
    if subject.animation is not None:
        validate_animation(subject.animation)
    if subject.camera is not None:
        validate_camera(subject.camera)


def _invalid(validate: Callable[[], None]) -> Finding | None:
    """The finding about what cannot be written, whatever the game."""
    try:
        validate()
    except Md5Error as error:
        return Finding(
            "invalid", True, str(error), found=error.found or "", limit=error.expected or "", engine="all"
        )
    return None
