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
    """An image of an expression.

    Attributes:
        name: of the image file.
        is_height: whether it is a height map.
    """

    name: str
    is_height: bool


def map_uses(expression: ImageExpression | None) -> list[MapUse]:
    """All image files of an expression, in the order of the text."""
    found: list[MapUse] = []
    stack: list[tuple[ImageExpression, bool]] = [(expression, False)] if expression is not None else []
    while stack:
        node, is_height = stack.pop()
        if isinstance(node, MapImage):
            found.append(MapUse(node.name, is_height))
        elif isinstance(node, Call):
            for index, image in reversed(list(enumerate(node.images))):
                makes_height = node.function == "heightmap" or (node.function == "displacemap" and index == 1)
                stack.append((image, is_height or makes_height))
    return found
