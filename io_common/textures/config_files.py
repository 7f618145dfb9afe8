"""The images that configuration files beside a model name, and the images of a material."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field
from functools import cached_property

from ..declarations.cube_scripts import MeshSkin, ModelScript, image_name, read_script
from ..declarations.materials import Material
from ..game_tree.files import FileReadError, GameFile
from ..game_tree.folders import ModelFolder
from ..game_tree.names import clean_name, fold
from .conventions import Role


@dataclass
class MaterialImages:
    """The images and settings that were found for a shader or skin."""

    name: str  # as written in the model; of a skin that it does not name, the path of the image
    declaration: Material | None = None
    images: dict[Role, GameFile] = field(default_factory=dict)
    # Image files in expressions of the declaration, by the name written there.
    maps: dict[str, GameFile] = field(default_factory=dict)
    # RGBA, if the declaration has an image of a single color such as `_white` as diffuse image.
    color: tuple[float, float, float, float] | None = None
    alpha_test: float | None = None  # the threshold in 0...1, or None
    is_alpha_known: bool = False  # whether the declaration says it, so that nothing is guessed from the image
    two_sided: bool | None = None  # None if unknown
    translucent: bool = False
    blend: str = ""  # mode of the fallback stage; empty for a lit or opaque surface
    is_drawn: bool = True  # if not, the surface is invisible
    missing: dict[Role, str] = field(default_factory=dict)
    game_folder: str = ""  # of the diffuse image; empty if it was found elsewhere
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
    """The text files of a model."""

    def __init__(self, folder: ModelFolder, config_name: str) -> None:
        self._folder = folder
        self._config_name = config_name
        self._budget = folder.game.budget

    def skin(self, mesh: str | None) -> MeshSkin | None:
        """The skin that the .cfg file assigns to a mesh, or None. See `ModelScript.skin` for unnamed meshes."""
        return self._config[0].skin(self._folder.model_path.name, mesh)

    def image(self, skin: MeshSkin, raw: str) -> GameFile | None:
        """The image that a .cfg names: in `packages/models/DIR` or its own folder, else near the model."""
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
        """The materials of each .skin file by folded mesh name; those named after the model first."""
        stem = fold(self._folder.model_path.stem)
        files = self._folder.files.files("", ".skin")
        keys = sorted(files, key=lambda key: (not key.startswith(stem), "default" not in key, key))
        texts = (self._read_text(files[key]) for key in keys)
        return [parse_skin(text) for text in texts if text is not None]

    @cached_property
    def _config(self) -> tuple[ModelScript, str]:
        """The .cfg file, and its folder relative to the model's: "" or ".."."""
        folder = next((path for _, path in self._folder.trees), self._folder.model_path.parent.name)
        for file, relative in self._folder.text_files(self._config_name) if self._config_name else ():
            text = self._read_text(file)
            if text is not None:
                path = posixpath.normpath(posixpath.join(folder, relative, self._config_name))
                script = read_script(text, path, self._config_name.partition(".")[0], self._read_script)
                for warning in script.warnings:
                    self._budget.warn(warning)
                return script, relative
        return ModelScript(), ""

    def _read_script(self, path: str) -> str | None:
        file = self._folder.game.find(path) or self._folder.files.find(path)
        return self._read_text(file) if file is not None else None

    def _read_text(self, file: GameFile) -> str | None:
        """The text of a file; None, with a warning, if it cannot be read, or the budget is used up."""
        try:
            if self._budget.take("configs", file.size()):
                return file.read_text()
            self._budget.warn(f"{file}: skipped, as there are too many .cfg and .skin files")
        except FileReadError as error:
            self._budget.warn(str(error))
        return None


def parse_skin(text: str) -> dict[str, str]:
    """The materials of a .skin file by folded mesh name; `tag_...` is ignored, as in Quake III and XreaL."""
    materials: dict[str, str] = {}
    for line in text.splitlines():
        mesh, comma, material = line.partition("//")[0].partition(",")
        mesh, material = mesh.strip().strip('"'), material.strip().strip('"').strip()
        if comma and mesh and material and not mesh.lower().startswith("tag_"):
            materials.setdefault(fold(mesh), material)
    return materials
