"""Declarations of materials, as they are when an entity appears in the game.

From the published source of Doom 3 (`Material.cpp`, `Image_program.cpp`, `RenderWorld.cpp`):

- `diffusemap X`, `bumpmap X` and `specularmap X` are short for a stage `{ blend diffusemap map X }` and so on.
- X is an image program: the name of an image, or a function of image programs and numbers, `heightmap(x, scale)`,
  `addnormals(a, b)`, `smoothnormals(x)`, `add(a, b)`, `scale(x, r, g, b, a)`, `invertAlpha(x)`, `invertColor(x)`,
  `makeIntensity(x)`, `makeAlpha(x)`; Quake 4 adds `downsize(x, n)`, XreaL `displaceMap(normals, heights)`. Names that
  begin with an underscore (`_flat`, `_white`) are built into the engine.
- A material without interaction stages (diffuse, bump, specular) whose first stage is blended is translucent.
- A stage whose condition is 0 is left out, and so is one whose blend mode or color draws nothing. In expressions,
  `parm0` to `parm3` are 1, the other parameters, `time` and `sound` are 0. Operators of the same priority take what
  follows first: `5 - 2 - 1` is 4.
- XreaL, which uses the same syntax, has `normalMap` for `bumpmap` and `stage` for `blend`.
- Unvanquished (`scripts/*.shader`) names images by their roles within one stage: `{ diffuseMap a normalMap b
  specularMap c glowMap d }`. `implicitMap X` is a material of one image; `-` is the material's name (`tr_shader.cpp`).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..game_tree.files import MAX_TOKENS
from ..names import short
from .declaration_files import MATERIAL, MAX_WARNINGS, Token, TokenReader, parse_declarations

MAX_PARTS = 64  # maximum number of images and functions in one expression; those of the games have fewer than ten
MAX_NESTING = 32  # maximum depth of nested functions in an expression
_MAX_NUMBERS = 8
_MAX_TERMS = 64
_MAX_ADDED = 4  # stages that are added up, as nodes
_MAX_FACTOR = 1e6  # more than any game uses, and products of many such numbers are still finite
_MAX_TERM = 1e4


@dataclass(frozen=True)
class MapImage:
    """An image file: its name as written, relative to the game folder, with or without an extension."""

    name: str


@dataclass(frozen=True)
class BuiltIn:
    """An image built into the engine: `_white`, `_flat`, `$lightmap` and so on."""

    name: str

    @property
    def color(self) -> tuple[float, float, float, float] | None:
        """RGBA in 0...1 for images of a single color, else None."""
        return _BUILT_IN_COLORS.get(self.name.lower().lstrip("_$*").removesuffix("image"))


@dataclass(frozen=True)
class Call:
    """A function of images and numbers; `function` is in lower case."""

    function: str
    images: tuple[ImageExpression, ...]
    numbers: tuple[float, ...] = ()


ImageExpression = MapImage | BuiltIn | Call

_BUILT_IN_COLORS = {"white": (1.0, 1.0, 1.0, 1.0), "black": (0.0, 0.0, 0.0, 1.0), "flat": (0.5, 0.5, 1.0, 1.0)}


class MapUse(NamedTuple):
    """The name of an image file in an expression, and whether it is a height map."""

    name: str
    is_height: bool


def map_uses(expression: ImageExpression | None, *, is_height: bool = False) -> list[MapUse]:
    """All image files of an expression, in the order of the text."""
    if not isinstance(expression, Call):
        return [MapUse(expression.name, is_height)] if isinstance(expression, MapImage) else []
    uses = []
    for index, image in enumerate(expression.images):
        of_heights = expression.function == "heightmap" or (expression.function == "displacemap" and index == 1)
        uses += map_uses(image, is_height=is_height or of_heights)
    return uses


@dataclass
class Material:
    """A material declaration."""

    name: str
    source: str = ""
    line: int = 0
    diffuse: ImageExpression | None = None
    bump: ImageExpression | None = None
    specular: ImageExpression | None = None
    glow: ImageExpression | None = None
    # Of the first other stage that is drawn, without a diffuse image; of those that add light the sum.
    fallback: ImageExpression | None = None
    fallback_blend: str = ""  # in lower case: `add`, `blend`, `filter`, `gl_one,gl_zero`
    editor_image: str | None = None  # `qer_editorimage`, used if there is no other
    alpha_test: float | None = None  # in 0...1, 0.5 if it cannot be known, or None
    alpha_image: ImageExpression | None = None  # whose alpha channel is tested
    two_sided: bool = False
    translucent: bool = False
    is_drawn: bool = True  # if not, the surface is invisible


@dataclass
class MaterialFile:
    """The materials of a file by canonical name, the first of each name, with warnings and the number of tokens."""

    materials: dict[str, Material]
    warnings: list[str]
    token_count: int


def parse_materials(text: str, source: str = "", max_tokens: int = MAX_TOKENS) -> MaterialFile:
    """All materials of a file, in constant time for each token; what is invalid is skipped."""
    file = parse_declarations(text, source, MATERIAL, max_tokens)
    materials: dict[str, Material] = {}
    for declaration in file.declarations:
        earlier = materials.get(declaration.key)
        if earlier is not None and declaration.type == MATERIAL:
            declaration.warn(f"'{short(declaration.name)}' is already defined in line {earlier.line}")
        elif declaration.type == MATERIAL:
            materials[declaration.key] = _MaterialReader(declaration).material()
    warnings = [*file.warnings, *(text for one in file.declarations for text in one.warnings)]
    return MaterialFile(materials, warnings[:MAX_WARNINGS], file.token_count)


_ROLES = {"diffusemap": "diffuse", "bumpmap": "bump", "normalmap": "bump", "specularmap": "specular", "glowmap": "glow"}
_LIT = ("diffusemap", "bumpmap", "normalmap", "specularmap")
_ALPHA_BLENDS = ("blend", "gl_src_alpha,gl_one_minus_src_alpha")
_ADDED = ("add", "gl_one,gl_one", "gl_src_alpha,gl_one")
_SUMMED = _ADDED[:2]
_MASKS = ("none", "gl_zero,gl_one")  # they draw nothing: their alpha test cuts holes into what other stages draw
# Words before an expression that is a factor of red, green, blue or alpha.
_FACTORS = {"red": (0,), "green": (1,), "blue": (2,), "alpha": (3,), "rgb": (0, 1, 2), "rgba": (0, 1, 2, 3)}
# Whole materials in one word: of Enemy Territory, XreaL and Unvanquished.
_IMPLICIT = ("implicitmap", "implicitmask", "implicitblend")
_REST_OF_LINE = ("description", "renderbump", "guisurf", "materialtype")


@dataclass
class _Stage:
    blend: str = ""
    image: ImageExpression | None = None
    alpha_test: float | None = None
    # The images that a stage of Daemon names by their roles.
    maps: dict[str, ImageExpression] = field(default_factory=dict)
    color: list[float] = field(default_factory=lambda: [1.0] * 4)
    is_on: bool = True

    @property
    def is_drawn(self) -> bool:
        """Whether it changes a pixel."""
        if not self.is_on or self.blend in _MASKS:
            return False
        if self.blend in _ALPHA_BLENDS:
            return self.color[3] > 0.0
        return self.blend not in _ADDED or any(factor > 0.0 for factor in self.color[:3])


class _MaterialReader(TokenReader):
    def material(self) -> Material:
        declaration = self.declaration
        material = Material(declaration.name, declaration.source, declaration.line)
        stages: list[_Stage] = []
        opaque = has_gui = self._is_too_long = False
        while (token := self.next()) is not None:
            word = token.text.lower()
            if token.is_mark("{"):
                stages.append(self._stage())
            elif token.kind != "word":
                continue
            elif word in _ROLES:
                stages.append(_Stage(word, self._expression()))
            elif word in _IMPLICIT:
                name = self._first_of_line(token)
                stages.append(_Stage("diffusemap", MapImage(name if name not in ("", "-") else material.name)))
                material.alpha_test = 0.5 if word == "implicitmask" else material.alpha_test
                material.translucent |= word == "implicitblend"
            elif word == "qer_editorimage":
                image = self._first_of_line(token)
                material.editor_image = material.editor_image or image or None
            elif word in _REST_OF_LINE:
                has_gui |= word == "guisurf"
                self.rest_of_line(token.line)
            elif word == "twosided":
                material.two_sided = True
            elif word == "cull":
                # As in Quake III and XreaL.
                material.two_sided |= self._first_of_line(token).lower() in ("none", "disable", "twosided")
            elif word == "translucent":
                material.translucent = True
            elif word == "forceopaque":
                opaque = True
            elif word == "alphatest":
                material.alpha_test = self._threshold()
        material.is_drawn = has_gui or any(stage.is_drawn for stage in stages)
        _take_stages(material, [stage for stage in stages if stage.is_on])
        if opaque:
            material.translucent = False
        if self._is_too_long:
            self.declaration.warn(
                f"an image expression of '{short(material.name)}' has more than {MAX_PARTS} parts or {MAX_NESTING} "
                "nested functions; the rest is ignored"
            )
        return material

    def _stage(self) -> _Stage:
        stage = _Stage()
        while (token := self.next()) is not None and not token.is_mark("}"):
            word = token.text.lower()
            if token.kind != "word":
                continue
            if word in ("blend", "blendfunc", "stage"):
                stage.blend = self._blend()
            elif word in _ROLES:
                image = self._expression()
                if image is not None:
                    stage.maps.setdefault(word, image)
            elif word in ("map", "clampmap", "animmap"):
                if word == "animmap":
                    # Its frames a second, then its images, of which the first is used.
                    self.word()
                image = self._expression()
                stage.image = stage.image or image
                if word == "animmap":
                    self.rest_of_line(token.line)
            elif word == "if":
                stage.is_on = self._value(1.0) != 0.0
            elif word in _FACTORS:
                value = self._value(1.0)
                for channel in _FACTORS[word]:
                    stage.color[channel] = value
            elif word == "color":
                for channel in range(4):
                    stage.color[channel] = self._value(1.0)
                    self.accept(",")
            elif word == "alphatest":
                stage.alpha_test = self._threshold()
            elif word == "alphafunc":
                stage.alpha_test = 0.004 if self._first_of_line(token).lower() == "gt0" else 0.5
            elif word == "name":
                self.rest_of_line(token.line)
        has_file = _ROLES.get(stage.blend) != "bump" and bool(map_uses(stage.image))
        if stage.image is not None and has_file and stage.color != [1.0] * 4:
            stage.image = Call("scale", (stage.image,), tuple(stage.color))
        return stage

    def _first_of_line(self, token: Token) -> str:
        """The word after a token, in its line, which is passed."""
        words = self.rest_of_line(token.line)
        return words[0].text if words else ""

    def _blend(self) -> str:
        token = self.word()
        source = token.text.lower() if token is not None else ""
        if not source.startswith("gl_"):
            return source
        self.accept(",")
        target = self.word()
        return f"{source},{target.text.lower()}" if target is not None else source

    def _expression(self) -> ImageExpression | None:
        self._parts = 0
        return self._part(0)

    def _part(self, depth: int) -> ImageExpression | None:
        """An image or a call; None if there is none, or the expression is too long."""
        token = self.word()
        if token is None:
            return None
        is_call = token.kind == "word" and self.accept("(")
        if depth > MAX_NESTING or self._parts == MAX_PARTS:
            self._is_too_long = True
            return None
        self._parts += 1
        if is_call:
            return self._call(token.text.lower(), depth)
        if not token.text:
            return None
        is_built_in = token.text[0] in "_$*" and "/" not in token.text
        return BuiltIn(token.text) if is_built_in else MapImage(token.text)

    def _call(self, function: str, depth: int) -> ImageExpression:
        """A call whose opening bracket was passed."""
        images: list[ImageExpression] = []
        numbers: list[float] = []
        while (token := self.peek()) is not None and not token.is_mark("{}"):
            if self.accept(")"):
                break
            number = _float(token.text) if token.kind == "word" and images else None
            if number is not None:
                numbers.append(number)
            if number is not None or token.kind == "punctuation":
                self.next()
                continue
            image = self._part(depth + 1)
            if image is not None:
                images.append(image)
        return Call(function, tuple(images), tuple(numbers[:_MAX_NUMBERS]))

    def _threshold(self) -> float:
        return min(max(self._value(0.5), 0.0), 1.0)

    def _value(self, default: float) -> float:
        """The value of an expression; the default if it cannot be known."""
        self._terms = 0
        value = self._operation()
        if value is None or self._terms >= _MAX_TERMS:
            return default
        return min(max(value, -_MAX_FACTOR), _MAX_FACTOR)

    def _operation(self, priority: int = 4) -> float | None:
        """A term and the operations after it, of this priority and those before it."""
        if priority == 0:
            return self._term()
        first = self._operation(priority - 1)
        symbol = self._peek_part()
        if _PRIORITIES.get(symbol) != priority or self._terms >= _MAX_TERMS:
            return first
        self.next()
        second = self._operation(priority)
        if first is None or second is None or (symbol == "/" and second == 0.0):
            return None
        return float(_OPERATIONS[symbol](first, second))

    def _term(self) -> float | None:
        self._terms += 1
        word = self._peek_part()
        if self._terms >= _MAX_TERMS or word in ("", "{", "}", ")", "]", ","):
            return None
        self.next()
        if word == "-":
            number = self._term()
            return -number if number is not None else None
        if word == "(":
            number = self._operation()
            self._accept_part(")")
            return number
        if self._accept_part("["):
            # The entries of a table are not known here.
            self._operation()
            self._accept_part("]")
            return None
        if _PARAMETER.match(word):
            return float(word in _ONES)
        return min(float(word), _MAX_TERM) if word[0] in ".0123456789" and word != "." else None

    def _peek_part(self) -> str:
        """The next part of an expression, empty at the end; words with several parts, such as `time*2`, are split."""
        token = self.peek()
        if token is not None and token.kind == "word":
            parts = _PART.findall(token.text.lower())
            self._waiting[-1:] = [token._replace(text=part) for part in reversed(parts)]
        return self._waiting[-1].text if self._waiting else ""

    def _accept_part(self, text: str) -> bool:
        found = self._peek_part() == text
        if found:
            self.next()
        return found


_PART = re.compile(r"[a-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[<>=!]=|&&|\|\||\S")
_PARAMETER = re.compile(r"(?:parm|global)\d+\Z|time\Z|sound\Z|fragmentprograms\Z")
_ONES = ("parm0", "parm1", "parm2", "parm3", "fragmentprograms")
_PRIORITIES = {
    "*": 1, "/": 1, "%": 1, "+": 2, "-": 2, ">": 3, ">=": 3, "<": 3, "<=": 3, "==": 3, "!=": 3, "&&": 4, "||": 4,
}  # fmt: skip
_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "*": operator.mul, "/": operator.truediv, "+": operator.add, "-": operator.sub,
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    "%": lambda a, b: math.fmod(int(a), int(b) or 1),
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}  # fmt: skip


def _float(text: str) -> float | None:
    # "nan" and "inf" are valid names of images.
    if not text[:1] or text[0] not in "+-.0123456789":
        return None
    try:
        number = float(text.rstrip("fF"))
    except ValueError:
        return None
    return None if math.isnan(number) else min(max(number, -_MAX_FACTOR), _MAX_FACTOR)


def _take_stages(material: Material, stages: list[_Stage]) -> None:
    """Sets the images of a material, and what its stages say about the whole surface."""
    for stage in stages:
        if "diffusemap" in stage.maps and stage.blend in _ALPHA_BLENDS:
            material.translucent = True
        for word, image in (*stage.maps.items(), (stage.blend, stage.image)):
            role = _ROLES.get(word)
            if role is not None and getattr(material, role) is None:
                setattr(material, role, image)
    ambient = [s for s in stages if s.is_drawn and s.blend not in _ROLES and s.image is not None]
    # Images built into the engine come last.
    ambient.sort(key=lambda s: not map_uses(s.image))
    if ambient:
        material.fallback, material.fallback_blend = ambient[0].image, ambient[0].blend
    # Light that several stages add is their sum.
    for stage in ambient[1:_MAX_ADDED] if material.fallback_blend in _SUMMED else ():
        if stage.blend in _SUMMED and material.fallback is not None and stage.image is not None:
            material.fallback = Call("add", (material.fallback, stage.image))
    lit = any(stage.blend in _LIT or stage.maps for stage in stages)
    if lit and material.glow is None:
        material.glow = next((s.image for s in ambient if s.blend in _ADDED and map_uses(s.image)), None)
    # What one of several stages leaves out of itself, the others still draw.
    shown = [s for s in stages if _ROLES.get(s.blend) == "diffuse" or s.maps] if lit else ambient[:1]
    tested = [s for s in (*shown, *(s for s in stages if s.blend in _MASKS)) if s.alpha_test is not None]
    if tested:
        material.alpha_test, material.alpha_image = tested[0].alpha_test, tested[0].image
    first = next((stage.blend for stage in stages if stage.is_drawn), "")
    if not lit and first not in ("", "gl_one,gl_zero") and not tested:
        material.translucent = True
