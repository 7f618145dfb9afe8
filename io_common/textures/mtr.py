"""Doom 3 material files (.mtr), and the images that their materials use.

From the published source of Doom 3 (`DeclManager.cpp`, `Material.cpp`, `Image_program.cpp`):

- A file holds any number of declarations `[type] name { ... }`; without a type it is a material. Names are compared
  without case and extension; backslashes are the same as slashes.
- Files are read in alphabetical order. **The first declaration of a name is used**; later ones, in the same file or in
  others, are skipped with a warning ("previously defined at").
- `diffusemap X`, `bumpmap X` and `specularmap X` are short for a stage `{ blend diffusemap map X }` and so on.
- X is an image program: the name of an image, or a function of image programs and numbers, `heightmap(x, scale)`,
  `addnormals(a, b)`, `smoothnormals(x)`, `add(a, b)`, `scale(x, r, g, b, a)`, `invertAlpha(x)`, `invertColor(x)`,
  `makeIntensity(x)`, `makeAlpha(x)`; Quake 4 adds `downsize(x, n)`, XreaL `displaceMap(normals, heights)`. Names that
  begin with an underscore (`_flat`, `_white`) are built into the engine.
- A material without interaction stages (diffuse, bump, specular) whose first stage is blended is translucent.
- XreaL, which uses the same syntax, has `normalMap` for `bumpmap` and `stage` for `blend`.
- Unvanquished (`scripts/*.shader`) names images by their roles within one stage: `{ diffuseMap a normalMap b
  specularMap c glowMap d }`. `implicitMap X` is a material of one image; `-` stands for the material's own name.
  (Daemon's `tr_shader.cpp`.)

Braces in real files are not always balanced: reading resumes where the next declaration clearly starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..game_tree.files import MAX_TOKENS
from ..game_tree.names import fold, short, split_extension
from .material_parser import MAX_NESTING, MAX_PARTS, Material, MaterialParser
from .mtr_tokens import Token, scan

_MAX_WARNINGS = 20

TYPES = frozenset(
    (
        *("material", "table", "skin", "sound", "entitydef", "mapdef", "fx", "particle", "articulatedfigure"),
        *("af", "pda", "email", "video", "audio", "model", "export", "camera", "modelview", "playermodel"),
        *("guide", "effect", "playback", "lipsync", "materialtype", "xdata", "tdm_matinfo"),
    )
)
"""The types of declarations, in lower case."""


@dataclass
class MaterialFile:
    """The contents of a material file.

    Attributes:
        materials: by canonical name, the first of each name.
        warnings: about the file.
        token_count: how many tokens were read.
    """

    materials: dict[str, Material] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    token_count: int = 0

    def warn(self, warning: str) -> None:
        """Adds a warning, unless there are many already."""
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(warning)


def canonical_name(name: str) -> str:
    """The form in which names of materials are compared: folded, without extension."""
    return split_extension(fold(name))[0]


def parse_mtr(text: str, source: str = "", max_tokens: int = MAX_TOKENS) -> MaterialFile:
    """Reads all materials of a file. Invalid text raises no error: it is skipped, with a warning where it may matter.

    `source` names the file in warnings. Each token takes a constant time.
    """
    result = MaterialFile()
    tokens = []
    for token in scan(text):
        if result.token_count == max_tokens:
            result.warn(f"{source}:{token.line}: too many materials; the rest of the file is skipped")
            break
        result.token_count += 1
        if token.kind != "comment":
            tokens.append(token)
    index = 0
    prefix: list[Token] = []
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "punctuation" and token.text == "{":
            end, closed = _body_end(tokens, index + 1)
            if not prefix:
                result.warn(f"{source}:{token.line}: declaration without a name")
            else:
                if not closed:
                    result.warn(f"{source}:{prefix[-1].line}: '{short(prefix[-1].text)}' is not closed")
                _add_declaration(result, prefix, tokens[index + 1 : end], source)
            prefix = []
            index = end + 1 if closed else end
        elif token.kind == "punctuation":
            if token.text == "}":
                result.warn(f"{source}:{token.line}: closing brace without an opening one")
                prefix = []
            index += 1
        else:
            prefix.append(token)
            index += 1
    return result


def _add_declaration(result: MaterialFile, prefix: list[Token], body: list[Token], source: str) -> None:
    name = prefix[-1]
    kind = prefix[-2].text.lower() if len(prefix) > 1 and prefix[-2].kind == "word" else ""
    strays = prefix[:-2] if kind in TYPES else prefix[:-1]
    if strays:
        result.warn(f"{source}:{strays[0].line}: '{short(strays[0].text)}' is not part of a declaration")
    if kind in TYPES and kind != "material":
        return
    key = canonical_name(name.text)
    earlier = result.materials.get(key)
    if earlier is not None:
        result.warn(f"{source}:{name.line}: '{short(name.text)}' is already defined in line {earlier.line}")
        return
    parser = MaterialParser(body)
    material = parser.material(name.text)
    material.source, material.line = source, name.line
    result.materials[key] = material
    if parser.is_truncated:
        result.warn(
            f"{source}:{name.line}: an image expression of '{short(name.text)}' has more than {MAX_PARTS} parts or "
            f"{MAX_NESTING} nested functions; the rest is ignored"
        )


def _body_end(tokens: list[Token], index: int) -> tuple[int, bool]:
    """The end of the body that starts at `index`: the closing brace and True, or the next declaration and False.

    A body that is not closed is recognised by what cannot occur in one: a path alone on its line (or after
    `material`) directly before an opening brace, or a brace inside a stage.
    """
    depth = 1
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "punctuation" and token.text == "}":
            depth -= 1
            if depth == 0:
                return index, True
        elif token.kind == "punctuation" and token.text == "{":
            before = tokens[index - 1]
            typed = index > 1 and tokens[index - 2].text.lower() == "material" and tokens[index - 2].is_first
            if before.kind != "punctuation" and (
                typed or (before.is_first and (depth > 1 or "/" in before.text))
            ):
                return (index - 2 if typed else index - 1), False
            depth += 1
        index += 1
    return index, False
