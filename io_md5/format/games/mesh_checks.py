"""Checks of the meshes of an .md5mesh file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....io_common.rules import Check, Finding, Rule
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import Floats, Ints, Joints, Mesh, Model
from ....io_common.skeletal.skeleton import poses
from ....io_common.skeletal.skinning import position_ids, skin, vertex_weights
from ....io_common.skeletal.validation import check_components, has_invalid_range, validate_mesh
from ....io_common.texts import counted, listing
from ..model import Md5Error
from ..validation import is_writable
from .checks import PartCheck, Subject, about, at_most, byte_count, stating

_IMAGE_SUFFIX = re.compile(r"\.(?:tga|png|jpe?g|lmp|pcx)\Z", re.IGNORECASE)
_SKIN_NUMBERS = re.compile(r"_[0-9]{2}_[0-9]{2}(?:_glow|_luma)?\Z")


def each_mesh(check: PartCheck) -> Check:
    """A check of all meshes made of a check of one, whose findings then name the mesh."""

    def check_all(rule: Rule, subject: Subject) -> Iterator[Finding]:
        for index, mesh in enumerate(subject.model.meshes if subject.model is not None else ()):
            where = f"mesh {index} ({mesh.comment_name or mesh.name or mesh.shader!r})"
            for finding in check(rule, mesh, subject):
                yield replace(finding, text=f"{where}: {finding.text}", mesh=index)

    return check_all


no_meshes = about("model")(stating("there is no mesh", lambda model: not model.meshes))
mesh_count = about("model")(at_most("meshes", lambda model: len(model.meshes)))
total_vertices = about("model")(at_most("vertices in all meshes", lambda model: model.vertex_count))


@about("model")
def equal_meshes(rule: Rule, model: Model, _subject: Subject) -> Iterator[Finding]:
    seen: dict[tuple[str, str], int] = {}
    for index, mesh in enumerate(model.meshes):
        first = seen.setdefault((mesh.comment_name, mesh.shader), index)
        if first != index:
            what = f"meshes {first} and {index} have the same name and shader {mesh.shader!r}"
            yield replace(rule.finding(what, mesh.shader), mesh=index)


@about("model")
def equal_materials(rule: Rule, model: Model, _subject: Subject) -> Iterator[Finding]:
    """Different shaders have the same name for Doom 3: it ignores case, and all from the last dot on."""
    shaders: dict[str, list[str]] = {}
    for shader in _shaders(model):
        name = shader.replace("\\", "/").lower()
        shaders.setdefault(name.rpartition(".")[0] if "." in name else name, []).append(shader)
    for name, same in shaders.items():
        if len(same) > 1:
            yield rule.finding(f"materials that are all {name!r}: {listing(same)}", name)


@about("model")
def several_materials(rule: Rule, model: Model, _subject: Subject) -> Iterator[Finding]:
    shaders = _shaders(model)
    if len(shaders) > 1:
        yield rule.finding(f"{counted(len(shaders), 'materials')}: {listing(shaders)}", len(shaders))


def _shaders(model: Model) -> list[str]:
    return list(dict.fromkeys(mesh.shader for mesh in model.meshes))


@about("model")
def no_animation(rule: Rule, _model: Model, subject: Subject) -> Iterator[Finding]:
    if subject.has_animation is False:
        yield rule.finding("there is no animation of the same name beside the mesh")


mesh_names = each_mesh(stating(
    "its shader or name contains a double quote or a line break",
    lambda mesh: not (is_writable(mesh.shader) and is_writable(mesh.name)),
))  # fmt: skip
name_line = each_mesh(stating("a line `name` with {!r}", lambda mesh: mesh.name))
unnamed_mesh = each_mesh(stating("no comment // meshes: NAME", lambda mesh: not mesh.comment_name))


@each_mesh
def skin_path(rule: Rule, mesh: Mesh, _subject: Subject) -> Iterator[Finding]:
    """The shader is no plain name: Quake adds folder, number and suffix to it. The finding suggests one."""
    name = _SKIN_NUMBERS.sub("", _IMAGE_SUFFIX.sub("", mesh.shader.replace("\\", "/").rpartition("/")[2]))
    if name != mesh.shader:
        suggestion = f"rename the material to {name!r}" if name else "name the material after the model"
        what = f"its skin is looked for as progs/{mesh.shader}_00_00"
        yield rule.finding(what, mesh.shader, remedy=suggestion)


@each_mesh
def skin_length(rule: Rule, mesh: Mesh, _subject: Subject) -> Iterator[Finding]:
    path = f"progs/{mesh.shader}_00_00"
    if byte_count(path) > rule.limit:
        yield rule.finding(f"the path of its skin, {path}, has {byte_count(path)} bytes", byte_count(path))


@each_mesh
def not_finite(rule: Rule, mesh: Mesh, _subject: Subject) -> Iterator[Finding]:
    uvs = np.flatnonzero(~np.isfinite(mesh.uvs).all(axis=1))
    yield from _first_of(rule, mesh, "vertices", uvs, "texture coordinates of vertex {} are not finite")
    is_finite = np.isfinite(mesh.weight_biases) & np.isfinite(mesh.weight_positions).all(axis=1)
    yield from _first_of(rule, mesh, "weights", np.flatnonzero(~is_finite), "weight {} is not finite")


@each_mesh
def invalid_references(rule: Rule, mesh: Mesh, subject: Subject) -> Iterator[Finding]:
    triangles = np.flatnonzero(_outside(mesh.triangles, mesh.vertex_count).any(axis=1))
    yield from _first_of(rule, mesh, "triangles", triangles, "triangle {} refers to a vertex that does not exist")
    weights = np.flatnonzero(_outside(mesh.weight_joints, len(subject.joints.names)))
    yield from _first_of(rule, mesh, "weights", weights, "weight {} refers to a joint that does not exist")
    vertices = np.flatnonzero(has_invalid_range(mesh))
    yield from _first_of(rule, mesh, "vertices", vertices, "vertex {} refers to weights that do not exist")


@each_mesh
def unweighted_vertices(rule: Rule, mesh: Mesh, _subject: Subject) -> Iterator[Finding]:
    vertices = np.flatnonzero(mesh.weight_counts == 0)
    if len(vertices):
        what = f"{counted(len(vertices), 'vertices', 'have')} no weight, such as vertex {vertices[0]}"
        yield rule.finding(what, len(vertices), vertices=vertices)


@each_mesh
def bias_sums(rule: Rule, mesh: Mesh, _subject: Subject) -> Iterator[Finding]:
    if has_invalid_range(mesh).any():
        return
    rows = vertex_weights(mesh)
    sums = rows.sums(mesh.weight_biases[rows.weights, None])[:, 0]
    off = np.flatnonzero((np.abs(sums - 1.0) > rule.limit) & (mesh.weight_counts > 0))
    if len(off):
        worst = off[np.argmax(np.abs(sums[off] - 1.0))]
        vertices, found = counted(len(off), "vertices"), f"{sums[worst]:.6g}"
        text = f"the biases of {vertices} do not sum to 1, those of vertex {worst} to {found}"
        yield rule.finding(text, found, vertices=off)


vertex_count = each_mesh(at_most("vertices", lambda mesh: mesh.vertex_count, selected=True))
triangle_count = each_mesh(at_most("triangles", lambda mesh: len(mesh.triangles), selected=True))


@each_mesh
def weight_count(rule: Rule, mesh: Mesh, _subject: Subject) -> Iterator[Finding]:
    count = len(mesh.weight_joints)
    if count > rule.limit:
        vertices = np.flatnonzero(mesh.weight_starts.astype(np.int64) + mesh.weight_counts > rule.limit)
        yield rule.finding(counted(count, "weights"), count, vertices=vertices)


@each_mesh
def weight_starts(rule: Rule, mesh: Mesh, _subject: Subject) -> Iterator[Finding]:
    far = np.flatnonzero(mesh.weight_starts > rule.limit)
    if len(far):
        start = int(mesh.weight_starts[far[0]])
        yield rule.finding(f"the weights of vertex {far[0]} begin at {start}", start, vertices=far)


@each_mesh
def silhouette_edges(rule: Rule, mesh: Mesh, subject: Subject) -> Iterator[Finding]:
    # Each triangle adds three edges at most.
    at_rest = _at_rest(mesh, subject) if 3 * len(mesh.triangles) > rule.limit else None
    if at_rest is not None:
        count = _edge_count(position_ids(at_rest)[mesh.triangles])
        if count > rule.limit:
            yield rule.finding(f"{counted(count, 'edges')} that may become silhouettes", count)


def _edge_count(triangles: npt.NDArray[np.integer]) -> int:
    """The number of edges that Doom 3 makes of triangles: one for each pair in opposite directions."""
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(np.int64)
    ends = ends[ends[:, 0] != ends[:, 1]]
    if not len(ends):
        return 0
    forward = ends[:, 0] < ends[:, 1]
    low, high = ends.min(axis=1), ends.max(axis=1)
    _, edges = np.unique(low * (int(high.max()) + 1) + high, return_inverse=True)
    counts = [np.bincount(edges.ravel()[way], minlength=int(edges.max()) + 1) for way in (forward, ~forward)]
    return int(np.maximum(*counts).sum())


def _at_rest(mesh: Mesh, subject: Subject) -> Floats | None:
    """The vertices of a mesh in the bind pose, (V, 3); None if it is not valid, of which other checks tell."""
    assert subject.model is not None
    joints = subject.model.joints
    if not np.isfinite(joints.positions).all():
        return None
    try:
        validate_mesh(mesh, len(joints))
        return skin(mesh, joints.positions, joints.orientations)
    except Md5Error:
        return None


def _outside(indices: Ints, count: int) -> npt.NDArray[np.bool_]:
    return (indices < 0) | (indices >= count)


def _first_of(rule: Rule, mesh: Mesh, kind: str, bad: npt.NDArray[np.int64], text: str) -> Iterator[Finding]:
    """The finding about the first bad vertex, triangle or weight, with all of them, or the vertices of weights."""
    if not len(bad):
        return
    selected: dict[str, Any] = {kind: bad}
    if kind == "weights":
        rows = vertex_weights(mesh) if not has_invalid_range(mesh).any() else None
        selected = {"vertices": np.unique(rows.vertices[np.isin(rows.weights, bad)])} if rows is not None else {}
    yield rule.finding(text.format(bad[0]), bad[0], **selected)


# Weights as graphics cards get them: a few for each vertex, each as a byte

# The poses of animations in which meshes are compared: at most so many, and for large meshes fewer.
_POSES, _POSED_VERTICES = 8, 400_000

_NOTHING = 1e-6  # units that rounding moves vertices by
VISIBLE = 1e-3  # rounding is worth a warning from this fraction of a mesh's size on


@dataclass(frozen=True)
class Keeper:
    """An engine that keeps weights as bytes."""

    engine: str
    most: int = 4  # weights that it keeps of a vertex
    fills_up: bool = False  # what is missing to 255 is added to the largest
    has_points: bool = False  # each weight keeps its own point: bytes only move that joint's share of it


def influences(*keepers: Keeper) -> Check:
    """A check for more weights than the limit; the finding says how far that moves vertices in some engines."""

    def check(rule: Rule, mesh: Mesh, subject: Subject) -> Iterator[Finding]:
        many = np.flatnonzero(mesh.weight_counts > rule.limit)
        if len(many):
            worst = many[np.argmax(mesh.weight_counts[many])]
            most, at_rest = int(mesh.weight_counts[worst]), _at_rest(mesh, subject) if keepers else None
            found = _differences(keepers, mesh, subject, at_rest) if at_rest is not None else {}
            off = _in_words(found) if max(found.values(), default=0.0) > _NOTHING else ""
            have = counted(len(many), "vertices", "have")
            text = f"{have} more than {rule.limit:g} weights, vertex {worst} has {most}"
            yield rule.finding(text + (f", off by up to {off}" if off else ""), most, vertices=many)

    return each_mesh(check)


def rounded_weights(*keepers: Keeper) -> Check:
    """A check for weights that as bytes move vertices by more than a limit, as part of the mesh's size."""

    def check(rule: Rule, mesh: Mesh, subject: Subject) -> Iterator[Finding]:
        # `influences` is about the others.
        if not mesh.vertex_count or mesh.weight_counts.max() > min(keeper.most for keeper in keepers):
            return
        at_rest = _at_rest(mesh, subject)
        if at_rest is not None:
            differences = _differences(keepers, mesh, subject, at_rest)
            largest = max(differences.values())
            if largest > rule.limit * np.linalg.norm(np.ptp(at_rest, axis=0)):
                yield rule.finding(f"off by up to {_in_words(differences)}", f"{largest:.3g}")

    return each_mesh(check)


def _in_words(differences: dict[str, float]) -> str:
    return " and ".join(f"{distance:.3g} units in {engine}" for engine, distance in differences.items())


def _differences(keepers: tuple[Keeper, ...], mesh: Mesh, subject: Subject, at_rest: Floats) -> dict[str, float]:
    """The largest distance that each engine moves a vertex by."""
    model = subject.model
    assert model is not None
    kept = {keeper.engine: _kept(mesh, keeper, at_rest, model.joints) for keeper in keepers}
    result = dict.fromkeys(kept, 0.0)
    for pose in _poses(model, mesh, subject):
        exact = skin(mesh, *pose)
        for engine, posed in kept.items():
            offsets = posed(pose) - exact
            distance = float(np.sqrt(np.einsum("vi,vi->v", offsets, offsets).max(initial=0.0)))
            result[engine] = max(result[engine], distance)
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


def _kept(mesh: Mesh, keeper: Keeper, at_rest: Floats, bind: Joints) -> Callable[[tuple[Floats, Floats]], Floats]:
    """What gives the vertices in a pose as an engine shows them, (V, 3)."""
    # The weights that it keeps: those of V vertices with up to K each, the unused ones 0.
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
    joints = mesh.weight_joints[weights]
    biases /= _or_one(biases.sum(axis=1, keepdims=True))
    numbers = np.floor(np.clip(biases, 0.0, 1.0) * 255.0)
    if keeper.fills_up:
        numbers[:, 0] += np.maximum(255.0 - numbers.sum(axis=1), 0.0)
    if keeper.has_points:
        shares = numbers / _or_one(numbers.sum(axis=1, keepdims=True))
        points = mesh.weight_positions[weights] * biases[..., None]
    else:
        shares = numbers / 255.0
        offsets = at_rest[:, None] - bind.positions[joints]
        points = quat.rotate(quat.conjugate(bind.orientations[joints]), offsets) * shares[..., None]

    def posed(pose: tuple[Floats, Floats]) -> Floats:
        positions, turns = pose[0][joints], quat.to_matrices(pose[1])[joints]
        moved = np.einsum("vkij,vkj->vi", turns, points) + np.einsum("vk,vkj->vj", shares, positions)
        return np.asarray(moved)

    return posed


def _or_one(sums: Floats) -> Floats:
    return np.where(sums != 0.0, sums, 1.0)
