"""What the games accept, judged before a file is written.

An error is what a game would refuse to load; a warning is what it would load and show wrongly. The rules are those of
the published sources of Doom 3 and Doom 3 BFG; of Sauerbraten and the Quake re-releases only is known what their own
models look like, so nothing is an error for them that is none for every game.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

import numpy as np

from .model import ROOT, Animation, Floats, Ints, Joints, Mesh, Model
from .printing import is_writable
from .skinning import vertex_weights

_BFG_MOST_JOINTS = 255
_BFG_MOST_INFLUENCES = 4
_BFG_BIAS_TOLERANCE = 0.001
_BIAS_TOLERANCE = 0.01
_NAMES = 5


class Game(Enum):
    """Whose limits count."""

    ANY = "ANY"
    DOOM3 = "DOOM3"
    DOOM3_BFG = "DOOM3_BFG"
    QUAKE = "QUAKE"
    SAUERBRATEN = "SAUERBRATEN"

    @property
    def wants_one_root(self) -> bool:
        """Whether an animation may have one root only."""
        return self in (Game.DOOM3, Game.DOOM3_BFG)


@dataclass(frozen=True)
class Finding:
    """Something that a game would not take as it is.

    Attributes:
        is_error: whether it would refuse the file.
        text: what is wrong, naming the joint, mesh or vertex.
    """

    is_error: bool
    text: str


def check_model(model: Model, game: Game = Game.ANY) -> list[Finding]:
    """Judges a model; an empty list is a clean one."""
    findings = _check_joints(model.joints.names, model.joints.parents, game)
    findings += _check_numbers(
        "a joint", model.joints.names, model.joints.positions, model.joints.orientations
    )
    if game is Game.DOOM3_BFG and len(model.joints) > _BFG_MOST_JOINTS:
        findings.append(_error(f"{len(model.joints)} joints; Doom 3 BFG takes up to {_BFG_MOST_JOINTS}"))
    roots = int((model.joints.parents == ROOT).sum())
    if roots > 1 and game.wants_one_root:
        findings.append(
            _warning(
                f"{roots} joints without parent: animations need one; an origin joint can be added above them"
            )
        )
    for index, mesh in enumerate(model.meshes):
        findings += _check_mesh(mesh, f"mesh {index} ({mesh.name or mesh.shader!r})", model.joints, game)
    return findings


def check_animation(
    animation: Animation, model_joints: Joints | None = None, game: Game = Game.ANY
) -> list[Finding]:
    """Judges an animation, and whether it is one of the given skeleton; an empty list is a clean one."""
    findings = _check_joints(animation.names, animation.parents, game)
    base = np.column_stack([animation.base_positions, animation.base_orientations])
    findings += _check_numbers("a joint", animation.names, base)
    if not np.isfinite(animation.frames).all():
        findings.append(_error("a frame holds a number that is not finite"))
    if animation.frame_count == 0:
        findings.append(_error("there are no frames"))
    if not animation.frame_rate > 0.0:
        findings.append(_error(f"a frame rate of {animation.frame_rate:g}"))
    if float(animation.frame_rate) != round(animation.frame_rate):
        findings.append(_warning(f"a frame rate of {animation.frame_rate:g}: the games read whole numbers"))
    if len(animation.bounds) != animation.frame_count:
        findings.append(
            _error(f"there are bounds for {len(animation.bounds)} frames instead of {animation.frame_count}")
        )
    findings += _check_components(animation)
    if int((animation.parents == ROOT).sum()) > 1 and game.wants_one_root:
        findings.append(
            _error("several joints without parent; Doom 3 takes one: add an origin joint above them")
        )
    if model_joints is not None and (
        animation.names != model_joints.names or not np.array_equal(animation.parents, model_joints.parents)
    ):
        findings.append(_error("its joints are not those of the mesh, index by index"))
    return findings


def _check_joints(names: list[str], parents: Ints, game: Game) -> list[Finding]:
    findings = []
    if not names:
        findings.append(_error("there are no joints"))
    late = [names[joint] for joint in np.flatnonzero(parents >= np.arange(len(parents)))]
    if late:
        findings.append(_error(f"joints come before their parents: {_listing(late)}"))
    bad = [repr(name) for name in names if not is_writable(name)]
    if bad:
        findings.append(_error(f"names of joints hold a double quote or the end of a line: {_listing(bad)}"))
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        findings.append(_warning(f"joints share their name: {_listing(repeated)}"))
    if "" in names and game is not Game.ANY:
        findings.append(_warning("a joint has no name"))
    return findings


def _check_numbers(what: str, names: list[str], *arrays: Floats) -> list[Finding]:
    for array in arrays:
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            return [_error(f"{what} has a number that is not finite: {names[int(bad[0])]}")]
    return []


def _check_mesh(mesh: Mesh, where: str, joints: Joints, game: Game) -> list[Finding]:
    findings = []
    if not (is_writable(mesh.shader) and is_writable(mesh.name)):
        findings.append(_error(f"{where}: its shader or name holds a double quote or the end of a line"))
    numbers = (mesh.uvs, mesh.weight_biases[:, None], mesh.weight_positions)
    if not all(np.isfinite(array).all() for array in numbers):
        findings.append(_error(f"{where}: a number is not finite"))
    if _outside(mesh.triangles, mesh.vertex_count):
        findings.append(_error(f"{where}: a triangle refers to a vertex that does not exist"))
    if _outside(mesh.weight_joints, len(joints)):
        findings.append(_error(f"{where}: a weight refers to a joint that does not exist"))
    ends = mesh.weight_starts.astype(np.int64) + mesh.weight_counts
    if (
        (mesh.weight_starts < 0).any()
        or (mesh.weight_counts < 0).any()
        or (ends > len(mesh.weight_joints)).any()
    ):
        return [*findings, _error(f"{where}: a vertex refers to weights that do not exist")]
    bare = np.flatnonzero(mesh.weight_counts == 0)
    if len(bare):
        findings.append(_error(f"{where}: {len(bare)} vertices have no weight, the first is {int(bare[0])}"))
    rows = vertex_weights(mesh)
    sums = rows.sums(mesh.weight_biases[rows.weights, None])[:, 0]
    if game is Game.DOOM3_BFG:
        many = int((mesh.weight_counts > _BFG_MOST_INFLUENCES).sum())
        if many:
            findings.append(
                _warning(f"{where}: {many} vertices have more than 4 weights; Doom 3 BFG keeps the largest 4")
            )
        tolerance = _BFG_BIAS_TOLERANCE
    else:
        tolerance = _BIAS_TOLERANCE
    off = int((np.abs(sums - 1.0) > tolerance)[mesh.weight_counts > 0].sum())
    if off:
        findings.append(_warning(f"{where}: the biases of {off} vertices do not sum to 1"))
    return findings


def _check_components(animation: Animation) -> list[Finding]:
    """Start indices must lie in [0, C) even where no flag is set, if C is not 0 (Doom 3)."""
    count = animation.frames.shape[1] if animation.frames.ndim == 2 else 0
    sizes = np.array([int(flags).bit_count() for flags in animation.flags.tolist()], dtype=np.int64)
    starts = animation.starts.astype(np.int64)
    wrong = (starts < 0) | (starts + sizes > count) | ((count > 0) & (starts >= count))
    names = [animation.names[joint] for joint in np.flatnonzero(wrong)]
    return [_error(f"components of joints do not exist: {_listing(names)}")] if names else []


def _outside(indices: Ints, count: int) -> bool:
    return bool(((indices < 0) | (indices >= count)).any())


def _listing(names: list[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")


def _error(text: str) -> Finding:
    return Finding(True, text)


def _warning(text: str) -> Finding:
    return Finding(False, text)
