"""Doom 3's declarations of models, entities and skins (`def/*.def`, `skins/*.skin`), with what they inherit.

From Doom 3 (`Anim_Blend.cpp`, `DeclEntityDef.cpp`, `DeclSkin.cpp`):

- `model`: statements in the order in which they apply. `inherit` copies everything of another declaration, and replaces
  what came before it. `mesh`, `skin`, `offset` and each `channel` replace inherited ones; an `anim` with the name of an
  inherited one takes its place. `remove NAME` removes inherited animations, also by their name without its number
  (`pain` for `pain1` and `pain2`).
- `anim NAME FILE[, FILE …] [{ frame N COMMAND …  FLAG … }]`: a frame command ends with its line.
- `entityDef`: pairs of a key and a value; keys are compared without case, and a later one replaces an earlier one.
  Every key that begins with `inherit` names an entity whose pairs are taken where the own ones say nothing.
- `skin`: `model FILE` says what it is made for. Of the pairs, the first that fits a material counts, and `*` fits all.

Where the engine would refuse a declaration, the rest of it is read and a warning says what is wrong.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from ..game_tree.files import FileReadError
from ..game_tree.tree import GameTree
from ..names import fold, fold_slashes, short
from .characters import CharacterAnimation, CharacterPart, CharacterSkin, FrameCommand
from .declaration_files import ENTITY, MODEL, SKIN, Declaration, Token, TokenReader, canonical_name, parse_declarations

# In Doom 3; others, as in Quake 4, are kept too.
FLAGS = ("random_cycle_start", "ai_no_turn", "anim_turn", "prevent_idle_override")
_FRAME = re.compile(r"[0-9]{1,9}\Z")
_FOLDERS = (("def", ".def", ENTITY), ("skins", ".skin", SKIN))
_Inherited = TypeVar("_Inherited", CharacterPart, dict[str, str])
_Chain = tuple[str, ...]
_Find = Callable[[str, _Chain], _Inherited | None]
_MAX_SYNCED = 64  # files of an animation
_MAX_CHAIN = 100  # declarations that inherit from each other; those of the games have up to five
_MAX_INHERITED = 1_000_000  # animations and values, counted for each declaration


class _ModelReader(TokenReader):
    """Reads a model declaration. `find_parent` finds the one that a token names, to be inherited."""

    def __init__(self, declaration: Declaration, find_parent: Callable[[Token], CharacterPart | None]) -> None:
        super().__init__(declaration)
        self._find_parent = find_parent
        self._model = CharacterPart(declaration.name, "", declaration=declaration.name)
        self._channels: dict[str, str] = {}
        self._animations: dict[str, CharacterAnimation] = {}
        # The names of animations that are inherited and not replaced yet, and all by their alias, some removed since.
        self._inherited: set[str] = set()
        self._by_alias: dict[str, list[str]] = defaultdict(list)

    def model(self) -> CharacterPart:
        of_model = f"in model '{short(self.declaration.name)}'"
        while (token := self.next()) is not None:
            kind = token.text.lower()
            if token.kind == "punctuation":
                self.declaration.warn(f"unexpected '{token.text}' {of_model}", token)
                if token.text == "{":
                    self.skip_block()
            elif kind == "offset":
                self._read_offset(token)
            elif kind not in ("inherit", "mesh", "skin", "channel", "anim", "remove"):
                self.declaration.warn(f"unknown word '{short(token.text)}' {of_model}", token)
            elif (value := self.word()) is None:
                self.declaration.warn(f"nothing follows '{token.text}'", token)
            elif kind == "mesh":
                self._model = replace(self._model, model=fold_slashes(value.text))
            elif kind == "skin":
                self._model = replace(self._model, default_skin=fold_slashes(value.text))
            elif kind == "channel":
                self._channels[value.text.lower()] = self._joints(value)
            elif kind == "anim":
                self._add_animation(value)
            elif kind == "remove":
                self._remove_animations(value)
            else:
                self._inherit(self._find_parent(value))
        channels, animations = tuple(self._channels.items()), tuple(self._animations.values())
        return replace(self._model, channels=channels, animations=animations)

    def _inherit(self, parent: CharacterPart | None) -> None:
        if parent is not None:
            self._model = replace(parent, name=self._model.name, declaration=self._model.name)
            self._channels = dict(parent.channels)
            self._animations = {one.name: one for one in parent.animations}
            self._inherited = set(self._animations)
            self._by_alias.clear()
            for name in self._animations:
                self._by_alias[alias(name)].append(name)

    def _read_offset(self, token: Token) -> None:
        words: list[str] = []
        is_open = self.accept("(")
        while is_open and (word := self.word()) is not None:
            words.append(word.text)
        # A sign may stand by itself.
        numbers = [_number(text) for text in re.sub("([-+]) ", r"\1", " ".join(words)).split()]
        if not is_open or not self.accept(")") or len(numbers) != 3 or not all(map(math.isfinite, numbers)):
            self.declaration.warn("expected three numbers in brackets after 'offset'", token)
        else:
            self._model = replace(self._model, offset=(numbers[0], numbers[1], numbers[2]))

    def _joints(self, name: Token) -> str:
        """The joints of a channel, separated by spaces, with `*` and `-` directly before their name."""
        if not self.accept("("):
            self.declaration.warn(f"expected '(' after the channel '{short(name.text)}'", name)
            return ""
        words: list[str] = []
        while (token := self.peek()) is not None and not token.is_mark(")}{"):
            self.next()
            if token.kind != "punctuation":
                words.append(token.text)
        if not self.accept(")"):
            self.declaration.warn(f"the channel '{short(name.text)}' is not closed with ')'", name)
        return re.sub(r"(?<!\S)([*-]+) ", r"\1", " ".join(words))

    def _add_animation(self, name: Token) -> None:
        files: list[str] = []
        has_more = True
        while has_more:
            file = self.word()
            if file is None:
                self.declaration.warn(f"the animation '{short(name.text)}' has no file", name)
                break
            files.append(fold_slashes(file.text))
            has_more = self.accept(",")
        commands, flags = self._frame_commands(name) if self.accept("{") else ([], [])
        if not files:
            return
        if name.text in self._animations and name.text not in self._inherited:
            self.declaration.warn(f"the animation '{short(name.text)}' is declared twice; the first is used", name)
            return
        self._by_alias[alias(name.text)].append(name.text)
        self._inherited.discard(name.text)
        self._animations[name.text] = CharacterAnimation(
            name.text, tuple(files[:_MAX_SYNCED]), commands=tuple(commands), flags=tuple(dict.fromkeys(flags))
        )

    def _frame_commands(self, name: Token) -> tuple[list[FrameCommand], list[str]]:
        commands: list[FrameCommand] = []
        flags: list[str] = []
        while (token := self.next()) is not None and not token.is_mark("}"):
            if token.is_mark("{"):
                self.declaration.warn("unexpected '{' in an animation", token)
                self.skip_block()
            elif token.kind != "punctuation" and token.text.lower() == "frame":
                self._frame_command(token, commands)
            elif token.kind != "punctuation":
                flags.append(token.text)
        if token is None:
            self.declaration.warn(f"the animation '{short(name.text)}' is not closed with '}}'", name)
        return commands, flags

    def _frame_command(self, token: Token, commands: list[FrameCommand]) -> None:
        number = self.word(token.line)
        words: list[str] = []
        while (following := self.peek()) is not None and following.line == token.line:
            is_next = following.kind == "word" and following.text.lower() in ("frame", *FLAGS)
            if following.is_mark("{}") or (words and is_next):
                break
            self.next()
            words.append(f'"{following.text}"' if following.kind == "string" else following.text)
        if number is None or not words or not _FRAME.match(number.text):
            self.declaration.warn("expected a frame number and a command after 'frame'", token)
        else:
            commands.append(FrameCommand(int(number.text), " ".join(words)))

    def _remove_animations(self, token: Token) -> None:
        names = [token.text, *self._by_alias.pop(token.text, [])]
        removed = [one for one in names if self._animations.pop(one, None) is not None]
        if not removed:
            self.declaration.warn(f"there is no animation '{short(token.text)}' to remove", token)
        self._inherited.difference_update(removed)


def alias(name: str) -> str:
    """The name of an animation without the number at its end: that of all its variants."""
    return name[:1] + name[1:].rstrip("0123456789")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _read_pairs(declaration: Declaration) -> Iterator[tuple[str, str]]:
    reader = TokenReader(declaration)
    while (key := reader.next()) is not None:
        if key.kind == "punctuation":
            declaration.warn(f"unexpected '{key.text}' in {declaration.type} '{short(declaration.name)}'", key)
        elif (value := reader.word()) is None:
            declaration.warn(f"nothing follows '{short(key.text)}'", key)
        else:
            yield key.text, value.text


def read_entity(declaration: Declaration) -> dict[str, str]:
    """The values of an entity declaration by key in lower case, without what it inherits."""
    return {key.lower(): value for key, value in _read_pairs(declaration)}


class DeclarationsByName:
    """The declarations of a game, read when they are first needed."""

    def __init__(self, files: GameTree) -> None:
        self.files = files
        self._parents: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._models: dict[str, CharacterPart] = {}
        self._entities: dict[str, dict[str, str]] = {}
        self._inheritable = _MAX_INHERITED

    @cached_property
    def declared(self) -> dict[str, dict[str, Declaration]]:
        """The declarations of each type by canonical name, in the order in which they are read."""
        found: dict[str, dict[str, Declaration]] = {MODEL: {}, ENTITY: {}, SKIN: {}}
        budget = self.files.budget
        for folder, extension, default_type in _FOLDERS:
            for path in self.files.paths(folder, extension):
                try:
                    text = self.files.read_text(path)
                except FileReadError as error:
                    budget.warn(str(error))
                    continue
                file = parse_declarations(text, path, default_type, budget.tokens)
                budget.take("tokens", file.token_count)
                for one in file.declarations:
                    first = found.get(one.type, {}).setdefault(one.key, one)
                    if first is not one:
                        first.warn(
                            f"{one.type} '{short(one.name)}' is declared again in {one.source}:{one.line}, "
                            "which is ignored"
                        )
        return found

    @cached_property
    def _skins(self) -> dict[str, tuple[CharacterSkin, list[str]]]:
        """The skins by canonical name, each with the paths of the models that it is made for."""
        found = {}
        for key, declaration in self.declared[SKIN].items():
            pairs = [(fold_slashes(old), fold_slashes(new)) for old, new in _read_pairs(declaration)]
            replacements = tuple(pair for pair in pairs if pair[0].lower() != "model")
            models = [model for word, model in pairs if word.lower() == "model"]
            found[key] = CharacterSkin(declaration.name, replacements), models
        return found

    def skin(self, name: str) -> CharacterSkin | None:
        """The skin with a name; None if there is none."""
        found = self._skins.get(canonical_name(name))
        return found[0] if found is not None else None

    def model(self, name: str) -> CharacterPart | None:
        """The model declaration with what it inherits; None if there is none."""
        return self._model(canonical_name(name), ())

    def entity(self, name: str) -> dict[str, str] | None:
        """The values of an entity by key in lower case, with what it inherits; None if there is none."""
        return self._entity(canonical_name(name), ())

    def _model(self, key: str, chain: _Chain) -> CharacterPart | None:
        raw = self.declared[MODEL].get(key)
        if raw is not None and key not in self._models:
            reader = _ModelReader(raw, lambda name: self._parent(raw, name.text, name, chain, self._model))
            self._models[key] = reader.model()
        return self._models.get(key)

    def _entity(self, key: str, chain: _Chain) -> dict[str, str] | None:
        raw = self.declared[ENTITY].get(key)
        if raw is not None and key not in self._entities:
            values = read_entity(raw)
            names = [name for name in values if name.startswith("inherit")]
            for name in [values.pop(name) for name in names]:
                parent = self._parent(raw, name, None, chain, self._entity) or {}
                for inherited, value in parent.items():
                    values.setdefault(inherited, value)
            self._entities[key] = values
        return self._entities.get(key)

    def _parent(
        self, child: Declaration, name: str, token: Token | None, chain: _Chain, find: _Find[_Inherited]
    ) -> _Inherited | None:
        """What a declaration inherits by a name; None, with a warning about the token, if it cannot."""
        key = canonical_name(name)
        self._parents[child.type, child.key].append(key)
        if key in (*chain, child.key):
            problem = "inherits itself"
        elif len(chain) >= _MAX_CHAIN:
            problem = "is left out: the chain is too long"
        elif (parent := find(key, (*chain, child.key))) is None:
            problem = "does not exist"
        else:
            self._inheritable -= len(parent.animations if isinstance(parent, CharacterPart) else parent)
            if self._inheritable >= 0:
                return parent
            problem = "is left out: too much is inherited"
        kind = "model" if child.type == MODEL else "entityDef"
        child.warn(f"the inherited {kind} '{short(name)}' {problem}", token)
        return None

    def warnings_about(self, names: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """The warnings about declarations, given by type and name, and what they inherit, each once."""
        waiting = [(kind, canonical_name(name)) for kind, name in names]
        found: dict[tuple[str, str], list[str]] = {}
        while waiting:
            kind, key = one = waiting.pop()
            if key in self.declared[kind] and one not in found:
                found[one] = self.declared[kind][key].warnings
                waiting += [(kind, parent) for parent in self._parents.get(one, ())]
        return tuple(dict.fromkeys(warning for warnings in found.values() for warning in warnings))

    @cached_property
    def skins_for(self) -> dict[tuple[str, str], list[str]]:
        """Names of skins by (`mesh`, folded path), (`material`, name they replace) or (`model`, name)."""
        result: dict[tuple[str, str], list[str]] = defaultdict(list)
        for skin, models in self._skins.values():
            for model in models:
                result["mesh", fold(model)].append(skin.name)
            for source, _ in skin.replacements:
                result["material", canonical_name(source)].append(skin.name)
        for key in self.declared[ENTITY]:
            values = self.entity(key) or {}
            if values.get("skin") and values.get("model"):
                result["model", canonical_name(values["model"])].append(values["skin"])
        return result
