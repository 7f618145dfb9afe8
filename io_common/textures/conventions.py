"""What names and texts say about the images of a model: conventions, material files, .cfg and .skin files.

The suffixes are those of the games (Doom 3 `_local`, `_s`, `_h`, `_d`; XreaL and Unvanquished `_n`, `_s`, `_h`;
Sauerbraten `masks`, `_mask`, `_normals`; Quake `_glow`, `_luma`) and others that artists use. Quake II's player models
list no skins: every image next to them is one, except icons (`grunt_i.pcx`) and skins of held weapons (`weapon.pcx`,
`w_shotgun.pcx`). Sauerbraten and Quake II name a model's only skin `skin`; Egoboo numbers them (`tris0.png`).

Material files are `materials/*.mtr`, in Unvanquished and XreaL also `scripts/*.shader`. As in Doom 3, the `.mtr` files
of all folders and archives are searched in alphabetical order, those next to the model last; a file hides those with
its name in later folders, and the first declaration of a name is used. Of `.shader` files, the last by name comes
first, as in Quake III (`ScanAndLoadShaderFiles` in `tr_shader.c`).
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from ..declarations.cube_scripts import MeshSkin, ModelScript, image_name, read_script
from ..declarations.declaration_files import canonical_name
from ..declarations.materials import Material, MaterialFile, parse_materials
from ..game_tree.files import FileReadError, GameFile
from ..game_tree.folders import ModelFolder
from ..game_tree.tree import GameTree
from ..names import AssetName, clean_name, extension_rank, fold, split_extension, without_image_extension


@dataclass(frozen=True)
class TextureRules:
    """How images are found for the skins or shaders of a family."""

    config_name: str = ""  # of Sauerbraten's configuration file next to a model; empty if there is none
    # One for each mesh, found by declarations and .skin files; else images for the whole model.
    has_shaders: bool = False
    # Whether all images next to a player model that names none are its skins, as in Quake II.
    has_player_skins: bool = False
    has_mesh_images: bool = False  # whether images may be named after the meshes, as for the engines of Quake


_GAME_PATHS = ("models", "players", "textures", "progs", "packages", "sprites", "gfx", "maps")


class Role(StrEnum):
    """The role of an image in a material."""

    DIFFUSE = "diffuse"
    NORMAL = "normal"
    HEIGHT = "height"
    SPECULAR = "specular"
    ALPHA = "alpha"  # an image of which only the alpha channel is used, as a cutout
    MASKS = "masks"  # Sauerbraten's: red is the specular strength, green the glow, blue the reflection
    GLOW = "glow"


# After a separator all suffixes count; without one, only those of four letters and more (`bodynorm`).
SUFFIXES: dict[Role, tuple[str, ...]] = {
    Role.DIFFUSE: ("d", "diffuse", "diff", "albedo", "basecolor", "color", "colour", "col"),
    Role.NORMAL: ("local", "n", "nm", "nrm", "norm", "norms", "normal", "normals", "normalmap", "ddn"),
    Role.HEIGHT: ("h", "height", "heightmap", "bump", "disp"),
    Role.SPECULAR: ("s", "spec", "specular", "gloss"),
    Role.MASKS: ("masks", "mask"),
    Role.GLOW: ("glow", "luma", "g", "a", "lum", "illum", "emit", "emissive", "add"),
}

_SEPARATORS = "_-. "
_DIFFUSE_END = re.compile(f"(?<=.)_(?:{'|'.join(SUFFIXES[Role.DIFFUSE])})\\Z", re.IGNORECASE | re.DOTALL)
# Suffixes that also end ordinary names (`tank_a`, `map_g`).
_AMBIGUOUS = frozenset(("a", "g", "d", "add", "col", "color", "colour", "bump"))
_OTHERS = {one for role, suffixes in SUFFIXES.items() if role is not Role.DIFFUSE for one in suffixes} - _AMBIGUOUS
_LONG = {suffix for suffix in _OTHERS if len(suffix) > 3}
_OTHER_END = re.compile(f"(?:(?:^|[{re.escape(_SEPARATORS)}])(?:{'|'.join(_OTHERS)})|{'|'.join(_LONG)})\\Z")
_NUMBER = re.compile(r"\d+")
_ICON = re.compile(r"(?:^icon|icon$|[_-]i$|[_-]icon|^preview|[_-]preview$|snapshot|screenshot|thumb)")
_WEAPON = re.compile(r"^(?:weapon|w_|a_)")


def role_names(stem: str, role: Role) -> list[str]:
    """The names without extension that an image with a role may have next to the diffuse image `stem`."""
    # Of `imp_d`, the others begin with `imp`.
    base = _DIFFUSE_END.sub("", stem)
    names = [f"{base}_{suffix}" for suffix in SUFFIXES[role]]
    names += [base + suffix for suffix in SUFFIXES[role] if len(suffix) > 3]
    names += [f"{base}-{suffix}" for suffix in SUFFIXES[role]]
    if role is Role.MASKS and fold(base).rpartition("/")[2] == "skin":
        names.append(base[:-4] + "masks")
    return names


def is_color(stem: str) -> bool:
    """Whether an image with this name, without folder and extension, may be a diffuse image."""
    folded = fold(stem)
    return not _ICON.search(folded) and not _OTHER_END.search(folded)


def guess_skins(
    images: Iterable[str], models: Iterable[str], model: str, folder: str, *, anything: bool, player: bool = False
) -> list[str]:
    """The likely skins next to a model, best first: named after it, `skin` or the folder."""
    # Without any such image, `anything` allows a single remaining one, and `player` all of them.
    model_stem = fold(split_extension(model)[0])
    others = {fold(split_extension(name)[0]) for name in models} - {model_stem}
    by_stem: dict[str, str] = {}
    for name in sorted(images, key=lambda name: (extension_rank(name), fold(name))):
        stem = split_extension(fold(name))[0]
        if is_color(stem) and not any(
            _belongs(stem, other)
            for other in others
            if not (_belongs(stem, model_stem) and model_stem.startswith(other))
        ):
            by_stem.setdefault(stem, name)
    for base in (model_stem, "skin", split_extension(fold(folder))[0]):
        found = [stem for stem in by_stem if base and _belongs(stem, base)]
        if found:
            found.sort(key=lambda stem: (_padded(stem[len(base) :].lstrip(_SEPARATORS)), stem))
            return [by_stem[stem] for stem in found]
    remaining = sorted(stem for stem in by_stem if _WEAPON.match(model_stem) or not (player and _WEAPON.match(stem)))
    if anything and (player or len(remaining) == 1):
        return [by_stem[stem] for stem in remaining]
    return []


def _belongs(stem: str, base: str) -> bool:
    """Whether a name is a base name, or continues it with a digit or a separator."""
    return stem.startswith(base) and (len(stem) == len(base) or stem[len(base)] in _SEPARATORS + "0123456789")


def _padded(text: str) -> str:
    """A text of which the numbers compare as numbers."""
    return _NUMBER.sub(lambda number: number[0].zfill(9), text)


def mesh_image_names(mesh: str, number: int, model: str, skin: int) -> list[str]:
    """The names of the image of a skin by which Quake's engines look for it, of animated skins the first frame."""
    # `mesh` has its `number` in the file, whose name is `model`: Ironwail and vkQuake `gl_model.c`, `Mod_LoadMD3Model`.
    names = [f"{mesh}_{skin}_0", f"{mesh}_{skin}", *([mesh] if skin == 0 else [])]
    return [*names, f"{model}_{number}_{skin}_0", f"{mesh}_{skin:02d}_00"]


MESH_IMAGE_FOLDERS = ("progs", "textures")  # where Quake's engines look for them


def is_game_path(name: AssetName) -> bool:
    """Whether a name is clearly a path in a game, so that an image with another name cannot be meant."""
    return bool(name.folder) and fold(name.folder).split("/")[0] in _GAME_PATHS


def with_suffixes(path: str) -> list[str]:
    """A path, then the path with the suffixes of diffuse images."""
    return [path, *(f"{without_image_extension(path)}_{suffix}" for suffix in SUFFIXES[Role.DIFFUSE])]


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


_MATERIAL_FOLDERS = (("materials", ".mtr"), ("scripts", ".shader"))


@dataclass
class _MaterialText:
    file: GameFile
    text: str
    folded: str
    parsed: MaterialFile | None = None


class MaterialFiles:
    """The material files of game folders, or of these and then the folder of a model, read when first needed."""

    # They are parsed only if a name that is sought occurs in them.

    def __init__(self, tree: GameTree, game: MaterialFiles | None = None) -> None:
        self._tree = tree
        self._game = game  # None for that of the game folders themselves
        self._budget = tree.budget
        self._known: dict[str, Material | None] = {}

    @cached_property
    def _texts(self) -> list[_MaterialText]:
        texts = list(self._game._texts) if self._game is not None else []
        loose = {text.file.path for text in texts if text.file.member is None}
        for file in self._files():
            if file.path in loose:
                continue
            try:
                if not self._budget.take("text", file.size()) or self._budget.is_over():
                    self._budget.warn(f"{file}: there are too many materials; this file and those after it are skipped")
                    break
                text = file.read_text()
            except FileReadError as error:
                self._budget.warn(str(error))
                continue
            texts.append(_MaterialText(file, text, fold(text)))
        return texts

    def _files(self) -> Iterator[GameFile]:
        for folder, extension in _MATERIAL_FOLDERS if self._game is None else (("", ".mtr"),):
            files = list(self._tree.files(folder, extension).values())
            yield from reversed(files) if extension == ".shader" else files

    @property
    def patterns(self) -> list[str]:
        """Where material files were found, relative to a game folder, such as `materials/*.mtr`."""
        found = {text.file.extension for text in self._texts}
        return [f"{folder}/*{extension}" for folder, extension in _MATERIAL_FOLDERS if extension in found]

    def find(self, name: str) -> Material | None:
        """The first declaration of a name, compared by `canonical_name`; None if there is none."""
        key = canonical_name(name)
        if key and key not in self._known:
            with self._budget.timed():
                self._known[key] = self._search(key)
        return self._known.get(key)

    def _search(self, key: str) -> Material | None:
        first: Material | None = None
        for text in self._texts:
            if self._budget.is_over():
                self._budget.warn("there are too many materials: some were not found")
                break
            if key not in text.folded:
                continue
            if text.parsed is None:
                text.parsed = parse_materials(text.text, str(text.file), self._budget.tokens)
                self._budget.take("tokens", text.parsed.token_count)
                for warning in text.parsed.warnings:
                    self._budget.warn(warning)
            found = text.parsed.materials.get(key)
            if found is not None and first is not None:
                place = f"{found.source}:{found.line}"
                self._budget.warn(f"{place}: '{found.name}' is already defined in {first.source}")
            first = first or found
        return first


MOST_SKINS = 100  # the most skins of a mesh that are looked for
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
        cleaned = (clean_name(posixpath.normpath(path)).path for path in paths)
        found = next(filter(None, (self._folder.game.find_image(path) for path in cleaned if path)), None)
        clean = clean_name(text).path
        found = found or (self._folder.files.find_image(clean) if clean else None)
        return found or self._folder.find_nearby(clean_name(raw).base)

    @cached_property
    def materials(self) -> list[dict[str, str]]:
        """The materials of each skin in .skin files by folded mesh name; not of those named after another model."""
        path, tree = self._folder.model_path, self._folder.files
        files = tree.files("", ".skin")
        models = {split_extension(key)[0] for key in tree.files("", path.suffix)} | {fold(path.stem)}
        owners = {key: max((one for one in models if _belongs(key, one)), key=len, default="") for key in files}
        own = fold(path.stem)
        keys = [key for key in files if owners[key] in (own, "")]
        keys.sort(key=lambda key: (not owners[key], "default" not in key, _padded(key)))
        texts = (self._read_text(files[key]) for key in keys)
        return [skin for text in texts if text is not None for skin in parse_skin(text)]

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


def name_in_skins(name: str) -> str:
    """The name by which Quake III's .skin files know a surface: `l_legs` for `l_legs_1` (`tr_model.c`, `R_LoadMD3`)."""
    return name[:-2] if len(name) > 2 and name[-2] == "_" else name


def parse_skin(text: str) -> list[dict[str, str]]:
    """The materials of each skin in a .skin file by folded mesh name; without `tag_...`, as in Quake III and XreaL."""
    # In vkQuake a line may name the materials of several skins; further lines of a mesh are frames, which are not used.
    skins: list[dict[str, str]] = []
    for line in text.splitlines():
        mesh, *materials = (part.strip().strip('"').strip() for part in line.partition("//")[0].split(","))
        if not mesh or mesh.lower().startswith("tag_"):
            continue
        for number, material in enumerate(materials[:MOST_SKINS]):
            if number == len(skins):
                skins.append({})
            if material:
                skins[number].setdefault(fold(mesh), material)
    return skins
