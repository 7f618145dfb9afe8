"""Material declarations, parsed from the tokens between their braces, as they are when an entity appears in the game.

A stage whose condition is 0 is left out, and so is one whose blend mode or colour draws nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .image_expressions import BuiltIn, Call, ImageExpression, MapImage, map_uses
from .material_expressions import evaluate
from .mtr_tokens import Token


@dataclass
class Material:
    """A material declaration.

    Attributes:
        name: as written.
        diffuse, bump, specular, glow: image expressions, or None.
        fallback: the image of the first other stage that is drawn, for materials without a diffuse image; of several
            stages that add light their sum.
        fallback_blend: its blend mode in lower case: `add`, `blend`, `filter`, `gl_one,gl_zero` and so on.
        editor_image: `qer_editorimage`, used if there is no other image.
        alpha_test: the threshold in 0...1, 0.5 if it cannot be known, or None.
        alpha_image: the image whose alpha channel is tested.
        two_sided: whether back faces are drawn.
        translucent: whether the surface is blended with what is behind it.
        is_drawn: whether anything is drawn; if not, the surface is invisible.
        source: the name of the file.
        line: the line number, from 1.
    """

    name: str
    diffuse: ImageExpression | None = None
    bump: ImageExpression | None = None
    specular: ImageExpression | None = None
    glow: ImageExpression | None = None
    fallback: ImageExpression | None = None
    fallback_blend: str = ""
    editor_image: str | None = None
    alpha_test: float | None = None
    alpha_image: ImageExpression | None = None
    two_sided: bool = False
    translucent: bool = False
    is_drawn: bool = True
    source: str = ""
    line: int = 0


@dataclass
class _Stage:
    blend: str = ""
    image: ImageExpression | None = None
    alpha_test: float | None = None
    maps: dict[str, ImageExpression] = field(default_factory=dict)
    """The images that a stage of Daemon names by their roles."""
    colour: list[float] = field(default_factory=lambda: [1.0] * 4)
    is_on: bool = True

    @property
    def is_mask(self) -> bool:
        """Whether it draws nothing itself: its alpha test cuts holes into what other stages draw."""
        return self.blend in _MASKS

    @property
    def is_drawn(self) -> bool:
        """Whether it changes a pixel."""
        if not self.is_on or self.is_mask:
            return False
        if self.blend in _ALPHA_BLENDS:
            return self.colour[3] > 0.0
        return self.blend not in _ADDED or any(factor > 0.0 for factor in self.colour[:3])


_INTERACTIONS = {
    "diffusemap": "diffuse",
    "bumpmap": "bump",
    "normalmap": "bump",
    "specularmap": "specular",
    "glowmap": "glow",
}
_LIT = ("diffusemap", "bumpmap", "normalmap", "specularmap")
_ALPHA_BLENDS = ("blend", "gl_src_alpha,gl_one_minus_src_alpha")
_ADDED = ("add", "gl_one,gl_one", "gl_src_alpha,gl_one")
_SUMMED = _ADDED[:2]
_MAX_ADDED = 4
"""Stages that are added up, as nodes."""
_MASKS = ("none", "gl_zero,gl_one")
# Words before an expression that is a factor of red, green, blue or alpha.
_FACTORS = {"red": (0,), "green": (1,), "blue": (2,), "alpha": (3,), "rgb": (0, 1, 2), "rgba": (0, 1, 2, 3)}
# Whole materials in one word: of Enemy Territory, XreaL and Unvanquished.
_IMPLICIT = ("implicitmap", "implicitmask", "implicitblend")

_REST_OF_LINE = frozenset(("description", "renderbump", "guisurf", "materialtype"))

MAX_PARTS = 64
"""Maximum number of images and functions in one expression; those of the games have fewer than ten."""
MAX_NESTING = 32
"""Maximum depth of nested functions in an expression."""
_MAX_NUMBERS = 8
# More than any game uses, and products of many such factors are still finite.
_MAX_FACTOR = 1e6


class MaterialParser:
    """The parser of one material.

    The tokens are those between the braces.

    Attributes:
        is_truncated: whether an expression was too long and has been cut.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._parts = 0
        self.is_truncated = False

    def material(self, name: str) -> Material:
        """Parses the material; `name` is its name."""
        material = Material(name)
        stages: list[_Stage] = []
        opaque = has_gui = False
        while (token := self._next()) is not None:
            word = token.text.lower()
            if token.kind == "punctuation" and word == "{":
                stages.append(self._stage())
            elif token.kind != "word":
                continue
            elif word in _INTERACTIONS:
                stages.append(_Stage(word, self._expression()))
            elif word in _IMPLICIT:
                stages.append(self._implicit(material, word, token.line))
            elif word == "qer_editorimage":
                words = self._line(token.line)
                material.editor_image = material.editor_image or (words[0].text if words else None)
            elif word in _REST_OF_LINE:
                has_gui |= word == "guisurf"
                self._line(token.line)
            elif word == "twosided":
                material.two_sided = True
            elif word == "cull":
                # As in Quake III and XreaL.
                words = self._line(token.line)
                material.two_sided |= bool(words) and words[0].text.lower() in ("none", "disable", "twosided")
            elif word == "translucent":
                material.translucent = True
            elif word == "forceopaque":
                opaque = True
            elif word == "alphatest":
                material.alpha_test = self._threshold()
        material.is_drawn = has_gui or any(stage.is_drawn for stage in stages)
        self._take_stages(material, [stage for stage in stages if stage.is_on])
        if opaque:
            material.translucent = False
        return material

    @staticmethod
    def _take_stages(material: Material, stages: list[_Stage]) -> None:
        for stage in stages:
            if "diffusemap" in stage.maps and stage.blend in _ALPHA_BLENDS:
                material.translucent = True
            for word, image in stage.maps.items():
                if getattr(material, _INTERACTIONS[word]) is None:
                    setattr(material, _INTERACTIONS[word], image)
            role = _INTERACTIONS.get(stage.blend)
            if role and stage.image is not None and getattr(material, role) is None:
                setattr(material, role, stage.image)
        ambient = [s for s in stages if s.is_drawn and s.blend not in _INTERACTIONS and s.image is not None]
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
        shown = (
            [s for s in stages if _INTERACTIONS.get(s.blend) == "diffuse" or s.maps] if lit else ambient[:1]
        )
        tested = [s for s in (*shown, *(s for s in stages if s.is_mask)) if s.alpha_test is not None]
        if tested:
            material.alpha_test = tested[0].alpha_test
            material.alpha_image = tested[0].image
        first = next((stage.blend for stage in stages if stage.is_drawn), "")
        if not lit and first not in ("", "gl_one,gl_zero") and not tested:
            material.translucent = True

    def _stage(self) -> _Stage:
        stage = _Stage()
        while (token := self._next()) is not None:
            word = token.text.lower()
            if token.kind == "punctuation" and word == "}":
                break
            if token.kind != "word":
                continue
            if word in ("blend", "blendfunc", "stage"):
                stage.blend = self._blend()
            elif word in _INTERACTIONS:
                image = self._expression()
                if image is not None:
                    stage.maps.setdefault(word, image)
            elif word == "animmap":
                # The images of an animated one after its frames a second; the first is used.
                self._word()
                image = self._expression()
                stage.image = stage.image or image
                self._line(token.line)
            elif word in ("map", "clampmap"):
                image = self._expression()
                stage.image = stage.image or image
            elif word == "if":
                stage.is_on = self._value(1.0) != 0.0
            elif word in _FACTORS:
                value = self._value(1.0)
                for channel in _FACTORS[word]:
                    stage.colour[channel] = value
            elif word == "color":
                for channel in range(4):
                    stage.colour[channel] = self._value(1.0)
                    if self._peek_punctuation(","):
                        self._index += 1
            elif word == "alphatest":
                stage.alpha_test = self._threshold()
            elif word == "alphafunc":
                words = self._line(token.line)
                stage.alpha_test = {"gt0": 0.004, "lt128": 0.5, "ge128": 0.5}.get(
                    words[0].text.lower() if words else "", 0.5
                )
            elif word == "name":
                self._line(token.line)
        is_colour = _INTERACTIONS.get(stage.blend) != "bump"
        has_file = is_colour and bool(map_uses(stage.image))
        if stage.image is not None and has_file and stage.colour != [1.0] * 4:
            stage.image = Call("scale", (stage.image,), tuple(stage.colour))
        return stage

    def _implicit(self, material: Material, word: str, line: int) -> _Stage:
        """The stage of `implicitMap X`, where `-` is the image with the material's own name."""
        words = self._line(line)
        name = words[0].text if words and words[0].text != "-" else material.name
        if word == "implicitmask":
            material.alpha_test = 0.5
        elif word == "implicitblend":
            material.translucent = True
        return _Stage("diffusemap", MapImage(name))

    def _blend(self) -> str:
        token = self._word()
        if token is None:
            return ""
        source = token.text.lower()
        if not source.startswith("gl_"):
            return source
        if self._peek_punctuation(","):
            self._index += 1
        target = self._word()
        return f"{source},{target.text.lower()}" if target is not None else source

    def _expression(self) -> ImageExpression | None:
        self._parts = 0
        return self._part(0)

    def _part(self, depth: int) -> ImageExpression | None:
        """An image or a call; None if there is none, or the expression is too long."""
        token = self._word()
        if token is None:
            return None
        is_call = token.kind == "word" and self._peek_punctuation("(")
        if depth > MAX_NESTING or self._parts == MAX_PARTS:
            self.is_truncated = True
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
            if token.kind == "punctuation":
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
        """Skips to the token after the closing bracket of a call."""
        depth = 0
        while (token := self._peek()) is not None and not (
            token.kind == "punctuation" and token.text in "{}"
        ):
            self._index += 1
            if token.kind == "punctuation":
                depth += {"(": 1, ")": -1}.get(token.text, 0)
                if depth == 0:
                    break

    def _value(self, default: float) -> float:
        """The value of an expression; the default if it cannot be known."""
        value, self._index = evaluate(self._tokens, self._index)
        return min(max(value, -_MAX_FACTOR), _MAX_FACTOR) if value is not None else default

    def _threshold(self) -> float:
        return min(max(self._value(0.5), 0.0), 1.0)

    def _line(self, line: int) -> list[Token]:
        """The rest of a line, up to a brace."""
        words = []
        while (token := self._peek()) is not None and token.line == line:
            if token.kind == "punctuation" and token.text in "{}":
                break
            words.append(token)
            self._index += 1
        return words

    def _word(self) -> Token | None:
        token = self._peek()
        if token is None or token.kind == "punctuation":
            return None
        self._index += 1
        return token

    def _peek(self) -> Token | None:
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def _peek_punctuation(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "punctuation" and token.text == text

    def _next(self) -> Token | None:
        token = self._peek()
        self._index += 1
        return token


def _float(text: str) -> float | None:
    # "nan" and "inf" are valid names of images.
    if not text[:1] or text[0] not in "+-.0123456789":
        return None
    try:
        number = float(text.rstrip("fF"))
    except ValueError:
        return None
    return None if math.isnan(number) else min(max(number, -_MAX_FACTOR), _MAX_FACTOR)
