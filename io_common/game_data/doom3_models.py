"""Doom 3's declarations of models, entities and skins, from the tokens between their braces.

From the published sources of Doom 3 (`Anim_Blend.cpp`, `DeclEntityDef.cpp`, `DeclSkin.cpp`):

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
from dataclasses import dataclass, field, replace

from ..game_tree.names import fold, fold_slashes, short
from ..textures.mtr_tokens import Token
from .character import CharacterAnimation, CharacterSkin, FrameCommand
from .declarations import RawDeclaration, add_warning

FLAGS = ("random_cycle_start", "ai_no_turn", "anim_turn", "prevent_idle_override")
"""The flags of animations in Doom 3. Others, as in Quake 4, are kept too."""
_MAX_SYNCED = 64
_STATEMENTS = ("inherit", "mesh", "skin", "offset", "channel", "anim", "remove")


@dataclass(frozen=True)
class ModelDeclaration:
    """A model declaration, with what it inherits once it is resolved.

    Attributes:
        name: as written.
        source: the game path of the file.
        line: counted from 1.
        mesh: game path; empty if there is none.
        skin: the default skin; empty if there is none.
        offset: in units of the file.
        channels: pairs of a name and its joints as written.
        animations: in the order of the game.
    """

    name: str
    source: str
    line: int
    mesh: str = ""
    skin: str = ""
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: tuple[tuple[str, str], ...] = ()
    animations: tuple[CharacterAnimation, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A statement of a model declaration.

    Attributes:
        kind: `inherit`, `mesh`, `skin`, `offset`, `channel`, `anim` or `remove`.
        value: a name or path.
        line: counted from 1.
        vector: of an offset.
        joints: of a channel.
        animation: of an `anim`.
    """

    kind: str
    value: str
    line: int
    vector: tuple[float, float, float] = (0.0, 0.0, 0.0)
    joints: str = ""
    animation: CharacterAnimation | None = None


@dataclass
class EntityDeclaration:
    """An entity declaration.

    Attributes:
        name: as written.
        source: the game path of the file.
        line: counted from 1.
        values: by key in lower case, in the order of the file.
    """

    name: str
    source: str
    line: int
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SkinDeclaration:
    """A skin declaration.

    Attributes:
        skin: its name and replacements.
        source: the game path of the file.
        line: counted from 1.
        models: the models that it is made for.
    """

    skin: CharacterSkin
    source: str
    line: int
    models: tuple[str, ...] = ()


class _Reader:
    """The tokens of a declaration, one after the other."""

    def __init__(self, declaration: RawDeclaration, warnings: list[str]) -> None:
        self.declaration = declaration
        self._tokens = declaration.tokens
        self._index = 0
        self._warnings = warnings

    def next(self) -> Token | None:
        """The next token, which is passed; None at the end."""
        token = self.peek()
        self._index += 1
        return token

    def peek(self) -> Token | None:
        """The next token; None at the end."""
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def accept(self, punctuation: str) -> bool:
        """Whether the next token is this punctuation, which is passed then."""
        token = self.peek()
        if token is None or token.kind != "punctuation" or token.text != punctuation:
            return False
        self._index += 1
        return True

    def word(self) -> Token | None:
        """The next token if it is a word or a string, which is passed; else None."""
        token = self.peek()
        if token is None or token.kind == "punctuation":
            return None
        self._index += 1
        return token

    def word_on_line(self, line: int) -> Token | None:
        """The next word if it is in this line, which is passed; else None."""
        token = self.peek()
        return self.word() if token is not None and token.line == line else None

    def warn(self, token: Token | None, text: str) -> None:
        """Adds a warning with the place of a token."""
        add_warning(self._warnings, f"{self.declaration.at(token)}: {text}")

    def skip_block(self) -> None:
        """Passes everything up to the closing brace that belongs to an opening one that was passed."""
        depth = 1
        while depth and (token := self.next()) is not None:
            if token.kind == "punctuation":
                depth += (token.text == "{") - (token.text == "}")


def read_statements(declaration: RawDeclaration, warnings: list[str]) -> list[Statement]:
    """The statements of a model declaration, in order; what cannot be understood is skipped with a warning."""
    reader = _Reader(declaration, warnings)
    statements = []
    while (token := reader.next()) is not None:
        word = token.text.lower()
        if token.kind == "punctuation":
            reader.warn(token, f"unexpected '{token.text}' in model '{short(declaration.name)}'")
            if token.text == "{":
                reader.skip_block()
            continue
        if word not in _STATEMENTS:
            reader.warn(token, f"unknown word '{short(token.text)}' in model '{short(declaration.name)}'")
            continue
        statement = _statement(reader, token, word)
        if statement is not None:
            statements.append(statement)
    return statements


def _statement(reader: _Reader, token: Token, kind: str) -> Statement | None:
    if kind == "offset":
        vector = _vector(reader)
        if vector is None:
            reader.warn(token, "expected three numbers in brackets after 'offset'")
            return None
        return Statement(kind, "", token.line, vector=vector)
    name = reader.word()
    if name is None:
        reader.warn(token, f"nothing follows '{token.text}'")
        return None
    if kind == "channel":
        return Statement(kind, name.text.lower(), token.line, joints=_joints(reader, name))
    if kind == "anim":
        animation = _animation(reader, name)
        return Statement(kind, name.text, token.line, animation=animation) if animation is not None else None
    value = fold_slashes(name.text) if kind in ("mesh", "skin") else name.text
    return Statement(kind, value, token.line)


def _vector(reader: _Reader) -> tuple[float, float, float] | None:
    """Three numbers in brackets."""
    if not reader.accept("("):
        return None
    numbers: list[float] = []
    sign = ""
    while (token := reader.word()) is not None:
        if token.text in ("-", "+"):
            sign = token.text
            continue
        try:
            numbers.append(float(sign + token.text))
        except ValueError:
            return None
        sign = ""
    is_closed = reader.accept(")")
    if not is_closed or len(numbers) != 3 or not all(math.isfinite(number) for number in numbers):
        return None
    return numbers[0], numbers[1], numbers[2]


def _joints(reader: _Reader, name: Token) -> str:
    """The joints of a channel, separated by spaces, with `*` and `-` directly before the name that they belong to."""
    if not reader.accept("("):
        reader.warn(name, f"expected '(' after the channel '{short(name.text)}'")
        return ""
    words: list[str] = []
    is_open = False
    while (token := reader.peek()) is not None and token.text != ")":
        if token.kind == "punctuation":
            if token.text in "{}":
                break
            reader.next()
            continue
        reader.next()
        if is_open:
            words[-1] += token.text
        else:
            words.append(token.text)
        is_open = token.kind == "word" and token.text.strip("*-") == ""
    if not reader.accept(")"):
        reader.warn(name, f"the channel '{short(name.text)}' is not closed with ')'")
    return " ".join(words)


def _animation(reader: _Reader, name: Token) -> CharacterAnimation | None:
    files: list[str] = []
    while True:
        file = reader.word()
        if file is None:
            reader.warn(name, f"the animation '{short(name.text)}' has no file")
            break
        if len(files) < _MAX_SYNCED:
            files.append(fold_slashes(file.text))
        if not reader.accept(","):
            break
    commands: list[FrameCommand] = []
    flags: list[str] = []
    if reader.accept("{"):
        _frame_commands(reader, name, commands, flags)
    if not files:
        return None
    return CharacterAnimation(
        name.text, tuple(files), commands=tuple(commands), flags=tuple(dict.fromkeys(flags))
    )


def _frame_commands(reader: _Reader, name: Token, commands: list[FrameCommand], flags: list[str]) -> None:
    while True:
        token = reader.next()
        if token is None:
            reader.warn(name, f"the animation '{short(name.text)}' is not closed with '}}'")
            return
        if token.kind == "punctuation":
            if token.text == "}":
                return
            if token.text == "{":
                reader.warn(token, "unexpected '{' in an animation")
                reader.skip_block()
            continue
        if token.text.lower() != "frame":
            flags.append(token.text)
            continue
        number = reader.word_on_line(token.line)
        frame = _whole_number(number.text) if number is not None else None
        words: list[str] = []
        while (following := reader.peek()) is not None and following.line == token.line:
            if following.kind == "punctuation" and following.text in "{}":
                break
            if words and following.kind == "word" and following.text.lower() in ("frame", *FLAGS):
                break
            reader.next()
            words.append(f'"{following.text}"' if following.kind == "string" else following.text)
        if frame is None or not words:
            reader.warn(token, "expected a frame number and a command after 'frame'")
            continue
        commands.append(FrameCommand(frame, " ".join(words)))


def _whole_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


class ModelBuilder:
    """A model declaration while its statements are applied."""

    def __init__(self, declaration: RawDeclaration, warnings: list[str]) -> None:
        self._model = ModelDeclaration(declaration.name, declaration.source, declaration.line)
        self._warnings = warnings
        self._channels: dict[str, str] = {}
        self._animations: dict[str, CharacterAnimation] = {}
        # Those that are inherited and not replaced yet.
        self._inherited: set[str] = set()
        self._by_alias: dict[str, list[str]] | None = None

    def inherit(self, parent: ModelDeclaration) -> None:
        """Takes everything from another declaration, in place of what there is."""
        own = self._model
        self._model = replace(parent, name=own.name, source=own.source, line=own.line)
        self._channels = dict(parent.channels)
        self._animations = {one.name: one for one in parent.animations}
        self._inherited = set(self._animations)
        self._by_alias = None

    def apply(self, statement: Statement) -> None:
        """Applies a statement other than `inherit`."""
        if statement.kind == "mesh":
            self._model = replace(self._model, mesh=statement.value)
        elif statement.kind == "skin":
            self._model = replace(self._model, skin=statement.value)
        elif statement.kind == "offset":
            self._model = replace(self._model, offset=statement.vector)
        elif statement.kind == "channel":
            self._channels[statement.value] = statement.joints
        elif statement.kind == "remove":
            self._remove(statement)
        elif statement.animation is not None:
            self._add(statement, statement.animation)

    def _add(self, statement: Statement, animation: CharacterAnimation) -> None:
        if animation.name in self._animations and animation.name not in self._inherited:
            self._warn(
                statement, f"the animation '{short(animation.name)}' is declared twice; the first is used"
            )
            return
        if animation.name not in self._animations:
            self._by_alias = None
        self._animations[animation.name] = animation
        self._inherited.discard(animation.name)

    def _remove(self, statement: Statement) -> None:
        if self._by_alias is None:
            self._by_alias = {}
            for name in self._animations:
                self._by_alias.setdefault(alias(name), []).append(name)
        names = [statement.value, *self._by_alias.get(statement.value, [])]
        removed = [name for name in names if self._animations.pop(name, None) is not None]
        if not removed:
            self._warn(statement, f"there is no animation '{short(statement.value)}' to remove")
        self._inherited.difference_update(removed)

    def _warn(self, statement: Statement, text: str) -> None:
        add_warning(self._warnings, f"{self._model.source}:{statement.line}: {text}")

    def model(self) -> ModelDeclaration:
        """The declaration with all statements so far."""
        return replace(
            self._model,
            channels=tuple(self._channels.items()),
            animations=tuple(self._animations.values()),
        )


def alias(name: str) -> str:
    """The name of an animation without the number at its end: that of all its variants."""
    return name[:1] + name[1:].rstrip("0123456789")


def read_entity(declaration: RawDeclaration, warnings: list[str]) -> EntityDeclaration:
    """The pairs of an entity declaration, without what it inherits."""
    reader = _Reader(declaration, warnings)
    entity = EntityDeclaration(declaration.name, declaration.source, declaration.line)
    while (key := reader.next()) is not None:
        if key.kind == "punctuation":
            reader.warn(key, f"unexpected '{key.text}' in entityDef '{short(declaration.name)}'")
            continue
        value = reader.word()
        if value is None:
            reader.warn(key, f"the key '{short(key.text)}' has no value")
            continue
        entity.values[key.text.lower()] = value.text
    return entity


def read_skin(declaration: RawDeclaration, warnings: list[str]) -> SkinDeclaration:
    """The replacements of a skin declaration."""
    reader = _Reader(declaration, warnings)
    models: list[str] = []
    replacements: list[tuple[str, str]] = []
    while (first := reader.next()) is not None:
        if first.kind == "punctuation":
            reader.warn(first, f"unexpected '{first.text}' in skin '{short(declaration.name)}'")
            continue
        second = reader.word()
        if second is None:
            reader.warn(first, f"nothing follows '{short(first.text)}' in skin '{short(declaration.name)}'")
        elif first.text.lower() == "model":
            models.append(fold(second.text))
        else:
            replacements.append((fold_slashes(first.text), fold_slashes(second.text)))
    return SkinDeclaration(
        CharacterSkin(declaration.name, tuple(replacements)),
        declaration.source,
        declaration.line,
        tuple(models),
    )
