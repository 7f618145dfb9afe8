"""Real IQM files are read as the specification says and written back; real MD5 models with animations become IQM."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import iqm_specification as specification
import md5_corpus
import numpy as np
import pytest

from io_idtech.io_common.skeletal.skinning import bind_pose
from io_idtech.io_iqm.format import (
    ArrayType,
    Game,
    NamedAnimation,
    bind_scales,
    check_iqm,
    format_iqm,
    from_model,
    parse_iqm,
    read_iqm,
    to_animations,
    to_attributes,
    to_model,
)
from io_idtech.io_md5.format import poses, read_animation, read_mesh

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS") or ROOT.parent / "shared" / "corpus")
PATHS = sorted(CORPUS.glob("iqm/**/*.iqm"))

pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not PATHS, reason=f"no IQM files at {CORPUS} (IO_IDTECH_CORPUS)")]

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")


def base_of(path: Path):
    """The model of a file of animations alone: the one of its folder with as many joints."""
    count = len(read_iqm(path).pose_parents)
    others = [read_iqm(other) for other in sorted(path.parent.glob("*.iqm"))]
    return next(other for other in others if len(other.joint_names) == count)


def test_there_are_54_files():
    assert len(PATHS) == 54


@each
def test_every_file_is_read_as_the_specification_says_and_written_back(path):
    data = path.read_bytes()
    iqm, expected = parse_iqm(data, preserve=True), specification.read(data)
    assert format_iqm(iqm) == data
    assert parse_iqm(format_iqm(replace(iqm, preserved=None))) == iqm
    for array in iqm.arrays:
        assert np.array_equal(array.values, expected.arrays[array.name or array.type])
    assert np.array_equal(iqm.triangles.reshape(-1, 3), np.reshape(expected.triangles, (-1, 3)))
    assert np.allclose(iqm.channels().ravel(), np.ravel(expected.frames), rtol=1e-6, atol=1e-6)
    assert {finding.code for finding in check_iqm(iqm, Game.SAUERBRATEN) if finding.is_error} == set()


@each
def test_every_model_and_animation_is_what_the_specification_shows(path):
    iqm, expected = read_iqm(path), specification.read(path.read_bytes())
    if iqm.meshes:
        model, attributes = to_model(iqm), to_attributes(iqm)
        for mesh, more, (_, _, (first, count), _) in zip(model.meshes, attributes, expected.meshes, strict=True):
            rows = slice(first, first + count)
            points = bind_pose(mesh, model.joints.positions, model.joints.orientations)[0][:count]
            own = points if mesh.vertex_count == count else None
            if own is not None:
                assert np.allclose(own, expected.arrays[0][rows], atol=1e-4)
                assert np.allclose(more.normals, expected.arrays[2][rows])
        bind = expected.bind()
        sizes = [np.linalg.norm(matrix[:3, 0]) for matrix in bind]
        assert np.allclose(model.joints.positions, [matrix[:3, 3] for matrix in bind], atol=1e-4 * max(1.0, *sizes))
    if iqm.animations:
        base = iqm if iqm.joint_names else base_of(path)
        bound = np.prod([np.ones(3), *bind_scales(base)[:1]], axis=0)[0]
        for one in to_animations(iqm, to_model(base).joints, bind_scales(base)):
            (name, first, count, rate, _) = next(anim for anim in expected.anims if anim[0] == one.name)
            assert (one.animation.frame_count, one.animation.frame_rate) == (count, rate)
            positions, _, scales = one.poses()
            for frame in range(count):
                matrices = expected.pose(first + frame)
                assert np.allclose(positions[frame], [matrix[:3, 3] for matrix in matrices], atol=1e-3), name
                lengths = [np.linalg.norm(matrix[:3, 0]) / bound for matrix in matrices]
                found = np.ones(len(lengths)) if scales is None else scales[frame]
                assert np.allclose(found, lengths, rtol=1e-3)


@pytest.mark.parametrize(("mesh", "animations"), md5_corpus.models())
def test_every_md5_model_and_its_animations_are_shown_alike_as_iqm(mesh, animations):
    model = read_mesh(CORPUS / mesh)
    named = []
    for path in animations[:3]:
        animation = read_animation(CORPUS / path)
        if animation.names == model.joints.names and (animation.parents == model.joints.parents).all():
            named.append(NamedAnimation(Path(path).stem, animation))
    if len(model.joints) > 256 or not named:
        pytest.skip("no animation of exactly its joints, or more joints than an IQM can have")
    data = format_iqm(from_model(model, named))
    spec = specification.read(data)
    assert np.allclose([joint[:3, 3] for joint in spec.bind()], model.joints.positions, atol=1e-3)
    for one, (_, first, count, *_) in zip(named, spec.anims, strict=True):
        positions = poses(one.animation)[0]
        extent = max(np.ptp(positions.reshape(-1, 3), axis=0).max(), 1.0)
        for frame in range(0, count, max(1, count // 5)):
            found = np.array([matrix[:3, 3] for matrix in spec.pose(first + frame)])
            assert np.abs(found - positions[frame]).max() < 3e-4 * extent
    back = to_animations(parse_iqm(data))
    assert [one.animation.frame_count for one in back] == [one.animation.frame_count for one in named]
    assert {array.type for array in parse_iqm(data).arrays} == {kind for kind in ArrayType if kind <= 5}
