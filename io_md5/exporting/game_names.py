"""The files that the re-releases look for: statements and warnings about the names of an export."""

from __future__ import annotations

from pathlib import Path

from ...io_blender.reports import Report, listing
from ...io_common.game_tree.archives import files_in
from ...io_common.game_tree.names import fold
from ..format import Model
from ..format.games import Game
from ..importing.companions import MD2_SUFFIX, Companion, game_of, quake_skin_path, skin_path

_IMAGES = ".tga, .png, .jpg or .lmp"


def tell_names(path: Path, model: Model, game: Game, companion: Companion | None, report: Report) -> None:
    """Adds what the game looks for to the hints of a report, and warnings about what it would not find.

    `path` is the mesh, `model` is as it is written; `companion` is None if the replaced model is unknown.
    """
    if game is Game.QUAKE:
        shaders = dict.fromkeys(mesh.shader for mesh in model.meshes)
        skins = [quake_skin_path(shader) for shader in shaders]
        report.hints.append(f"Quake looks for {listing(skins)} ({_IMAGES}), beside progs/{path.stem}.mdl")
    elif game is Game.SAUERBRATEN and len(model.meshes) > 1:
        meshes = dict.fromkeys(mesh.comment_name for mesh in model.meshes)
        report.hints.append(f"md5skin in md5.cfg finds the meshes {listing(list(meshes))}")
    elif game is Game.QUAKE2:
        _tell_quake2(path, companion, report)


def _tell_quake2(path: Path, companion: Companion | None, report: Report) -> None:
    if companion is not None:
        skins = [skin_path(skin) for skin in dict.fromkeys(companion.skins) if skin]
        if skins:
            report.hints.append(f"Quake II looks for the skins {listing(skins)} (.tga, .png, .jpg or .pcx)")
        return
    if game_of(path) is not Game.QUAKE2:
        report.hints.append(f"Quake II looks for md5/{path.name} in the folder of the MD2 that it replaces")
        return
    others = _models_above(path)
    if not others:
        report.hints.append(
            f"Quake II shows it in place of {path.stem}{MD2_SUFFIX}, which is not in the folder above"
        )
    elif fold(path.stem) not in {fold(Path(name).stem) for name in others}:
        wanted = [f"md5/{Path(name).stem}{path.suffix}" for name in others]
        report.warn(
            f"Quake II looks for {listing(wanted)}, as the folder above has {listing(others)}: export under that name",
            path.name,
            is_important=True,
        )


def _models_above(path: Path) -> list[str]:
    """The MD2 models in the folder above that of a mesh."""
    try:
        return [other.name for other in files_in(path.parent.parent) if fold(other.suffix) == MD2_SUFFIX]
    except OSError:
        return []
