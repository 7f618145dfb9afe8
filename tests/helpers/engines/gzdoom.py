"""GZDoom's MODELDEF, read by the letter of its scanner and parser, and what it draws for a frame of a sprite.

Facts: `sc_man_scanner.re` without CMode (comments `//`, `/* */` and `;`; a token is one of `{}|=`, a string, or
everything up to white space or one of `{}|="/;`; a backslash before a quote escapes it), `r_data/models.cpp`,
`ParseModelDefLump` (errors are fatal) and `FindModelFrame` (the last block of an actor counts), `models_md3.cpp`,
`FMD3Model::RenderFrame` (a surface without an image is not drawn) and `LoadSkin` (beside the model without or with
suffix, else the full path). The states are those in the comments, in the token mode for states of ZScript.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import md3_specification as specification

from .posing import Refused

_SUFFIXES = (".png", ".jpg", ".tga", ".pcx")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]"


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        rest = text[at:]
        if rest[0].isspace():
            at += 1
        elif rest.startswith("//") or rest[0] == ";":
            at += len(rest.split("\n")[0])
        elif rest.startswith("/*"):
            at += rest.index("*/") + 2
        elif rest[0] == '"':
            end = 1
            while rest[end] != '"':
                end += 2 if rest[end : end + 2] == '\\"' else 1
            found.append(rest[1:end])
            at += end + 1
        elif rest[0] in "{}|=":
            found.append(rest[0])
            at += 1
        else:
            end = 1
            while end < len(rest) and not rest[end].isspace() and rest[end] not in '{}|="/;':
                end += 1
            found.append(rest[:end])
            at += end
    return found


@dataclass
class Shown:
    model: str
    frame: int
    skins: dict[int, str | None]  # SurfaceSkin by surface, and Skin as -1
    path: str
    scale: tuple[float, ...]


@dataclass
class Game:
    """A mod: its files by path in lower case, the classes of its actors, and the sprites of their states."""

    files: dict[str, bytes]
    actors: set[str]
    sprites: set[str]
    frames: dict[tuple[str, str, int], Shown] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files = {path.lower(): data for path, data in self.files.items()}
        for path, data in sorted(self.files.items()):
            if path.split(".")[0] == "modeldef":
                self._parse(tokens(data.decode("utf-8")))

    def _parse(self, words: list[str]) -> None:
        left = iter(words)
        for word in left:
            if word.lower() != "model":
                continue
            actor = next(left)
            if actor not in self.actors:
                raise Refused(f"Unknown actor type {actor}")
            if next(left) != "{":
                raise Refused("expected {")
            one = Shown("", 0, {}, "", (1.0, 1.0, 1.0))
            for raw in left:
                key = raw.lower()
                if key == "}":
                    break
                if key == "path":
                    one.path = next(left).lower().rstrip("/") + "/"
                elif key == "model":
                    if next(left) != "0":
                        raise Refused("another model")
                    one.model = one.path + next(left).lower()
                    if one.model not in self.files:
                        raise Refused(f"{one.model}: model not found")
                elif key == "scale":
                    one.scale = tuple(float(next(left)) for _ in range(3))
                elif key in ("offset", "angleoffset"):
                    for _ in range(3 if key == "offset" else 1):
                        float(next(left))
                elif key in ("skin", "surfaceskin"):
                    if next(left) != "0":
                        raise Refused("another model")
                    number = int(next(left)) if key == "surfaceskin" else -1
                    if number >= 32:
                        raise Refused("Invalid MD3 Surface")
                    one.skins[number] = self._image(one.path, next(left))
                    if one.skins[number] is None:
                        raise Refused("skin not found")
                elif key == "frameindex":
                    sprite, letters = next(left), next(left)
                    if sprite not in self.sprites:
                        raise Refused(f"Unknown sprite {sprite}")
                    if next(left) != "0":
                        raise Refused("another model")
                    one.frame = int(next(left))
                    for letter in letters:
                        number = ord(letter.upper()) - ord("A")
                        if not 0 <= number < 29:
                            raise Refused("Invalid frame character")
                        self.frames[actor, sprite, number] = Shown(**{**vars(one), "skins": dict(one.skins)})
                else:
                    raise Refused(f"Unrecognized string {raw}")

    def _image(self, path: str, name: str) -> str | None:
        wanted = (path + name).lower()
        stem = re.sub(r"\.[^./]*$", "", wanted)
        found = [one for one in (wanted, *(stem + suffix for suffix in _SUFFIXES)) if one in self.files]
        return found[0] if found else name.lower() if name.lower() in self.files else None

    def draws(self, actor: str, sprite: str, letter: str, *, is_held: bool = False) -> list[tuple[str, list, list]]:
        """The image, the triangles and the points of each surface that is drawn, as high as on the screen.

        The axes are those of an actor that faces east, or of the player's view: forward, left, up.
        """
        shown = self.frames[actor, sprite, _LETTERS.index(letter)]
        model, result = specification.read(self.files[shown.model]), []
        for number, surface in enumerate(model.surfaces):
            first = surface.shaders[0] if surface.shaders else ""
            own = first and (self._image("", first) or self._image(shown.path, first))
            image = shown.skins.get(-1) or shown.skins.get(number) or own
            if image:
                # Models are drawn 1.2 times lower, and the view stretches everything 1.2 times (`RenderModel`).
                sx, sy, sz = shown.scale
                points = [(x * sx, y * sy, z * sz) for x, y, z in surface.points[shown.frame]]
                if is_held:
                    # `RenderHUDModel`: y and z change places, a quarter turn about the vertical axis, then the scale.
                    eye = [(y * sx, z * sz, -x * sy) for x, y, z in surface.points[shown.frame]]
                    points = [(-back, -right, up) for right, up, back in eye]
                result.append((image, surface.triangles, points))
        return result


def states(text: str) -> dict[str, list[tuple[str, str, int]]]:
    """The sprite, letter and tics of each state in the comments of a MODELDEF, by label."""
    found: dict[str, list[tuple[str, str, int]]] = {}
    label = ""
    for line in re.findall(r"//: *([^\n]*)", text):
        if match := re.fullmatch(r"(\w+):", line.strip()):
            label = match[1]
        elif match := re.fullmatch(r"(\w{4}) ([A-Z\[\]\\]+) (\d+);", line.strip()):
            found.setdefault(label, []).extend((match[1], letter, int(match[3])) for letter in match[2])
    return found
