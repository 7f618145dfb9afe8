"""How Quake III plays a player: ioquake3's `cg_players.c` and `tr_model.c`, one function after the other.

`CG_ParseAnimationFile`, `CG_RunLerpFrame` (for a sequence that has played since a time), `R_GetTag`, `R_LerpTag`,
`CG_PositionRotatedEntityOnTag` and `CG_PositionEntityOnTag`, which are the same for a part that does not turn itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from md3_specification import SpecModel

MAX_ANIMATIONS = 31
TORSO_GESTURE, LEGS_WALKCR, TORSO_GETFLAG, TORSO_NEGATIVE = 6, 13, 25, 30


@dataclass
class Animation:
    """`animation_t`."""

    first_frame: int = 0
    num_frames: int = 0
    loop_frames: int = 0
    frame_lerp: float = 0.0
    is_reversed: bool = False


def _tokens(text: str) -> list[str]:
    """`COM_Parse`, without block comments."""
    lines = (line.partition("//")[0] for line in text.splitlines())
    return [word for line in lines for word in line.split()]


def parse_animation_file(data: bytes) -> tuple[list[Animation], dict[str, str]] | None:
    """The animations and the settings; None where the game refuses the player."""
    if not data or len(data) >= 20000 - 1:
        return None
    tokens = _tokens(data.decode("latin-1"))
    settings: dict[str, str] = {}
    while tokens and not tokens[0][0].isdigit():
        word = tokens.pop(0).lower()
        if word in ("footsteps", "sex"):
            settings[word] = tokens.pop(0)
        elif word == "headoffset":
            settings[word] = " ".join(tokens.pop(0) for _ in range(3))
    found: list[Animation] = []
    skip = 0
    for index in range(MAX_ANIMATIONS):
        if not tokens:
            if TORSO_GETFLAG <= index <= TORSO_NEGATIVE:
                found.append(found[TORSO_GESTURE])
                continue
            return None
        first = int(tokens.pop(0))
        if index == LEGS_WALKCR:
            skip = first - found[TORSO_GESTURE].first_frame
        if LEGS_WALKCR <= index < TORSO_GETFLAG:
            first -= skip
        count, loop, rate = int(tokens.pop(0)), int(tokens.pop(0)), float(tokens.pop(0)) or 1.0
        found.append(Animation(first, abs(count), loop, 1000 / rate, count < 0))
    return found, settings


def frame_at(animation: Animation, milliseconds: float) -> tuple[int, int, float]:
    """The old and the new frame, and `backlerp`, at a time after a sequence has begun (`CG_RunLerpFrame`)."""

    def frame(number: int) -> int:
        count = animation.num_frames
        if number >= count:
            number -= count
            if animation.loop_frames:
                number %= animation.loop_frames
                number += count - animation.loop_frames
            else:
                number = count - 1
        return animation.first_frame + (count - 1 - number if animation.is_reversed else number)

    passed = milliseconds / animation.frame_lerp
    before = int(passed + 1e-6)
    return frame(before), frame(before + 1), 1.0 - (passed - before)


def lerp_tag(model: SpecModel, old: int, new: int, front_lerp: float, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Origin and axes (rows) of a tag (`R_LerpTag`); those of nothing if it is missing."""
    last = len(model.tags) - 1
    start, end = model.tags[min(old, last)].get(name), model.tags[min(new, last)].get(name)
    if start is None or end is None:
        return np.zeros(3), np.eye(3)
    mixed = np.array(start) * (1.0 - front_lerp) + np.array(end) * front_lerp
    axes = mixed[1:] / np.linalg.norm(mixed[1:], axis=1, keepdims=True)
    return mixed[0], axes


def images(model: SpecModel, skin: bytes) -> list[str]:
    """The shader of each surface; empty for the default one (`R_LoadMD3`, `RE_RegisterSkin`, `R_AddMD3Surfaces`)."""
    found: dict[str, str] = {}
    for line in skin.decode("latin-1").splitlines():
        name, _, shader = line.partition(",")
        if "tag_" not in name:
            found.setdefault(name.strip().lower(), shader.strip())
    names = [one.name.lower() for one in model.surfaces]
    return [found.get(name[:-2] if len(name) > 2 and name[-2] == "_" else name, "") for name in names]


@dataclass
class Entity:
    """`refEntity_t`: origin, axes (rows), frames and `backlerp`."""

    origin: np.ndarray
    axis: np.ndarray
    model: SpecModel
    frames: tuple[int, int, float]

    def vertices(self) -> np.ndarray:
        """What is drawn, all surfaces, (V, 3)."""
        old, new, back = self.frames
        shown = [
            np.array(one.points[old]) * back + np.array(one.points[new]) * (1.0 - back) for one in self.model.surfaces
        ]
        return np.concatenate(shown) @ self.axis + self.origin


def on_tag(model: SpecModel, frames: tuple[int, int, float], parent: Entity, tag: str) -> Entity:
    """An entity on a tag of its parent."""
    old, new, back = parent.frames
    origin, axes = lerp_tag(parent.model, old, new, 1.0 - back, tag)
    return Entity(parent.origin + origin @ parent.axis, axes @ parent.axis, model, frames)


def player(
    models: dict[str, SpecModel], legs: Animation, torso: Animation, milliseconds: float, weapon: SpecModel | None
) -> dict[str, Entity]:
    """Where `CG_Player` draws the parts of a player who stands at the origin and looks along x."""
    lower = Entity(np.zeros(3), np.eye(3), models["lower"], frame_at(legs, milliseconds))
    upper = on_tag(models["upper"], frame_at(torso, milliseconds), lower, "tag_torso")
    found = {"lower": lower, "upper": upper, "head": on_tag(models["head"], (0, 0, 0.0), upper, "tag_head")}
    if weapon is not None:
        found["weapon"] = on_tag(weapon, (0, 0, 0.0), upper, "tag_weapon")
    return found
