"""Image expressions of Doom 3 materials: image files, images built into the engine, and functions of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class MapImage:
    """An image file: its name as written, relative to the game folder, with or without an extension."""

    name: str


@dataclass(frozen=True)
class BuiltIn:
    """An image built into the engine: `_white`, `_flat`, `$lightmap` and so on."""

    name: str

    @property
    def colour(self) -> tuple[float, float, float, float] | None:
        """RGBA in 0...1 for images of a single colour, else None."""
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
    """An image of an expression, with the functions applied to it.

    Attributes:
        name: of the image file.
        functions: in lower case, the outermost first.
        factor: the product of the `scale` functions, RGBA.
        height_scale: the number of the innermost `heightmap`; None if the image is not a height map.
    """

    name: str
    functions: tuple[str, ...]
    factor: tuple[float, float, float, float]
    height_scale: float | None


def map_uses(expression: ImageExpression | None) -> list[MapUse]:
    """All image files of an expression, in the order of the text."""
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
