"""What hangs on an entity of Doom 3 and The Dark Mod, and which animations are played in place of others.

From the published sources of Doom 3 (`Actor.cpp`) and The Dark Mod (`Actor.cpp`, `Entity.cpp`):

- `def_head` names an entity, as in The Dark Mod and Quake 4, or a model, as in Doom 3. It hangs on `head_joint`
  (`joint_head` in Quake 4) with the axes of the body. In The Dark Mod, the key of its own name and `offsetHeadModel`
  are added to its place.
- Every key that begins with `def_attach` names an entity; `-` and nothing stand for none. Its `joint`, `origin` and
  `angles` (pitch, yaw and roll in degrees) say where it hangs. `origin` is along the axes of the body in Doom 3, and
  along those of the joint in The Dark Mod, which first reads `origin_NAME` and `angles_NAME` with the name of the
  body's entity.
- In The Dark Mod, `pos_attachN` is the place of `def_attachN`. The body declares places by `attach_pos_name_M`,
  `attach_pos_joint_M`, `attach_pos_origin_M` and `attach_pos_angles_M`, and `origin_PLACE` and `angles_PLACE` of what
  hangs there are added. Everything attached may have attachments itself.
- `rotation` and `bind` do not count: what is attached gets its axes and its parent from the body.
- Things are attached while the body is in the first frame of its animation `ik_pose`, if it has one.
- `replace_anim_NAME` names the animation that The Dark Mod plays for NAME, on the body and on what hangs on it; there a
  joint may follow NAME, which counts only on that joint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from .character import Attachment, CharacterAnimation
from .doom3_models import EntityDeclaration, alias

ATTACHING_ANIMATION = "ik_pose"
"""The animation in whose first frame a body is while things are attached."""
_REPLACED = "replace_anim_"
_MAX_REPLACED = 50
"""Animations that replace each other, as in The Dark Mod."""

Vector = tuple[float, float, float]
Values = Mapping[str, str]


def attachments_of(
    entity: EntityDeclaration,
    parent: int,
    find: Callable[[str], EntityDeclaration | None],
    *,
    is_dark_mod: bool,
) -> list[tuple[str, Attachment]]:
    """What hangs on an entity: the name of each entity or head, with its place.

    `entity` includes what it inherits. `parent` is the index of its part.
    """
    values = entity.values
    found: list[tuple[str, Attachment]] = []
    head = values.get("def_head", "")
    if head:
        own, shared = vector(values.get(head.lower(), "")), vector(values.get("offsetheadmodel", ""))
        x, y, z = (a + b for a, b in zip(own, shared, strict=True))
        attachment = Attachment(
            parent,
            values.get("head_joint") or values.get("joint_head") or "",
            translation=(x, y, z),
            keeps_axes=True,
            entity=head if find(head) is not None else "",
        )
        found.append((head, attachment))
    places: dict[str, str] = {}
    for key, name in values.items():
        if key.startswith("attach_pos_name_"):
            places.setdefault(name, key.removeprefix("attach_pos_name_"))
    for key, name in values.items():
        if not key.startswith("def_attach") or name in ("", "-"):
            continue
        other = find(name)
        own_values = other.values if other is not None else {}
        place = values.get("pos_attach" + key.removeprefix("def_attach"), "")
        if place in places:
            attachment = _placed(values, places[place], own_values, place)
        else:
            attachment = _hung(own_values, entity.name if is_dark_mod else "")
        found.append((name, replace(attachment, parent=parent, entity=name)))
    return found


def _placed(values: Values, suffix: str, own: Values, place: str) -> Attachment:
    """An attachment at a place of the body."""
    return Attachment(
        0,
        values.get(f"attach_pos_joint_{suffix}", ""),
        _turned(values.get(f"attach_pos_angles_{suffix}", "")),
        vector(values.get(f"attach_pos_origin_{suffix}", "")),
        _turned(own.get(f"angles_{place.lower()}", "")),
        vector(own.get(f"origin_{place.lower()}", "")),
    )


def _hung(own: Values, dark_mod_body: str) -> Attachment:
    """An attachment that says itself where it hangs; on an entity of The Dark Mod if a name is given."""
    if not dark_mod_body:
        return Attachment(
            0,
            own.get("joint", ""),
            _turned(own.get("angles", "")),
            vector(own.get("origin", "")),
            along_model=True,
        )
    key = dark_mod_body.lower()
    return Attachment(
        0,
        own.get("joint") or own.get("bindtojoint") or "",
        _turned(own.get(f"angles_{key}", own.get("angles", ""))),
        vector(own.get(f"origin_{key}", own.get("origin", ""))),
    )


def replaced(
    animations: Iterable[CharacterAnimation], own: Values, attached: Iterable[tuple[str, Values]]
) -> tuple[CharacterAnimation, ...]:
    """Animations with those that the game plays in their place.

    `own` are the values of the entity of the body. `attached` holds the joint and the values of each entity that hangs
    on it.
    """
    animations = tuple(animations)
    others: dict[str, str] = {}
    for joint, values in ((None, own), *attached):
        for key, value in values.items():
            name, _, only = key.removeprefix(_REPLACED).partition(" ")
            if key.startswith(_REPLACED) and (not only or joint is None or only == joint.lower()):
                others[name] = value
    if not others:
        return animations
    by_name = {alias(one.name): one.name for one in reversed(animations)}
    by_name |= {one.name: one.name for one in animations}
    return tuple(replace(one, replacement=_replacement(one.name, others, by_name)) for one in animations)


def _replacement(name: str, others: Mapping[str, str], by_name: Mapping[str, str]) -> str:
    wanted = name if name.lower() in others else alias(name)
    if wanted.lower() not in others:
        return ""
    for _ in range(_MAX_REPLACED):
        wanted = others.get(wanted.lower(), wanted)
    found = by_name.get(wanted, "")
    return found if found != name else ""


def _turned(text: str) -> Vector:
    """Yaw, pitch and roll of a value that has pitch first."""
    pitch, yaw, roll = vector(text)
    return yaw, pitch, roll


def vector(text: str) -> Vector:
    """Three numbers of a value: those before the first word that is none, and zeros."""
    numbers: list[float] = []
    for word in text.split()[:3]:
        try:
            number = float(word)
        except ValueError:
            break
        numbers.append(number if math.isfinite(number) else 0.0)
    x, y, z = (*numbers, 0.0, 0.0, 0.0)[:3]
    return x, y, z
