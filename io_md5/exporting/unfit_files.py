"""Files beside an export that have other joints: games refuse an animation with such a mesh."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from ...io_blender.reports import Report, listing
from ...io_common.game_data.paths import files_in
from ..format import Joints, Md5Error, read_animation_header, read_joints
from ..format.model import MESH_SUFFIX, Ints
from ..importing.animation_files import animation_paths

_Skeleton = tuple[list[str], list[int]]


def require_own_files(animations: Iterable[Path], joints: Joints, mesh: Path | None) -> None:
    """Checks that no animation of another model is replaced.

    An animation that fits the mesh that is replaced with it is of the same model. So is one that no mesh of the folder
    fits, if one fits the export: the mesh was exported first.

    `joints` are as they are written; `mesh` is None if only animations are written. Raises Md5Error, which names the
    animation that has other joints.
    """
    new = _skeleton(joints.names, joints.parents)
    for path in animations:
        old = _read_animation_skeleton(path) if path.exists() else None
        if old is None or old == new or (mesh is not None and _read_skeleton(mesh) == old):
            continue
        meshes = [skeleton for _, skeleton in _skeletons_of_meshes(path.parent)]
        if new not in meshes or old in meshes:
            raise Md5Error(
                f"the animation {path.name} in this folder has other joints: it is of another model, or from "
                "before the skeleton was changed. Choose another folder or name, or delete it",
                path=str(path),
            )


def warn_of_meshes(animation: Path, joints: Joints, report: Report) -> None:
    """Warns if there are meshes in the folder of an animation, and none has the joints that are written."""
    found = dict(_skeletons_of_meshes(animation.parent))
    if found and _skeleton(joints.names, joints.parents) not in found.values():
        report.warn(
            f"games refuse it with {listing([path.name for path in found])} in its folder, as the joints differ: "
            "export both from the same armature, with the same Game, Deform Bones Only and Add Root Bone",
            animation.name,
            is_important=True,
        )


def warn_of_animations(mesh: Path, joints: Joints, others: Collection[Path], report: Report) -> None:
    """Warns of animations beside a mesh that fit it before, and will not when it is replaced.

    The mesh need not exist. `joints` are as they are written; `others` are files that are written or told of already.
    """
    new = _skeleton(joints.names, joints.parents)
    try:
        old = _read_skeleton(mesh)
        if old is None or old == new:
            return
        unfit = [
            path.name
            for path in animation_paths(mesh.parent)
            if path not in others and _read_animation_skeleton(path) == old
        ]
    except OSError:
        return
    if unfit:
        report.warn(
            f"its joints have changed, so games refuse the animations {listing(unfit)} with it: export them again",
            mesh.name,
            is_important=True,
        )


def _skeletons_of_meshes(folder: Path) -> Iterator[tuple[Path, _Skeleton]]:
    try:
        paths = [path for path in files_in(folder) if path.suffix.lower() == MESH_SUFFIX]
    except OSError:
        return
    for path in paths:
        skeleton = _read_skeleton(path)
        if skeleton is not None:
            yield path, skeleton


def _read_skeleton(mesh: Path) -> _Skeleton | None:
    """The names and parents of a mesh file's joints; None if it cannot be read."""
    try:
        joints = read_joints(mesh)
    except (Md5Error, OSError):
        return None
    return _skeleton(joints.names, joints.parents)


def _read_animation_skeleton(animation: Path) -> _Skeleton | None:
    """The same of an animation file."""
    try:
        header = read_animation_header(animation)
    except (Md5Error, OSError):
        return None
    return _skeleton(header.names, header.parents)


def _skeleton(names: Sequence[str], parents: Ints) -> _Skeleton:
    return list(names), parents.tolist()
