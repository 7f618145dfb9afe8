"""The MD5 files of the corpus: all that are sound load with the catalogue's counts, and survive being written.

The files are found in the folder that IO_IDTECH_CORPUS names, or else in `../shared/corpus` beside the repository.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import md5_specification as literal
import numpy as np
import pytest
from md5_samples import assert_same_animation, assert_same_model

from io_idtech.io_common.skeletal import playback, skeleton, skinning
from io_idtech.io_md5.format import (
    Md5Error,
    format_animation,
    format_mesh,
    parse_animation,
    parse_mesh,
    read_animation,
    read_mesh,
)

CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS") or Path(__file__).resolve().parents[2].parent / "shared" / "corpus")
READERS = {"md5mesh": read_mesh, "md5anim": read_animation}

# Peculiarities of the catalogue that no reader can make sense of, and what the refusal says.
BROKEN = {"weight_joint_oob": "the joint does not exist", "no_MD5Version": "not an MD5 file"}

# Peculiarities that are worth a warning, and a word of it. All others are no fault.
WARNED = {
    "numMeshes_decl": "meshes",
    "bounds_count": "bounds",
    "vert_index_not_seq": "vertices of a mesh are not numbered",
    "tri_index_not_seq": "triangles of a mesh are not numbered",
    "weight_index_not_seq": "weights of a mesh are not numbered",
    "unknown_kw": "belongs to no block",
}


def catalogue():
    table = CORPUS / "catalog.tsv"
    if not table.is_file():
        return []
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in rows if row["kind"] in READERS]


def peculiarities(row):
    """The names of a file's peculiarities, without what follows them."""
    return {re.split("[=:(]", word)[0].strip() for word in row["peculiarities"].split("|")} - {""}


def facts(row):
    """The catalogue's counts; those of the shaders, which hold spaces, are left out."""
    return dict(re.findall(r"(?:^|\s)(\w+)=([\d.]+)(?=\s|$)", row["facts"].split(" shaders=")[0]))


ROWS = catalogue()
SOUND = [row for row in ROWS if not peculiarities(row) & BROKEN.keys()]
REFUSED = [row for row in ROWS if peculiarities(row) & BROKEN.keys()]

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not ROWS, reason=f"no corpus of real files at {CORPUS} (set IO_IDTECH_CORPUS)"),
]


def each(rows):
    return pytest.mark.parametrize("row", rows, ids=[row["path"] for row in rows])


def of_kind(kind):
    return each([row for row in SOUND if row["kind"] == kind])


@cache
def loaded(path, kind):
    return READERS[kind](CORPUS / path)


def load(row):
    return loaded(row["path"], row["kind"])


def test_the_catalogue_is_complete():
    assert len(ROWS) > 150
    assert len(REFUSED) == 2
    assert all((CORPUS / row["path"]).is_file() for row in ROWS)


@each(REFUSED)
def test_broken_files_are_refused_with_a_message(row):
    with pytest.raises(Md5Error) as caught:
        load(row)
    error = caught.value
    assert any(BROKEN[word] in error.reason for word in peculiarities(row) & BROKEN.keys())
    assert error.path == str(CORPUS / row["path"])
    assert error.line
    assert error.found
    assert error.expected


@of_kind("md5mesh")
def test_meshes_hold_what_the_catalogue_counts(row):
    model, counts = load(row), facts(row)
    found = {
        "joints": len(model.joints),
        "meshes": len(model.meshes),
        "verts": model.vertex_count,
        "tris": sum(len(mesh.triangles) for mesh in model.meshes),
        "weights": sum(len(mesh.weight_joints) for mesh in model.meshes),
        "maxw": max((int(mesh.weight_counts.max(initial=0)) for mesh in model.meshes), default=0),
    }
    assert found == {key: int(counts[key]) for key in found}
    shaders = row["facts"].split(" shaders=")[1]
    # The catalogue cuts long lists of shaders short.
    assert ";".join(mesh.shader for mesh in model.meshes).startswith(shaders)


@of_kind("md5anim")
def test_animations_hold_what_the_catalogue_counts(row):
    animation, counts = load(row), facts(row)
    if "numchannels" in counts:
        assert counts["numchannels"] == "204"
        assert len(animation.names) == 33
        assert animation.frames.shape == (141, 33 * 6)
        assert not animation.has_hierarchy
        return
    found = {
        "frames": animation.frame_count,
        "joints": len(animation.names),
        "comps": animation.frames.shape[1],
        "fps": animation.frame_rate,
    }
    assert found == {key: float(counts[key]) for key in found}


@each(SOUND)
def test_only_what_is_off_is_warned_of(row):
    expected = {word for key, word in WARNED.items() if key in peculiarities(row)}
    warnings = load(row).warnings
    if row["path"].endswith("mrfixit/backward.md5anim"):
        expected.add("belongs to no block")
    if "ver=10 " in row["facts"] and "OLD_MD5_LAYOUT" in peculiarities(row):
        expected.add("layout is that of version 6")
    assert len(warnings) == len(expected), warnings
    for word in expected:
        assert any(word in warning for warning in warnings), warnings


@of_kind("md5mesh")
def test_meshes_are_written_and_read_again_the_same(row):
    model = load(row)
    data = format_mesh(model)
    again = parse_mesh(data)
    assert_same_model(again, model, atol=5.01e-11)
    assert format_mesh(again) == data
    assert not any("declares" in warning or "numbered" in warning for warning in again.warnings)
    for mesh, mesh_again in zip(model.meshes, again.meshes, strict=True):
        vertices = skinning.skin(mesh, model.joints.positions, model.joints.orientations)
        vertices_again = skinning.skin(mesh_again, again.joints.positions, again.joints.orientations)
        # Where w is nearly 0, the last of ten digits of x y z turns a joint by up to 2e-5.
        reach = 1.0 + np.abs(mesh.weight_positions).max(initial=0.0)
        np.testing.assert_allclose(vertices_again, vertices, rtol=0, atol=1e-4 * reach)


@of_kind("md5anim")
def test_animations_are_written_and_read_again_the_same(row):
    animation = load(row)
    data = format_animation(animation)
    again = parse_animation(data)
    assert_same_animation(again, animation, atol=5.01e-11)
    assert format_animation(again) == data


@of_kind("md5anim")
def test_animations_have_poses_of_unit_quaternions(row):
    positions, orientations = skeleton.poses(load(row))
    assert np.isfinite(positions).all()
    np.testing.assert_allclose(np.linalg.norm(orientations, axis=-1), 1.0, atol=1e-12)


@of_kind("md5mesh")
def test_normals_are_of_unit_length_and_agree_with_their_faces(row):
    model = load(row)
    for mesh in model.meshes:
        vertices = skinning.skin(mesh, model.joints.positions, model.joints.orientations)
        normals = skinning.vertex_normals(vertices, mesh.triangles)
        lengths = np.linalg.norm(normals, axis=1)
        assert ((np.abs(lengths - 1) < 1e-12) | (lengths == 0)).all()


def test_the_old_layout_holds_the_same_model_as_the_new():
    """The lamp bearer lies there in both layouts: the weights of its old bones meet in the bind pose."""
    rows = {row["path"]: row for row in SOUND if row["path"].startswith("md5/21region+ik/data/models/")}
    folder = "md5/21region+ik/data/models"
    if f"{folder}/lamp.md5mesh" not in rows:
        pytest.skip("the corpus has no model of the old layout")
    old, new = (load(rows[f"{folder}/{name}.md5mesh"]) for name in ("lamp", "boblampclean"))
    assert len(old.joints) == len(new.joints)
    assert old.vertex_count == new.vertex_count
    for model in (old, new):
        places = [skinning.skin(mesh, model.joints.positions, model.joints.orientations) for mesh in model.meshes]
        size = np.ptp(np.concatenate(places), axis=0).max()
        for mesh in model.meshes:
            gaps = skinning.bind_pose(mesh, model.joints.positions, model.joints.orientations)[1]
            assert gaps.max() < 1e-3 * size


PAIRS = CORPUS / "pairs.tsv"


def test_the_joints_of_every_pair_are_the_same():
    with PAIRS.open(encoding="utf-8", newline="") as lines:
        pairs = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(pairs) == 121
    for pair in pairs:
        mesh_path, animation_path = (value for value in pair.values() if value.endswith(("md5mesh", "md5anim")))
        model, animation = loaded(mesh_path, "md5mesh"), loaded(animation_path, "md5anim")
        assert sorted(model.joints.names) == sorted(animation.names)


# The files as the documents describe them, read word by word


OLD_LAYOUT = ("lamp.md5mesh", "lamp.md5anim")


def text_of(row):
    return (CORPUS / row["path"]).read_bytes().decode("utf-8", "surrogateescape")


def of_the_new_layout(kind):
    rows = [row for row in SOUND if row["kind"] == kind and not row["path"].endswith(OLD_LAYOUT)]
    return each(rows)


@of_the_new_layout("md5mesh")
def test_meshes_are_what_a_reader_made_from_the_documents_alone_reads(row):
    model = load(row)
    (names, parents, positions, xyz), meshes = literal.read_mesh_file(text_of(row))
    assert model.joints.names == names
    assert model.joints.parents.tolist() == parents
    literal.close(model.joints.positions, np.reshape(positions, (-1, 3)))
    # Over 1 in length, the specification leaves the quaternion as it is; a rotation has length 1.
    turns = [literal.normalise([literal.compute_w(*row), *row]) for row in xyz]
    literal.close(model.joints.orientations, np.reshape(turns, (-1, 4)))
    assert [mesh.shader for mesh in model.meshes] == [mesh["shader"] for mesh in meshes]
    for mesh, found in zip(model.meshes, meshes, strict=True):
        for key, width, parts in (
            ("vert", 5, (mesh.uvs, mesh.weight_starts, mesh.weight_counts)),
            ("tri", 4, (mesh.triangles,)),
            ("weight", 6, (mesh.weight_joints, mesh.weight_biases, mesh.weight_positions)),
        ):
            rows = np.reshape(found[key], (-1, width))[:, 1:]
            np.testing.assert_array_equal(np.column_stack(parts).reshape(-1, width - 1), rows)
        # Every vertex by the loop of the documents takes long; some show as much.
        some = slice(None, None, max(1, mesh.vertex_count // 50))
        few = replace(mesh, weight_starts=mesh.weight_starts[some], weight_counts=mesh.weight_counts[some])
        expected = literal.build_vertices(few, model.joints.positions, model.joints.orientations)
        vertices = skinning.skin(mesh, model.joints.positions, model.joints.orientations)[some]
        literal.close(vertices, np.reshape(expected, (-1, 3)), atol=1e-9)


@of_the_new_layout("md5anim")
def test_animations_are_what_a_reader_made_from_the_documents_alone_reads(row):
    animation = load(row)
    hierarchy, base, frames, rate = literal.read_animation_file(text_of(row))
    assert animation.names == [joint[0] for joint in hierarchy]
    assert animation.parents.tolist() == [joint[1] for joint in hierarchy]
    assert animation.frame_rate == rate
    assert animation.frame_count == len(frames)
    middle = len(frames) // 2
    built = []
    for frame in sorted({0, middle, min(middle + 1, len(frames) - 1), len(frames) - 1}):
        rows = [
            literal.frame_components(values, flags, start, frames[frame])
            for values, (_, _, flags, start) in zip(base, hierarchy, strict=True)
        ]
        turns = [literal.normalise([literal.compute_w(*row[3:]), *row[3:]]) for row in rows]
        expected = literal.build_skeleton(animation.parents, [row[:3] for row in rows], turns)
        positions, orientations = skeleton.poses(animation, [frame])
        literal.close(positions[0], expected[0], atol=1e-9)
        literal.close(orientations[0], expected[1], atol=1e-9)
        built.append((frame, expected))
    pairs = [(a, b) for (at, a), (after, b) in itertools.pairwise(built) if (at, after) == (middle, middle + 1)]
    for a, b in pairs:
        expected = literal.interpolate_skeletons(a, b, 0.5)
        positions, orientations = playback.pose_at(animation, (middle + 0.5) / rate, "model", wrap="hold")
        literal.close(positions, expected[0], atol=1e-7)
        dots = np.abs(np.einsum("ji,ji->j", orientations, expected[1]))
        literal.close(dots, 1.0, atol=1e-7)
