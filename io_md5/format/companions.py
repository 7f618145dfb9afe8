"""The MD2 or MDL that an MD5 of the re-releases replaces: its skins, and the names of its frames. Needs no Blender."""
# Quake II: for `models/x/tris.md2` the game takes `models/x/md5/tris.md5mesh` and `.md5anim`. The skins are those of
# the MD2 with `md5/` before the name of the file, and the shaders of the meshes are not read. Quake: for `progs/x.mdl`
# the game takes `progs/x.md5mesh` and `.md5anim`. The skins of a mesh are `progs/SHADER_SS_FF`, SS the number of the
# skin and FF that of a frame of an animated skin. In both, frame i of the one animation is frame i of the replaced
# model (q2pro `refresh/models.c`, `MOD_LoadMD5`, `MD5_LoadSkins`; Ironwail `gl_model.c`, `Mod_LoadMD5MeshModel`).

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ...io_common.companions import Companion
from ...io_common.errors import message_for
from ...io_common.game_tree.archives import FilesByName, readable, stamp
from ...io_common.names import fold, fold_slashes, without_image_extension
from ...io_common.textures.conventions import MOST_SKINS, MaterialImages, TextureRules
from ...io_common.textures.search import Search
from ...io_md2.format import Md2Error, read_model
from .games.profiles import Game
from .mdl_file import MDL_SUFFIX, OtherMdlError, read_mdl
from .model import ANIMATION_SUFFIX, MESH_SUFFIX, SCALE_SUFFIX, Md5Error

MD2_SUFFIX = ".md2"

_MD5_FOLDER, _QUAKE_FOLDER = "md5", "progs"


def game_of(path: Path) -> Game | None:
    """The game of an MD5 by its folder: `md5` for Quake II, `progs` for Quake; None for any other."""
    return {_MD5_FOLDER: Game.QUAKE2, _QUAKE_FOLDER: Game.QUAKE}.get(fold(path.parent.name))


def find_companion(
    path: Path, search: Search | None = None, folders: FilesByName | None = None
) -> tuple[Companion | None, str]:
    """The model that an MD5 replaces; if it cannot be read, None and the reason."""
    # It is searched on disk or in the archive, and in the game folders of `search`; `folders` are those listed so far.
    folders = folders if folders is not None else FilesByName()
    for game, folder, name in _candidates(path):
        found = folders.find(folder, name)
        if found is None and search is not None:
            found = _in_game_folders(path, folder, name, search)
        if found is None:
            continue
        try:
            return _read(found, game, *stamp(found)), ""
        except (Md2Error, Md5Error, OSError) as error:
            # Other games have files with the suffix of an MDL as well.
            if not isinstance(error, OtherMdlError) or game_of(path) is Game.QUAKE:
                return None, message_for(error) if isinstance(error, OSError) else str(error)
    return None, ""


def find_companion_files(path: Path, listed: FilesByName) -> list[Path]:
    """The files beside a mesh or animation that an import reads with it, not those of other game folders."""
    suffix = path.suffix.lower()
    if suffix not in (MESH_SUFFIX, ANIMATION_SUFFIX):
        return []
    found = [listed.find(folder, name) for _, folder, name in _candidates(path)]
    if suffix == MESH_SUFFIX and (any(found) or game_of(path) is not None):
        found.append(listed.find(path.parent, path.stem + ANIMATION_SUFFIX))
    found.append(listed.find(path.parent, path.stem + SCALE_SUFFIX))
    return [one for one in found if one is not None]


def companion_skins(path: Path, companion: Companion | None, search: Search) -> list[MaterialImages]:
    """The skins that the game shows on a whole model; empty where the shaders of the meshes decide."""
    if companion is None or companion.game is not Game.QUAKE2:
        return []
    names = [skin_path(skin) for skin in dict.fromkeys(companion.skins) if skin]
    found = search.model(path, names)
    return [found.material(name) for name in names]


def skin_path(skin: str) -> str:
    """The MD5's image for its MD2's skin, without extension: `models/x/skin.pcx` is `models/x/md5/skin`."""
    folder, slash, name = without_image_extension(fold_slashes(skin)).rpartition("/")
    return f"{folder}{slash}{_MD5_FOLDER}/{name}"


def quake_skins(path: Path, shader: str, search: Search) -> list[MaterialImages]:
    """The images of the skins of a mesh in Quake, of animated skins the first frame."""
    result: list[MaterialImages] = []
    for number in range(MOST_SKINS):
        name = quake_skin_path(shader, number)
        images = search.model(path, [name]).material(name)
        if images.diffuse is None:
            break
        result.append(images)
    return result


def quake_skin_path(shader: str, number: int = 0) -> str:
    """The image of a shader in Quake, without extension: `progs/knight_00_00`."""
    return f"{_QUAKE_FOLDER}/{shader}_{number:02d}_00"


def _candidates(path: Path) -> Iterator[tuple[Game, Path, str]]:
    """The models that an MD5 may replace: the game, the folder and the name."""
    if fold(path.parent.name) == _MD5_FOLDER:
        yield Game.QUAKE2, path.parent.parent, path.stem + MD2_SUFFIX
    yield Game.QUAKE, path.parent, path.stem + MDL_SUFFIX


def _in_game_folders(path: Path, folder: Path, name: str, search: Search) -> Path | None:
    """The file in the same relative folder of another game folder or archive."""
    model_folder = search.folder_of(path)
    depth = len(path.parent.parts) - len(folder.parts)
    folders = (relative.split("/") for _, relative in model_folder.trees)
    found = (model_folder.game.path("/".join([*parts[: len(parts) - depth], name])) for parts in folders)
    return next(filter(None, found), None)


@lru_cache(maxsize=8)
def _read(path: Path, game: Game, size: int, time: int) -> Companion:
    """The content of a file, kept until its size or time changes, because panels ask for it all the time."""
    del size, time
    source = readable(path)
    if game is Game.QUAKE:
        return Companion(str(path), game, tuple(read_mdl(source).frames))
    model = read_model(source)
    return Companion(str(path), game, tuple(model.frame_names), tuple(model.skins))


TEXTURE_RULES = TextureRules(config_name="md5.cfg", has_shaders=True)
