"""The declarations of Doom 3 by name, with what they inherit: entities and models of `def/*.def`, `skins/*.skin`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from ..game_tree.files import FileReadError
from ..game_tree.names import fold, short
from ..game_tree.tree import GameTree
from .declarations import (
    ENTITY,
    MODEL,
    SKIN,
    RawDeclaration,
    add_warning,
    canonical_name,
    parse_declarations,
)
from .doom3_models import (
    EntityDeclaration,
    ModelBuilder,
    ModelDeclaration,
    SkinDeclaration,
    read_entity,
    read_skin,
    read_statements,
)

_FOLDERS = (("def", ".def", ENTITY), ("skins", ".skin", SKIN))
_MAX_CHAIN = 100
"""Declarations that inherit from each other; those of the games have up to five."""
_MAX_INHERITED = 1_000_000
"""Animations and values that are inherited, counted for each declaration."""


class DeclarationsByName:
    """The declarations of a game, read when they are first needed.

    Attributes:
        unreadable: files that could not be read.
        warnings: about the declarations, each with the file and line that it is about.
    """

    def __init__(self, files: GameTree) -> None:
        self._files = files
        self.unreadable: list[str] = []
        self.warnings: list[str] = []
        self._parents: dict[tuple[str, str], list[str]] = defaultdict(list)
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
                    self.unreadable.append(str(error))
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
                f"{first.at()}: {declaration.type} '{short(declaration.name)}' is declared again in "
                f"{declaration.at()}, which is ignored"
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
            self._parents[MODEL, key].append(parent_key)
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

    def warnings_about(self, declared: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """The warnings about declarations and what they inherit, each once.

        `declared` holds the type and name of each.
        """
        waiting = [(kind, canonical_name(name)) for kind, name in declared]
        spans: dict[tuple[str, str], RawDeclaration] = {}
        while waiting:
            one = waiting.pop()
            raw = self._raw[one[0]].get(one[1])
            if raw is not None and one not in spans:
                spans[one] = raw
                waiting += [(one[0], parent) for parent in self._parents.get(one, ())]
        return tuple(
            dict.fromkeys(text for text in self.warnings if any(raw.holds(text) for raw in spans.values()))
        )

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
            self._parents[ENTITY, key].append(parent_key)
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
    def skins_by_model(self) -> dict[str, list[str]]:
        """The names of the skins that say which model they are for, by its folded path."""
        result: dict[str, list[str]] = defaultdict(list)
        for raw in self._raw[SKIN].values():
            skin = self.skin(raw.name)
            for model in skin.models if skin is not None else ():
                result[fold(model)].append(raw.name)
        return result

    @cached_property
    def skins_by_material(self) -> dict[str, list[str]]:
        """The names of the skins that replace a material, by its canonical name."""
        result: dict[str, list[str]] = defaultdict(list)
        for raw in self._raw[SKIN].values():
            skin = self.skin(raw.name)
            for source, _ in skin.skin.replacements if skin is not None else ():
                if source != "*":
                    result[canonical_name(source)].append(raw.name)
        return result

    @cached_property
    def skins_by_entity_model(self) -> dict[str, list[str]]:
        """The names of the skins that entities give a model, by the model's canonical name."""
        result: dict[str, list[str]] = defaultdict(list)
        for name in self.entity_names:
            entity = self.entity(name)
            values = entity.values if entity is not None else {}
            if values.get("skin") and values.get("model"):
                result[canonical_name(values["model"])].append(values["skin"])
        return result
