"""The package and a literal implementation of the MD2 specification agree on every real file."""

from __future__ import annotations

import struct

import md2_specification as spec
import numpy as np
import pytest
from paths import CORPUS

from io_idtech.io_md2.format import (
    CORNER,
    MAGIC_NUMBER,
    NORMAL_COUNT,
    NORMALS,
    PROFILES,
    VERSION,
    Game,
    Md2Error,
    decompress,
    drawn_triangles,
    frame_pair,
    interpolate,
    normal_vectors,
    read_model,
    st_fractions,
)

PATHS = sorted(CORPUS.glob("md2/**/*.md2"))

pytestmark = pytest.mark.corpus

# Their GL commands do not end; the package leaves out what is cut off, and the document's reader runs past the end.
ENDLESS_COMMANDS = ("cube.md2", "fortunecookie.obj/tris.md2")
# One triangle uses texture coordinates that do not exist; the package takes them from the GL commands.
MISSING_ST = ("animatedsword.obj/tris.md2",)


@pytest.fixture(scope="module", params=PATHS, ids=lambda path: path.relative_to(CORPUS).as_posix())
def both(request):
    """A file as the package reads it, and as the document does."""
    try:
        model = read_model(request.param)
    except Md2Error:
        return request.param, None, None
    return request.param, model, spec.read(request.param.read_bytes())


def test_a_refused_file_has_another_identifier_or_indices_of_no_vertex(both):
    path, model, _ = both
    if model is not None:
        return
    with pytest.raises((ValueError, IndexError)):
        spec.render_frame(spec.read(path.read_bytes()), 0, NORMALS.tolist())


def test_every_field_is_the_same(both):
    path, model, meant = both
    if model is None:
        return
    assert (model.skin_width, model.skin_height) == (meant.header["skinwidth"], meant.header["skinheight"])
    assert [name.encode("latin-1") for name in model.skins] == meant.skins
    assert [name.encode("latin-1") for name in model.frame_names] == [frame.name for frame in meant.frames]
    rows = np.array(meant.triangles, np.int64).reshape(-1, 6)
    np.testing.assert_array_equal(model.triangles, rows[:, :3])
    exists = rows[:, 3:] < len(meant.texcoords)
    assert exists.all() != path.as_posix().endswith(MISSING_ST)
    np.testing.assert_array_equal(model.triangle_st[exists], rows[:, 3:][exists])
    np.testing.assert_array_equal(model.st[: len(meant.texcoords)], np.array(meant.texcoords, np.int64).reshape(-1, 2))
    assert exists.all() == (len(model.st) == len(meant.texcoords))
    np.testing.assert_array_equal(model.scale, np.array([frame.scale for frame in meant.frames], np.float32))
    np.testing.assert_array_equal(model.translate, np.array([frame.translate for frame in meant.frames], np.float32))
    vertices = np.array([frame.verts for frame in meant.frames], np.uint8).reshape(*model.normals.shape, 4)
    np.testing.assert_array_equal(model.vertices, vertices[..., :3])
    np.testing.assert_array_equal(model.normals, vertices[..., 3])


def test_a_rendered_frame_is_the_same(both):
    path, model, meant = both
    if model is None or path.as_posix().endswith(MISSING_ST) or not min(model.skin_width, model.skin_height):
        return
    n = len(path.as_posix()) % model.frame_count
    table = [*NORMALS.tolist(), *[[0.0, 0.0, 0.0]] * (256 - NORMAL_COUNT)]
    corners = spec.render_frame(meant, n, table)
    if not corners:
        return
    st, normals, positions = (np.array(part) for part in zip(*corners, strict=True))
    fractions = st_fractions(model.st, model.skin_width, model.skin_height, CORNER)
    np.testing.assert_allclose(fractions[model.triangle_st].reshape(-1, 2), st, rtol=1e-6)
    found = normal_vectors(model.normals[n])[model.triangles].reshape(-1, 3)
    np.testing.assert_array_equal(found, normals.astype(np.float32))
    found = decompress(model.vertices[n], model.scale[n], model.translate[n])
    reach = np.abs(model.scale[n]).max() * 255 + np.abs(model.translate[n]).max()
    np.testing.assert_allclose(found[model.triangles].reshape(-1, 3), positions, atol=2e-7 * reach, rtol=0)


def test_the_gl_commands_draw_the_same_triangles(both):
    path, model, meant = both
    if model is None or not len(model.gl_commands.counts):
        return
    if path.as_posix().endswith(ENDLESS_COMMANDS):
        with pytest.raises(IndexError):
            spec.gl_triangles(meant)
        return
    drawn = np.array(spec.gl_triangles(meant)).reshape(-1, 3, 3)
    vertices, st = drawn_triangles(model.gl_commands)
    np.testing.assert_array_equal(vertices, drawn[..., 2])
    np.testing.assert_array_equal(st, drawn[..., :2].astype(np.float32))


def test_positions_between_two_frames_are_the_same(both):
    _, model, meant = both
    if model is None or model.frame_count < 2 or not model.vertex_count:
        return
    n = model.vertex_count % (model.frame_count - 1)
    positions = decompress(model.vertices, model.scale, model.translate)
    found = interpolate(positions[n], positions[n + 1], 0.375)
    expected = [spec.interpolated(meant, n, n + 1, index, 0.375) for index in range(model.vertex_count)]
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(positions).max(), rtol=0)


@pytest.mark.parametrize(("start", "end"), [(0, 5), (40, 45), (7, 8)])
def test_jumping_sequences_show_the_frames_of_animate(start, end):
    frame, interp = start, 0.0
    for step in range(200):
        found = frame_pair(step / 80, start, end, frame_rate=10.0, wrap="jump")
        assert (found[0], round(found[2], 9)) == (frame, interp)
        interp += 0.125
        frame, interp = spec.animate(start, end, frame, interp)


def test_constants_are_those_of_the_document():
    assert (MAGIC_NUMBER, VERSION, NORMAL_COUNT) == (spec.MAGIC_NUMBER, spec.VERSION, spec.NORMALS)
    assert spec.MAGIC_NUMBER == 844121161
    limits = {rule.code: rule.limit for rule in PROFILES[Game.QUAKE2].rules}
    assert limits["too_many_triangles"] == spec.MAX_TRIANGLES
    assert limits["too_many_vertices"] == spec.MAX_VERTICES
    assert limits["too_many_frames"] == spec.MAX_FRAMES
    assert limits["too_many_skins"] == spec.MAX_SKINS
    assert struct.pack("<i", MAGIC_NUMBER) == b"IDP2"
