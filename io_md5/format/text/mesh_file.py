"""The .md5mesh file: a skeleton in its bind pose and the meshes bound to it.

    MD5Version 10
    commandline "…"
    numJoints 1
    numMeshes 1
    joints {
        "origin" -1 ( 0 0 0 ) ( 0 0 0 )        // name, parent, position, x y z of the orientation
    }
    mesh {
        // meshes: imp                          // the mesh's name for Sauerbraten and iqm's compiler; optional
        shader "models/monsters/imp/imp"
        numverts 3
        vert 0 ( 0.5 0.25 ) 0 1                 // s t, first weight, number of weights
        …
        numtris 1
        tri 0 0 1 2
        numweights 3
        weight 0 1 1.0 ( 4 0 1 )                // joint, bias, position in the space of the joint
        …
    }

Doom 3 requires the keys in this order; any order is read. Counts are not used, nor are the numbers after ``vert``,
``tri`` and ``weight``, as in Doom 3: a row's place is its index. (The MD5 specification calls the number the index; a
warning says where the two differ.)
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ....io_common.files import Source, Target, read_source, write_target
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import ROOT, Ints, Joints, Mesh, Model
from ....io_common.skeletal.validation import are_outside
from ....io_common.texts import counted
from ..model import Md5Error
from ..validation import validate_model, weight_limit
from . import blocks, old_layout, printing
from .blocks import read_contents
from .rows import extract_rows
from .scanner import Scan, read_head, whole_file

_COUNTS = ("numjoints", "nummeshes", "numbones")
_MESH_KEYS = frozenset({"shader", "name", "numverts", "vert", "numtris", "tri", "numweights", "weight"})


def read_mesh(source: Source, name: str = "") -> Model:
    """The model in an .md5mesh file.

    The source is a path, the bytes of the file, or a binary file object; the name is for messages, that of the path or
    file object if empty. Raises Md5Error if the file cannot be understood, with the line; OSError if it cannot be
    opened.
    """
    return parse_mesh(*read_source(source, name))


def read_joints(source: Source, name: str = "") -> Joints:
    """The skeleton in an .md5mesh file; unless its layout is unusual, the meshes are not read, and may be damaged.

    Source, name and errors are those of `read_mesh`, but the file must be a regular one.
    """
    data, end, name = read_head(source, "joints", name)
    with suppress(Md5Error, KeyError):
        scan = Scan(data[:end], name)
        contents = read_contents(scan, numbers=_COUNTS, once=("joints",), repeated=("bone", "mesh"))
        return _parse_joints(scan, contents.opened["joints"])
    return parse_mesh(whole_file(source, data), name).joints


def parse_mesh(data: bytes | bytearray | memoryview, name: str = "") -> Model:
    """The model in the bytes of an .md5mesh file, of which `name` is the name for messages; raises Md5Error."""
    scan = Scan(extract_rows(bytes(data)), name)
    contents = read_contents(scan, numbers=_COUNTS, once=("joints",), repeated=("bone", "mesh"))
    if contents.is_current("md5mesh", "joints", "bone"):
        joints = _parse_joints(scan, contents.opened["joints"])
    else:
        joints = old_layout.parse_bones(scan, contents.repeated["bone"])
    meshes = [_parse_mesh(scan, opening, len(joints)) for opening in contents.repeated["mesh"]]
    counts = contents.numbers
    blocks.check_count(scan, counts.get("numjoints", counts.get("numbones")), len(joints), "joints")
    blocks.check_count(scan, counts.get("nummeshes"), len(meshes), "meshes")
    return Model(joints, meshes, contents.commandline, scan.warnings)


def _parse_joints(scan: Scan, opening: int) -> Joints:
    names, parents, rows = blocks.read_joints(scan, opening, 7, "parent, position x y z, orientation x y z")
    return Joints(names, parents, rows.values[:, 1:4].copy(), quat.wxyz_from_xyz(rows.values[:, 4:7]))


def _parse_mesh(scan: Scan, opening: int, joint_count: int) -> Mesh:
    token, end = opening + 1, scan.block_end(opening)
    names = {"shader": "", "name": ""}
    declared: dict[str, float] = {}
    runs: dict[str, list[tuple[int, int]]] = {"vert": [], "tri": [], "weight": []}
    unknown: dict[str, int] = {}
    while token < end:
        key, begin = scan.key(token), token
        token += 1
        if key in runs:
            token = min(scan.run_end(begin), end)
            runs[key].append((begin, token))
        elif key in names:
            # The name after "shader" may be missing; then the next key follows.
            if token < end and (scan.is_string(token) or scan.key(token) not in _MESH_KEYS):
                names[key] = scan.name(token)
                token += 1
        elif key in ("numverts", "numtris", "numweights"):
            declared[key] = scan.value(begin)
        else:
            unknown.setdefault(scan.name(begin), begin)
    for word, first in unknown.items():
        scan.warnings.append(f"unknown {word!r} at line {scan.token_line(first)}; ignored")

    verts = blocks.table(scan, runs["vert"], 5, "the vertex", "index, s, t, first weight, number of weights")
    tris = blocks.table(scan, runs["tri"], 4, "the triangle", "index, three vertices")
    weights = blocks.table(scan, runs["weight"], 6, "the weight", "index, joint, bias, x, y, z")
    ranges = _weight_ranges(scan, verts, len(weights))
    for rows, key, what in ((verts, "numverts", "vertices"), (tris, "numtris", "triangles"),
                            (weights, "numweights", "weights")):  # fmt: skip
        if np.count_nonzero(rows.values[:, 0] != np.arange(len(rows))):
            scan.warnings.append(f"the {what} of a mesh are not numbered in order; their order in the file is used")
        blocks.check_count(scan, declared.get(key), len(rows), f"{what} in a mesh")
    return Mesh(
        shader=names["shader"],
        uvs=verts.values[:, 1:3].copy(),
        weight_starts=ranges[:, 0].copy(),
        weight_counts=ranges[:, 1].copy(),
        triangles=tris.indices(slice(1, 4), "the vertex", len(verts)),
        weight_joints=weights.indices(slice(1, 2), "the joint", joint_count)[:, 0],
        weight_biases=weights.values[:, 2].copy(),
        weight_positions=weights.values[:, 3:6].copy(),
        name=names["name"],
        comment_name=scan.mesh_comment(opening, end),
    )


def _weight_ranges(scan: Scan, verts: blocks.Table, weight_count: int) -> Ints:
    """The first weight and the number of weights of each vertex, (V, 2); all weights exist."""
    ranges = verts.integers(slice(3, 5), "a weight range")
    starts, counts = ranges.T
    is_outside = are_outside(starts, counts, weight_count)
    if np.count_nonzero(is_outside):
        row = int(is_outside.argmax())
        raise scan.error_on(
            verts.line(row), f"vertex {row} has weights that do not exist",
            f"{counted(int(counts[row]), 'weights')} from {starts[row]} on",
            f"a range within {counted(weight_count, 'weights')} of the mesh",
        )  # fmt: skip
    rows, limit = int(counts.sum(dtype=np.int64)), weight_limit(len(ranges), weight_count)
    if rows > limit:
        raise scan.error_on(
            verts.line(0), "weights shared by vertices are out of proportion",
            f"{counted(rows, 'weights')} for {counted(len(ranges), 'vertices')}",
            f"at most {limit:,}, because the mesh has {counted(weight_count, 'weights')}",
        )  # fmt: skip
    if unweighted_count := int(np.count_nonzero(counts == 0)):
        scan.warnings.append(
            f"{counted(unweighted_count, 'vertices', 'have')} no weight: put at the origin, and refused by the games"
        )
    return ranges


def write_mesh(model: Model, target: Target) -> None:
    """Writes an .md5mesh file to a path or a binary file object; raises Md5Error as `format_mesh` does, or OSError."""
    write_target(format_mesh(model), target)


def format_mesh(model: Model) -> bytes:
    """The bytes of an .md5mesh file, in the layout of id's exporter; raises Md5Error as `validate_model` does."""
    validate_model(model)
    joints = model.joints
    names = [printing.quoted(name) for name in joints.names]
    parent_names = [joints.names[parent] if parent != ROOT else "" for parent in joints.parents.tolist()]
    orientations = quat.xyz_from_wxyz(joints.orientations, may_be_read=True)
    places = printing.rows("%d ( %f %f %f ) ( %f %f %f )", joints.parents, joints.positions, orientations)
    lines = [
        *printing.header(model.commandline),
        f"numJoints {len(joints)}",
        f"numMeshes {len(model.meshes)}",
        "",
        "joints {",
        *("\t%s\t%s\t\t// %s" % row for row in zip(names, places.splitlines(), parent_names, strict=True)),
        "}",
    ]
    for mesh in model.meshes:
        lines += ["", _format_mesh_block(mesh)]
    return "\n".join([*lines, ""]).encode("utf-8", "surrogateescape")


def _format_mesh_block(mesh: Mesh) -> str:
    verts, tris, weights = (np.arange(len(rows)) for rows in (mesh.uvs, mesh.triangles, mesh.weight_joints))
    ranges = np.column_stack([mesh.weight_starts, mesh.weight_counts])
    name = f"\tname {printing.quoted(mesh.name)}\n" if mesh.name else ""
    comment = f"\t// meshes: {printing.commented(mesh.comment_name)}\n" if mesh.comment_name else ""
    return (
        f"mesh {{\n{comment}{name}\tshader {printing.quoted(mesh.shader)}\n\n\tnumverts {len(verts)}\n"
        + printing.rows("\tvert %d ( %f %f ) %d %d", verts, mesh.uvs, ranges)
        + f"\n\tnumtris {len(tris)}\n"
        + printing.rows("\ttri %d %d %d %d", tris, mesh.triangles)
        + f"\n\tnumweights {len(weights)}\n"
        + printing.rows(
            "\tweight %d %d %f ( %f %f %f )", weights, mesh.weight_joints, mesh.weight_biases, mesh.weight_positions
        )
        + "}"
    )
