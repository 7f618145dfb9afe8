"""Checks of the meshes of an .md5mesh file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ....io_common.counting import counted
from ....io_common.findings import Finding
from ..model import Ints, Mesh, Model
from ..skinning import position_ids, skin, vertex_weights
from ..validation import is_writable
from . import skeleton_checks
from .rules import Rule, Subject, listing

_IMAGE_SUFFIX = re.compile(r"\.(?:tga|png|jpe?g|lmp|pcx)\Z", re.IGNORECASE)
_SKIN_NUMBERS = re.compile(r"_[0-9]{2}_[0-9]{2}(?:_glow|_luma)?\Z")

MeshCheck = Callable[[Rule, Model, int, Mesh, str], Iterator[Finding]]


def each_mesh(check: MeshCheck) -> Callable[[Rule, Subject], Iterator[Finding]]:
    """A check of a file made of a check of a mesh, which gets rule, model, index, mesh and its name for messages."""

    def check_all(rule: Rule, subject: Subject) -> Iterator[Finding]:
        for index, mesh, where in named_meshes(subject):
            assert subject.model is not None
            yield from check(rule, subject.model, index, mesh, where)

    check_all.__doc__ = check.__doc__
    return check_all


def named_meshes(subject: Subject) -> Iterator[tuple[int, Mesh, str]]:
    """The index of each mesh, the mesh, and its name for messages."""
    for index, mesh in enumerate(subject.model.meshes if subject.model is not None else ()):
        yield index, mesh, f"mesh {index} ({mesh.comment_name or mesh.name or mesh.shader!r})"


# The model as a whole


def no_meshes(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There is no mesh."""
    if subject.model is not None and not subject.model.meshes:
        yield rule.finding("there is no mesh", 0)


def mesh_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There are more meshes than the limit."""
    count = len(subject.model.meshes) if subject.model is not None else 0
    if count > rule.limit:
        yield rule.finding(counted(count, "meshes"), count)


def equal_meshes(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Meshes have the same name in their comment and the same shader."""
    seen: dict[tuple[str, str], int] = {}
    for index, mesh in enumerate(subject.model.meshes if subject.model is not None else []):
        first = seen.setdefault((mesh.comment_name, mesh.shader), index)
        if first != index:
            yield rule.finding(
                f"meshes {first} and {index} have the same name and shader {mesh.shader!r}",
                mesh.shader,
                mesh=index,
            )


def equal_materials(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Different shaders have the same name for Doom 3."""
    shaders: dict[str, list[str]] = {}
    for shader in _shaders(subject):
        shaders.setdefault(doom3_material(shader), []).append(shader)
    for name, same in shaders.items():
        if len(same) > 1:
            yield rule.finding(f"materials that are all {name!r}: {listing(same)}", name)


def _shaders(subject: Subject) -> list[str]:
    """The shaders of a model, each once."""
    return (
        list(dict.fromkeys(mesh.shader for mesh in subject.model.meshes)) if subject.model is not None else []
    )


def doom3_material(shader: str) -> str:
    """The name of a material as Doom 3 looks for it: in lower case, up to its last dot."""
    name = shader.replace("\\", "/").lower()
    return name.rpartition(".")[0] if "." in name else name


def several_materials(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Meshes have different shaders."""
    shaders = _shaders(subject)
    if len(shaders) > 1:
        yield rule.finding(f"{counted(len(shaders), 'materials')}: {listing(shaders)}", len(shaders))


def total_vertices(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """All meshes together have more vertices than the limit."""
    count = subject.model.vertex_count if subject.model is not None else 0
    if count > rule.limit:
        yield rule.finding(f"{counted(count, 'vertices')} in all meshes", count)


def no_animation(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There is no animation beside the mesh."""
    if subject.model is not None and subject.has_animation is False:
        yield rule.finding("there is no animation of the same name beside the mesh")


def several_roots(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A model has more than one root joint."""
    if subject.model is not None:
        yield from skeleton_checks.several_roots(rule, subject)


def root_away(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The first joint is away from the origin by more than the limit."""
    if subject.model is None or not len(subject.model.joints):
        return
    joints = subject.model.joints
    yield from skeleton_checks.root_away(rule, joints.names[0], joints.positions[0])


# Single meshes


@each_mesh
def mesh_names(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The shader or name cannot be written as a string."""
    del model
    if not (is_writable(mesh.shader) and is_writable(mesh.name)):
        yield rule.finding(f"{where}: its shader or name contains a double quote or a line break", mesh=index)


@each_mesh
def name_line(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The mesh has a `name` line."""
    del model
    if mesh.name:
        yield rule.finding(f"{where}: a line `name` with {mesh.name!r}", mesh.name, mesh=index)


@each_mesh
def skin_path(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The shader is no plain name: Quake adds folder, number and suffix to it. The finding suggests one."""
    del model
    name = plain_shader(mesh.shader)
    if name != mesh.shader:
        suggestion = f"rename the material to {name!r}" if name else "name the material after the model"
        yield rule.finding(
            f"{where}: its skin is looked for as progs/{mesh.shader}_00_00",
            mesh.shader,
            mesh=index,
            remedy=suggestion,
        )


@each_mesh
def skin_length(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The path of the skin is longer than the limit."""
    del model
    path = f"progs/{mesh.shader}_00_00"
    length = len(path.encode("utf-8", "surrogateescape"))
    if length > rule.limit:
        yield rule.finding(f"{where}: the path of its skin, {path}, has {length} bytes", length, mesh=index)


def plain_shader(shader: str) -> str:
    """A shader as Quake expects it: without folders, the suffix of an image, and the numbers of a skin."""
    name = shader.replace("\\", "/").rpartition("/")[2]
    return _SKIN_NUMBERS.sub("", _IMAGE_SUFFIX.sub("", name))


@each_mesh
def unnamed_mesh(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The mesh has no comment with its name."""
    del model
    if not mesh.comment_name:
        yield rule.finding(f"{where}: no comment // meshes: NAME", mesh=index)


@each_mesh
def not_finite(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """A number is not finite."""
    del model
    bad = np.flatnonzero(~np.isfinite(mesh.uvs).all(axis=1))
    weights = ~(np.isfinite(mesh.weight_biases) & np.isfinite(mesh.weight_positions).all(axis=1))
    if len(bad):
        yield rule.finding(
            f"{where}: texture coordinates of vertex {int(bad[0])} are not finite", mesh=index, vertices=bad
        )
    if weights.any():
        first = int(np.flatnonzero(weights)[0])
        vertices = _vertices_of_weights(mesh, weights)
        yield rule.finding(f"{where}: weight {first} is not finite", mesh=index, vertices=vertices)


@each_mesh
def invalid_references(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """Triangles, weights or vertices have invalid indices."""
    invalid = np.flatnonzero(_outside(mesh.triangles, mesh.vertex_count).any(axis=1))
    if len(invalid):
        yield rule.finding(
            f"{where}: triangle {int(invalid[0])} refers to a vertex that does not exist",
            int(invalid[0]),
            mesh=index,
            triangles=invalid,
        )
    weights = _outside(mesh.weight_joints, len(model.joints))
    if weights.any():
        first = int(np.flatnonzero(weights)[0])
        vertices = _vertices_of_weights(mesh, weights)
        yield rule.finding(
            f"{where}: weight {first} refers to a joint that does not exist",
            first,
            mesh=index,
            vertices=vertices,
        )
    vertices = np.flatnonzero(_invalid_ranges(mesh))
    if len(vertices):
        yield rule.finding(
            f"{where}: vertex {int(vertices[0])} refers to weights that do not exist",
            int(vertices[0]),
            mesh=index,
            vertices=vertices,
        )


@each_mesh
def unweighted_vertices(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """A vertex has no weight."""
    del model
    unweighted = np.flatnonzero(mesh.weight_counts == 0)
    if len(unweighted):
        yield rule.finding(
            f"{where}: {counted(len(unweighted), 'vertices', 'have')} no weight, such as vertex {int(unweighted[0])}",
            len(unweighted),
            mesh=index,
            vertices=unweighted,
        )


@each_mesh
def bias_sums(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The biases of a vertex do not sum to 1, by more than the limit."""
    del model
    if _invalid_ranges(mesh).any():
        return
    rows = vertex_weights(mesh)
    sums = rows.sums(mesh.weight_biases[rows.weights, None])[:, 0]
    off = np.flatnonzero((np.abs(sums - 1.0) > rule.limit) & (mesh.weight_counts > 0))
    if len(off):
        worst = off[np.argmax(np.abs(sums[off] - 1.0))]
        yield rule.finding(
            f"{where}: the biases of {counted(len(off), 'vertices')} do not sum to 1, those of vertex {int(worst)} "
            f"to {sums[worst]:.6g}",
            f"{sums[worst]:.6g}",
            mesh=index,
            vertices=off,
        )


@each_mesh
def influences(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """A vertex has more weights than the limit."""
    del model
    many = np.flatnonzero(mesh.weight_counts > rule.limit)
    if len(many):
        worst = many[np.argmax(mesh.weight_counts[many])]
        most = int(mesh.weight_counts[worst])
        yield rule.finding(
            f"{where}: {counted(len(many), 'vertices', 'have')} more than {rule.limit:g} weights, "
            f"vertex {int(worst)} has {most}",
            most,
            mesh=index,
            vertices=many,
        )


@each_mesh
def vertex_count(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The mesh has more vertices than the limit."""
    del model
    if mesh.vertex_count > rule.limit:
        beyond = np.arange(int(rule.limit), mesh.vertex_count)
        yield rule.finding(
            f"{where}: {counted(mesh.vertex_count, 'vertices')}",
            mesh.vertex_count,
            mesh=index,
            vertices=beyond,
        )


@each_mesh
def triangle_count(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The mesh has more triangles than the limit."""
    del model
    count = len(mesh.triangles)
    if count > rule.limit:
        beyond = np.arange(int(rule.limit), count)
        yield rule.finding(f"{where}: {counted(count, 'triangles')}", count, mesh=index, triangles=beyond)


@each_mesh
def weight_count(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The mesh has more weights than the limit."""
    del model
    count = len(mesh.weight_joints)
    if count > rule.limit:
        vertices = np.flatnonzero(mesh.weight_starts.astype(np.int64) + mesh.weight_counts > rule.limit)
        yield rule.finding(f"{where}: {counted(count, 'weights')}", count, mesh=index, vertices=vertices)


@each_mesh
def weight_starts(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The weights of a vertex begin beyond the limit."""
    del model
    far = np.flatnonzero(mesh.weight_starts > rule.limit)
    if len(far):
        start = int(mesh.weight_starts[far[0]])
        yield rule.finding(
            f"{where}: the weights of vertex {int(far[0])} begin at {start}",
            start,
            mesh=index,
            vertices=far,
        )


@each_mesh
def silhouette_edges(rule: Rule, model: Model, index: int, mesh: Mesh, where: str) -> Iterator[Finding]:
    """The mesh has more edges between distinct positions than the limit."""
    triangles = mesh.triangles
    # Each triangle adds three edges at most.
    if 3 * len(triangles) <= rule.limit or not is_sound(mesh, model):
        return
    ids = position_ids(skin(mesh, model.joints.positions, model.joints.orientations))
    count = _edge_count(ids[triangles])
    if count > rule.limit:
        yield rule.finding(
            f"{where}: {counted(count, 'edges')} that may become silhouettes", count, mesh=index
        )


def _edge_count(triangles: npt.NDArray[np.integer]) -> int:
    """The number of edges that Doom 3 makes of triangles: one for each pair in opposite directions."""
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(np.int64)
    ends = ends[ends[:, 0] != ends[:, 1]]
    if not len(ends):
        return 0
    forward = ends[:, 0] < ends[:, 1]
    low, high = ends.min(axis=1), ends.max(axis=1)
    _, edges = np.unique(low * (int(high.max()) + 1) + high, return_inverse=True)
    count = int(edges.max()) + 1
    forward_counts = np.bincount(edges.ravel()[forward], minlength=count)
    backward_counts = np.bincount(edges.ravel()[~forward], minlength=count)
    return int(np.maximum(forward_counts, backward_counts).sum())


def is_sound(mesh: Mesh, model: Model) -> bool:
    """Whether a mesh can be skinned: all indices exist and all numbers are finite."""
    joints = model.joints
    tables = mesh.weight_biases, mesh.weight_positions, joints.positions, joints.orientations
    return not (
        _invalid_ranges(mesh).any()
        or _outside(mesh.triangles, mesh.vertex_count).any()
        or _outside(mesh.weight_joints, len(joints)).any()
    ) and all(np.isfinite(table).all() for table in tables)


def _outside(indices: Ints, count: int) -> npt.NDArray[np.bool_]:
    outside: npt.NDArray[np.bool_] = (indices < 0) | (indices >= count)
    return outside


def _invalid_ranges(mesh: Mesh) -> npt.NDArray[np.bool_]:
    """Which vertices refer to weights that do not exist."""
    ends = mesh.weight_starts.astype(np.int64) + mesh.weight_counts
    invalid: npt.NDArray[np.bool_] = (
        (mesh.weight_starts < 0) | (mesh.weight_counts < 0) | (ends > len(mesh.weight_joints))
    )
    return invalid


def _vertices_of_weights(mesh: Mesh, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """The vertices that have one of the chosen weights (W,)."""
    if _invalid_ranges(mesh).any():
        return np.empty(0, dtype=np.int64)
    rows = vertex_weights(mesh)
    return np.unique(rows.vertices[chosen[rows.weights]])
