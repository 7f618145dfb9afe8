"""MD3 files without Blender: reading, writing, damaged files, normals, sequences and the games' rules."""

from __future__ import annotations

import struct
from dataclasses import replace

import md3_samples
import md3_specification as specification
import numpy as np
import pytest
from engines import md3 as engines
from engines.posing import Refused

from io_idtech.io_md3.format import (
    PROFILES,
    Game,
    Md3Error,
    Surface,
    check_model,
    describe,
    first_frame,
    format_model,
    frame_bounds,
    frame_pair,
    interpolate,
    nearest_normals,
    normal_vectors,
    parse_model,
    positions,
    quantise,
    read_model,
    validate_model,
    write_model,
)
from io_idtech.io_md3.format.games import surface_limits, turn_steps
from io_idtech.io_md3.format.sequences import (
    Sequence,
    format_player_config,
    in_table,
    parse_animation_config,
    sequences_of,
)

STEP = 2 * np.pi / 255


@pytest.fixture
def model():
    return md3_samples.tube_model()


def test_a_file_is_read_as_the_specification_says(model):
    data = format_model(model)
    expected = specification.read(data)
    found = parse_model(data)
    assert found.frame_names == [frame[4] for frame in expected.frames]
    assert np.array_equal(found.bounds, [frame[:2] for frame in expected.frames])
    assert found.radii.tolist() == [frame[3] for frame in expected.frames]
    for index, name in enumerate(found.tag_names):
        for frame, tags in enumerate(expected.tags):
            assert found.tag_origins[frame, index].tolist() == list(tags[name][0])
            assert np.array_equal(found.tag_axes[frame, index], tags[name][1:])
    for surface, other in zip(found.surfaces, expected.surfaces, strict=True):
        assert (surface.name, surface.shaders) == (other.name, other.shaders)
        assert np.array_equal(surface.triangles, other.triangles)
        assert np.array_equal(surface.st, np.array(other.st, np.float32))
        assert np.array_equal(positions(surface.vertices), other.points)
        assert np.allclose(normal_vectors(surface.normals), other.normals, atol=1e-6)


def test_a_model_that_is_written_is_read_as_an_equal_one(model, tmp_path):
    write_model(model, tmp_path / "a.md3")
    assert read_model(tmp_path / "a.md3") == model
    assert parse_model(format_model(first_frame(model))).frame_count == 1


def test_all_bytes_of_an_unchanged_model_are_preserved_on_request():
    data = md3_samples.odd_bytes()
    model = parse_model(data, preserve=True)
    assert format_model(model) == data
    assert format_model(replace(model, preserved=None)) != data
    model.surfaces[0].vertices[0, 0, 0] += 1
    assert parse_model(format_model(model)) == model


def test_what_is_unusual_is_warned_of():
    data = md3_samples.odd_bytes()
    # Three bytes follow the end, and a gap is before the vertices.
    assert parse_model(data).warnings == [
        f"ofs_end is {len(data) - 7}, the file has {len(data)} bytes",
        "Some tags have no finite position",
    ]


def test_a_file_that_is_cut_off_anywhere_is_refused(model):
    data = format_model(model)
    for size in range(0, len(data), 7):
        with pytest.raises(Md3Error):
            parse_model(data[:size], "cut.md3")


@pytest.mark.parametrize("value", [-1, 2**31 - 1, 10**6])
def test_counts_and_offsets_outside_of_the_file_are_refused(model, value):
    data = bytearray(format_model(model))
    start = struct.unpack_from("<i", data, 100)[0]
    # Frames, tags, surfaces and their offsets; frames, shaders, vertices, triangles and offsets of a surface.
    places = [80, 84, 92, 96, 100, *(start + 72 + 4 * index for index in range(8))]
    for place in places:
        damaged = data.copy()
        struct.pack_into("<i", damaged, place, value)
        if place == start + 72 and value > 0:
            # More frames than the model has are left out, if they are in the file.
            continue
        with pytest.raises(Md3Error):
            parse_model(bytes(damaged))


def test_an_index_of_a_vertex_that_does_not_exist_is_named_with_its_place(model):
    model.surfaces[1].triangles[2, 1] = 99
    with pytest.raises(Md3Error, match=r"surfaces\[1\]\.triangles has 1 index out of range"):
        format_model(model)
    model.surfaces[1].triangles[2, 1] = 3
    data = bytearray(format_model(model))
    start = struct.unpack_from("<i", data, 100)[0]
    at = start + struct.unpack_from("<i", data, start + 88)[0]
    struct.pack_into("<i", data, at + 4 * 7, 99)
    with pytest.raises(Md3Error, match="triangle 2 of surface 0 uses a vertex that does not exist") as caught:
        parse_model(bytes(data))
    assert caught.value.offset == at + 28


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"frame_names": []}, "frame_names is empty"),
        ({"radii": np.zeros(3, np.float32)}, "radii has the wrong shape"),
        ({"name": "x" * 65}, r"name\[0\] does not fit"),
        ({"tag_names": ["a", "\u0416"]}, "not in Latin-1"),
        ({"surfaces": [1]}, "surfaces is not a list"),
        ({"flags": 2**40}, "flags does not fit"),
    ],
)
def test_what_no_file_can_hold_is_named(model, change, words):
    with pytest.raises(Md3Error, match=words):
        validate_model(replace(model, **change))


def test_normals_are_within_a_step():
    vectors = np.random.default_rng(1).normal(size=(5000, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = normal_vectors(nearest_normals(vectors))
    angles = np.arccos(np.clip((found * vectors).sum(axis=1), -1, 1))
    assert angles.max() <= STEP * 0.75
    assert nearest_normals([[0, 0, 1], [0, 0, -1], [0, 0, 0], [1, 0, 0]]).tolist() == [
        [0, 0], [128, 0], [0, 0], [64, 0],
    ]  # fmt: skip


@pytest.mark.parametrize("game", Game)
def test_normals_are_written_as_the_game_decodes_them(game):
    angles = np.linspace(-np.pi, np.pi, 1537)
    heights = np.linspace(0.02, np.pi - 0.02, 1537)
    vectors = np.stack([np.cos(angles) * np.sin(heights), np.sin(angles) * np.sin(heights), np.cos(heights)], axis=1)
    ours = nearest_normals(vectors, turn_steps(game))
    decoded = np.array([engines.normal(game.value, *pair) for pair in ours.tolist()])
    decoded /= np.linalg.norm(decoded, axis=1, keepdims=True)
    off = np.degrees(np.arccos(np.clip((decoded * vectors).sum(axis=1), -1, 1)))
    # Half a step on both angles; the sines of ioquake3's table jump by a third of a degree.
    assert off.max() <= (1.35 if game is Game.QUAKE3 else 1.0)
    assert off.mean() <= 0.5


def test_a_surface_keeps_its_vertices_in_games_without_limits():
    assert min(surface_limits(Game.GZDOOM)) > 1_000_000
    model = replace(md3_samples.tube_model(1, ()), surfaces=[_big(5000, 9000)])
    assert check_model(model, Game.GZDOOM) == []


def test_gzdoom_warns_of_surfaces_that_surface_skins_do_not_reach():
    surface = replace(_big(3, 1), shaders=["skin.png"])
    for count, expected in ((32, []), (33, [("too_many_surfaces", False)])):
        surfaces = [replace(surface, name=f"s{number}") for number in range(count)]
        found = check_model(replace(md3_samples.tube_model(1, ()), surfaces=surfaces), Game.GZDOOM)
        assert [(one.code, one.is_error) for one in found] == expected


def test_names_of_frames_that_a_game_does_not_find_are_told():
    model = md3_samples.tube_model(3, ())
    model.frame_names = ["SPR2_STND00", "SUPERRUN_1", "SPR2_run0"]
    assert [finding.text for finding in check_model(model, Game.SRB2)] == [
        "Frames are named SPR2_run0; SRB2 does not find them: rename the action or the shape keys"
    ]
    model.frame_names = ["Walk1", "walk1", "run1"]
    for game in (Game.GZDOOM, Game.EDGE):
        texts = [finding.text for finding in check_model(model, game) if finding.code == "frame_names_repeated"]
        assert texts == ["Several frames are named walk1; the game takes the first of a name: rename the shape keys"]


def test_positions_are_on_a_grid_of_64ths_of_a_unit():
    assert quantise([[0.5, -0.25, 1 / 128 + 1e-6]]).tolist() == [[32, -16, 1]]
    assert positions(np.array([[1, -64, 32767]])).tolist() == [[1 / 64, -1.0, 511.984375]]
    for bad in (512.0, np.nan, np.inf):
        with pytest.raises(Md3Error, match="too large"):
            quantise([[bad, 0.0, 0.0]])


def test_boxes_and_spheres_hold_every_vertex(model):
    points = positions(model.surfaces[0].vertices)
    bounds, origins, radii = frame_bounds(points)
    assert (points >= bounds[:, :1]).all() and (points <= bounds[:, 1:]).all()  # noqa: PT018
    assert (np.linalg.norm(points - origins[:, None], axis=2) <= radii[:, None] + 1e-4).all()
    assert not frame_bounds(np.zeros((2, 0, 3)))[2].any()


def test_frames_are_mixed_as_games_do():
    before, after, fraction = frame_pair(0.25, 3, 8)
    assert (int(before), int(after), float(fraction)) == (5, 6, 0.5)
    assert interpolate([0.0, 2.0], [1.0, 4.0], 0.5).tolist() == [0.5, 3.0]


_CONFIG = "\n".join(
    ["// Quake III", "sex m", "headoffset 0 0 0", "", *(f"{10 * n} 10 {n % 2} 15" for n in range(13))]
    + [f"{130 + 5 * n} 5 5 20\t\t// whatever" for n in range(12)]
)


def test_an_animation_cfg_of_a_player_gives_each_part_its_sequences():
    config = parse_animation_config(_CONFIG)
    assert [config[0].name, config[6].name, config[13].name] == ["BOTH_DEATH1", "TORSO_GESTURE", "LEGS_WALKCR"]
    lower = {one.name: one for one in sequences_of("lower", ["f"] * 200, config=config)}
    upper = {one.name: one for one in sequences_of("Upper_1", ["f"] * 200, config=config)}
    # The legs have no frames of the torso: 130 - 60 of them.
    assert (lower["LEGS_WALKCR"].first, lower["LEGS_WALKCR"].last) == (60, 64)
    assert (lower["LEGS_WALKCR"].frame_rate, lower["LEGS_WALKCR"].looping) == (20.0, 5)
    assert "TORSO_STAND" not in lower
    assert (upper["TORSO_STAND"].first, upper["BOTH_DEAD1"].first) == (110, 10)
    assert "LEGS_RUN" not in upper


def test_sequences_of_other_models_are_named_by_comments_or_frames():
    config = parse_animation_config("0 3 0 10 // idle\n3 -3 3 12.5 // shoot\nbad line\n-4 2 0 1\n")
    assert [(one.name, one.first, one.last, one.frame_rate) for one in config] == [
        ("IDLE", 0, 2, 10.0),
        ("SHOOT", 3, 5, 12.5),
    ]
    assert [one.name for one in sequences_of("gun", ["a1", "a2", "b1"], 12.0)] == ["a", "b"]
    assert sequences_of("gun", ["a1", "a2"], 12.0, config)[0].frame_rate == 12.0


def _big(vertices: int, triangles: int) -> Surface:
    rows = np.zeros((triangles, 3), np.int32)
    rows[:, 1:] = np.arange(2 * triangles).reshape(-1, 2) % vertices
    return Surface(
        name="big",
        shaders=["models/big/big.tga"],
        triangles=rows,
        st=np.zeros((vertices, 2), np.float32),
        vertices=np.zeros((1, vertices, 3), np.int16),
        normals=np.zeros((1, vertices, 2), np.uint8),
    )


@pytest.mark.slow
@pytest.mark.parametrize("game", [Game(name) for name in engines.GAMES])
def test_what_the_games_refuse_is_an_error_and_the_limit_itself_is_not(game):
    one = md3_samples.tube_model(1, ())
    vertices, triangles = (min(limit, 70_000) for limit in surface_limits(game))
    for surface in (_big(vertices, 10), _big(3, triangles), _big(vertices + 1, 10), _big(3, triangles + 1)):
        model = replace(one, surfaces=[surface])
        has_error = any(finding.is_error for finding in check_model(model, game))
        try:
            engines.GAMES[game.value](format_model(model))
        except Refused:
            assert has_error
        else:
            assert not has_error
    has_error = any(finding.is_error for finding in check_model(replace(one, surfaces=[]), game))
    assert has_error == (game in (Game.QUAKE, Game.QUAKE2, Game.EDGE))


def test_what_the_imported_file_already_broke_is_no_error():
    model = replace(md3_samples.tube_model(1, ()), surfaces=[_big(1200, 10)])
    (finding,) = check_model(model, Game.QUAKE3, model)
    assert (finding.code, finding.is_error) == ("too_many_vertices", False)
    assert "the imported file already did" in finding.text


@pytest.mark.parametrize(
    ("game", "shaders", "words"),
    [
        (Game.ANY, [], "The surface 'body' has no shaders; engines draw their default image or leave the surface out"),
        (Game.QUAKE3, [], "The surface 'body' has no shaders"),
        (Game.QUAKE3, ["knife"], ""),
        (Game.QUAKE2, [], "The surface 'body' has no shader; the engines show no texture"),
        (Game.QUAKE2, ["knife"], "has the shader 'knife', which is no path with an extension"),
        (Game.QUAKE2, ["models/knife.pcx"], ""),
        (Game.QUAKE, ["knife"], "'body' is looked for as body_0_0, body_0 or body in progs or textures, not as knife"),
        (Game.QUAKE, [], "'body' is looked for as body_0_0, body_0 or body in progs or textures; the engines read no"),
        (Game.QUAKE, ["Progs/body_0.tga"], ""),
        (Game.GZDOOM, [], "The surface 'body' has no shaders"),
        (Game.SRB2, [], ""),
    ],
)
def test_a_material_that_an_engine_cannot_find_is_told(game, shaders, words):
    one = md3_samples.tube_model(1, ())
    model = replace(one, surfaces=[replace(one.surfaces[0], shaders=shaders)])
    found = [finding for finding in check_model(model, game) if finding.code == "image_not_found"]
    assert [words in finding.text for finding in found] == [True] * bool(words)
    assert not any(finding.is_error for finding in found)


def test_every_rule_has_a_source_and_a_limit_that_its_words_name():
    for profile in PROFILES.values():
        for rule in profile.rules:
            assert rule.source
            assert not rule.limit or rule.limit == 1 or f"{int(rule.limit):,}" in rule.requirement


def test_a_description_has_surfaces_tags_and_findings(model):
    found = describe(format_model(model), "QUAKE3", "tube.md3")
    assert found.facts["kind"] == "md3"
    assert [surface["name"] for surface in found.facts["surfaces"]] == ["body", "belt"]
    assert found.facts["tags"] == ["tag_weapon", "tag_head"]
    assert found.lines[-1] == "QUAKE3: no problems found"


@pytest.mark.slow
@pytest.mark.corpus
def test_every_real_file_is_read_as_the_specification_says_and_written_back(corpus):
    paths = sorted((corpus / "md3").rglob("*.md3"))
    assert len(paths) == 78
    for path in paths:
        data = path.read_bytes()
        model, expected = parse_model(data, preserve=True), specification.read(data)
        assert format_model(model) == data, path
        rewritten = format_model(replace(model, preserved=None))
        assert parse_model(rewritten) == model, path
        for surface, other in zip(model.surfaces, expected.surfaces, strict=True):
            assert np.array_equal(positions(surface.vertices), np.reshape(other.points, (-1, surface.vertex_count, 3)))
            shape = (-1, surface.vertex_count, 3)
            assert np.allclose(normal_vectors(surface.normals), np.reshape(other.normals, shape), atol=1e-6)


def test_a_name_that_fills_its_field_is_a_warning_that_says_what_has_it():
    model = md3_samples.tube_model()
    model.surfaces[0].shaders = ["x" * 64]
    model.frame_names[1] = "y" * 16
    texts = [finding.text for finding in check_model(model, Game.QUAKE3) if finding.code == "name_unterminated"]
    assert [text.split(" fills")[0] for text in texts] == [
        f"the name of the frame {'y' * 16!r}", f"the name of the shader (material) {'x' * 64!r}"
    ]  # fmt: skip


def test_a_table_of_a_player_has_the_frames_that_the_game_finds():
    counts = {"BOTH_DEATH1": 3, "LEGS_WALKCR": 2, "TORSO_GESTURE": 4, "TORSO_GETFLAG": 1, "LEGS_WALK": 5}
    table = in_table([Sequence(name, 7, 6 + count, 12.5, 0, name == "LEGS_WALK") for name, count in counts.items()])
    assert [(one.name, one.first) for one in table] == [
        ("BOTH_DEATH1", 0), ("TORSO_GESTURE", 3), ("LEGS_WALKCR", 8), ("LEGS_WALK", 10), ("TORSO_GETFLAG", 7),
    ]  # fmt: skip
    text = format_player_config({"sex": "f"}, table, "// mine\r\nsex m\r\nfixedlegs\r\n0 1 0 10\r\n// end\r\n")
    assert text.split("\r\n")[:3] == ["sex f", "// mine", "fixedlegs"]
    assert text.split("\r\n")[-4] == "10\t-5\t0\t12.5\t// LEGS_WALK"
    assert text.endswith("// TORSO_GETFLAG\r\n// end\r\n")
    with pytest.raises(ValueError, match="19,999 bytes"):
        format_player_config({}, table, "// " + "x" * 19_990 + "\n")
