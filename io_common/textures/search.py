"""The rules that lead from a model's skin or shader names to images, and back on export.

A shader of an MD5 mesh:

1. a declaration in the game folders' `materials/*.mtr` says everything;
2. without one, or where its image is missing: the image of the shader's own path in a game folder;
3. what `md5.cfg` beside the model (or above it) says of the mesh: Sauerbraten goes by it, whatever the mesh names;
4. beside the model: the path below the model's folder, then the base name there, in the folders below it and in the one
   above it (this last only inside a game folder);
5. the material that a `.skin` file beside the model gives the mesh, by rules 1, 2 and 4;
6. the mesh's name beside the model;
7. by convention (see conventions), where the name leads nowhere because it is empty, foreign or one of a tool.

A skin of an MD2 goes the same way by rules 2, 4, 3 (`md2.cfg`) and 7. With an image of colours found, the other maps
are those with the usual suffixes in the same folder.

Names compare without regard to case; an extension that is not there is replaced by any other image's. Absolute
names and names with `..` count by their base name only, beside the model.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from .budget import Budget
from .conventions import SUFFIXES, Role, guess_skins, role_names
from .gamefolder import FileReadError, GameFile, Library, Place, Root, guess_game_folder
from .materials import MaterialIndex
from .mtr import BuiltIn, ImageExpression, MapUse, Material, map_uses
from .names import AssetName, clean_name, fold, split_extension, without_image_extension
from .skins import MeshSkin, ModelConfig, cfg_image, parse_model_cfg, parse_skin

_MAX_DEPTH = 2
_MAX_FOLDERS = 200
_GAME_PATHS = ("models", "players", "textures", "progs", "packages", "sprites", "gfx", "maps")


class Rule(StrEnum):
    """How the image of colours was found."""

    DECLARATION = "declaration"
    GAME_PATH = "game path"
    CONFIG = "cfg"
    BESIDE = "beside the model"
    SKIN_FILE = "skin file"
    CONVENTION = "convention"


@dataclass(frozen=True)
class FoundImage:
    """An image of a material.

    file: where it is. functions, factor, height_scale: what the declaration does to it, see mtr.MapUse.
    """

    file: GameFile
    functions: tuple[str, ...] = ()
    factor: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    height_scale: float | None = None


@dataclass
class MaterialImages:
    """What was found for one shader or skin.

    name: the shader or skin as the model has it; for a skin that no name stands for (`listed` is False) the image's
    path relative to the game folder or the model. rule: how the diffuse image was found, None where none was. images:
    one image per role. maps: every image file that the declaration's expressions name and that was found, by the name
    written there. colour: RGBA in place of a diffuse image where the declaration says `_white` or the like. alpha_test:
    the threshold in 0...1, or None. two_sided: None where nothing was said. blend: how the fallback stage is blended,
    "" for a lit or plain surface. missing: names that were not found, by role; looked_in: where, each place once.
    """

    name: str
    listed: bool = True
    rule: Rule | None = None
    declaration: Material | None = None
    images: dict[Role, FoundImage] = field(default_factory=dict)
    maps: dict[str, GameFile] = field(default_factory=dict)
    colour: tuple[float, float, float, float] | None = None
    alpha_test: float | None = None
    two_sided: bool | None = None
    translucent: bool = False
    blend: str = ""
    missing: dict[Role, str] = field(default_factory=dict)
    looked_in: list[str] = field(default_factory=list)

    @property
    def diffuse(self) -> GameFile | None:
        """The image of colours."""
        found = self.images.get(Role.DIFFUSE)
        return found.file if found is not None else None

    def looked(self, *places: str) -> None:
        """Note places that were looked at."""
        self.looked_in += [place for place in dict.fromkeys(places) if place not in self.looked_in]


Finder = Callable[[str], GameFile | None]


class Search:
    """Searches of one import, which share the listings of folders and the materials."""

    def __init__(self, game_folders: Iterable[str | os.PathLike[str]] = ()) -> None:
        """game_folders: the folders that the user gave, in order; see Library.place for how they are used."""
        self.library = Library(game_folders)
        self._indices: dict[tuple[Path, ...], MaterialIndex] = {}
        self._warnings: list[str] = []

    def model(self, model_path: str | os.PathLike[str], names: Sequence[str] = ()) -> ModelSearch:
        """Begin the search for one model; names: all skins or shaders of it, in the file's order."""
        place = self.library.place(model_path, names)
        key = (place.own.path, *(root.path for root in place.roots))
        if key not in self._indices:
            self._indices[key] = MaterialIndex(place, self.library.budget)
        return ModelSearch(place, self._indices[key], names, self._warnings, self.library.budget)

    @property
    def warnings(self) -> list[str]:
        """What was odd about archives, materials and texts so far, each once."""
        warnings = self.library.warnings + self._warnings
        for index in self._indices.values():
            warnings += index.warnings
        return list(dict.fromkeys(warnings))


class ModelSearch:
    """The search for one model's images. Made by Search.model."""

    def __init__(
        self,
        place: Place,
        materials: MaterialIndex,
        names: Sequence[str],
        warnings: list[str],
        budget: Budget,
    ) -> None:
        self.place = place
        self._budget = budget
        self._materials = materials
        self._names = list(names)
        self._warnings = warnings
        self._config: ModelConfig | None = None
        self._config_folder = ""
        self._skin_files: list[tuple[str, dict[str, str]]] | None = None
        self._tree: list[str] | None = None

    # --- Public

    def md2_skins(self) -> list[MaterialImages]:
        """The model's skins, in the file's order (the names given to Search.model).

        Where the file lists none, or none that leads to an image, the images that lie beside the model: they take the
        places of the listed skins one by one, and without any listed each is a skin by itself.
        """
        skins = [self._md2_skin(name) for name in self._names]
        if any(skin.diffuse is not None for skin in skins):
            return skins
        guessed = self._guessed_skins
        if not skins:
            skins = [
                MaterialImages(self.place.relative(file.path) or file.relative, listed=False)
                for file in guessed
            ]
        for skin, file in zip(skins, guessed, strict=False):
            self._take_diffuse(skin, file, Rule.CONVENTION, self._finder_beside(file))
        return skins

    def md5_material(self, shader: str, mesh: str | None = None) -> MaterialImages:
        """Images and settings of a shader.

        shader: as in the file, "" where it has none. mesh: the mesh's name (`name "..."` or the comment
        `// meshes: ...`), by which md5.cfg and .skin files go; None if unknown.
        """
        result = MaterialImages(shader)
        name = clean_name(shader)
        if not self._declared(result, name):
            self._undeclared(result, name, mesh)
        if Role.DIFFUSE not in result.images and result.colour is None:
            result.missing.setdefault(Role.DIFFUSE, shader)
        return result

    # --- MD2

    def _md2_skin(self, raw: str) -> MaterialImages:
        result = MaterialImages(raw)
        name = clean_name(raw)
        found = (
            self._by_game_path(result, name)
            or self._by_base_name(result, name)
            or self._by_config(result, "md2.cfg", None)
        )
        if not found:
            result.missing[Role.DIFFUSE] = raw
        return result

    # --- MD5, with a declaration

    def _declared(self, result: MaterialImages, name: AssetName) -> bool:
        """Take what a declaration says; True if that leaves nothing to look for."""
        material = self._materials.find(name.path) if name.path else None
        if material is None:
            if self._materials.file_count:
                result.looked(*(f"{root.path}/materials/*.mtr" for root in self.place.roots))
            return False
        result.declaration = material
        result.alpha_test = material.alpha_test
        result.two_sided = material.two_sided
        result.translucent = material.translucent
        self._take_expression(result, material.bump, Role.NORMAL)
        self._take_expression(result, material.specular, Role.SPECULAR)
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
                result.images[Role.DIFFUSE] = FoundImage(editor)
        if Role.DIFFUSE not in result.images and result.colour is None:
            if material.diffuse is not None or material.bump is None:
                return False
            # The engine gives a surface with a bump map and no colour a white one.
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
            own_role = Role.HEIGHT if role is Role.NORMAL and use.height_scale is not None else role
            self._take_use(result, use, own_role)

    def _take_use(self, result: MaterialImages, use: MapUse, role: Role) -> None:
        file = self._map_file(result, use.name)
        if file is None:
            if role not in result.images:
                result.missing.setdefault(role, use.name)
            return
        result.maps[use.name] = file
        if role not in result.images:
            result.images[role] = FoundImage(file, use.functions, use.factor, use.height_scale)
            result.missing.pop(role, None)

    def _map_file(self, result: MaterialImages, raw: str) -> GameFile | None:
        name = clean_name(raw)
        found = self.place.find_image(name.path) if name.path else None
        if found is None and name.base:
            found = self._beside(name.base)
        if found is None:
            self._note_places(result, name)
        return found

    # --- MD5, without

    def _undeclared(self, result: MaterialImages, name: AssetName, mesh: str | None) -> None:
        if self._by_game_path(result, name) or self._by_config(result, "md5.cfg", mesh):
            return
        if self._by_base_name(result, name) or self._by_skin_file(result, mesh):
            return
        if _is_game_path(name):
            return
        if mesh and self._by_base_name(result, clean_name(mesh), Rule.CONVENTION, note=False):
            return
        for file in self._guessed_skins[:1]:
            self._take_diffuse(result, file, Rule.CONVENTION, self._finder_beside(file))

    # --- The rules

    def _by_game_path(self, result: MaterialImages, name: AssetName, rule: Rule = Rule.GAME_PATH) -> bool:
        if name.path is None:
            return False
        for path in _with_suffixes(name.path):
            file = self.place.find_image(path)
            if file is not None:
                return self._take_diffuse(result, file, rule, self.place.find_image)
        result.looked(*(f"{root.path}/{name.path}" for root in self.place.roots))
        return False

    def _by_base_name(
        self, result: MaterialImages, name: AssetName, rule: Rule = Rule.BESIDE, *, note: bool = True
    ) -> bool:
        for path in dict.fromkeys((name.path, name.base)):
            for candidate in _with_suffixes(path) if path else ():
                file = self.place.own.find_image(candidate) if path != name.base else self._beside(candidate)
                if file is not None:
                    return self._take_diffuse(result, file, rule, self._finder_beside(file))
        if note:
            self._note_places(result, name)
        return False

    def _by_config(self, result: MaterialImages, config_name: str, mesh: str | None) -> bool:
        config = self._load_config(config_name)
        skin = config.skin(self.place.model_path.name, mesh)
        if skin is None:
            return False
        for role, image in ((Role.DIFFUSE, skin.image), (Role.NORMAL, skin.bump), (Role.MASKS, skin.masks)):
            file = self._config_image(skin, image) if image else None
            if file is not None:
                result.images.setdefault(role, FoundImage(file))
                result.missing.pop(role, None)
            elif image:
                result.missing.setdefault(role, image)
                result.looked(f"{self.place.own.path}/{cfg_image(image)} ({config_name})")
        if result.alpha_test is None:
            result.alpha_test = skin.alpha_test
        if result.two_sided is None and skin.cull_face is not None:
            result.two_sided = not skin.cull_face
        if Role.DIFFUSE not in result.images:
            return False
        result.rule = Rule.CONFIG
        return True

    def _by_skin_file(self, result: MaterialImages, mesh: str | None) -> bool:
        for _file, materials in self._load_skin_files() if mesh else ():
            material = materials.get(fold(mesh or ""))
            if material is None:
                continue
            name = clean_name(material)
            if (
                (self._declared(result, name) and result.diffuse is not None)
                or self._by_game_path(result, name)
                or self._by_base_name(result, name)
            ):
                result.rule = Rule.SKIN_FILE
                return True
        return False

    @cached_property
    def _guessed_skins(self) -> list[GameFile]:
        """The images beside the model that may be its skins, whatever its names say; looked for once."""
        listing = self.place.own.listing()
        if listing is None:
            return []
        model = self.place.model_path.name
        extension = split_extension(fold(model))[1]
        models = [name for key, name in listing.files.items() if key.endswith(extension)]
        images = listing.images()
        names = [clean_name(name) for name in self._names]
        # A name that plainly is a path of the game, and a model of many shaders, say that the image is elsewhere.
        foreign = any(_is_game_path(name) for name in names) or (
            extension != ".md2" and len({name.raw for name in names}) > 1
        )
        alone = len(models) == 1 and len(images) == 1
        parents = [fold(part) for part in self.place.model_path.parts[:-1]]
        guessed = guess_skins(
            images,
            models,
            model,
            self.place.model_path.parent.name,
            anything=not foreign or alone,
            player=extension == ".md2" and ("players" in parents or len(models) == 1),
        )
        if guessed:
            return [self._own_file("", name) for name in guessed]
        # Sauerbraten takes the skin of the folder above where a model has none of its own.
        for root, folder in self._parents():
            above = root.listing(folder)
            name = above.image("skin") if above is not None and not foreign else None
            if name is not None:
                return [root.file(folder, name)]
        return []

    # --- What the rules share

    def _take_diffuse(self, result: MaterialImages, file: GameFile, rule: Rule, find: Finder) -> bool:
        """Take the image of colours, and the maps that lie beside it; `find` looks in the same folders."""
        result.images[Role.DIFFUSE] = FoundImage(file)
        result.rule = rule
        result.missing.pop(Role.DIFFUSE, None)
        stem = split_extension(file.relative)[0]
        for role in SUFFIXES:
            if role in result.images or role is Role.DIFFUSE:
                continue
            for name in role_names(stem, role):
                other = find(name)
                if other is not None and other != file:
                    result.images[role] = FoundImage(other)
                    result.missing.pop(role, None)
                    break
        return True

    def _finder_beside(self, file: GameFile) -> Finder:
        """Looks up what `relative` of a file found by _beside is relative to."""
        for root in (self.place.own, *self.place.roots):
            if root.path.joinpath(*file.relative.split("/")) == file.path:
                return root.find_image
        return self.place.find_image

    def _own_file(self, folder: str, name: str) -> GameFile:
        return self.place.own.file(folder, name)

    def _beside(self, base: str) -> GameFile | None:
        """The image of this base name in the model's folder, below it, or in the one above inside a game folder."""
        for folder in self._own_tree():
            listing = self.place.own.listing(folder)
            name = listing.image(base) if listing is not None else None
            if name is not None:
                return self._own_file(folder, name)
        for root, folder in self._parents():
            listing = root.listing(folder)
            name = listing.image(base) if listing is not None else None
            if name is not None:
                return root.file(folder, name)
        return None

    def _own_tree(self) -> list[str]:
        """The model's folder and those below it, the nearest first, down to a depth and number that cost nothing."""
        if self._tree is None:
            self._tree = [""]
            level = [""]
            for _ in range(_MAX_DEPTH):
                below = []
                for folder in level:
                    listing = self.place.own.listing(folder)
                    for name in sorted(listing.folders.values(), key=fold) if listing is not None else ():
                        below.append(f"{folder}/{name}" if folder else name)
                level = below[: _MAX_FOLDERS - len(self._tree)]
                self._tree += level
        return self._tree

    def _parents(self) -> list[tuple[Root, str]]:
        """The folder above the model's, where that is still inside a game folder and not its top."""
        return [
            (root, folder.rpartition("/")[0])
            for root, folder in self.place.own_folders()
            if folder.count("/") > 0
        ]

    def _note_places(self, result: MaterialImages, name: AssetName) -> None:
        if name.path and "/" in name.path:
            result.looked(*(f"{root.path}/{name.path}" for root in self.place.roots))
        if name.base:
            result.looked(f"{self.place.own.path}/{name.base}")

    # --- Texts beside the model

    def _load_config(self, config_name: str) -> ModelConfig:
        if self._config is None:
            self._config = ModelConfig()
            found = self._text_beside(config_name)
            if found is not None:
                self._config, self._config_folder = parse_model_cfg(found[0]), found[1]
        return self._config

    def _text_beside(self, file_name: str) -> tuple[str, str] | None:
        """The text of a file in the model's folder (then "") or the one above (then ".."), None if there is none."""
        places = [(self.place.own, "", "")] + [(root, folder, "..") for root, folder in self._parents()]
        for root, folder, way in places:
            listing = root.listing(folder)
            name = listing.files.get(fold(file_name)) if listing is not None else None
            if name is not None:
                try:
                    return self._config_text(root.file(folder, name)), way
                except FileReadError as error:
                    self._warn(str(error))
        return None

    def _config_text(self, file: GameFile) -> str:
        """The text of a file. Raises FileReadError, also where all of them are more than is read."""
        if not self._budget.take("configs", file.size()):
            raise FileReadError(f"{file}: more text than is read, left out")
        return file.read_text()

    def _config_image(self, skin: MeshSkin, raw: str) -> GameFile | None:
        """The image that a cfg names: relative to `packages/models/DIR`, else to the cfg's own folder, else beside."""
        text = cfg_image(raw)
        paths = []
        if skin.folder:
            paths = [posixpath.join(top, cfg_image(skin.folder), text) for top in _MODEL_TOPS]
        else:
            for _root, own in self.place.own_folders():
                paths.append(posixpath.join(own, self._config_folder, text))
        for path in paths:
            clean = clean_name(posixpath.normpath(path)).path
            found = self.place.find_image(clean) if clean else None
            if found is not None:
                return found
        clean = clean_name(text).path
        found = self.place.own.find_image(clean) if clean else None
        return found or self._beside(clean_name(raw).base)

    def _load_skin_files(self) -> list[tuple[str, dict[str, str]]]:
        """The .skin files beside the model: those that begin with its name first, of them the default ones."""
        if self._skin_files is None:
            stem = fold(self.place.model_path.stem)
            files = self.place.own.texts("", ".skin")
            keys = sorted(files, key=lambda key: (not key.startswith(stem), "default" not in key, key))
            self._skin_files = []
            for key in keys:
                try:
                    self._skin_files.append((key, parse_skin(self._config_text(files[key]))))
                except FileReadError as error:
                    self._warn(str(error))
        return self._skin_files

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)


_MODEL_TOPS = ("packages/models", "models", "data/models", "")


def _is_game_path(name: AssetName) -> bool:
    """Whether the name is plainly a path of a game, so that an image of another name is not meant."""
    return bool(name.folder) and fold(name.folder).split("/")[0] in _GAME_PATHS


def _with_suffixes(path: str) -> list[str]:
    """The name itself, then with what diffuse images end in."""
    return [path, *(f"{without_image_extension(path)}_{suffix}" for suffix in SUFFIXES[Role.DIFFUSE])]


def export_name(
    image_path: str | os.PathLike[str],
    game_folders: Iterable[str | os.PathLike[str]] = (),
    *,
    with_extension: bool,
) -> str | None:
    """The name under which a model mentions an image: its path relative to the game folder, with forward slashes.

    game_folders: those the user gave; else the folder is guessed from the image's own path. with_extension: True for
    an MD2 skin, False for an MD5 shader. None where the image lies in no game folder. The mirror of rule 2.
    """
    path = Path(os.path.abspath(image_path))
    folders = [Path(os.path.abspath(folder)) for folder in game_folders if os.fspath(folder)]
    inside = [folder for folder in folders if folder != path and path.is_relative_to(folder)]
    root = max(inside, key=lambda folder: len(folder.parts)) if inside else guess_game_folder(path)
    if root is None:
        return None
    relative = path.relative_to(root).as_posix()
    if fold(relative).startswith("dds/"):
        # Doom 3 keeps the packed copy of `textures/a.tga` as `dds/textures/a.dds`; models name the former.
        relative = relative[4:]
    return relative if with_extension else without_image_extension(relative)
