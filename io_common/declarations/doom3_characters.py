"""The characters of Doom 3 and its relatives: entities and models with their skins, and what hangs on them.

From the sources of Doom 3 (`Actor.cpp`, `Entity.cpp`, `Anim_Blend.cpp`) and The Dark Mod (`Actor.cpp`, `Entity.cpp`):

- The `model` of an entity is a model declaration or the path of a model. Its `skin` replaces that of the declaration.
- `def_head` names an entity, as in The Dark Mod and Quake 4, or a model, as in Doom 3. It hangs on `head_joint`
  (`joint_head` in Quake 4) with the axes of the body. The Dark Mod adds the key of its own name and `offsetHeadModel`.
- Every key that begins with `def_attach` names an entity; `-` and nothing stand for none. Its `joint`, `origin` and
  `angles` (pitch, yaw and roll in degrees) say where it hangs. `origin` is along the axes of the body in Doom 3, and
  along those of the joint in The Dark Mod, which first reads `origin_NAME` and `angles_NAME` with the body's name.
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
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from ..game_tree.files import FileReadError
from ..names import fold, fold_slashes, split_extension
from . import characters
from .characters import Attachment, Character, CharacterAnimation, CharacterPart, CharacterSkin, SourceLine, Vector
from .declaration_files import ENTITY, MODEL, SKIN, Declaration, canonical_name
from .doom3_models import DeclarationsByName, alias

ATTACHING_ANIMATION = "ik_pose"  # the animation in whose first frame a body is while things are attached
_REPLACED = "replace_anim_"
_SHADER = re.compile(rb'^[ \t]*shader\s+"([^"\n]*)"', re.MULTILINE)
_MAX_SKINS = 256  # of a model
_MAX_ATTACHED = 64
_MAX_REPLACED = 50  # animations that replace each other

Values = Mapping[str, str]


class Doom3Declarations(DeclarationsByName):
    """The declarations of a game, and the characters that they make."""

    def entity_character(self, name: str, *, in_detail: bool = True) -> Character | None:
        """An entity's character, None without a model; `in_detail` reads meshes to find their skins."""
        values = self.entity(name) or {}
        if not self.is_model(values.get("model", "")):
            return None
        character = _CharacterReader(self, in_detail)
        character.add_entity(name, values)
        return character.finished(self.declared[ENTITY][canonical_name(name)])

    def model_character(self, name: str, *, in_detail: bool = True) -> Character | None:
        """The character of a model declaration; None if there is none, or it has no mesh."""
        model = self.model(name)
        if model is None or not model.model:
            return None
        character = _CharacterReader(self, in_detail)
        character.add_model(name, "", None)
        return character.finished(self.declared[MODEL][canonical_name(name)])

    def is_model(self, name: str) -> bool:
        """Whether a name is that of a model declaration with a mesh, or the path of a model that can be imported."""
        model = self.model(name) if name else None
        return bool(model.model) if model is not None else fold(name).endswith(characters.MODEL_SUFFIXES)

    def shaders(self, path: str) -> list[str]:
        """The materials of a model's meshes; none if it cannot be read, which the import reports."""
        file = self.files.find(path) if fold(path).endswith(".md5mesh") else None
        try:
            data = file.read() if file is not None else b""
        except FileReadError:
            return []
        return [match.decode("utf-8", "replace") for match in dict.fromkeys(_SHADER.findall(data))]

    @cached_property
    def is_dark_mod(self) -> bool:
        """Whether the game is The Dark Mod, whose own entities begin so."""
        return any(key.startswith("atdm:") for key in self.declared[ENTITY])


class _CharacterReader:
    """Collects the parts of a character, and what is named but not there."""

    def __init__(self, game: Doom3Declarations, in_detail: bool) -> None:
        self._game = game
        self._in_detail = in_detail
        self._parts: list[CharacterPart] = []
        self._missing: set[str] = set()

    def finished(self, declaration: Declaration) -> Character:
        names = [(kind, declaration.name) for kind in (ENTITY, MODEL)]
        for part in self._parts:
            names += [(MODEL, part.declaration or ""), *((SKIN, skin.name) for skin in part.skins)]
            names.append((ENTITY, part.attachment.entity if part.attachment is not None else ""))
        place, missing = SourceLine(declaration.source, declaration.line), tuple(sorted(self._missing))
        warnings = self._game.warnings_about(names) if self._in_detail else ()
        return Character(declaration.name, characters.DOOM3, tuple(self._parts), missing, place, warnings)

    def add_model(self, name: str, skin: str, attachment: Attachment | None) -> bool:
        """Adds a model; False if its file is missing."""
        game = self._game
        path = fold_slashes(name)
        part = game.model(name) or CharacterPart(split_extension(path.rpartition("/")[2])[0], path)
        self._missing.update(file for one in part.animations for file in one.files if not game.files.has(file))
        default = skin or part.default_skin or ""
        found = game.skin(default) if default else None
        if default and found is None:
            self._missing.add(f"skin {default}")
        if not game.files.has(part.model):
            self._missing.add(part.model)
            return False
        skins = self._skins(part, name, default)
        spelled = found.name if found is not None else None
        self._parts.append(replace(part, attachment=attachment, skins=skins, default_skin=spelled))
        return True

    def _skins(self, part: CharacterPart, name: str, default: str) -> tuple[CharacterSkin, ...]:
        """The skins of a model: the default one, those made for it, and those that entities or materials ask for."""
        known = self._game.skins_for
        names = [default, *known.get(("mesh", fold(part.model)), [])[:_MAX_SKINS]]
        names += [*known.get(("model", canonical_name(name)), [])[:_MAX_SKINS], part.default_skin or ""]
        for shader in self._game.shaders(part.model) if self._in_detail else ():
            names += known.get(("material", canonical_name(shader)), [])[:_MAX_SKINS]
        found: dict[str, CharacterSkin] = {}
        for one in filter(None, names):
            skin = self._game.skin(one)
            if skin is not None:
                found.setdefault(canonical_name(one), skin)
        return tuple(found.values())

    def add_entity(self, name: str, values: Values) -> None:
        if not self.add_model(values["model"], values.get("skin", ""), None):
            return
        attached = self._add_attached(name, values, 0)
        body = self._parts[0]
        self._parts[0] = replace(body, animations=_replace_animations(body.animations, values, attached))

    def _add_attached(self, name: str, values: Values, index: int) -> list[tuple[str, Values]]:
        """Adds what hangs on an entity, the part with this index; returns the joint and values of each."""
        game = self._game
        attached: list[tuple[str, Values]] = []
        for other_name, attachment in self._attachments(name, values, index):
            if len(self._parts) > _MAX_ATTACHED:
                break
            entity = game.entity(other_name)
            others = entity if entity is not None else {"model": other_name}
            model = others.get("model", "")
            if entity is None and not (attachment.keeps_axes and game.is_model(model)):
                kind = "head" if attachment.keeps_axes else "entityDef"
                self._missing.add(f"{kind} {other_name}")
                continue
            if not game.is_model(model):
                self._parts.append(CharacterPart(other_name, fold_slashes(model), attachment=attachment))
            elif not self.add_model(model, others.get("skin", ""), attachment):
                continue
            attached.append((attachment.joint, others))
            if entity is not None and game.is_dark_mod:
                self._add_attached(other_name, entity, len(self._parts) - 1)
        return attached

    def _attachments(self, name: str, values: Values, parent: int) -> Iterator[tuple[str, Attachment]]:
        head = values.get("def_head", "")
        if head:
            offset, shared = _vector(values, head.lower()), _vector(values, "offsetheadmodel")
            place = (offset[0] + shared[0], offset[1] + shared[1], offset[2] + shared[2])
            joint = values.get("head_joint") or values.get("joint_head") or ""
            entity = head if self._game.entity(head) is not None else ""
            yield head, Attachment(parent, joint, translation=place, keeps_axes=True, entity=entity)
        numbers: dict[str, str] = {}
        for key, named in values.items():
            if key.startswith("attach_pos_name_"):
                numbers.setdefault(named, key.removeprefix("attach_pos_name_"))
        for key, other in values.items():
            if not key.startswith("def_attach") or other in ("", "-"):
                continue
            attached = self._game.entity(other) or {}
            named = values.get("pos_attach" + key.removeprefix("def_attach"), "")
            if named in numbers:
                attachment = _attachment_at_place(values, numbers[named], attached, named.lower())
            elif self._game.is_dark_mod:
                attachment = _dark_mod_attachment(attached, name.lower())
            else:
                angles, origin = _rotation(attached, "angles"), _vector(attached, "origin")
                attachment = Attachment(0, attached.get("joint", ""), angles, origin, along_model=True)
            yield other, replace(attachment, parent=parent, entity=other)


def _attachment_at_place(body: Values, number: str, values: Values, place: str) -> Attachment:
    joint = body.get(f"attach_pos_joint_{number}", "")
    angles, origin = _rotation(body, f"attach_pos_angles_{number}"), _vector(body, f"attach_pos_origin_{number}")
    turned, moved = _rotation(values, f"angles_{place}"), _vector(values, f"origin_{place}")
    return Attachment(0, joint, angles, origin, turned, moved)


def _dark_mod_attachment(values: Values, body: str) -> Attachment:
    """An attachment that says itself where it hangs on the body, an entity of The Dark Mod."""
    angles = f"angles_{body}" if f"angles_{body}" in values else "angles"
    origin = f"origin_{body}" if f"origin_{body}" in values else "origin"
    joint = values.get("joint") or values.get("bindtojoint") or ""
    return Attachment(0, joint, _rotation(values, angles), _vector(values, origin))


def _vector(values: Values, key: str) -> Vector:
    """Three numbers: those before the first word that is none, and zeros."""
    numbers: list[float] = []
    for word in values.get(key, "").split()[:3]:
        try:
            number = float(word)
        except ValueError:
            break
        numbers.append(number if math.isfinite(number) else 0.0)
    x, y, z = (*numbers, 0.0, 0.0, 0.0)[:3]
    return x, y, z


def _rotation(values: Values, key: str) -> Vector:
    pitch, yaw, roll = _vector(values, key)
    return yaw, pitch, roll


def _replace_animations(
    animations: tuple[CharacterAnimation, ...], body: Values, attached: Iterable[tuple[str, Values]]
) -> tuple[CharacterAnimation, ...]:
    others: dict[str, str] = {}
    for joint, values in ((None, body), *attached):
        for key, value in values.items():
            name, _, only = key.removeprefix(_REPLACED).partition(" ")
            if key.startswith(_REPLACED) and (not only or joint is None or only == joint.lower()):
                others[name] = value
    by_name = {alias(one.name): one.name for one in reversed(animations)}
    by_name |= {one.name: one.name for one in animations}

    def replacement(name: str) -> str:
        wanted = name if name.lower() in others else alias(name)
        if wanted.lower() not in others:
            return ""
        for _ in range(_MAX_REPLACED):
            wanted = others.get(wanted.lower(), wanted)
        found = by_name.get(wanted, "")
        return found if found != name else ""

    return tuple(replace(one, replacement=replacement(one.name)) for one in animations) if others else animations
