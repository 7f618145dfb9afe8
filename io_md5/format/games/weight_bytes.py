"""Weights as graphics cards get them: a few for each vertex, each as a byte. Checks of what that moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....io_common.counting import counted
from ....io_common.findings import Finding
from .. import quaternions as quat
from ..model import Floats, Mesh, Model
from ..skeleton import poses
from ..skinning import skin, vertex_weights
from ..validation import check_components
from .mesh_checks import is_sound, named_meshes
from .rules import Rule, Subject

# The poses of animations in which meshes are compared: at most so many, and for large meshes fewer.
_POSES, _POSED_VERTICES = 8, 400_000

VISIBLE = 1e-3
"""Rounding is told of from this fraction of a mesh's size on."""


@dataclass(frozen=True)
class Keeper:
    """An engine that keeps bytes.

    Attributes:
        engine: its name.
        most: the weights that it keeps of a vertex.
        fills_up: whether it adds what is missing to 255 to the largest.
        has_points: whether each weight keeps its own point, so that bytes only move that joint's share of it.
    """

    engine: str
    most: int = 4
    fills_up: bool = False
    has_points: bool = False


def dropped_weights(keepers: tuple[Keeper, ...], rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A vertex has more weights than the limit; the finding says how far that moves vertices."""
    for index, mesh, where in named_meshes(subject):
        many = np.flatnonzero(mesh.weight_counts > rule.limit)
        if not len(many):
            continue
        worst = many[np.argmax(mesh.weight_counts[many])]
        most = int(mesh.weight_counts[worst])
        off = _told(_differences(keepers, mesh, subject))
        yield rule.finding(
            f"{where}: {counted(len(many), 'vertices', 'have')} more than {rule.limit:g} weights, vertex {int(worst)} "
            f"has {most}" + (f", off by up to {off}" if off else ""),
            most,
            mesh=index,
            vertices=many,
        )


def rounded_weights(keepers: tuple[Keeper, ...], rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Weights as bytes move vertices by more than the limit, a fraction of the mesh's size."""
    for index, mesh, where in named_meshes(subject):
        # `dropped_weights` tells of the others.
        if mesh.vertex_count and mesh.weight_counts.max() <= min(keeper.most for keeper in keepers):
            differences = _differences(keepers, mesh, subject)
            largest = max(differences.values(), default=0.0)
            if largest > rule.limit * _size(mesh, subject):
                yield rule.finding(
                    f"{where}: off by up to {_told(differences)}", f"{largest:.3g}", mesh=index
                )


def _told(differences: dict[str, float]) -> str:
    parts = [f"{distance:.3g} units in {engine}" for engine, distance in differences.items()]
    return " and ".join(parts)


def _size(mesh: Mesh, subject: Subject) -> float:
    assert subject.model is not None
    joints = subject.model.joints
    return float(np.linalg.norm(np.ptp(skin(mesh, joints.positions, joints.orientations), axis=0)))


def _differences(keepers: tuple[Keeper, ...], mesh: Mesh, subject: Subject) -> dict[str, float]:
    """The largest distance that each engine moves a vertex by; empty if the mesh cannot be skinned."""
    model = subject.model
    if model is None or not is_sound(mesh, model):
        return {}
    bind = model.joints.positions, model.joints.orientations
    at_rest = skin(mesh, *bind)
    kept = [_Kept(mesh, keeper) for keeper in keepers]
    result = dict.fromkeys((keeper.engine for keeper in keepers), 0.0)
    for pose in _poses(model, mesh, subject):
        exact = skin(mesh, *pose)
        for one in kept:
            offsets = one.vertices(at_rest, bind, pose) - exact
            distance = float(np.sqrt(np.einsum("vi,vi->v", offsets, offsets).max(initial=0.0)))
            result[one.keeper.engine] = max(result[one.keeper.engine], distance)
    return result


def _poses(model: Model, mesh: Mesh, subject: Subject) -> Iterator[tuple[Floats, Floats]]:
    """Poses of the animations that fit the model; the bind pose if there are none."""
    fitting = [one for one in subject.animations if one.names == model.joints.names and one.frame_count]
    if not fitting:
        yield model.joints.positions, model.joints.orientations
        return
    total = min(_POSES, _POSED_VERTICES // max(mesh.vertex_count, 1))
    each = max(1, total // len(fitting))
    for animation in fitting[: max(total, 1)]:
        check_components(animation)
        frames = np.unique(np.linspace(0, animation.frame_count - 1, each).astype(np.int64))
        yield from zip(*poses(animation, frames), strict=True)


class _Kept:
    """The weights of a mesh that an engine keeps: V vertices with up to K each, the unused ones 0."""

    def __init__(self, mesh: Mesh, keeper: Keeper) -> None:
        self.keeper = keeper
        rows = vertex_weights(mesh)
        order = np.lexsort((-mesh.weight_biases[rows.weights], rows.vertices))
        ranks = np.arange(len(order)) - np.searchsorted(rows.vertices, rows.vertices)
        chosen = ranks < keeper.most
        shape = mesh.vertex_count, min(keeper.most, int(mesh.weight_counts.max(initial=0)))
        weights = np.zeros(shape, dtype=np.int64)
        biases = np.zeros(shape)
        at = rows.vertices[chosen], ranks[chosen]
        weights[at] = rows.weights[order[chosen]]
        biases[at] = mesh.weight_biases[weights[at]]
        self.joints: npt.NDArray[np.integer] = mesh.weight_joints[weights]
        self.biases = biases / _or_one(biases.sum(axis=1, keepdims=True))
        numbers = np.floor(np.clip(self.biases, 0.0, 1.0) * 255.0)
        if keeper.fills_up:
            numbers[:, 0] += np.maximum(255.0 - numbers.sum(axis=1), 0.0)
        self.shares = numbers / (_or_one(numbers.sum(axis=1, keepdims=True)) if keeper.has_points else 255.0)
        self.points = mesh.weight_positions[weights]

    def vertices(self, at_rest: Floats, bind: tuple[Floats, Floats], pose: tuple[Floats, Floats]) -> Floats:
        """The vertices in a pose as the engine shows them, (V, 3).

        `at_rest` are the vertices in the bind pose, (V, 3); `bind` and `pose` hold positions and orientations of the
        joints.
        """
        shares = self.shares[..., None]
        if self.keeper.has_points:
            turns = quat.to_matrices(pose[1])[self.joints]
            turned = np.einsum("vkij,vkj->vi", turns, self.points * self.biases[..., None])
            return np.asarray(turned + (pose[0][self.joints] * shares).sum(axis=1))
        turn = quat.multiply(pose[1], quat.conjugate(bind[1]))
        moves = pose[0] - quat.rotate(turn, bind[0])
        blended = (quat.to_matrices(turn)[self.joints] * shares[..., None]).sum(axis=1)
        moved = np.einsum("vij,vj->vi", blended, at_rest) + (moves[self.joints] * shares).sum(axis=1)
        return np.asarray(moved)


def _or_one(sums: Floats) -> Floats:
    """Sums to divide by; 1 instead of 0."""
    return np.where(sums != 0.0, sums, 1.0)
