"""The characters of Doom 3 and its relatives: entities and models of `def/*.def` with the skins of `skins/*.skin`.

From the published sources of Doom 3 (`Actor.cpp`, `Entity.cpp`, `Anim_Blend.cpp`): the `model` of an entity is a model
declaration, else the path of a model, and its `skin` replaces that of the declaration. What hangs on an entity is in
`doom3_attachments`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cached_property

from ..textures.game_files import FileReadError
from ..textures.names import fold, fold_slashes, short, split_extension
from .character import (
    DOOM3,
    MODEL_SUFFIXES,
    Attachment,
    Character,
    CharacterPart,
    CharacterSkin,
    Declaration,
)
from .declarations import (
    ENTITY,
    MODEL,
    SKIN,
    RawDeclaration,
    add_warning,
    canonical_name,
    parse_declarations,
)
from .doom3_attachments import attachments_of, replaced
from .doom3_models import (
    EntityDeclaration,
    ModelBuilder,
    ModelDeclaration,
    SkinDeclaration,
    read_entity,
    read_skin,
    read_statements,
)
from .files import GameFiles

_FOLDERS = (("def", ".def", ENTITY), ("skins", ".skin", SKIN))
_SHADER = re.compile(rb'^[ \t]*shader\s+"([^"\n]*)"', re.MULTILINE)
_MAX_CHAIN = 100
"""Declarations that inherit from each other; those of the games have up to five."""
_MAX_INHERITED = 1_000_000
"""Animations and values that are inherited, counted for each declaration."""
_MAX_SKINS = 256
"""Skins of a model."""
_MAX_ATTACHED = 64
"""Parts that are attached to a character."""
_NOTHING = (0.0, 0.0, 0.0)


class Doom3Declarations:
    """The declarations of a game, read when they are first needed.

    Args:
        files: of the game.

    Attributes:
        warnings: about the declarations, each with file and line.
    """

    def __init__(self, files: GameFiles) -> None:
        self._files = files
        self.warnings: list[str] = []
        self._models: dict[str, ModelDeclaration] = {}
        self._entities: dict[str, EntityDeclaration] = {}
        self._inheritable = _MAX_INHERITED
        self._skins: dict[str, SkinDeclaration] = {}

    @cached_property
    def _raw(self) -> dict[str, dict[str, RawDeclaration]]:
        """The declarations of each type by canonical name, in the order in which they are read."""
        found: dict[str, dict[str, RawDeclaration]] = {MODEL: {}, ENTITY: {}, SKIN: {}}
        for folder, extension, default_type in _FOLDERS:
            for path in self._files.paths(folder, extension):
                try:
                    text = self._files.read_text(path)
                except FileReadError as error:
                    self.warnings.append(str(error))
                    continue
                budget = self._files.budget
                file = parse_declarations(text, path, default_type, budget.tokens)
                budget.take("tokens", file.token_count)
                self.warnings += file.warnings
                for declaration in file.declarations:
                    if declaration.type in found:
                        self._add(found[declaration.type], declaration)
        return found

    def _add(self, known: dict[str, RawDeclaration], declaration: RawDeclaration) -> None:
        first = known.setdefault(canonical_name(declaration.name), declaration)
        if first is not declaration:
            self._warn(
                f"{declaration.at()}: {declaration.type} '{short(declaration.name)}' is already declared in "
                f"{first.at()}, which is used"
            )

    # --- Declarations by name

    @property
    def model_names(self) -> list[str]:
        """The names of all model declarations, in the order in which they are read."""
        return [declaration.name for declaration in self._raw[MODEL].values()]

    @property
    def entity_names(self) -> list[str]:
        """The names of all entity declarations, in the order in which they are read."""
        return [declaration.name for declaration in self._raw[ENTITY].values()]

    def model(self, name: str) -> ModelDeclaration | None:
        """The model declaration with what it inherits; None if there is none."""
        return self._model(canonical_name(name), ())

    def _model(self, key: str, chain: tuple[str, ...]) -> ModelDeclaration | None:
        if key in self._models:
            return self._models[key]
        raw = self._raw[MODEL].get(key)
        if raw is None:
            return None
        builder = ModelBuilder(raw, self.warnings)
        for statement in read_statements(raw, self.warnings):
            if statement.kind != "inherit":
                builder.apply(statement)
                continue
            parent_key = canonical_name(statement.value)
            parent = (
                self._model(parent_key, (*chain, key)) if self._may_inherit(parent_key, chain, key) else None
            )
            if parent is None or not self._take_inherited(len(parent.animations)):
                reason = self._why_not(parent_key, chain, key, parent)
                self._warn(
                    f"{raw.source}:{statement.line}: the inherited model '{short(statement.value)}' {reason}"
                )
                continue
            builder.inherit(parent)
        self._models[key] = builder.model()
        return self._models[key]

    @staticmethod
    def _may_inherit(parent: str, chain: tuple[str, ...], key: str) -> bool:
        return parent != key and parent not in chain and len(chain) < _MAX_CHAIN

    def _take_inherited(self, count: int) -> bool:
        self._inheritable -= count
        return self._inheritable >= 0

    @staticmethod
    def _why_not(parent: str, chain: tuple[str, ...], key: str, found: object) -> str:
        if found is not None:
            return "is left out: too much is inherited"
        if parent == key or parent in chain:
            return "inherits itself"
        return "does not exist" if len(chain) < _MAX_CHAIN else "is left out: the chain is too long"

    def _warn(self, warning: str) -> None:
        add_warning(self.warnings, warning)

    def entity(self, name: str) -> EntityDeclaration | None:
        """The entity declaration with what it inherits; None if there is none."""
        return self._entity(canonical_name(name), ())

    def _entity(self, key: str, chain: tuple[str, ...]) -> EntityDeclaration | None:
        if key in self._entities:
            return self._entities[key]
        raw = self._raw[ENTITY].get(key)
        if raw is None:
            return None
        entity = read_entity(raw, self.warnings)
        parents = [name for name in entity.values if name.startswith("inherit")]
        values = {name: value for name, value in entity.values.items() if not name.startswith("inherit")}
        for parent_name in parents:
            value = entity.values[parent_name]
            parent_key = canonical_name(value)
            parent = (
                self._entity(parent_key, (*chain, key)) if self._may_inherit(parent_key, chain, key) else None
            )
            if parent is None or not self._take_inherited(len(parent.values)):
                reason = self._why_not(parent_key, chain, key, parent)
                self._warn(f"{raw.at()}: the inherited entityDef '{short(value)}' {reason}")
                continue
            for inherited, inherited_value in parent.values.items():
                values.setdefault(inherited, inherited_value)
        entity.values = values
        self._entities[key] = entity
        return entity

    def skin(self, name: str) -> SkinDeclaration | None:
        """The skin declaration; None if there is none."""
        key = canonical_name(name)
        if key not in self._skins:
            raw = self._raw[SKIN].get(key)
            if raw is None:
                return None
            self._skins[key] = read_skin(raw, self.warnings)
        return self._skins[key]

    @cached_property
    def _skins_by_model(self) -> dict[str, list[str]]:
        """The names of the skins that say which model they are for, by its folded path."""
        result: dict[str, list[str]] = defaultdict(list)
        for raw in self._raw[SKIN].values():
            skin = self.skin(raw.name)
            for model in skin.models if skin is not None else ():
                result[fold(model)].append(raw.name)
        return result

    @cached_property
    def _skins_by_material(self) -> dict[str, list[str]]:
        """The names of the skins that replace a material, by its canonical name."""
        result: dict[str, list[str]] = defaultdict(list)
        for raw in self._raw[SKIN].values():
            skin = self.skin(raw.name)
            for source, _ in skin.skin.replacements if skin is not None else ():
                if source != "*":
                    result[canonical_name(source)].append(raw.name)
        return result

    @cached_property
    def _skins_by_entity_model(self) -> dict[str, list[str]]:
        """The names of the skins that entities give a model, by the model's canonical name."""
        result: dict[str, list[str]] = defaultdict(list)
        for name in self.entity_names:
            entity = self.entity(name)
            values = entity.values if entity is not None else {}
            if values.get("skin") and values.get("model"):
                result[canonical_name(values["model"])].append(values["skin"])
        return result

    # --- Characters

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

        Args:
            name: of the entity.
            in_detail: also find the skins that fit the materials of the meshes, which are read for that.
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

        Args:
            name: of the declaration.
            in_detail: see `entity_character`.
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
        sources = {declaration.file}
        for part in parts:
            model = self.model(part.declaration) if part.declaration is not None else None
            if model is not None:
                sources.add(model.source)
        return Character(
            name,
            DOOM3,
            tuple(parts),
            tuple(sorted(missing)),
            declaration,
            tuple(
                dict.fromkeys(
                    text for text in self.warnings if text.rpartition(":")[0] and _in(text, sources)
                )
            ),
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

        Args:
            entity: the entity.
            index: of its part.
            parts: gets the parts.
            missing: gets what is named but not there.
            in_detail: see `entity_character`.
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
        names += self._skins_by_model.get(fold(path), [])[:_MAX_SKINS]
        names += self._skins_by_entity_model.get(canonical_name(name), [])[:_MAX_SKINS]
        model = self.model(name)
        if model is not None and model.skin:
            names.append(model.skin)
        if in_detail:
            for shader in self._shaders(path):
                names += self._skins_by_material.get(canonical_name(shader), [])[:_MAX_SKINS]
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


def _in(warning: str, sources: set[str]) -> bool:
    """Whether a warning is about one of the files."""
    return any(warning.startswith(f"{source}:") for source in sources)
