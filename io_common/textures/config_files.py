"""The text files next to a model that assign images to its meshes: Sauerbraten's .cfg files, and .skin files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import cached_property

from ..game_tree.files import Budget, FileReadError, GameFile
from ..game_tree.folders import ModelFolder
from ..game_tree.names import clean_name, fold
from .skins import MeshSkin, ModelConfig, cfg_image, parse_model_cfg, parse_skin

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
        """The skin that the .cfg file assigns to a mesh, or None. See `ModelConfig.skin` for unnamed meshes."""
        return self._config[0].skin(self._folder.model_path.name, mesh)

    def image(self, skin: MeshSkin, raw: str) -> GameFile | None:
        """The image that the .cfg file names: relative to `packages/models/DIR` or its own folder, else near the model.

        `raw` is the name as written.
        """
        text = cfg_image(raw)
        if skin.folder:
            paths = [posixpath.join(top, cfg_image(skin.folder), text) for top in _MODEL_FOLDERS]
        else:
            config_folder = self._config[1]
            paths = [posixpath.join(path, config_folder, text) for _, path in self._folder.trees]
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
        found = []
        for key in keys:
            try:
                found.append(parse_skin(self._read_text(files[key])))
            except FileReadError as error:
                self._warn(str(error))
        return found

    @cached_property
    def _config(self) -> tuple[ModelConfig, str]:
        """The .cfg file, and its folder relative to the model's: "" or ".."."""
        for file, relative in self._folder.text_files(self._config_name) if self._config_name else ():
            try:
                return parse_model_cfg(self._read_text(file)), relative
            except FileReadError as error:
                self._warn(str(error))
        return ModelConfig(), ""

    def _read_text(self, file: GameFile) -> str:
        """The text of a file.

        Raises FileReadError if the file cannot be read, or the budget for such files is used up.
        """
        if not self._budget.take("configs", file.size()):
            raise FileReadError(f"{file}: skipped, as there are too many .cfg and .skin files")
        return file.read_text()
