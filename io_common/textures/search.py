"""The search for the images of a model's skins or shaders.

A shader of a mesh, for families with shaders:

1. a declaration in the game folders' `materials/*.mtr` or `scripts/*.shader`;
2. without one, or if its image is missing: the image with the shader's path in a game folder;
3. the image that Sauerbraten's .cfg file next to the model (or above it) assigns to the mesh;
4. near the model: the path below the model's folder, then the base name in that folder, in the folders below it and in
   the one above it (the last only inside a game folder);
5. the material that a `.skin` file next to the model assigns to the mesh, by rules 1, 2 and 4;
6. for MD3, the images that Quake's engines show: named after the mesh, near the model, in `progs` and `textures`;
   else the name of the mesh near the model;
7. by convention (see `conventions`), if the shader is empty or not a path in the game.

A skin of a family without shaders is found by rules 2, 4, 3 and 7, in this order. Once a diffuse image is found, the
other maps are the images in its folder with the usual suffixes.

Names are compared without case. If there is no file with the extension of a name, any other image extension is used. Of
absolute names and names with `..`, only the base name is used, near the model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

from ..declarations.cube_scripts import image_name
from ..declarations.declaration_files import canonical_name
from ..declarations.materials import BuiltIn, ImageExpression, map_uses
from ..game_tree.files import Budget, GameFile
from ..game_tree.folders import ModelFolder
from ..game_tree.tree import GameTree
from ..names import AssetName, clean_name, fold, is_image, split_extension
from . import conventions
from .conventions import ConfigFiles, MaterialFiles, MaterialImages, Role, TextureRules
from .image_files import PALETTE_PATH

_QUAKE_FOLDER = "id1"  # Quake's own game folder; mods lie beside it
_INVISIBLE = "textures/common/nodraw"  # draws nothing in any of the games, and may be used without its declaration


class Search:
    """The searches of one import, which share listings of folders and material declarations."""

    def __init__(
        self, game_folders: Iterable[str | os.PathLike[str]], rules: TextureRules, tree: GameTree | None = None
    ) -> None:
        self.budget = Budget()
        self._tree = GameTree((), self.budget, dict(tree.known) if tree is not None else None)
        self._game_folders = [Path(os.path.abspath(path)) for path in game_folders if os.fspath(path)]
        self._rules = rules
        self._games: dict[tuple[Path, ...], MaterialFiles] = {}
        self._materials: dict[tuple[Path, ...], MaterialFiles] = {}

    def folder_of(self, model_path: str | os.PathLike[str], names: Iterable[str] = ()) -> ModelFolder:
        """The folder of a model, whose skins or shaders are `names`, with its game folders."""
        return ModelFolder(model_path, self._game_folders, names, self._tree)

    def model(self, model_path: str | os.PathLike[str], names: Sequence[str] = ()) -> ModelSearch:
        """Starts the search for one model, with all its skins or shaders in the order of the file."""
        folder = self.folder_of(model_path, names)
        game = self._games.setdefault(folder.game.folders, MaterialFiles(folder.game))
        key = (*folder.files.folders, *folder.game.folders)
        materials = self._materials.setdefault(key, MaterialFiles(folder.files, game))
        return ModelSearch(folder, self._rules, materials, list(names))

    def palette(self) -> GameFile | None:
        """Quake's palette: of the game folders, or of `id1` beside one, as for a mod; None if there is none."""
        folders = [*chain.from_iterable(self._games), *self._game_folders]
        return GameTree([*folders, *(folder.parent / _QUAKE_FOLDER for folder in folders)]).find(PALETTE_PATH)

    @property
    def warnings(self) -> list[str]:
        """The warnings about folders, archives, materials and text files so far, each once."""
        return self._tree.warnings


class ModelSearch:
    """The search for the images of one model, made by `Search.model`."""

    def __init__(self, folder: ModelFolder, rules: TextureRules, materials: MaterialFiles, names: list[str]) -> None:
        self._folder = folder
        self._rules = rules
        self._materials = materials
        self._names = names
        self._budget = folder.game.budget
        self._configs = ConfigFiles(folder, rules.config_name)

    def skins(self) -> list[MaterialImages]:
        """The skins of a family without shaders; images next to the model if none of them is found."""
        with self._budget.timed():
            skins = [self._skin(name) for name in self._names]
            if not any(skin.diffuse for skin in skins):
                guessed = self._guessed_skins
                if not skins:
                    skins = [MaterialImages(self._folder.relative(file) or file.relative) for file in guessed]
                for skin, file in zip(skins, guessed, strict=False):
                    self._take_diffuse(skin, file)
            return [self._with_game_folder(skin) for skin in skins]

    def material(self, shader: str, mesh: str | None = None, number: int = 0) -> MaterialImages:
        """The images and settings of a shader; the mesh, None if unknown, is for .cfg and .skin files."""
        # Its number in the file is for images that are named after meshes.
        result = MaterialImages(shader)
        with self._budget.timed():
            name = clean_name(shader)
            if not self._is_over() and not self._find_declared(result, name):
                result.is_drawn = canonical_name(shader) != _INVISIBLE
                if result.is_drawn:
                    self._find_undeclared(result, name, mesh, number)
        if not _has_colors(result) and result.is_drawn:
            result.missing.setdefault(Role.DIFFUSE, shader)
        return self._with_game_folder(result)

    def skin_materials(self, mesh: str) -> list[str]:
        """The names of the materials that .skin files have for a mesh, each once, those of the default skin first."""
        found = (self._in_skin(materials, mesh) for materials in self._configs.materials)
        return list(dict.fromkeys(name for name in found if name))

    def _in_skin(self, materials: dict[str, str], mesh: str) -> str | None:
        return materials.get(fold(mesh)) or materials.get(fold(conventions.name_in_skins(mesh)))

    def mesh_skins(self, mesh: str, number: int) -> list[MaterialImages]:
        """The skins of a mesh of which Quake's engines find the images by its name; named as the images are."""
        result: list[MaterialImages] = []
        with self._budget.timed():
            for skin in range(conventions.MOST_SKINS):
                file = self._mesh_image(mesh, number, skin)
                if file is None:
                    break
                result.append(MaterialImages(self._folder.relative(file) or file.relative))
                self._take_diffuse(result[-1], file)
        return [self._with_game_folder(one) for one in result]

    def _mesh_image(self, mesh: str, number: int, skin: int) -> GameFile | None:
        name = clean_name(mesh).path
        if name is None or not self._rules.has_mesh_images or self._is_over():
            return None
        for wanted in conventions.mesh_image_names(name, number, self._folder.model_path.name, skin):
            places = (self._folder.game.find_image(f"{folder}/{wanted}") for folder in conventions.MESH_IMAGE_FOLDERS)
            found = self._folder.files.find_image(wanted) or next(filter(None, places), None)
            if found is not None:
                return found
        return None

    def _with_game_folder(self, images: MaterialImages) -> MaterialImages:
        """The same images, with the game folder of the diffuse image: the outermost that the user named, or a guess."""
        if images.diffuse is not None:
            path = Path(os.path.abspath(images.diffuse.path))
            within = [folder for folder in self._folder.game.folders if path.is_relative_to(folder)]
            folders = [folder for folder in within if folder in self._folder.named] or within
            images.game_folder = str(min(folders, key=lambda one: len(one.parts))) if folders else ""
        return images

    def _is_over(self) -> bool:
        is_over = self._budget.is_over()
        if is_over:
            self._budget.warn(
                "some images were not looked for because it took too long: use fewer game folders and archives"
            )
        return is_over

    def _skin(self, raw: str) -> MaterialImages:
        result = MaterialImages(raw)
        name = clean_name(raw)
        if self._is_over() or not (
            self._by_game_path(result, name) or self._by_base_name(result, name) or self._by_config(result, None)
        ):
            result.missing[Role.DIFFUSE] = raw
        return result

    def _find_declared(self, result: MaterialImages, name: AssetName) -> bool:
        """Finds the images of a declaration; returns False if there is none, or its diffuse image is missing."""
        material = self._materials.find(name.path) if name.path else None
        if material is None:
            for pattern in self._materials.patterns:
                self._add_looked_in(result, pattern)
            return False
        result.declaration = material
        result.two_sided = material.two_sided
        result.is_drawn = material.is_drawn
        if not material.is_drawn:
            return True
        result.alpha_test = material.alpha_test
        result.translucent = material.translucent
        result.is_alpha_known = True
        self._take_expression(result, material.bump, Role.NORMAL)
        self._take_expression(result, material.specular, Role.SPECULAR)
        self._take_expression(result, material.glow, Role.GLOW)
        self._take_expression(result, material.diffuse, Role.DIFFUSE)
        if material.alpha_image != material.diffuse:
            self._take_expression(result, material.alpha_image, Role.ALPHA)
        if material.diffuse is None and result.diffuse is None:
            self._take_expression(result, material.fallback, Role.DIFFUSE)
            if _has_colors(result):
                result.blend = material.fallback_blend
        if not _has_colors(result) and material.editor_image:
            editor = self._map_file(result, material.editor_image)
            if editor is not None:
                result.images[Role.DIFFUSE] = editor
        if not _has_colors(result):
            if material.diffuse is not None or material.bump is None:
                return False
            # The engine draws a surface with a bump map and no diffuse map in white.
            result.color = (1.0, 1.0, 1.0, 1.0)
        return True

    def _take_expression(self, result: MaterialImages, expression: ImageExpression | None, role: Role) -> None:
        if isinstance(expression, BuiltIn):
            if role is Role.DIFFUSE:
                result.color = expression.color
            return
        for use in map_uses(expression):
            file = self._map_file(result, use.name) if not self._is_over() else None
            if file is not None:
                result.maps[use.name] = file
            _take(result, Role.HEIGHT if role is Role.NORMAL and use.is_height else role, file, use.name)

    def _map_file(self, result: MaterialImages, raw: str) -> GameFile | None:
        name = clean_name(raw)
        found = self._folder.game.find_image(name.path) if name.path else None
        if found is None and name.base:
            found = self._folder.find_nearby(name.base)
        if found is None:
            self._add_name_looked_in(result, name)
        return found

    # --- Shaders without a declaration, and skins: each rule returns whether it has found the diffuse image

    def _find_undeclared(self, result: MaterialImages, name: AssetName, mesh: str | None, number: int) -> None:
        if (
            self._by_game_path(result, name)
            or self._by_config(result, mesh)
            or self._by_base_name(result, name)
            or self._by_skin_file(result, mesh)
            or (mesh and (file := self._mesh_image(mesh, number, 0)) and self._take_diffuse(result, file))
            or conventions.is_game_path(name)
            or (mesh and self._by_base_name(result, clean_name(mesh), note=False))
        ):
            return
        # If a script names an image that is missing, another one is wrong.
        for file in self._guessed_skins[:1] if Role.DIFFUSE not in result.missing else ():
            self._take_diffuse(result, file)

    def _by_game_path(self, result: MaterialImages, name: AssetName) -> bool:
        if name.path is None:
            return False
        for path in conventions.with_suffixes(name.path):
            file = self._folder.game.find_image(path)
            if file is not None:
                return self._take_diffuse(result, file)
        self._add_looked_in(result, name.path)
        return False

    def _by_base_name(self, result: MaterialImages, name: AssetName, *, note: bool = True) -> bool:
        for path in dict.fromkeys((name.path, name.base)):
            find = self._folder.find_nearby if path == name.base else self._folder.files.find_image
            for candidate in conventions.with_suffixes(path) if path else ():
                file = find(candidate)
                if file is not None:
                    return self._take_diffuse(result, file)
        if note:
            self._add_name_looked_in(result, name)
        return False

    def _by_config(self, result: MaterialImages, mesh: str | None) -> bool:
        skin = self._configs.skin(mesh)
        if skin is None:
            return False
        for role, image in ((Role.DIFFUSE, skin.image), (Role.NORMAL, skin.bump), (Role.MASKS, skin.masks)):
            if not image:
                continue
            file = self._configs.image(skin, image)
            _take(result, role, file, image)
            if file is None:
                folder = self._folder.model_path.parent
                result.add_looked_in(f"{folder}/{image_name(image)} ({self._rules.config_name})")
        if result.alpha_test is None and skin.alpha_test is not None:
            # Without a test, surfaces are blended unless that is turned off as well (`animmodel.h`).
            result.alpha_test = skin.alpha_test or None
            result.translucent = not skin.alpha_test and skin.alpha_blend is not False
            result.is_alpha_known = True
        if result.two_sided is None and skin.cull_face is not None:
            result.two_sided = not skin.cull_face
        return result.diffuse is not None

    def _by_skin_file(self, result: MaterialImages, mesh: str | None) -> bool:
        for materials in self._configs.materials if mesh else ():
            material = self._in_skin(materials, mesh or "")
            if material is None:
                continue
            name = clean_name(material)
            if (
                (self._find_declared(result, name) and result.diffuse is not None)
                or self._by_game_path(result, name)
                or self._by_base_name(result, name)
            ):
                return True
        return False

    @cached_property
    def _guessed_skins(self) -> list[GameFile]:
        listing = self._folder.files.listing()
        path = self._folder.model_path
        extension = split_extension(fold(path.name))[1]
        models = [file.name for key, file in listing.files.items() if key.endswith(extension)]
        images = [file.name for file in listing.files.values() if is_image(file.name)]
        # If a name is a path in the game, or meshes have different shaders, the images are likely to be elsewhere.
        is_elsewhere = any(conventions.is_game_path(clean_name(name)) for name in self._names) or (
            self._rules.has_shaders and len(set(self._names)) > 1
        )
        anything = not is_elsewhere or len(models) == len(images) == 1
        is_player = len(models) == 1 or "players" in map(fold, path.parts[:-1])
        player = self._rules.has_player_skins and is_player
        guessed = conventions.guess_skins(images, models, path.name, path.parent.name, anything=anything, player=player)
        if guessed:
            return [file for name in guessed if (file := self._folder.files.get(name)) is not None]
        # Sauerbraten uses the skin in the folder above if a model has none of its own.
        above = None if is_elsewhere else self._folder.find_above("skin")
        return [above] if above is not None else []

    def _take_diffuse(self, result: MaterialImages, file: GameFile) -> bool:
        """Takes a diffuse image, and the maps in its folder that belong to it by name."""
        result.images[Role.DIFFUSE] = file
        result.missing.pop(Role.DIFFUSE, None)
        tree = self._folder.files if self._folder.files.get(file.relative) == file else self._folder.game
        stem = split_extension(file.relative)[0]
        for role in conventions.SUFFIXES:
            for name in conventions.role_names(stem, role) if role not in result.images else ():
                other = tree.find_image(name)
                if other is not None and other != file:
                    _take(result, role, other)
                    break
        return True

    def _add_name_looked_in(self, result: MaterialImages, name: AssetName) -> None:
        if name.path and "/" in name.path:
            self._add_looked_in(result, name.path)
        if name.base:
            result.add_looked_in(f"{self._folder.model_path.parent}/{name.base}")

    def _add_looked_in(self, result: MaterialImages, path: str) -> None:
        result.add_looked_in(*(f"{folder}/{path}" for folder in self._folder.game.folders))


def _has_colors(result: MaterialImages) -> bool:
    return result.diffuse is not None or result.color is not None


def _take(result: MaterialImages, role: Role, file: GameFile | None, name: str = "") -> None:
    """Takes the image for a role unless it has one; if it was not found, its name is missing."""
    if file is not None:
        result.images.setdefault(role, file)
        result.missing.pop(role, None)
    elif role not in result.images:
        result.missing.setdefault(role, name)
