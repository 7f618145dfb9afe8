"""Real models with their animations: the evaluated meshes match the specification's formula."""

from __future__ import annotations

import bpy
import pytest
from md5_corpus import pairs
from md5_deviation import size_of, worst_error

from io_idtech.io_md5.format import read_animation, read_mesh

pytestmark = pytest.mark.slow

TOLERANCE = 1e-5


@pytest.mark.parametrize(("mesh_path", "anim_path"), pairs())
def test_evaluated_vertices_equal_the_formula_at_bind_first_middle_and_last_frame(corpus, mesh_path, anim_path):
    model = read_mesh(corpus / mesh_path)
    animation = read_animation(corpus / anim_path)
    bpy.ops.import_scene.md5(filepath=str(corpus / mesh_path))
    armature = bpy.context.view_layer.objects.active
    limit = TOLERANCE * size_of(model)
    assert worst_error(armature, model) <= limit
    bpy.ops.import_scene.md5(filepath=str(corpus / anim_path))
    scene = bpy.context.scene
    last = animation.frame_count - 1
    assert (scene.frame_start, scene.frame_end) == (0, last)
    for frame in sorted({0, last // 2, last}):
        scene.frame_set(frame)
        assert worst_error(armature, model, animation, frame) <= limit, f"frame {frame}"
