"""The search for the images of a model's skins or shaders.

A shader of a mesh, for families with shaders:

1. a declaration in the game folders' `materials/*.mtr` or `scripts/*.shader`;
2. without one, or if its image is missing: the image with the shader's path in a game folder;
3. the image that Sauerbraten's .cfg file next to the model (or above it) assigns to the mesh;
4. near the model: the path below the model's folder, then the base name in that folder, in the folders below it and in
   the one above it (the last only inside a game folder);
5. the material that a `.skin` file next to the model assigns to the mesh, by rules 1, 2 and 4;
6. the name of the mesh near the model;
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

from ..game_tree.files import Budget, GameFile
from ..game_tree.folders import Finder, ModelFolder
from ..game_tree.names import AssetName, clean_name, fold, is_image, split_extension
from ..game_tree.tree import GameTree
from .config_files import ConfigFiles
from .conventions import SUFFIXES, Role, TextureRules, guess_skins, is_game_path, role_names, with_suffixes
from .image_expressions import BuiltIn, ImageExpression, MapUse, map_uses
from .image_files import PALETTE_PATH
from .material_images import MaterialImages, Rule
from .materials import GameMaterials, MaterialIndex
from .mtr import canonical_name
from .skins import cfg_image

# Quake's own game folder; mods lie beside it.
_QUAKE_FOLDER = "id1"
# Draws nothing in any of the games, and may be used without its declaration.
_INVISIBLE = "textures/common/nodraw"


class Search:
    """The searches of one import, which share listings of folders and material declarations.

    It does not notice changes on disk. The game folders are the user's, in order; empty names are ignored. `tree` has
    folders with their archives that are listed already.
    """

    def __init__(
        self,
        game_folders: Iterable[str | os.PathLike[str]],
        rules: TextureRules,
        tree: GameTree | None = None,
    ) -> None:
        self.budget = Budget()
        self._tree = GameTree((), self.budget, dict(tree.known) if tree is not None else None)
        self._game_folders = [Path(os.path.abspath(path)) for path in game_folders if os.fspath(path)]
        self._rules = rules
        self._games: dict[tuple[Path, ...], GameMaterials] = {}
        self._indices: dict[tuple[Path, ...], MaterialIndex] = {}
        self._warnings: list[str] = []

    def folder_of(self, model_path: str | os.PathLike[str], names: Iterable[str] = ()) -> ModelFolder:
        """The folder of a model with its game folders. `names` are the model's skins or shaders."""
        return ModelFolder(model_path, self._game_folders, names, self._tree)

    def model(self, model_path: str | os.PathLike[str], names: Sequence[str] = ()) -> ModelSearch:
        """Starts the search for one model. `names` are all its skins or shaders, in the order of the file."""
        folder = self.folder_of(model_path, names)
        folders = folder.game.folders
        if folders not in self._games:
            self._games[folders] = GameMaterials(folder.game, self.budget, self._warnings)
        key = (*folder.files.folders, *folders)
        if key not in self._indices:
            self._indices[key] = MaterialIndex(
                self._games[folders], folder.files, self.budget, self._warnings
            )
        return ModelSearch(folder, self._rules, self._indices[key], names, self._warnings, self.budget)

    def palette(self) -> GameFile | None:
        """Quake's palette: of the game folders, or of `id1` beside one, as for a mod; None if there is none."""
        folders = [*chain.from_iterable(self._games), *self._game_folders]
        return GameTree([*folders, *(folder.parent / _QUAKE_FOLDER for folder in folders)]).find(PALETTE_PATH)

    @property
    def warnings(self) -> list[str]:
        """The warnings about folders, archives, materials and text files so far, each once."""
        layers = [layer for layers in self._tree.known.values() for layer in layers]
        return list(dict.fromkeys([*(text for layer in layers for text in layer.warnings), *self._warnings]))


class ModelSearch:
    """The search for the images of one model, made by `Search.model`."""

    def __init__(
        self,
        folder: ModelFolder,
        rules: TextureRules,
        materials: MaterialIndex,
        names: Sequence[str],
        warnings: list[str],
        budget: Budget,
    ) -> None:
        self._folder = folder
        self._game = folder.game
        self._rules = rules
        self._materials = materials
        self._names = list(names)
        self._warnings = warnings
        self._budget = budget
        self._configs = ConfigFiles(folder, rules.config_name, budget, self._warn)

    def skins(self) -> list[MaterialImages]:
        """The model's skins, in the order of the file; for families without shaders.

        If the file names no skin whose image is found, images next to the model are used: one for each named skin, or
        as skins of their own if the file names none.
        """
        with self._budget.timed():
            skins = [self._skin(name) for name in self._names]
            if not any(skin.diffuse is not None for skin in skins):
                guessed = self._guessed_skins
                if not skins:
                    skins = [MaterialImages(self._folder.relative(file) or file.relative) for file in guessed]
                for skin, file in zip(skins, guessed, strict=False):
                    self._take_diffuse(skin, file, Rule.CONVENTION, self._folder.finder_for(file))
            return [self._with_game_folder(skin) for skin in skins]

    def _with_game_folder(self, images: MaterialImages) -> MaterialImages:
        """The same images, with the game folder that the diffuse image is in.

        That is the outermost of those that the user named, or else the one that was guessed.
        """
        if images.diffuse is not None:
            path = Path(os.path.abspath(images.diffuse.path))
            within = [folder for folder in self._game.folders if path.is_relative_to(folder)]
            folders = [folder for folder in within if folder in self._folder.named] or within
            images.game_folder = str(min(folders, key=lambda one: len(one.parts))) if folders else ""
        return images

    def material(self, shader: str, mesh: str | None = None) -> MaterialImages:
        """The images and settings of a shader; for families with shaders.

        The name is as written in the file, empty if there is none. The mesh is for .cfg and .skin files; None if
        unknown.
        """
        result = MaterialImages(shader)
        with self._budget.timed():
            if not self._is_over():
                name = clean_name(shader)
                if not self._find_declared(result, name):
                    result.is_drawn = canonical_name(shader) != _INVISIBLE
                    if result.is_drawn:
                        self._find_undeclared(result, name, mesh)
        if Role.DIFFUSE not in result.images and result.colour is None and result.is_drawn:
            result.missing.setdefault(Role.DIFFUSE, shader)
        return self._with_game_folder(result)

    def _is_over(self) -> bool:
        """Whether the time is used up, which gives a warning."""
        if self._budget.is_over():
            self._warn(
                "some images were not looked for because it took too long: use fewer game folders and archives"
            )
        return self._budget.is_over()

    def _skin(self, raw: str) -> MaterialImages:
        result = MaterialImages(raw)
        name = clean_name(raw)
        found = not self._is_over() and (
            self._by_game_path(result, name)
            or self._by_base_name(result, name)
            or self._by_config(result, None)
        )
        if not found:
            result.missing[Role.DIFFUSE] = raw
        return result

    # --- Shaders with a declaration

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
        if material.alpha_image is not None and material.alpha_image != material.diffuse:
            self._take_expression(result, material.alpha_image, Role.ALPHA)
        if material.diffuse is None and Role.DIFFUSE not in result.images:
            self._take_expression(result, material.fallback, Role.DIFFUSE)
            if Role.DIFFUSE in result.images or result.colour is not None:
                result.blend = material.fallback_blend
        if Role.DIFFUSE not in result.images and result.colour is None and material.editor_image:
            editor = self._map_file(result, material.editor_image)
            if editor is not None:
                result.images[Role.DIFFUSE] = editor
        if Role.DIFFUSE not in result.images and result.colour is None:
            if material.diffuse is not None or material.bump is None:
                return False
            # The engine draws a surface with a bump map and no diffuse map in white.
            result.colour = (1.0, 1.0, 1.0, 1.0)
        if Role.DIFFUSE in result.images:
            result.rule = Rule.DECLARATION
        return True

    def _take_expression(
        self, result: MaterialImages, expression: ImageExpression | None, role: Role
    ) -> None:
        if isinstance(expression, BuiltIn):
            if role is Role.DIFFUSE:
                result.colour = expression.colour
            return
        for use in map_uses(expression):
            own_role = Role.HEIGHT if role is Role.NORMAL and use.is_height else role
            self._take_use(result, use, own_role)

    def _take_use(self, result: MaterialImages, use: MapUse, role: Role) -> None:
        file = self._map_file(result, use.name) if not self._is_over() else None
        if file is None:
            if role not in result.images:
                result.missing.setdefault(role, use.name)
            return
        result.maps[use.name] = file
        if role not in result.images:
            result.images[role] = file
            result.missing.pop(role, None)

    def _map_file(self, result: MaterialImages, raw: str) -> GameFile | None:
        name = clean_name(raw)
        found = self._game.find_image(name.path) if name.path else None
        if found is None and name.base:
            found = self._folder.find_nearby(name.base)
        if found is None:
            self._add_name_looked_in(result, name)
        return found

    # --- Shaders without a declaration

    def _find_undeclared(self, result: MaterialImages, name: AssetName, mesh: str | None) -> None:
        if self._by_game_path(result, name) or self._by_config(result, mesh):
            return
        if self._by_base_name(result, name) or self._by_skin_file(result, mesh):
            return
        if is_game_path(name):
            return
        if mesh and self._by_base_name(result, clean_name(mesh), Rule.CONVENTION, note=False):
            return
        for file in self._guessed_skins[:1]:
            self._take_diffuse(result, file, Rule.CONVENTION, self._folder.finder_for(file))

    # --- The rules

    def _by_game_path(self, result: MaterialImages, name: AssetName) -> bool:
        if name.path is None:
            return False
        for path in with_suffixes(name.path):
            file = self._game.find_image(path)
            if file is not None:
                return self._take_diffuse(result, file, Rule.GAME_PATH, self._game.find_image)
        self._add_looked_in(result, name.path)
        return False

    def _by_base_name(
        self, result: MaterialImages, name: AssetName, rule: Rule = Rule.BESIDE, *, note: bool = True
    ) -> bool:
        files = self._folder.files
        for path in dict.fromkeys((name.path, name.base)):
            for candidate in with_suffixes(path) if path else ():
                file = (
                    files.find_image(candidate) if path != name.base else self._folder.find_nearby(candidate)
                )
                if file is not None:
                    return self._take_diffuse(result, file, rule, self._folder.finder_for(file))
        if note:
            self._add_name_looked_in(result, name)
        return False

    def _by_config(self, result: MaterialImages, mesh: str | None) -> bool:
        skin = self._configs.skin(mesh)
        if skin is None:
            return False
        for role, image in ((Role.DIFFUSE, skin.image), (Role.NORMAL, skin.bump), (Role.MASKS, skin.masks)):
            file = self._configs.image(skin, image) if image else None
            if file is not None:
                result.images.setdefault(role, file)
                result.missing.pop(role, None)
            elif image:
                result.missing.setdefault(role, image)
                result.add_looked_in(
                    f"{self._folder.model_path.parent}/{cfg_image(image)} ({self._rules.config_name})"
                )
        if result.alpha_test is None and skin.alpha_test is not None:
            # Without a test, surfaces are blended unless that is turned off as well (`animmodel.h`).
            result.alpha_test = skin.alpha_test or None
            result.translucent = not skin.alpha_test and skin.alpha_blend is not False
            result.is_alpha_known = True
        if result.two_sided is None and skin.cull_face is not None:
            result.two_sided = not skin.cull_face
        if Role.DIFFUSE not in result.images:
            return False
        result.rule = Rule.CONFIG
        return True

    def _by_skin_file(self, result: MaterialImages, mesh: str | None) -> bool:
        for materials in self._configs.materials if mesh else ():
            material = materials.get(fold(mesh or ""))
            if material is None:
                continue
            name = clean_name(material)
            if (
                (self._find_declared(result, name) and result.diffuse is not None)
                or self._by_game_path(result, name)
                or self._by_base_name(result, name)
            ):
                result.rule = Rule.SKIN_FILE
                return True
        return False

    @cached_property
    def _guessed_skins(self) -> list[GameFile]:
        """The images next to the model that may be its skins, judged by their names."""
        listing = self._folder.files.listing()
        if listing is None:
            return []
        model = self._folder.model_path.name
        extension = split_extension(fold(model))[1]
        models = [file.name for key, file in listing.files.items() if key.endswith(extension)]
        images = [file.name for file in listing.files.values() if is_image(file.name)]
        # If a name is a path in the game, or meshes have different shaders, the images are likely to be elsewhere.
        is_elsewhere = any(is_game_path(clean_name(name)) for name in self._names) or (
            self._rules.has_shaders and len(set(self._names)) > 1
        )
        is_only_pair = len(models) == 1 and len(images) == 1
        parents = [fold(part) for part in self._folder.model_path.parts[:-1]]
        guessed = guess_skins(
            images,
            models,
            model,
            self._folder.model_path.parent.name,
            anything=not is_elsewhere or is_only_pair,
            player=self._rules.has_player_skins and ("players" in parents or len(models) == 1),
        )
        if guessed:
            found = (self._folder.files.get(name) for name in guessed)
            return [file for file in found if file is not None]
        # Sauerbraten uses the skin in the folder above if a model has none of its own.
        above = None if is_elsewhere else self._folder.find_above("skin")
        return [above] if above is not None else []

    # --- What the rules share

    def _take_diffuse(self, result: MaterialImages, file: GameFile, rule: Rule, find: Finder) -> bool:
        """Takes a diffuse image and the maps that belong to it by name, which `find` finds in the same folders."""
        result.images[Role.DIFFUSE] = file
        result.rule = rule
        result.missing.pop(Role.DIFFUSE, None)
        stem = split_extension(file.relative)[0]
        for role in SUFFIXES:
            if role in result.images or role is Role.DIFFUSE:
                continue
            for name in role_names(stem, role):
                other = find(name)
                if other is not None and other != file:
                    result.images[role] = other
                    result.missing.pop(role, None)
                    break
        return True

    def _add_name_looked_in(self, result: MaterialImages, name: AssetName) -> None:
        if name.path and "/" in name.path:
            self._add_looked_in(result, name.path)
        if name.base:
            result.add_looked_in(f"{self._folder.model_path.parent}/{name.base}")

    def _add_looked_in(self, result: MaterialImages, path: str) -> None:
        result.add_looked_in(*(f"{folder}/{path}" for folder in self._game.folders))

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)
