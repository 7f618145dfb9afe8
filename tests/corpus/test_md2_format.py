"""Real MD2 files are read or refused with a message, survive writing, and get better GL commands."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from md2_compiler import slow_greedy_length

from io_idtech.io_md2.format import (
    Md2Error,
    Model,
    box_grid,
    check_model,
    decompress,
    drawn_triangles,
    find_sequences,
    format_model,
    generate_commands,
    match_grid,
    parse_model,
    read_model,
    st_fractions,
)
from io_idtech.io_md2.format.games import match_template

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS") or ROOT.parent / "shared" / "corpus")
PATHS = sorted(CORPUS.glob("md2/**/*.md2"))
NAMES = [str(path.relative_to(CORPUS)) for path in PATHS]

# What is refused, and a word of the reason.
BROKEN = {
    "LoadMd2Model/invalid.md2": "not an MD2 model",
    "MD2/malformed_zero_numvertices.md2": "vertex that does not exist",
}

pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not PATHS, reason=f"no MD2 files at {CORPUS} (IO_IDTECH_CORPUS)")]


def reason_to_refuse(path: Path) -> str | None:
    if path.read_bytes()[:4] == b"IDP3":
        return "found 'IDP3'"
    return next((reason for end, reason in BROKEN.items() if path.as_posix().endswith(end)), None)


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {name: read_model(path) for name, path in zip(NAMES, PATHS, strict=True) if reason_to_refuse(path) is None}


def turned(triangle: tuple[object, ...]) -> tuple[object, ...]:
    return min(triangle[k:] + triangle[:k] for k in range(3))


def counted(vertices: np.ndarray, st: np.ndarray) -> Counter[tuple[object, ...]]:
    corners = np.concatenate([vertices[..., None].astype(np.float64), st.astype(np.float64)], axis=2)
    return Counter(turned(tuple(map(tuple, triangle))) for triangle in corners.tolist())


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_every_file_loads_or_is_refused_in_words(path: Path) -> None:
    reason = reason_to_refuse(path)
    if reason is None:
        model = read_model(path)
        assert np.isfinite(decompress(model.vertices, model.scale, model.translate)).all()
        check_model(model)
        return
    with pytest.raises(Md2Error) as caught:
        read_model(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.offset is not None
    assert caught.value.found is not None
    assert caught.value.expected is not None


def test_written_files_are_read_the_same(models: dict[str, Model]) -> None:
    for name, model in models.items():
        again = parse_model(format_model(model))
        assert again == model, name


def test_files_in_the_compilers_order_come_back_byte_for_byte_but_for_garbage(models: dict[str, Model]) -> None:
    same = 0
    for name, model in models.items():
        original, written = (CORPUS / name).read_bytes(), format_model(model)
        if len(original) != len(written) or original[:68] != written[:68]:
            continue
        same += 1
        before, after = np.frombuffer(original, np.uint8), np.frombuffer(written, np.uint8)
        # Only what follows the NUL of a name may differ, and is written as NULs.
        assert not after[before != after].any(), name
    assert same >= 0.7 * len(models)


def test_all_bytes_come_back_if_asked(models: dict[str, Model]) -> None:
    for name in models:
        data = (CORPUS / name).read_bytes()
        assert format_model(parse_model(data, preserve=True)) == data, name


def test_untouched_frames_match_their_own_grid(models: dict[str, Model]) -> None:
    for name, model in models.items():
        positions = decompress(model.vertices, model.scale, model.translate)
        vertices, on_grid = match_grid(positions, model.scale, model.translate, previous=model.vertices)
        assert on_grid.all(), name
        assert np.array_equal(vertices, model.vertices), name


def test_many_frames_have_the_grid_of_the_compilers_rule(models: dict[str, Model]) -> None:
    shares = []
    for model in models.values():
        scale, _translate = box_grid(decompress(model.vertices, model.scale, model.translate))
        shares.append(np.isclose(scale, np.abs(model.scale), rtol=1e-3).mean())
    print(f"grids equal to the compiler's: {np.mean(shares):.3f} of the axes")
    assert np.mean(shares) > 0.5


def test_real_players_fit_the_template_of_players(models: dict[str, Model]) -> None:
    players = [model for model in models.values() if model.frame_count == 198]
    sequences = [[(one.name, one.frame_count) for one in find_sequences(model.frame_names)] for model in players]
    matches = [match_template("QUAKE2_PLAYER", one) for one in sequences]
    fitting = [order for order, problems in matches if not problems]
    assert fitting
    # A player is also fitting as one sequence of 198 frames.
    assert {tuple(order) for order in fitting} <= {tuple(range(20)), (0,)}


def test_every_frame_is_in_one_sequence(models: dict[str, Model]) -> None:
    for name, model in models.items():
        sequences = find_sequences(model.frame_names)
        frames = [frame for s in sequences for frame in range(s.first, s.last + 1)]
        assert frames == list(range(model.frame_count)), name


def test_generated_commands_draw_the_triangles_and_are_short(models: dict[str, Model]) -> None:
    ratios, agreeing, words, triangles = [], 0, [0, 0], 0
    for name, model in models.items():
        if not model.triangle_count:
            continue
        size = model.skin_width, model.skin_height
        commands = generate_commands(model.triangles, model.triangle_st, model.st, *size)
        fractions = st_fractions(model.st, *size)[model.triangle_st]
        assert counted(*drawn_triangles(commands)) == counted(model.triangles, fractions), name

        original, _st = drawn_triangles(model.gl_commands)
        agreeing += Counter(map(turned, map(tuple, original.tolist()))) == Counter(
            map(turned, map(tuple, model.triangles.tolist()))
        )
        ratios.append(commands.word_count / model.gl_commands.word_count)
        words[0] += commands.word_count
        words[1] += model.gl_commands.word_count
        triangles += model.triangle_count
    print(
        f"{len(ratios)} models, {triangles} triangles; length against the original's: "
        f"median {np.median(ratios):.3f}, greatest {max(ratios):.3f}, together {words[0] / words[1]:.3f}; "
        f"{agreeing} originals draw the triangles of their lists"
    )
    assert np.median(ratios) <= 1
    assert max(ratios) <= 1


def test_generated_commands_are_as_long_as_those_of_the_compilers_search(models: dict[str, Model]) -> None:
    compared = 0
    for name, model in models.items():
        # The literal search takes quadratic time.
        if 0 < model.triangle_count <= 150:
            mesh = model.triangles, model.triangle_st, model.st
            words = generate_commands(*mesh, model.skin_width, model.skin_height).word_count
            assert words == slow_greedy_length(mesh), name
            compared += 1
    print(f"{compared} models compared")
    assert compared > 50


def test_the_page_says_how_often_computed_normals_are_the_originals() -> None:
    path = ROOT / "tools" / "md2_normals.py"
    spec = importlib.util.spec_from_file_location("md2_normals", path)
    assert spec is not None
    assert spec.loader is not None
    tool = sys.modules["md2_normals"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = tool.table()
    assert text in (ROOT / "docs" / "md2-normals.md").read_text(encoding="utf-8"), f"{path} --write"
    results = tool.compare_all()
    assert np.median([result.equal / result.count for result in results]) > 0.95
