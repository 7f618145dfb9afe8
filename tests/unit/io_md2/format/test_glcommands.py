"""GL commands: they draw exactly the triangles, and are as long as the model compiler's."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from md2_compiler import Arrays, slow_greedy_length
from md2_meshes import MESHES, grid, tangle

from io_idtech.io_md2.format import GlCommands, Md2Error, drawn_triangles, generate_commands, st_fractions

SKIN = (128, 64)


def slow_draw(commands: GlCommands) -> list[tuple[tuple[int, float, float], ...]]:
    """What OpenGL draws, vertex by vertex."""
    corners = [(int(v), float(s), float(t)) for v, (s, t) in zip(commands.vertices, commands.st, strict=True)]
    triangles = []
    position = 0
    for count in commands.counts.tolist():
        part = corners[position : position + abs(count)]
        position += abs(count)
        for k in range(len(part) - 2):
            if count < 0:
                triangles.append((part[0], part[k + 1], part[k + 2]))
            elif k % 2 == 0:
                triangles.append((part[k], part[k + 1], part[k + 2]))
            else:
                triangles.append((part[k + 1], part[k], part[k + 2]))
    return triangles


def turned(triangle: tuple[object, ...]) -> tuple[object, ...]:
    """The same triangle with its least corner first; its winding is kept."""
    return min(triangle[k:] + triangle[:k] for k in range(3))


def listed(mesh: Arrays) -> Counter[tuple[object, ...]]:
    """The triangles of the list, as a GL renderer should draw them."""
    triangles, triangle_st, st = mesh
    fractions = st_fractions(st, *SKIN)
    result: Counter[tuple[object, ...]] = Counter()
    for vertices, coordinates in zip(triangles.tolist(), triangle_st.tolist(), strict=True):
        corners = [
            (v, float(fractions[c, 0]), float(fractions[c, 1])) for v, c in zip(vertices, coordinates, strict=True)
        ]
        result[turned(tuple(corners))] += 1
    return result


def generate(mesh: Arrays) -> GlCommands:
    return generate_commands(*mesh, *SKIN)


@pytest.fixture(params=MESHES, name="mesh")
def _mesh(request: pytest.FixtureRequest) -> Arrays:
    return MESHES[request.param]


def test_each_triangle_is_drawn_once_with_its_winding(mesh: Arrays) -> None:
    assert Counter(map(turned, slow_draw(generate(mesh)))) == listed(mesh)


def test_commands_are_as_long_as_the_compilers(mesh: Arrays) -> None:
    assert generate(mesh).word_count == slow_greedy_length(mesh)


@pytest.mark.parametrize("seed", range(60))
def test_commands_of_small_random_meshes_are_the_compilers(seed: int) -> None:
    mesh = tangle(100 + seed, 3 + seed % 7, 2 + seed % 11)
    commands = generate(mesh)
    assert Counter(map(turned, slow_draw(commands))) == listed(mesh)
    assert commands.word_count == slow_greedy_length(mesh)


@pytest.mark.slow
def test_triangles_beyond_what_any_game_takes_are_drawn_alone() -> None:
    mesh = grid(256, 129)
    commands = generate(mesh)
    assert commands.counts.tolist() == [-3] * (256 * 129 * 2)
    assert drawn_triangles(commands)[0].tolist() == mesh[0].tolist()


def test_a_strip_is_one_strip_and_a_fan_is_one_fan() -> None:
    assert generate(MESHES["fan"]).counts.tolist() == [-10]
    assert generate(MESHES["closed fan"]).counts.tolist() == [-8]
    assert generate(grid(20, 1)).counts.tolist() == [42]


def test_primitives_do_not_pass_seams() -> None:
    triangles = np.array([[0, 1, 2], [2, 1, 3]], np.int32)
    triangle_st = np.array([[0, 1, 2], [3, 1, 4]], np.int32)
    st = np.array([[0, 0], [1, 0], [0, 1], [50, 50], [1, 1]], np.int16)
    assert len(generate((triangles, triangle_st, st)).counts) == 2


def test_no_triangles() -> None:
    none = np.zeros((0, 3), np.int32)
    commands = generate_commands(none, none, np.zeros((0, 2), np.int16), 64, 64)
    assert commands == GlCommands()
    assert commands.word_count == 1


def test_the_same_mesh_gives_the_same_commands() -> None:
    assert generate(MESHES["seams"]) == generate(MESHES["seams"])


def test_texture_coordinates_are_half_a_texel_in() -> None:
    st = np.array([[0, 0], [63, 31], [-1, 400]], np.int16)
    fractions = st_fractions(st, 64, 32)
    assert fractions.dtype == np.float32
    assert fractions.tolist() == [[0.5 / 64, 0.5 / 32], [63.5 / 64, 31.5 / 32], [-0.5 / 64, 400.5 / 32]]


def test_a_skin_without_size_gives_finite_texture_coordinates() -> None:
    assert np.isfinite(generate_commands(*MESHES["grid"], 0, 0).st).all()


def test_tables_that_do_not_fit_are_refused() -> None:
    triangles, triangle_st, st = grid(2, 2)
    with pytest.raises(Md2Error, match="below 8"):
        generate_commands(triangles, triangle_st, st[:8], 64, 64)
    with pytest.raises(Md2Error, match="fit together"):
        generate_commands(triangles, triangle_st[:-1], st, 64, 64)


def test_drawing_follows_opengl() -> None:
    commands = GlCommands(
        np.array([5, -5, 2, -1, 3], np.int32),
        np.arange(32, dtype=np.float32).reshape(16, 2),
        np.arange(16, dtype=np.int32),
    )
    vertices, st = drawn_triangles(commands)
    assert vertices.tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4], [5, 6, 7], [5, 7, 8], [5, 8, 9], [13, 14, 15]]
    assert np.array_equal(st[:, :, 0], vertices * 2)
    assert np.array_equal(st[:, :, 1], vertices * 2 + 1)


def test_drawing_is_the_same_vertex_by_vertex(mesh: Arrays) -> None:
    commands = generate(mesh)
    vertices, st = drawn_triangles(commands)
    together = [
        tuple((int(v), float(s), float(t)) for v, (s, t) in zip(*corners, strict=True))
        for corners in zip(vertices, st, strict=True)
    ]
    assert together == slow_draw(commands)


def test_drawing_nothing() -> None:
    vertices, st = drawn_triangles(GlCommands())
    assert vertices.shape == (0, 3)
    assert st.shape == (0, 3, 2)
