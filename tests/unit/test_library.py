"""The library works without Blender, and everything public is documented."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import types
import typing

import numpy as np
import pytest
from md5_samples import ANIMATION, CAMERA, MESH
from paths import HELPERS, ROOT

from io_idtech.io_md2 import format as md2
from io_idtech.io_md5 import format as md5


@pytest.mark.parametrize("library", [md2, md5])
def test_everything_public_is_documented_and_listed(library):
    names = {
        name
        for name, value in vars(library).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert names == set(library.__all__)
    for name in library.__all__:
        value = getattr(library, name)
        assert not callable(value) or getattr(value, "__doc__", None) or name in ("Wrap", "Space", "LoopType", "Fit"), (
            name
        )


# Functions of both formats, whose common parameters are the first ones.
SHARED = {
    "check_model": ["model", "game"],
    "describe": ["source", "game", "name"],
    "face_normals": ["positions", "triangles"],
    "flip_t": ["uvs"],
    "frame_pair": ["seconds", "first", "last", "frame_rate", "wrap"],
    "interpolate": ["start", "end", "fraction"],
    "model_bounds": ["model"],
    "prepare_model": ["model", "game"],
    "validate_model": ["model"],
    "vertex_normals": ["positions", "triangles"],
}


def test_functions_of_both_formats_have_the_same_parameters():
    assert {name for name in md2.__all__ if inspect.isfunction(getattr(md5, name, None))} == set(SHARED)
    for name, expected in SHARED.items():
        for library in (md2, md5):
            assert list(inspect.signature(getattr(library, name)).parameters)[: len(expected)] == expected


@pytest.mark.parametrize("library", [md2, md5])
@pytest.mark.parametrize(
    ("verb", "expected"), [("read", "source name"), ("parse", "data name"), ("format", ""), ("write", "target")]
)
def test_readers_and_writers_of_all_kinds_have_the_same_parameters(library, verb, expected):
    found = [name for name in library.__all__ if name.startswith(f"{verb}_")]
    assert found
    for name in found:
        parameters = list(inspect.signature(getattr(library, name)).parameters)
        # The model, the animation or the like comes before its target.
        shared = parameters[verb in ("format", "write") :]
        assert [name for name in shared if name != "preserve"] == expected.split(), name


def _types_in(annotation) -> typing.Iterator[type]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _types_in(part)


@pytest.mark.parametrize("library", [md2, md5])
def test_everything_that_functions_take_and_return_is_listed(library):
    listed = {getattr(library, name) for name in library.__all__ if inspect.isclass(getattr(library, name))}
    used = {}
    for name in library.__all__:
        value = getattr(library, name)
        hints = []
        if inspect.isfunction(value) or dataclasses.is_dataclass(value):
            hints = typing.get_type_hints(value).values()
        used |= {kind: name for hint in hints for kind in _types_in(hint)}
    assert {
        kind.__qualname__: name
        for kind, name in used.items()
        if kind.__module__.startswith("io_idtech") and kind not in listed
    } == {}


def _tetrahedron() -> md2.Model:
    positions = np.array([[[0, 0, 0], [0, 16, 0], [0, 0, 16]], [[8, 0, 0], [8, 16, 0], [8, 0, 16]]], np.float32)
    triangles = np.array([[0, 1, 2]])
    vertices, scale, translate = md2.quantise(positions)
    return md2.Model(
        skin_width=64, skin_height=64, st=np.array([[0, 63], [63, 63], [0, 0]]), triangles=triangles,
        triangle_st=triangles, scale=scale, translate=translate, frame_names=["a1", "a2"], vertices=vertices,
        normals=md2.normal_indices(positions, triangles),
    )  # fmt: skip


def test_lists_of_numbers_serve_as_arrays():
    model = _tetrahedron()
    positions = md2.decompress(model.vertices, model.scale, model.translate)
    triangles, grid = model.triangles, (model.scale, model.translate)
    mesh = md5.parse_mesh(MESH.encode()).meshes[0]
    joints = md5.parse_mesh(MESH.encode()).joints
    pose = joints.positions, joints.orientations
    points = md5.skin(mesh, *pose)
    normals = md5.vertex_normals(points, mesh.triangles)
    calls = [
        (md2.decompress, model.vertices, *grid),
        (md2.box_grid, positions),
        (md2.quantise, positions),
        (md2.quantise_on_grid, positions, *grid),
        (md2.grid_tolerance, *grid, positions),
        (md2.match_grid, positions, *grid),
        (md2.interpolate, positions[0], positions[1], 0.5),
        (md2.normal_vectors, model.normals),
        (md2.nearest_normals, positions[0]),
        (md2.face_normals, positions, triangles),
        (md2.vertex_normals, positions, triangles),
        (md2.normal_indices, positions, triangles),
        (md2.st_fractions, model.st, 64, 64),
        (md2.st_texels, positions[0, :, :2] / 16, 64, 64),
        (md2.generate_commands, triangles, triangles, model.st, 64, 64),
        (md2.flip_t, positions[0, :, :2]),
        (md2.is_degenerate, triangles),
        (md5.compose, joints.parents, *pose),
        (md5.decompose, joints.parents, *pose),
        (md5.skin, mesh, *pose),
        (md5.bind_pose, mesh, *pose),
        (md5.face_normals, points, mesh.triangles),
        (md5.vertex_normals, points, mesh.triangles),
        (md5.vertex_tangents, points, mesh.uvs, mesh.triangles, normals),
        (md5.normal_weights, mesh, normals, pose[1]),
        (md5.pose_bounds, [mesh], pose[0][None], pose[1][None]),
        (md5.transforms, *pose),
        (md5.multiply, pose[1], pose[1]),
        (md5.rotate, pose[1], pose[0]),
    ]
    for function, *arguments in calls:
        lists = [one.tolist() if isinstance(one, np.ndarray) else one for one in arguments]
        np.testing.assert_equal(_plain(function(*lists)), _plain(function(*arguments)), function.__name__)
    made = md5.encode_poses(
        joints.names, joints.parents.tolist(), pose[0][None].tolist(), pose[1][None].tolist(), frame_rate=24
    )
    assert made == md5.encode_poses(joints.names, joints.parents, pose[0][None], pose[1][None], frame_rate=24)


def _plain(result):
    return vars(result) if isinstance(result, md2.GlCommands) else result


@pytest.mark.parametrize(("text", "parse"), [(MESH, "mesh"), (ANIMATION, "animation"), (CAMERA, "camera")])
def test_bytes_are_described_by_what_they_are(text, parse):
    expected = md5.describe(getattr(md5, f"parse_{parse}")(text.encode()))
    assert md5.describe(text.encode()) == expected
    with pytest.raises(md5.Md5Error, match="pak0/broken"):
        md5.describe(text[:-30].encode(), name="pak0/broken")


@pytest.mark.slow
def test_files_are_described_without_blender(tmp_path):
    (tmp_path / "bpy.py").write_text("raise ImportError")
    (tmp_path / "walk.md5anim").write_text(ANIMATION)
    command = [sys.executable, "-m", "io_idtech", "info", "--json", "walk.md5anim"]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(HELPERS)}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_declares_its_types():
    assert (ROOT / "py.typed").is_file()
