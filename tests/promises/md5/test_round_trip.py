"""Real models are exported as they were imported."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from md5_corpus import pairs
from md5_deviation import size_of

from io_idtech.io_md5.format import read_animation, read_mesh
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.skeleton import poses
from io_idtech.io_md5.format.skinning import skin

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize(("mesh_path", "anim_path"), pairs())
@pytest.mark.parametrize(("merge", "direction"), [(True, "CHILD"), (False, "JOINT")], ids=["merged", "as joints"])
def test_untouched_models_and_animations_are_exported_unchanged(
    corpus, tmp_path, mesh_path, anim_path, merge, direction
):
    bpy.ops.import_scene.md5(filepath=str(corpus / mesh_path), merge_vertices=merge, bone_direction=direction)
    bpy.ops.import_scene.md5(filepath=str(corpus / anim_path))
    target = tmp_path / "out.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(target), actions="ACTIVE")
    before, after = read_mesh(corpus / mesh_path), read_mesh(target)
    # Meshes that share name and shader are told apart by comments.
    told = [f for f in check_model(before) if not f.is_error and f.code != "equal_meshes"]
    assert [f.text for f in check_model(after)] == [f.text for f in told]
    assert_same_model(before, after)

    original = read_animation(corpus / anim_path)
    written = next(tmp_path.glob("*.md5anim"))
    assert written.stem == anim_path.rpartition("/")[2].removesuffix(".md5anim")
    animation = read_animation(written)
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
    assert written.stat().st_size <= 1.1 * (corpus / anim_path).stat().st_size
