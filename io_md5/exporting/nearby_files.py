"""Files in the folders of an export: animations and meshes with other joints, and what games look for by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from ...io_blender.reports import Report, listing
from ...io_common.game_tree.archives import (
    files_in,
)
from ...io_common.game_tree.names import (
    fold,
)
from ..format import Joints, Md5Error, Model, read_animation_header, read_joints
from ..format.games import Game
from ..format.model import Ints
from ..format.suffixes import MESH_SUFFIX
from ..importing.companions import MD2_SUFFIX, Companion, game_of, quake_skin_path, skin_path
from ..importing.read import (
    animation_paths,
)

_IMAGES = ".tga, .png, .jpg or .lmp"

_Skeleton = tuple[list[str], list[int]]


def require_own_files(animations: Iterable[Path], joints: Joints, mesh: Path | None) -> None:
    """Raises Md5Error if an animation of another model would be replaced: one with other joints than are written.

    An animation that fits the mesh that is replaced with it is of the same model. So is one that no mesh of the folder
    fits, if one fits the export: the mesh was exported first.
    """
    new = _skeleton(joints.names, joints.parents)
    for path in animations:
        old = _read_skeleton(path, read_animation_header) if path.exists() else None
        if old is None or old == new or (mesh is not None and _read_skeleton(mesh) == old):
            continue
        meshes = _skeletons_of_meshes(path.parent).values()
        if new not in meshes or old in meshes:
            raise Md5Error(
                f"the animation {path.name} in this folder has other joints: it is of another model, or from "
                "before the skeleton was changed. Choose another folder or name, or delete it",
                path=str(path),
            )


def warn_of_meshes(animation: Path, joints: Joints, report: Report) -> None:
    """Warns if there are meshes in the folder of an animation, and none has the joints that are written."""
    found = _skeletons_of_meshes(animation.parent)
    if found and _skeleton(joints.names, joints.parents) not in found.values():
        report.warn(
            f"games refuse it with {listing([path.name for path in found])} in its folder, as the joints differ: "
            "export both from the same armature, with the same Game, Deform Bones Only and Add Root Bone",
            animation.name,
            is_important=True,
        )


def warn_of_animations(mesh: Path, joints: Joints, others: Collection[Path], report: Report) -> None:
    """Warns of animations in the folder of a mesh, but for `others`, that fit it before it is replaced and will not."""
    new = _skeleton(joints.names, joints.parents)
    try:
        old = _read_skeleton(mesh)
        if old is None or old == new:
            return
        unfit = [
            path.name
            for path in animation_paths(mesh.parent)
            if path not in others and _read_skeleton(path, read_animation_header) == old
        ]
    except OSError:
        return
    if unfit:
        report.warn(
            f"its joints have changed, so games refuse the animations {listing(unfit)} with it: export them again",
            mesh.name,
            is_important=True,
        )


def _skeletons_of_meshes(folder: Path) -> dict[Path, _Skeleton]:
    try:
        paths = [path for path in files_in(folder) if path.suffix.lower() == MESH_SUFFIX]
    except OSError:
        return {}
    return {path: skeleton for path in paths if (skeleton := _read_skeleton(path)) is not None}


def _read_skeleton(path: Path, read: Callable[[Path], Any] = read_joints) -> _Skeleton | None:
    """The names and parents of the joints of a mesh, or of what `read` reads; None if it cannot be read."""
    try:
        joints = read(path)
    except (Md5Error, OSError):
        return None
    return _skeleton(joints.names, joints.parents)


def _skeleton(names: Sequence[str], parents: Ints) -> _Skeleton:
    return list(names), parents.tolist()


def report_names(path: Path, model: Model, game: Game, companion: Companion | None, report: Report) -> None:
    """Adds what the game looks for to the hints of a report, and warnings about what it would not find.

    `path` is the mesh; `companion` is None if the replaced model is unknown.
    """
    if game is Game.QUAKE:
        skins = [quake_skin_path(shader) for shader in dict.fromkeys(mesh.shader for mesh in model.meshes)]
        report.hints.append(f"Quake looks for {listing(skins)} ({_IMAGES}), beside progs/{path.stem}.mdl")
    elif game is Game.SAUERBRATEN and len(model.meshes) > 1:
        meshes = dict.fromkeys(mesh.comment_name for mesh in model.meshes)
        report.hints.append(f"md5skin in md5.cfg finds the meshes {listing(list(meshes))}")
    elif game is Game.QUAKE2:
        _report_quake2_names(path, companion, report)


def _report_quake2_names(path: Path, companion: Companion | None, report: Report) -> None:
    if companion is not None:
        skins = [skin_path(skin) for skin in dict.fromkeys(companion.skins) if skin]
        if skins:
            report.hints.append(f"Quake II looks for the skins {listing(skins)} (.tga, .png, .jpg or .pcx)")
        return
    if game_of(path) is not Game.QUAKE2:
        report.hints.append(f"Quake II looks for md5/{path.name} in the folder of the MD2 that it replaces")
        return
    try:
        others = [other.name for other in files_in(path.parent.parent) if fold(other.suffix) == MD2_SUFFIX]
    except OSError:
        others = []
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
