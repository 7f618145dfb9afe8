"""The images that were found for a shader or skin."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import StrEnum

from ..declarations.materials import Material
from ..game_tree.files import GameFile
from .conventions import Role


class Rule(StrEnum):
    """The rule by which a diffuse image was found; see `search`."""

    DECLARATION = "declaration"
    GAME_PATH = "game path"
    CONFIG = "cfg"
    BESIDE = "beside the model"
    SKIN_FILE = "skin file"
    CONVENTION = "convention"


@dataclass
class MaterialImages:
    """The images and settings that were found for a shader or skin.

    Attributes:
        name: the shader or skin as written in the model. For a skin that the model does not name, the path of the
            image relative to the game folder or the model.
        rule: how the diffuse image was found; None if there is none.
        declaration: the material declaration; None if there is none.
        images: one image for each role.
        maps: the image files in the expressions of the declaration, by the name written there.
        colour: RGBA, if the declaration has an image of a single colour such as `_white` instead of a diffuse image.
        alpha_test: the threshold in 0...1, or None.
        is_alpha_known: whether `alpha_test` and `translucent` are declared, so that nothing is guessed from the image.
        two_sided: whether back faces are drawn; None if unknown.
        translucent: whether the surface is blended with what is behind it.
        blend: the blend mode of the fallback stage; empty for a lit or opaque surface.
        is_drawn: whether the game draws anything; if not, the surface is invisible.
        missing: names of images that were not found, by role.
        game_folder: the game folder that the diffuse image was found in; empty if it was found elsewhere.
        looked_in: the paths where they were looked for, each once.
    """

    name: str
    rule: Rule | None = None
    declaration: Material | None = None
    images: dict[Role, GameFile] = field(default_factory=dict)
    maps: dict[str, GameFile] = field(default_factory=dict)
    colour: tuple[float, float, float, float] | None = None
    alpha_test: float | None = None
    is_alpha_known: bool = False
    two_sided: bool | None = None
    translucent: bool = False
    blend: str = ""
    is_drawn: bool = True
    missing: dict[Role, str] = field(default_factory=dict)
    game_folder: str = ""
    looked_in: list[str] = field(default_factory=list)

    @property
    def diffuse(self) -> GameFile | None:
        """The diffuse image."""
        return self.images.get(Role.DIFFUSE)

    def add_looked_in(self, *paths: str) -> None:
        """Adds paths where images were looked for, with the separators of this system."""
        native = dict.fromkeys(path.replace("/", os.sep) for path in paths)
        self.looked_in += [path for path in native if path not in self.looked_in]
