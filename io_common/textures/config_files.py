"""The text files next to a model that assign images to its meshes: Sauerbraten's .cfg files, and .skin files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import cached_property

from ..declarations.cube_scripts import MeshSkin, ModelScript, image_name, read_script
from .budget import Budget
from .game_files import FileReadError, GameFile
from .model_folder import ModelFolder
from .names import clean_name, fold
from .search_paths import SearchPaths

_MODEL_FOLDERS = ("packages/models", "models", "data/models", "")


class ConfigFiles:
    """The text files of a model.

    `paths` are the folders that may be searched for the model, and `folder` is its own. `config_name` is the name of
    the .cfg file; empty if there is none.
    """

    def __init__(
        self,
        paths: SearchPaths,
        folder: ModelFolder,
        config_name: str,
        budget: Budget,
        warn: Callable[[str], None],
    ) -> None:
        self._paths = paths
        self._folder = folder
        self._config_name = config_name
        self._budget = budget
        self._warn = warn

    def skin(self, mesh: str | None) -> MeshSkin | None:
        """The skin that the .cfg file assigns to a mesh, or None. See `ModelScript.skin` for unnamed meshes."""
        return self._config[0].skin(self._paths.model_path.name, mesh)

    def image(self, skin: MeshSkin, raw: str) -> GameFile | None:
        """The image that the .cfg file names: relative to `packages/models/DIR` or its own folder, else near the model.

        `raw` is the name as written.
        """
        text = image_name(raw)
        folder = skin.bump_folder if raw == skin.bump else skin.folder
        if folder:
            paths = [posixpath.join(top, image_name(folder), text) for top in _MODEL_FOLDERS]
        else:
            own_folders = self._paths.own_folders()
            paths = [posixpath.join(own, self._config[1], text) for _root, own in own_folders]
        for path in paths:
            clean = clean_name(posixpath.normpath(path)).path
            found = self._paths.find_image(clean) if clean else None
            if found is not None:
                return found
        clean = clean_name(text).path
        found = self._paths.own.find_image(clean) if clean else None
        return found or self._folder.find_image(clean_name(raw).base)

    @cached_property
    def materials(self) -> list[dict[str, str]]:
        """The materials in each .skin file, by folded mesh name.

        Files that start with the model's name come first, and of these the default ones.
        """
        stem = fold(self._paths.model_path.stem)
        files = self._paths.own.texts("", ".skin")
        keys = sorted(files, key=lambda key: (not key.startswith(stem), "default" not in key, key))
        texts = (self._read_text(files[key]) for key in keys)
        return [parse_skin(text) for text in texts if text is not None]

    @cached_property
    def _config(self) -> tuple[ModelScript, str]:
        """The .cfg file, and its folder relative to the model's: "" or ".."."""
        own = next((own for _, own in self._paths.own_folders()), self._paths.model_path.parent.name)
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
        roots = (*self._paths.roots, self._paths.own)
        file = next((file for root in roots if (file := root.find_file(path)) is not None), None)
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
