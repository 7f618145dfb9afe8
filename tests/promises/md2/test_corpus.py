"""Real MD2 models in Blender: every frame matches the formula, and an untouched model is exported unchanged."""

from __future__ import annotations

from collections import Counter

import bpy
import numpy as np
import pytest
from md2_evaluated import distance, each_readable_file, expected_vertices, import_model, shown_vertices, size_of

from io_idtech.io_md2.format import drawn_triangles, interpolate, read_model, st_fractions

TOLERANCE = 1e-5

# Their GL commands do not draw the triangles of the list.
OTHER_COMMANDS = ("fortunecookie.obj/tris.md2", "spiderBlob.md2")
# They have these, fewer than three texture coordinates, missing ones, or empty sections at other places.
OTHER_LAYOUT = (
    *OTHER_COMMANDS, "LoadMd2Model/cube.md2", "sydney/w_bc1.md2", "sydney/w_bc2.md2", "animatedsword.obj/tris.md2",
)  # fmt: skip

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@pytest.mark.parametrize("name", each_readable_file())
def test_a_model_is_shown_as_the_formula_says_comes_back_and_changes_only_where_it_is_edited(corpus, tmp_path, name):
    before = read_model(corpus / name)
    expected = expected_vertices(before)
    obj = import_model(corpus / name)
    assert_shown(obj, before, expected, len(name))
    path = tmp_path / "out.md2"
    assert bpy.ops.export_scene.md2(filepath=str(path), game="ANY") == {"FINISHED"}
    assert_same_model(before, read_model(path), name)
    changed = differing_bytes((corpus / name).read_bytes(), path.read_bytes())
    assert (changed is None) == name.endswith(OTHER_LAYOUT)
    # Only what follows the NUL of a name is not kept, and written as NULs.
    assert changed is None or not changed.any()
    if before.vertex_count:
        assert_a_moved_vertex_changes_its_frame_alone(obj, before, expected, path)


def assert_shown(obj, model, expected, number):
    assert len(obj.data.shape_keys.key_blocks) == model.frame_count
    limit = TOLERANCE * size_of(expected)
    for frame in range(model.frame_count):
        bpy.context.scene.frame_set(frame)
        assert distance(shown_vertices(obj), expected[frame]) <= limit, f"frame {frame}"
    # A time between two frames for each model, another one for each.
    if model.frame_count > 1:
        frame = number % (model.frame_count - 1)
        fraction = (number % 7 + 1) / 8
        bpy.context.scene.frame_set(frame, subframe=fraction)
        between = interpolate(expected[frame], expected[frame + 1], fraction)
        assert distance(shown_vertices(obj), between) <= limit


def assert_a_moved_vertex_changes_its_frame_alone(obj, before, expected, path):
    frame, vertex = before.frame_count // 2, before.vertex_count // 2
    move = 0.3 * size_of(expected) or 1.0
    obj.data.shape_keys.key_blocks[frame].points[vertex].co.z += move
    expected[frame, vertex, 2] += move
    assert bpy.ops.export_scene.md2(filepath=str(path), game="ANY") == {"FINISHED"}
    after = read_model(path)

    assert after.frame_names == before.frame_names
    others = np.arange(before.frame_count) != frame
    for part in ("scale", "translate", "vertices", "normals"):
        assert np.array_equal(getattr(after, part)[others], getattr(before, part)[others])
    steps = np.abs(after.scale[frame]) * 0.5001 + 1e-6 * np.abs(expected).max()
    assert (np.abs(expected_vertices(after)[frame] - expected[frame]) <= steps).all()


def assert_same_model(before, after, name):
    assert after.frame_names == before.frame_names
    assert after.skins == before.skins
    assert (after.skin_width, after.skin_height) == (before.skin_width, before.skin_height)
    assert after.vertex_count == before.vertex_count
    # Every file has three texture coordinates; those that were added are not used.
    assert np.array_equal(after.st[: len(before.st)], before.st)
    assert len(after.st) == (max(3, len(before.st)) if before.triangle_count else len(before.st))
    assert np.array_equal(after.triangles, before.triangles)
    assert np.array_equal(after.triangle_st, before.triangle_st)
    assert np.array_equal(after.vertices, before.vertices)
    assert np.array_equal(after.normals, before.normals)
    if name.endswith(OTHER_COMMANDS):
        corners, fractions = drawn_triangles(after.gl_commands)
        meant = st_fractions(before.st, before.skin_width, before.skin_height)[after.triangle_st]
        assert counted(corners, fractions) == counted(after.triangles, meant)
    else:
        assert after.gl_commands == before.gl_commands


def differing_bytes(before: bytes, after: bytes) -> np.ndarray | None:
    """The bytes of the export that differ from the file; None if the files have another layout."""
    if len(before) != len(after) or before[:68] != after[:68]:
        return None
    old, new = np.frombuffer(before, np.uint8), np.frombuffer(after, np.uint8)
    return new[old != new]


def counted(vertices: np.ndarray, fractions: np.ndarray) -> Counter[tuple[object, ...]]:
    """How often each triangle is drawn, whichever corner it begins with."""
    values = np.concatenate([vertices[..., None].astype(np.float64), fractions], axis=2)
    triangles = (tuple(map(tuple, triangle)) for triangle in values.tolist())
    return Counter(min(corners[k:] + corners[:k] for k in range(3)) for corners in triangles)
