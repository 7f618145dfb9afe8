"""Real models are shown as the specification's formula says, and exported as they were imported."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from md5_corpus import models
from md5_deviation import size_of, worst_error

from io_idtech.io_common.skeletal.skeleton import poses
from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_md5.format import read_animation, read_mesh
from io_idtech.io_md5.format.check import check_animation, check_model

pytestmark = pytest.mark.slow

TOLERANCE = 1e-5


def assert_same_model(before, after):
    size = size_of(before)
    assert after.joints.names == before.joints.names
    assert after.joints.parents.tolist() == before.joints.parents.tolist()
    np.testing.assert_allclose(after.joints.positions, before.joints.positions, atol=1e-9)
    np.testing.assert_allclose(after.joints.orientations, before.joints.orientations, atol=2e-5)
    assert [mesh.shader for mesh in after.meshes] == [mesh.shader for mesh in before.meshes]
    for mesh, original in zip(after.meshes, before.meshes, strict=True):
        assert mesh.vertex_count == original.vertex_count
        np.testing.assert_allclose(mesh.uvs, original.uvs, atol=1e-6)
        np.testing.assert_array_equal(mesh.triangles, original.triangles)
        np.testing.assert_array_equal(mesh.weight_starts, original.weight_starts)
        np.testing.assert_array_equal(mesh.weight_counts, original.weight_counts)
        np.testing.assert_array_equal(mesh.weight_joints, original.weight_joints)
        np.testing.assert_allclose(mesh.weight_biases, original.weight_biases, atol=1e-9)
        np.testing.assert_allclose(mesh.weight_positions, original.weight_positions, atol=1e-6 * size)


@pytest.mark.parametrize(("mesh_path", "anim_paths"), models())
@pytest.mark.parametrize(("merge", "direction"), [(True, "CHILD"), (False, "JOINT")], ids=["merged", "as joints"])
def test_untouched_models_and_animations_are_shown_by_the_formula_and_exported_unchanged(
    corpus, tmp_path, mesh_path, anim_paths, merge, direction
):
    before = read_mesh(corpus / mesh_path)
    bpy.ops.import_scene.md5(filepath=str(corpus / mesh_path), merge_vertices=merge, bone_direction=direction)
    armature = bpy.context.view_layer.objects.active
    assert worst_error(armature, before) <= TOLERANCE * size_of(before)
    # Meshes that share name and shader are told apart by comments.
    told = [f for f in check_model(before) if not f.is_error and f.code != "equal_meshes"]
    for number, anim_path in enumerate(anim_paths):
        bpy.ops.import_scene.md5(filepath=str(corpus / anim_path))
        original = read_animation(corpus / anim_path)
        assert_shown(armature, before, original, anim_path)
        target = tmp_path / str(number) / "out.md5mesh"
        target.parent.mkdir()
        bpy.ops.export_scene.md5mesh(filepath=str(target), actions="ACTIVE")
        after = read_mesh(target)
        assert [f.text for f in check_model(after)] == [f.text for f in told]
        assert_same_model(before, after)
        written = next(target.parent.glob("*.md5anim"))
        assert written.stem == anim_path.rpartition("/")[2].removesuffix(".md5anim")
        assert_same_animation(before, original, read_animation(written), after)
        assert written.stat().st_size <= 1.1 * (corpus / anim_path).stat().st_size


def assert_shown(armature, model, animation, name):
    """The bind, first, middle and last frame are shown as the specification's formula says."""
    scene, last = bpy.context.scene, animation.frame_count - 1
    assert (scene.frame_start, scene.frame_end) == (0, last)
    for frame in sorted({0, last // 2, last}):
        scene.frame_set(frame)
        assert worst_error(armature, model, animation, frame) <= TOLERANCE * size_of(model), f"{name}, frame {frame}"


def assert_same_animation(before, original, animation, after):
    assert not [finding for finding in check_animation(animation, after.joints) if finding.is_error]
    assert (animation.frame_rate, animation.frame_count) == (original.frame_rate, original.frame_count)
    size = size_of(before)
    order = [original.names.index(name) for name in animation.names]
    expected, found = poses(original), poses(animation)
    assert np.abs(expected[0][:, order] - found[0]).max() <= 1e-4 * size
    for frame in (0, original.frame_count // 2, original.frame_count - 1):
        for mesh in before.meshes:
            wanted = skin(mesh, expected[0][frame][order], expected[1][frame][order])
            got = skin(mesh, found[0][frame], found[1][frame])
            assert np.abs(wanted - got).max(initial=0.0) <= 1e-4 * size
