"""The images that configuration files beside a model name, and the images of a material."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from ..declarations.cube_scripts import MeshSkin, ModelScript, image_name, read_script
from ..declarations.materials import Material
from ..game_tree.files import Budget, FileReadError, GameFile
from ..game_tree.folders import ModelFolder
from ..game_tree.names import clean_name, fold
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


_MODEL_FOLDERS = ("packages/models", "models", "data/models", "")


class ConfigFiles:
    """The text files of a model.

    `config_name` is the name of the .cfg file; empty if there is none.
    """

    def __init__(
        self,
        folder: ModelFolder,
        config_name: str,
        budget: Budget,
        warn: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._config_name = config_name
        self._budget = budget
        self._warn = warn

    def skin(self, mesh: str | None) -> MeshSkin | None:
        """The skin that the .cfg file assigns to a mesh, or None. See `ModelScript.skin` for unnamed meshes."""
        return self._config[0].skin(self._folder.model_path.name, mesh)

    def image(self, skin: MeshSkin, raw: str) -> GameFile | None:
        """The image that the .cfg file names: relative to `packages/models/DIR` or its own folder, else near the model.

        `raw` is the name as written.
        """
        text = image_name(raw)
        folder = skin.bump_folder if raw == skin.bump else skin.folder
        if folder:
            paths = [posixpath.join(top, image_name(folder), text) for top in _MODEL_FOLDERS]
        else:
            paths = [posixpath.join(path, self._config[1], text) for _, path in self._folder.trees]
        for path in paths:
            clean = clean_name(posixpath.normpath(path)).path
            found = self._folder.game.find_image(clean) if clean else None
            if found is not None:
                return found
        clean = clean_name(text).path
        found = self._folder.files.find_image(clean) if clean else None
        return found or self._folder.find_nearby(clean_name(raw).base)

    @cached_property
    def materials(self) -> list[dict[str, str]]:
        """The materials in each .skin file, by folded mesh name.

        Files that start with the model's name come first, and of these the default ones.
        """
        stem = fold(self._folder.model_path.stem)
        files = self._folder.files.files("", ".skin")
        keys = sorted(files, key=lambda key: (not key.startswith(stem), "default" not in key, key))
        texts = (self._read_text(files[key]) for key in keys)
        return [parse_skin(text) for text in texts if text is not None]

    @cached_property
    def _config(self) -> tuple[ModelScript, str]:
        """The .cfg file, and its folder relative to the model's: "" or ".."."""
        own = next((path for _, path in self._folder.trees), self._folder.model_path.parent.name)
        for file, relative in self._folder.text_files(self._config_name) if self._config_name else ():
            text = self._read_text(file)
            if text is not None:
                path = posixpath.normpath(posixpath.join(own, relative, self._config_name))
                script = read_script(text, path, self._config_name.partition(".")[0], self._read_script)
                for warning in script.warnings:
                    self._warn(warning)
                return script, relative
        return ModelScript(), ""

    def _read_script(self, path: str) -> str | None:
        """The text of a file by its path in a game folder or in the model's folder; None if there is none."""
        file = self._folder.game.find(path) or self._folder.files.find(path)
        return self._read_text(file) if file is not None else None

    def _read_text(self, file: GameFile) -> str | None:
        """The text of a file; None, with a warning, if it cannot be read, or the budget is used up."""
        try:
            if self._budget.take("configs", file.size()):
                return file.read_text()
            self._warn(f"{file}: skipped, as there are too many .cfg and .skin files")
        except FileReadError as error:
            self._warn(str(error))
        return None


def parse_skin(text: str) -> dict[str, str]:
    """Reads a .skin file: the names of materials by folded mesh name; the first line of each mesh is used.

    As in Quake III and XreaL, lines are `mesh,material`; those without a material, `tag_...` and comments are ignored.
    """
    materials: dict[str, str] = {}
    for line in text.splitlines():
        mesh, comma, material = line.partition("//")[0].partition(",")
        mesh, material = mesh.strip().strip('"'), material.strip().strip('"').strip()
        if comma and mesh and material and not mesh.lower().startswith("tag_"):
            materials.setdefault(fold(mesh), material)
    return materials
