"""Meshes whose faces use vertices that do not exist, as scripts make them: an error that says how to mend them."""

from __future__ import annotations

import bpy
import pytest


@pytest.mark.parametrize("vertex", [-1, 4, 2**31 - 1])
@pytest.mark.parametrize("face", [(0, 1, 2), (0, 1, 3, 2)])
@pytest.mark.parametrize("kind", ["md5mesh", "md2"])
def test_a_damaged_mesh_is_refused_and_exported_once_it_is_valid(tmp_path, kind, face, vertex):
    mesh = bpy.data.meshes.new("crate")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [], [face, (1, 3, 2)])
    obj = bpy.data.objects.new("Crate", mesh)
    bpy.context.scene.collection.objects.link(obj)
    mesh.loops[0].vertex_index = vertex
    path = tmp_path / f"crate.{kind}"
    export = getattr(bpy.ops.export_scene, kind)
    with pytest.raises(RuntimeError, match=r"Crate: its mesh is damaged.*bpy\.data\.meshes\['crate'\]\.validate\(\)"):
        export(filepath=str(path))
    assert not list(tmp_path.iterdir())
    assert mesh.validate()
    assert export(filepath=str(path)) == {"FINISHED"}
