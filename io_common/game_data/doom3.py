"""The characters of Doom 3 and its relatives: entities and models of `def/*.def` with the skins of `skins/*.skin`.

From the published sources of Doom 3 (`Actor.cpp`, `Entity.cpp`, `Anim_Blend.cpp`): the `model` of an entity is a model
declaration, else the path of a model, and its `skin` replaces that of the declaration. What hangs on an entity is in
`doom3_attachments`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property

from ..game_tree.files import FileReadError
from ..game_tree.names import fold, fold_slashes, split_extension
from .character import (
    DOOM3,
    MODEL_SUFFIXES,
    Attachment,
    Character,
    CharacterPart,
    CharacterSkin,
    Declaration,
)
from .declarations import ENTITY, MODEL, SKIN, canonical_name
from .doom3_attachments import attachments_of, replaced
from .doom3_declarations import DeclarationsByName
from .doom3_models import EntityDeclaration

_SHADER = re.compile(rb'^[ \t]*shader\s+"([^"\n]*)"', re.MULTILINE)
_MAX_SKINS = 256
"""Skins of a model."""
_MAX_ATTACHED = 64
"""Parts that are attached to a character."""
_NOTHING = (0.0, 0.0, 0.0)


class Doom3Declarations(DeclarationsByName):
    """The declarations of a game, and the characters that they make."""

    def is_character(self, entity: EntityDeclaration) -> bool:
        """Whether an entity has a model that can be imported."""
        return self._is_model(entity.values.get("model", ""))

    def _is_model(self, name: str) -> bool:
        """Whether a name is that of a model declaration with a mesh, or the path of a model that can be imported."""
        model = self.model(name) if name else None
        if model is not None:
            return bool(model.mesh)
        return split_extension(fold(name))[1] in MODEL_SUFFIXES

    @cached_property
    def _is_dark_mod(self) -> bool:
        """Whether the game is The Dark Mod, whose own entities begin so."""
        return any(key.startswith("atdm:") for key in self._raw[ENTITY])

    def entity_character(self, name: str, *, in_detail: bool = True) -> Character | None:
        """The character of an entity; None if there is no such entity, or it has no model that can be imported.

        `in_detail` also finds the skins that fit the materials of the meshes, which are read for that.
        """
        entity = self.entity(name)
        if entity is None or not self.is_character(entity):
            return None
        missing: set[str] = set()
        body = self._part(entity.values["model"], entity.values.get("skin", ""), None, missing, in_detail)
        parts = [body] if body is not None else []
        attached = self._hang(entity, 0, parts, missing, in_detail) if parts else []
        if parts:
            parts[0] = replace(parts[0], animations=replaced(parts[0].animations, entity.values, attached))
        return self._character(
            entity.name, parts, missing, Declaration(entity.source, entity.line), in_detail
        )

    def model_character(self, name: str, *, in_detail: bool = True) -> Character | None:
        """The character of a model declaration; None if there is none, or it has no mesh.

        For `in_detail`, see `entity_character`.
        """
        model = self.model(name)
        if model is None or not model.mesh:
            return None
        missing: set[str] = set()
        part = self._part(name, "", None, missing, in_detail)
        parts = [part] if part is not None else []
        return self._character(model.name, parts, missing, Declaration(model.source, model.line), in_detail)

    def _character(
        self,
        name: str,
        parts: list[CharacterPart],
        missing: set[str],
        declaration: Declaration,
        in_detail: bool,
    ) -> Character:
        declared: list[tuple[str, str]] = [(ENTITY, name), (MODEL, name)]
        for part in parts if in_detail else ():
            declared += [(MODEL, part.declaration or ""), *((SKIN, skin.name) for skin in part.skins)]
            declared.append((ENTITY, part.attachment.entity if part.attachment is not None else ""))
        return Character(
            name,
            DOOM3,
            tuple(parts),
            tuple(sorted(missing)),
            declaration,
            self.warnings_about(declared) if in_detail else (),
        )

    def _hang(
        self,
        entity: EntityDeclaration,
        index: int,
        parts: list[CharacterPart],
        missing: set[str],
        in_detail: bool,
    ) -> list[tuple[str, dict[str, str]]]:
        """Adds what hangs on an entity; returns the joint and values of each entity that hangs on it.

        `index` is that of the part of the entity. Adds to `parts`, and adds to `missing` what is named but not there.
        For `in_detail`, see `entity_character`.
        """
        attached: list[tuple[str, dict[str, str]]] = []
        for name, attachment in attachments_of(entity, index, self.entity, is_dark_mod=self._is_dark_mod):
            if len(parts) > _MAX_ATTACHED:
                break
            other = self.entity(name)
            values = other.values if other is not None else {"model": name}
            model = values.get("model", "")
            if other is None and not (attachment.keeps_axes and self._is_model(name)):
                missing.add(f"{'head' if attachment.keeps_axes else 'entityDef'} {name}")
                continue
            part: CharacterPart | None = CharacterPart(name, fold_slashes(model), attachment=attachment)
            if self._is_model(model):
                part = self._part(model, values.get("skin", ""), attachment, missing, in_detail)
            if part is None:
                continue
            parts.append(part)
            attached.append((attachment.joint, values))
            if other is not None and self._is_dark_mod:
                self._hang(other, len(parts) - 1, parts, missing, in_detail)
        return attached

    def _part(
        self, name: str, skin: str, attachment: Attachment | None, missing: set[str], in_detail: bool
    ) -> CharacterPart | None:
        """A model; None if its file is missing, which is added to `missing` with everything else that is."""
        model = self.model(name)
        path = fold_slashes(model.mesh if model is not None else name)
        default = skin or (model.skin if model is not None else "")
        animations = model.animations if model is not None else ()
        missing.update(file for one in animations for file in one.files if not self._files.has(file))
        skins = self._skins_of(name, path, default, in_detail)
        if default and self.skin(default) is None:
            missing.add(f"skin {default}")
            default = ""
        if not self._files.has(path):
            missing.add(path)
            return None
        return CharacterPart(
            model.name if model is not None else split_extension(path.rpartition("/")[2])[0],
            path,
            animations=animations,
            skins=skins,
            default_skin=self._spelled(default),
            offset=model.offset if model is not None else _NOTHING,
            channels=model.channels if model is not None else (),
            attachment=attachment,
            declaration=model.name if model is not None else None,
        )

    def _spelled(self, skin: str) -> str | None:
        found = self.skin(skin) if skin else None
        return found.skin.name if found is not None else None

    def _skins_of(self, name: str, path: str, default: str, in_detail: bool) -> tuple[CharacterSkin, ...]:
        """The skins of a model: the default one, those made for it, and those that entities or materials ask for."""
        names = [default] if default else []
        names += self.skins_by_model.get(fold(path), [])[:_MAX_SKINS]
        names += self.skins_by_entity_model.get(canonical_name(name), [])[:_MAX_SKINS]
        model = self.model(name)
        if model is not None and model.skin:
            names.append(model.skin)
        if in_detail:
            for shader in self._shaders(path):
                names += self.skins_by_material.get(canonical_name(shader), [])[:_MAX_SKINS]
        found: dict[str, CharacterSkin] = {}
        for one in names:
            skin = self.skin(one)
            if skin is not None:
                found.setdefault(canonical_name(one), skin.skin)
        return tuple(found.values())

    def _shaders(self, path: str) -> list[str]:
        """The materials of a model's meshes; none if it cannot be read."""
        file = self._files.find(path) if fold(path).endswith(".md5mesh") else None
        if file is None:
            return []
        try:
            data = file.read()
        except FileReadError:
            # The import reports it.
            return []
        return [match.decode("utf-8", "replace") for match in dict.fromkeys(_SHADER.findall(data))]
