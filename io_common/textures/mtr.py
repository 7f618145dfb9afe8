"""Doom 3 material declarations (.mtr): which images a material is made of.

Facts, read in the published source of Doom 3 (`DeclManager.cpp`, `Material.cpp`, `Image_program.cpp`):

- A file holds any number of declarations `[type] name { ... }`; without a type it is a material. Names are compared
  without regard to case, slash or backslash, and without extension.
- Files are read in alphabetical order, and of declarations with the same name **the first one read stays**; later ones
  are skipped with a warning ("previously defined at"), in the same file as well as in others.
- `diffusemap X`, `bumpmap X` and `specularmap X` are short for a stage `{ blend diffusemap map X }` and so on.
- X is an image program: the name of an image, or a function of image programs and numbers, `heightmap(x, scale)`,
  `addnormals(a, b)`, `smoothnormals(x)`, `add(a, b)`, `scale(x, r, g, b, a)`, `invertAlpha(x)`, `invertColor(x)`,
  `makeIntensity(x)`, `makeAlpha(x)`; Quake 4 adds `downsize(x, n)`, XreaL `displaceMap(normals, heights)`. Names that
  begin with an underscore (`_flat`, `_white`) are made by the engine.
- A material without interaction stages (diffuse, bump, specular) whose first stage is blended is translucent.
- XreaL, whose materials have this form too, says `normalMap` for `bumpmap` and `stage` for `blend`.

Real files are not always balanced: reading goes on where the next declaration plainly begins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .budget import MAX_TOKENS
from .names import fold, split_extension

# --- Image expressions


@dataclass(frozen=True)
class MapImage:
    """An image file: its name as written, relative to the game folder, with or without extension."""

    name: str


@dataclass(frozen=True)
class BuiltIn:
    """An image that the engine makes: `_white`, `_flat`, `$lightmap` ..."""

    name: str

    @property
    def colour(self) -> tuple[float, float, float, float] | None:
        """RGBA in 0...1 for the built-in images of one colour, else None."""
        return _BUILT_IN_COLOURS.get(self.name.lower().lstrip("_$*"))


@dataclass(frozen=True)
class Call:
    """A function of images and numbers; `function` is in lower case."""

    function: str
    images: tuple[ImageExpression, ...]
    numbers: tuple[float, ...] = ()


ImageExpression = MapImage | BuiltIn | Call

_BUILT_IN_COLOURS = {
    "white": (1.0, 1.0, 1.0, 1.0),
    "whiteimage": (1.0, 1.0, 1.0, 1.0),
    "black": (0.0, 0.0, 0.0, 1.0),
    "blackimage": (0.0, 0.0, 0.0, 1.0),
    "flat": (0.5, 0.5, 1.0, 1.0),
}


class MapUse(NamedTuple):
    """One image of an expression, with what is done to it on the way to the top.

    functions: outermost first, in lower case. factor: product of the `scale` functions, RGBA. height_scale: the
    number of the innermost `heightmap`, None where the image is not a height map.
    """

    name: str
    functions: tuple[str, ...]
    factor: tuple[float, float, float, float]
    height_scale: float | None


def map_uses(expression: ImageExpression | None) -> list[MapUse]:
    """All image files of an expression, in the order in which they are written."""
    found: list[MapUse] = []
    stack: list[tuple[ImageExpression, MapUse]] = []
    if expression is not None:
        stack.append((expression, MapUse("", (), (1.0, 1.0, 1.0, 1.0), None)))
    while stack:
        node, use = stack.pop()
        if isinstance(node, MapImage):
            found.append(use._replace(name=node.name))
        elif isinstance(node, Call):
            factor, height = use.factor, use.height_scale
            if node.function == "scale":
                r, g, b, a = (*node.numbers, 1.0, 1.0, 1.0, 1.0)[:4]
                factor = (factor[0] * r, factor[1] * g, factor[2] * b, factor[3] * a)
            inner = use._replace(functions=(*use.functions, node.function), factor=factor)
            for index, image in reversed(list(enumerate(node.images))):
                if node.function == "heightmap":
                    height = node.numbers[0] if node.numbers else 1.0
                elif node.function == "displacemap" and index == 1:
                    height = 1.0
                else:
                    height = use.height_scale
                stack.append((image, inner._replace(height_scale=height)))
    return found


# --- Materials


@dataclass
class Material:
    """What a declaration says of the looks of a surface.

    name: as written. diffuse, bump, specular: the image expressions, or None. fallback: image of the first blended
    stage, for materials without diffuse; fallback_blend: how it is blended, in lower case (`add`, `blend`, `filter`,
    `gl_one,gl_zero` ...). editor_image: `qer_editorimage`, the last resort. alpha_test: the threshold in 0...1, 0.5
    where it is not a constant, or None; alpha_image: the image whose alpha is tested. source, line: the file's name
    as given and the line, from 1.
    """

    name: str
    diffuse: ImageExpression | None = None
    bump: ImageExpression | None = None
    specular: ImageExpression | None = None
    fallback: ImageExpression | None = None
    fallback_blend: str = ""
    editor_image: str | None = None
    alpha_test: float | None = None
    alpha_image: ImageExpression | None = None
    two_sided: bool = False
    translucent: bool = False
    source: str = ""
    line: int = 0


@dataclass
class MaterialFile:
    """The materials of one file by canonical name (the first of equals), and what was odd about the file.

    token_count: how many words and brackets were looked at.
    """

    materials: dict[str, Material] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    token_count: int = 0

    def warn(self, warning: str) -> None:
        """Adds a warning; of a file that is odd throughout the first ones say enough."""
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(warning)


def canonical_name(name: str) -> str:
    """Form in which materials' names are compared: lower case, forward slashes, no extension."""
    return split_extension(fold(name))[0]


_TYPES = frozenset(
    [
        *(
            "material",
            "table",
            "skin",
            "sound",
            "entitydef",
            "model",
            "mapdef",
            "fx",
            "particle",
            "pda",
            "email",
        ),
        *(
            "articulatedfigure",
            "video",
            "audio",
            "export",
            "camera",
            "guide",
            "playback",
            "effect",
            "materialtype",
        ),
    ]
)

# Words end at white space, brackets, commas, quotes and comments.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | "(?P<string>[^"\n]*)"?
      | (?P<mark>[{}(),\[\]])
      | (?P<word>(?:[^\s{}(),"/\[\]]|/(?![/*]))+)
    """,
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    text: str
    kind: str
    """`string`, `mark` or `word`."""
    line: int
    first: bool
    """Whether it is the first of its line."""


def _tokens(text: str) -> Iterator[_Token]:
    """All of the text, comments too: to pass over them takes time as well."""
    line, position, last_line = 1, 0, 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        line += text.count("\n", position, start)
        position = start
        kind = match.lastgroup or ""
        yield _Token(match[kind], kind, line, line != last_line)
        if kind != "comment":
            last_line = line


def parse_mtr(text: str, source: str = "", max_tokens: int = MAX_TOKENS) -> MaterialFile:
    """Read all materials of a file.

    text: the file's text; source: its name, for messages; max_tokens: how many words and brackets are looked at, in a
    fixed time for each. Declarations of other types are passed over. Never raises for bad text: what cannot be
    understood is skipped, and said in `warnings` where it may matter.
    """
    result = MaterialFile()
    tokens = []
    for token in _tokens(text):
        if result.token_count == max_tokens:
            result.warn(
                f"{source}:{token.line}: the rest of the file is left out, as there are too many materials"
            )
            break
        result.token_count += 1
        if token.kind != "comment":
            tokens.append(token)
    index = 0
    prefix: list[_Token] = []
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "mark" and token.text == "{":
            end, closed = _body_end(tokens, index + 1)
            if not prefix:
                result.warn(f"{source}:{token.line}: declaration without a name")
            else:
                if not closed:
                    result.warn(f"{source}:{prefix[-1].line}: '{_short(prefix[-1].text)}' is not closed")
                _add_declaration(result, prefix, tokens[index + 1 : end], source)
            prefix = []
            index = end + 1 if closed else end
        elif token.kind == "mark":
            if token.text == "}":
                result.warn(f"{source}:{token.line}: closing brace without an opening one")
                prefix = []
            index += 1
        else:
            prefix.append(token)
            index += 1
    return result


def _add_declaration(result: MaterialFile, prefix: list[_Token], body: list[_Token], source: str) -> None:
    name = prefix[-1]
    kind = prefix[-2].text.lower() if len(prefix) > 1 and prefix[-2].kind == "word" else ""
    strays = prefix[:-2] if kind in _TYPES else prefix[:-1]
    if strays:
        result.warn(f"{source}:{strays[0].line}: '{_short(strays[0].text)}' belongs to no declaration")
    if kind in _TYPES and kind != "material":
        return
    key = canonical_name(name.text)
    earlier = result.materials.get(key)
    if earlier is not None:
        result.warn(f"{source}:{name.line}: '{_short(name.text)}' is already defined in line {earlier.line}")
        return
    reader = _Body(body)
    material = reader.material(name.text)
    material.source, material.line = source, name.line
    result.materials[key] = material
    if reader.left_out:
        result.warn(
            f"{source}:{name.line}: an image of '{_short(name.text)}' is made of more than {MAX_PARTS} parts or "
            f"{_MAX_NESTING} functions in each other; the rest is left out"
        )


def _short(text: str) -> str:
    """A word for a message."""
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def _body_end(tokens: list[_Token], index: int) -> tuple[int, bool]:
    """Index of the brace that closes the body starting at `index`, and True; else where the next one starts, False.

    A body that is not closed is recognised by what cannot stand in one: a path alone on its line (or behind
    `material`) right before an opening brace, or a brace inside a stage.
    """
    depth = 1
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "mark" and token.text == "}":
            depth -= 1
            if depth == 0:
                return index, True
        elif token.kind == "mark" and token.text == "{":
            before = tokens[index - 1]
            typed = index > 1 and tokens[index - 2].text.lower() == "material" and tokens[index - 2].first
            if before.kind != "mark" and (typed or (before.first and (depth > 1 or "/" in before.text))):
                return (index - 2 if typed else index - 1), False
            depth += 1
        index += 1
    return index, False


@dataclass
class _Stage:
    blend: str = ""
    image: ImageExpression | None = None
    alpha_test: float | None = None


_INTERACTIONS = {
    "diffusemap": "diffuse",
    "bumpmap": "bump",
    "normalmap": "bump",
    "specularmap": "specular",
}

_REST_OF_LINE = frozenset(("description", "renderbump", "guisurf", "materialtype"))

MAX_PARTS = 64
"""Most images and functions of one expression; games' own have fewer than ten."""
_MAX_NESTING = 32
_MAX_NUMBERS = 8
_MAX_WARNINGS = 20
_MAX_SHOWN = 100
# No game multiplies an image by more, and powers of it are still numbers.
_MAX_FACTOR = 1e6


class _Body:
    """Reader of the tokens between the braces of one material."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._parts = 0
        self.left_out = False
        """Whether an expression was too long."""

    def material(self, name: str) -> Material:
        material = Material(name)
        stages: list[_Stage] = []
        opaque = False
        while (token := self._next()) is not None:
            word = token.text.lower()
            if token.kind == "mark" and word == "{":
                stages.append(self._stage())
            elif token.kind != "word":
                continue
            elif word in _INTERACTIONS:
                stages.append(_Stage(word, self._expression()))
            elif word == "qer_editorimage":
                words = self._line(token.line)
                material.editor_image = material.editor_image or (words[0].text if words else None)
            elif word in _REST_OF_LINE:
                self._line(token.line)
            elif word == "twosided":
                material.two_sided = True
            elif word == "cull":
                # The way of Quake III and XreaL.
                words = self._line(token.line)
                material.two_sided |= bool(words) and words[0].text.lower() in ("none", "disable", "twosided")
            elif word == "translucent":
                material.translucent = True
            elif word == "forceopaque":
                opaque = True
            elif word == "alphatest":
                material.alpha_test = self._number(0.5)
        self._take_stages(material, stages)
        if opaque:
            material.translucent = False
        return material

    @staticmethod
    def _take_stages(material: Material, stages: list[_Stage]) -> None:
        tested = [stage for stage in stages if stage.alpha_test is not None]
        # The diffuse stage's own test comes first: it is what an artist sees.
        tested.sort(key=lambda stage: _INTERACTIONS.get(stage.blend) != "diffuse")
        if tested:
            material.alpha_test = tested[0].alpha_test
            material.alpha_image = tested[0].image
        for stage in stages:
            role = _INTERACTIONS.get(stage.blend)
            if role and stage.image is not None and getattr(material, role) is None:
                setattr(material, role, stage.image)
        ambient = [s for s in stages if s.blend not in _INTERACTIONS and s.image is not None]
        # A stage with `blend none` draws nothing (it is an alpha mask), and the engine's own images show nothing.
        ambient.sort(key=lambda s: s.blend == "none" or not map_uses(s.image))
        if ambient:
            material.fallback, material.fallback_blend = ambient[0].image, ambient[0].blend
        lit = any(stage.blend in _INTERACTIONS for stage in stages)
        first = stages[0].blend if stages else ""
        if not lit and first not in ("", "none", "gl_one,gl_zero") and not tested:
            material.translucent = True

    def _stage(self) -> _Stage:
        stage = _Stage()
        while (token := self._next()) is not None:
            word = token.text.lower()
            if token.kind == "mark" and word == "}":
                break
            if token.kind != "word":
                continue
            if word in ("blend", "stage"):
                stage.blend = self._blend()
            elif word in ("map", "clampmap"):
                image = self._expression()
                stage.image = stage.image or image
            elif word == "alphatest":
                stage.alpha_test = self._number(0.5)
            elif word == "alphafunc":
                words = self._line(token.line)
                stage.alpha_test = {"gt0": 0.004, "lt128": 0.5, "ge128": 0.5}.get(
                    words[0].text.lower() if words else "", 0.5
                )
            elif word == "name":
                self._line(token.line)
        return stage

    def _blend(self) -> str:
        token = self._word()
        if token is None:
            return ""
        source = token.text.lower()
        if not source.startswith("gl_"):
            return source
        if self._peek_mark(","):
            self._index += 1
        target = self._word()
        return f"{source},{target.text.lower()}" if target is not None else source

    def _expression(self) -> ImageExpression | None:
        self._parts = 0
        return self._part(0)

    def _part(self, depth: int) -> ImageExpression | None:
        """An image or a call; None where there is none, or there were enough."""
        token = self._word()
        if token is None:
            return None
        is_call = token.kind == "word" and self._peek_mark("(")
        if depth > _MAX_NESTING or self._parts == MAX_PARTS:
            self.left_out = True
            if is_call:
                self._skip_call()
            return None
        self._parts += 1
        if is_call:
            self._index += 1
            return self._call(token.text.lower(), depth)
        if not token.text:
            return None
        if token.text[0] in "_$*" and "/" not in token.text:
            return BuiltIn(token.text)
        return MapImage(token.text)

    def _call(self, function: str, depth: int) -> ImageExpression:
        images: list[ImageExpression] = []
        numbers: list[float] = []
        while (token := self._peek()) is not None:
            if token.kind == "mark":
                if token.text in "{}":
                    break
                self._index += 1
                if token.text == ")":
                    break
                continue
            number = _float(token.text) if token.kind == "word" else None
            if number is not None and images:
                self._index += 1
                numbers.append(number)
                continue
            image = self._part(depth + 1)
            if image is not None:
                images.append(image)
        return Call(function, tuple(images), tuple(numbers[:_MAX_NUMBERS]))

    def _skip_call(self) -> None:
        """Goes on behind the bracket that closes the one that is next."""
        depth = 0
        while (token := self._peek()) is not None and not (token.kind == "mark" and token.text in "{}"):
            self._index += 1
            if token.kind == "mark":
                depth += {"(": 1, ")": -1}.get(token.text, 0)
                if depth == 0:
                    break

    def _number(self, default: float) -> float:
        while self._peek_mark("("):
            self._index += 1
        token = self._peek()
        number = _float(token.text) if token is not None and token.kind == "word" else None
        if number is None:
            return default
        self._index += 1
        # A threshold that changes with time goes on with an operator: then its constant part means nothing.
        following = self._peek()
        if following is not None and following.kind == "word" and following.text[0] in "+-*/%<>=!&|":
            return default
        return min(max(number, 0.0), 1.0)

    def _line(self, line: int) -> list[_Token]:
        """The rest of the line, without its braces."""
        words = []
        while (token := self._peek()) is not None and token.line == line:
            if token.kind == "mark" and token.text in "{}":
                break
            words.append(token)
            self._index += 1
        return words

    def _word(self) -> _Token | None:
        token = self._peek()
        if token is None or token.kind == "mark":
            return None
        self._index += 1
        return token

    def _peek(self) -> _Token | None:
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def _peek_mark(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "mark" and token.text == text

    def _next(self) -> _Token | None:
        token = self._peek()
        self._index += 1
        return token


def _float(text: str) -> float | None:
    # No model's path begins like a number and reads as one, but "nan" and "inf" are possible names.
    if not text[:1] or text[0] not in "+-.0123456789":
        return None
    try:
        number = float(text.rstrip("fF"))
    except ValueError:
        return None
    return None if math.isnan(number) else min(max(number, -_MAX_FACTOR), _MAX_FACTOR)
