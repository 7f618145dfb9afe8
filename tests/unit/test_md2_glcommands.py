"""GL commands: they draw exactly the triangles, and are never longer than the model compiler's."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from io_md2.format import GlCommands, Md2Error, drawn_triangles, generate_commands, st_fractions
from io_md2.format.edges import EdgeTable
from io_md2.format.greedy import greedy_primitives

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
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
            (v, float(fractions[c, 0]), float(fractions[c, 1]))
            for v, c in zip(vertices, coordinates, strict=True)
        ]
        result[turned(tuple(corners))] += 1
    return result


def slow_greedy_length(mesh: Arrays) -> int:
    """Length in words of what the compiler makes: its search, letter by letter."""
    xyz, st = mesh[0].tolist(), mesh[1].tolist()
    used = [0] * len(xyz)

    def corner(triangle: int, k: int) -> tuple[int, int]:
        return xyz[triangle][k % 3], st[triangle][k % 3]

    def length(start: int, startv: int, fan: bool) -> list[int]:
        taken = [start]
        used[start] = 2
        if fan:
            m1, m2 = corner(start, startv), corner(start, startv + 2)
        else:
            m1, m2 = corner(start, startv + 2), corner(start, startv + 1)
        going = True
        while going:
            going = False
            for check in range(start + 1, len(xyz)):
                for k in range(3):
                    if corner(check, k) == m1 and corner(check, k + 1) == m2:
                        if used[check]:
                            break
                        if fan or len(taken) % 2 == 1:
                            m2 = corner(check, k + 2)
                        else:
                            m1 = corner(check, k + 2)
                        taken.append(check)
                        used[check] = 2
                        going = True
                        break
                else:
                    continue
                break
        for triangle in taken:
            used[triangle] = 0
        return taken

    words = 1
    for start in range(len(xyz)):
        if used[start]:
            continue
        best: list[int] = []
        for fan in (True, False):
            for startv in range(3):
                taken = length(start, startv, fan)
                if len(taken) > len(best):
                    best = taken
        for triangle in best:
            used[triangle] = 1
        words += 1 + 3 * (len(best) + 2)
    return words


def plain(triangles: object) -> Arrays:
    """A mesh whose texture coordinates are its vertices'."""
    array = np.array(triangles, np.int32).reshape(-1, 3)
    count = int(array.max(initial=-1)) + 1
    st = np.stack([np.arange(count) % 128, np.arange(count) // 128 % 64], axis=1).astype(np.int16)
    return array, array.copy(), st


def grid(width: int, height: int) -> Arrays:
    row = np.arange(width)
    a = (np.arange(height)[:, None] * (width + 1) + row).reshape(-1)
    b, c, d = a + 1, a + width + 1, a + width + 2
    return plain(np.stack([a, c, b, b, c, d], axis=1).reshape(-1, 3))


def seamed_grid(width: int, height: int) -> Arrays:
    """A grid whose right half has texture coordinates of its own."""
    triangles, _same, st = grid(width, height)
    right = triangles.min(axis=1) % (width + 1) >= width // 2
    triangle_st = triangles + np.where(right, len(st), 0)[:, None]
    return triangles, triangle_st.astype(np.int32), np.concatenate([st, st[::-1]])


def shuffled(mesh: Arrays, seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(mesh[0]))
    turn = (np.arange(3) + rng.integers(0, 3, (len(order), 1))) % 3
    return (
        np.take_along_axis(mesh[0][order], turn, 1),
        np.take_along_axis(mesh[1][order], turn, 1),
        mesh[2],
    )


def tangle(seed: int, vertices: int, count: int) -> Arrays:
    """Random triangles: edges of many triangles, degenerate and repeated ones."""
    rng = np.random.default_rng(seed)
    st = rng.integers(0, 3, (vertices, 2)).astype(np.int16)
    triangles = rng.integers(0, vertices, (count, 3)).astype(np.int32)
    return triangles, triangles.copy(), st


def icosphere() -> Arrays:
    """A closed surface of 80 triangles."""
    top, bottom = 0, 11
    faces = []
    for i in range(5):
        u, v = 1 + i, 1 + (i + 1) % 5
        x, y = 6 + i, 6 + (i + 1) % 5
        faces += [(top, v, u), (u, v, x), (v, y, x), (x, y, bottom)]
    middle: dict[frozenset[int], int] = {}
    result = []
    for face in faces:
        halves = [
            middle.setdefault(frozenset((face[k], face[(k + 1) % 3])), 12 + len(middle)) for k in range(3)
        ]
        for k in range(3):
            result.append((face[k], halves[k], halves[k - 1]))
        result.append(tuple(halves))
    return plain(result)


MESHES: dict[str, Arrays] = {
    "one triangle": plain([[0, 1, 2]]),
    "two triangles": plain([[0, 1, 2], [2, 1, 3]]),
    "two apart": plain([[0, 1, 2], [3, 4, 5]]),
    "opposed windings": plain([[0, 1, 2], [1, 2, 3]]),
    "fan": plain([[0, i, i + 1] for i in range(1, 9)]),
    "closed fan": plain([[0, 1 + i, 1 + (i + 1) % 6] for i in range(6)]),
    "repeated": plain([[0, 1, 2]] * 5),
    "double-sided": plain([[0, 1, 2], [2, 1, 0], [2, 1, 3], [3, 1, 2]]),
    "degenerate": plain([[0, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 2], [2, 1, 1], [2, 1, 3]]),
    "grid": grid(6, 5),
    "shuffled grid": shuffled(grid(7, 6), 1),
    "seams": shuffled(seamed_grid(8, 5), 2),
    "closed": icosphere(),
    "shuffled closed": shuffled(icosphere(), 3),
    "long strip": grid(150, 1),
    "star": plain([[0, 1, i] for i in range(2, 30)]),
} | {f"tangle {seed}": tangle(seed, 4 + seed, 10 + 4 * seed) for seed in range(24)}


def generate(mesh: Arrays) -> GlCommands:
    return generate_commands(*mesh, *SKIN)


@pytest.fixture(params=MESHES, name="mesh")
def _mesh(request: pytest.FixtureRequest) -> Arrays:
    return MESHES[request.param]


def test_each_triangle_is_drawn_once_with_its_winding(mesh: Arrays) -> None:
    assert Counter(map(turned, slow_draw(generate(mesh)))) == listed(mesh)


def test_they_are_never_longer_than_the_compilers(mesh: Arrays) -> None:
    assert generate(mesh).word_count <= slow_greedy_length(mesh)


def test_the_fast_search_finds_what_the_slow_one_does(mesh: Arrays) -> None:
    corners = mesh[0].astype(np.int64) * (int(mesh[1].max()) + 1) + mesh[1]
    counts, numbers = greedy_primitives(EdgeTable(corners))
    assert len(numbers) == sum(map(abs, counts))
    assert 1 + len(counts) + 3 * len(numbers) == slow_greedy_length(mesh)


@pytest.mark.parametrize("seed", range(60))
def test_they_hold_on_small_random_meshes(seed: int) -> None:
    mesh = tangle(100 + seed, 3 + seed % 7, 2 + seed % 11)
    commands = generate(mesh)
    assert Counter(map(turned, slow_draw(commands))) == listed(mesh)
    assert commands.word_count <= slow_greedy_length(mesh)


def test_they_are_shorter_than_the_compilers_on_a_shuffled_surface() -> None:
    mesh = shuffled(grid(20, 20), 4)
    assert generate(mesh).word_count < 0.9 * slow_greedy_length(mesh)


def test_a_strip_is_one_strip_and_a_fan_is_one_fan() -> None:
    assert generate(MESHES["fan"]).counts.tolist() == [-10]
    assert generate(MESHES["closed fan"]).counts.tolist() == [-8]
    assert generate(grid(20, 1)).counts.tolist() == [42]


def test_primitives_do_not_pass_seams() -> None:
    triangles = np.array([[0, 1, 2], [2, 1, 3]], np.int32)
    triangle_st = np.array([[0, 1, 2], [3, 1, 4]], np.int32)
    st = np.array([[0, 0], [1, 0], [0, 1], [50, 50], [1, 1]], np.int16)
    assert len(generate((triangles, triangle_st, st)).counts) == 2


def test_primitives_pass_from_one_st_to_another_of_the_same_value() -> None:
    triangles = np.array([[0, 1, 2], [2, 1, 3]], np.int32)
    triangle_st = np.array([[0, 1, 2], [3, 1, 4]], np.int32)
    st = np.array([[0, 0], [1, 0], [0, 1], [0, 1], [1, 1]], np.int16)
    mesh = triangles, triangle_st, st
    commands = generate(mesh)
    assert len(commands.counts) == 1
    assert Counter(map(turned, slow_draw(commands))) == listed(mesh)


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
    assert vertices.tolist() == [
        [0, 1, 2],
        [2, 1, 3],
        [2, 3, 4],
        [5, 6, 7],
        [5, 7, 8],
        [5, 8, 9],
        [13, 14, 15],
    ]
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
