"""What each game takes of MD5 models and animations, and how files are written for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from md5_samples import ANIMATION, MESH

from io_md5.format import Joints, Mesh, Model, format_animation, parse_animation, parse_mesh, skeleton
from io_md5.format.check import check_animation, check_model
from io_md5.format.games import (
    PROFILES,
    Game,
    NameRule,
    Target,
    prepare_animation,
    prepare_model,
    rest_pose,
    rules_of,
    safe_names,
    with_all_components,
)
from io_md5.format.games.profiles import game_named

WITH_COMMENTS = {Game.SAUERBRATEN}
WITHOUT_NAME_LINES = {Game.QUAKE, Game.QUAKE2, Game.UNVANQUISHED}


def model(joints=3, vertices=3, triangles=1, weights=3, meshes=1) -> Model:
    """A chain of joints at the origin, and meshes that hang on the last with one weight for each vertex."""
    orientations = np.zeros((joints, 4))
    orientations[:, 0] = -1.0
    parents = np.arange(joints, dtype=np.int32) - 1
    names = [f"joint{index}" for index in range(joints)]
    positions = np.zeros((joints, 3))
    skeleton_ = Joints(names, parents, positions, orientations)
    return Model(skeleton_, [mesh(vertices, triangles, weights, f"skin{i}") for i in range(meshes)])


def mesh(vertices=3, triangles=1, weights=3, shader="skin") -> Mesh:
    starts = np.minimum(np.arange(vertices), weights - 1).astype(np.int32)
    return Mesh(
        shader=shader,
        uvs=np.zeros((vertices, 2)),
        weight_starts=starts,
        weight_counts=np.ones(vertices, dtype=np.int32),
        triangles=np.tile(np.array([[0, 1, 2]], dtype=np.int32), (triangles, 1)),
        weight_joints=np.zeros(weights, dtype=np.int32),
        weight_biases=np.ones(weights),
        weight_positions=np.tile(np.arange(weights, dtype=float)[:, None], (1, 3)),
    )


def animation(**changes):
    return replace(parse_animation(ANIMATION.encode()), **changes)


def found(subject, game, **given):
    """The rules that something breaks and whether they are errors."""
    if isinstance(subject, Model):
        return {f.code: f.is_error for f in check_model(subject, game, **given)}
    return {f.code: f.is_error for f in check_animation(subject, game=game, **given)}


@pytest.mark.parametrize("game", Game)
def test_a_good_model_and_animation_are_taken(game):
    target = Target(game)
    good, warnings = prepare_model(model(), target)
    assert warnings == []
    assert check_model(good, game) == []
    moving = animation()
    moving.base_positions[0] = 0.0
    written, _ = prepare_animation(moving, target)
    assert check_animation(written, game=game) == []


LIMITS = [
    ({"joints": 256}, "joint_count", {Game.ANY: False, Game.DOOM3_BFG: True, Game.SAUERBRATEN: True}),
    ({"joints": 257}, "joint_count", {
        Game.ANY: False, Game.DOOM3_BFG: True, Game.SAUERBRATEN: True, Game.QUAKE: True, Game.QUAKE2: True,
        Game.UNVANQUISHED: True,
    }),
    ({"vertices": 6145}, "vertex_count", {Game.QUAKE2: True}),
    ({"vertices": 65536}, "vertex_count", {
        Game.QUAKE2: True, Game.DOOM3_BFG: True, Game.SAUERBRATEN: True, Game.QUAKE: True,
    }),
    ({"triangles": 6145}, "triangle_count", {Game.QUAKE2: True}),
    ({"weights": 8193}, "weight_count", {Game.QUAKE2: True}),
    ({"weights": 65536}, "weight_count", {Game.QUAKE2: True, Game.SAUERBRATEN: True}),
    ({"vertices": 65538, "weights": 65538}, "weight_starts", {Game.QUAKE2: True}),
    ({"meshes": 33}, "mesh_count", {Game.QUAKE2: True}),
    ({"meshes": 0}, "no_meshes", dict.fromkeys(
        (Game.QUAKE, Game.QUAKE2, Game.SAUERBRATEN, Game.UNVANQUISHED), True)),
    ({"joints": 0, "meshes": 0}, "no_joints", dict.fromkeys(Game, True)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "code", "errors"), LIMITS, ids=[f"{code}-{numbers}" for numbers, code, _ in LIMITS]
)
def test_each_limit_is_that_of_the_game(numbers, code, errors):
    subject = model(**numbers)
    results = {game: found(subject, game).get(code) for game in Game}
    assert results == {game: errors.get(game) for game in Game}


def test_one_below_each_limit_is_taken():
    assert "joint_count" not in found(model(joints=255), Game.SAUERBRATEN)
    assert "joint_count" not in found(model(joints=256), Game.QUAKE)
    assert not found(model(256, 6144, 6144, 8192, 32), Game.QUAKE2)
    assert "vertex_count" not in found(model(vertices=65535), Game.QUAKE)


@pytest.mark.parametrize("game", Game)
def test_more_than_four_weights_are_refused_by_unvanquished_and_cut_by_others(game):
    subject = model(weights=6)
    subject.meshes[0].weight_starts[1], subject.meshes[0].weight_counts[1] = 0, 6
    subject.meshes[0].weight_biases[:] = 1 / 6
    subject.meshes[0].weight_counts[[0, 2]] = 6
    subject.meshes[0].weight_starts[:] = 0
    cutting = {Game.DOOM3_BFG, Game.QUAKE, Game.SAUERBRATEN}
    expected = dict.fromkeys(cutting, False) | {Game.UNVANQUISHED: True}
    assert found(subject, game).get("influences") == expected.get(game)


def test_findings_name_the_vertices_and_the_triangles():
    subject = model(vertices=6146, triangles=6146)
    findings = {finding.code: finding for finding in check_model(subject, Game.QUAKE2)}
    assert findings["vertex_count"].vertices == (6144, 6145)
    assert findings["triangle_count"].triangles == (6144, 6145)
    assert findings["vertex_count"].mesh == 0
    assert findings["vertex_count"].text == (
        "mesh 0 ('skin0'): 6146 vertices; Quake II takes 6,144 in a mesh: split the object"
    )
    assert findings["vertex_count"].limit == "6144"


def test_references_to_what_is_not_there_name_their_vertices():
    subject = model(vertices=4)
    subject.meshes[0].weight_joints[1] = 7
    (finding,) = (f for f in check_model(subject) if f.is_error)
    assert (finding.code, finding.vertices) == ("invalid_references", (1,))
    subject.meshes[0].weight_joints[1] = 0
    subject.meshes[0].triangles[0, 2] = 9
    (finding,) = (f for f in check_model(subject) if f.is_error)
    assert finding.triangles == (0,)


# Doom 3


@pytest.mark.parametrize(
    ("rate", "code", "is_error"),
    [(0.5, "rate_below_one", True), (23.976, "rate_fraction", False), (24.0, None, None), (1.0, None, None)],
)
def test_frame_rates_of_doom_3(rate, code, is_error):
    results = found(animation(frame_rate=rate), Game.DOOM3)
    rates = {name: error for name, error in results.items() if name.startswith("rate")}
    assert rates == ({code: is_error} if code else {})


def test_a_fractional_rate_says_which_one_the_game_will_use():
    (text,) = [f.text for f in check_animation(animation(frame_rate=23.976)) if f.code == "rate_fraction"]
    assert "Doom 3 will play 23 frames per second" in text


def test_a_root_away_from_the_origin_is_a_warning_that_recommends_an_origin():
    subject = model()
    subject.joints.positions[:] = (0.0, 0.0, 32.0)
    (finding,) = check_model(subject, Game.DOOM3)
    assert not finding.is_error
    assert "'joint0' is at (0 0 32), 32 units from the origin" in finding.text
    assert "Add Origin" in finding.text
    assert finding.joints == (0,)
    assert "root_away" not in found(subject, Game.QUAKE)
    clip = animation()
    clip.base_positions[0] = (0.0, 0.0, 0.02)
    assert found(clip, Game.DOOM3) == {"base_root_away": False}
    clip.base_positions[0] = (0.0, 0.0, 0.005)
    assert found(clip, Game.DOOM3) == {}


def test_several_roots_are_refused_in_animations_and_told_in_models():
    subject = model()
    subject.joints.parents[1] = -1
    assert found(subject, Game.DOOM3) == {"several_roots": False}
    assert found(subject, Game.QUAKE) == {"several_roots": False}
    clip = animation()
    clip.base_positions[0] = 0.0
    clip.parents[1] = -1
    assert found(clip, Game.DOOM3) == {"animation_roots": True}


def test_edges_that_doom_3_has_no_room_for_are_a_warning():
    subject = model()
    count = 65537 // 3 + 1
    strip = mesh(3 * count, 1, 3 * count)
    strip.triangles = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    subject.meshes = [strip]
    assert found(subject, Game.DOOM3) == {"silhouette_edges": False}
    # Two triangles back to back share their three edges.
    strip.triangles = np.concatenate([strip.triangles[::2], strip.triangles[::2, ::-1]])
    assert found(subject, Game.DOOM3) == {}


# What is beside


def test_a_mesh_alone_is_refused_by_the_games_that_want_an_animation():
    for game in Game:
        expected = True if game in (Game.QUAKE, Game.QUAKE2) else None
        assert found(model(), game, has_animation=False).get("no_animation") == expected
        assert "no_animation" not in found(model(), game, has_animation=True)
        assert "no_animation" not in found(model(), game)


def test_an_animation_of_other_joints_is_refused_by_name():
    joints = parse_mesh(MESH.encode()).joints
    assert check_animation(animation(), joints) == []
    joints.names[2] = "skull"
    (finding,) = check_animation(animation(), joints)
    assert (finding.code, finding.is_error, finding.joints) == ("other_joints", True, (2,))
    assert "head" in finding.text


# Names


def test_names_that_are_safe_never_change():
    names = ["origin", "hips", "", "hips", "a" * 31, "Ünïcode", "a//b{}\\"]
    assert safe_names(names, NameRule(31)) == names


def test_replacements_are_unambiguous():
    rule = PROFILES[Game.SAUERBRATEN].writing.names
    names = ["left arm", "left_arm", "left\tarm", 'le"ft', "LEFT_ARM_2", "x"]
    safe = safe_names(names, rule)
    assert safe[1] == "left_arm"
    assert safe[-2:] == ["LEFT_ARM_2", "x"]
    assert len({name.casefold() for name in safe}) == len(names)
    assert all(rule.accepts(name) for name in safe)


def test_names_are_cut_between_letters_and_stay_apart():
    rule = PROFILES[Game.QUAKE].writing.names
    names = ["é" * 20, "é" * 21, "b" * 40, "b" * 41, "b" * 31]
    safe = safe_names(names, rule)
    assert safe == ["é" * 15, "é" * 14 + "_2", "b" * 29 + "_2", "b" * 29 + "_3", "b" * 31]
    assert all(len(name.encode()) <= 31 for name in safe)


def test_mesh_and_animation_get_the_same_names_with_a_warning():
    subject, clip = parse_mesh(MESH.encode()), animation()
    for joints in (subject.joints, clip):
        joints.names[1:] = ["two words", "two_words"]
    target = Target(Game.SAUERBRATEN)
    assert found(subject, Game.SAUERBRATEN)["unsafe_names"]
    written, warnings = prepare_model(subject, target)
    moved, _ = prepare_animation(clip, target)
    assert written.joints.names == moved.names == ["origin", "two_words_2", "two_words"]
    assert "'two words' became 'two_words_2'" in warnings[0]
    assert not any(f.is_error for f in check_animation(moved, written.joints, Game.SAUERBRATEN))
    assert subject.joints.names[1] == "two words"


def test_without_replacements_such_names_are_errors():
    subject = parse_mesh(MESH.encode())
    subject.joints.names[1] = "two words"
    written, warnings = prepare_model(subject, Target(Game.SAUERBRATEN, make_names_safe=False))
    assert warnings == []
    (finding,) = (f for f in check_model(written, Game.SAUERBRATEN) if f.is_error)
    assert (finding.code, finding.joints) == ("unsafe_names", (1,))
    assert "Make Names Safe" in finding.text


def test_names_that_no_file_can_hold_are_replaced_for_every_game():
    subject = parse_mesh(MESH.encode())
    subject.joints.names[1:] = ['a"b', "a\nb"]
    for game in Game:
        assert found(subject, game)["unwritable_names"]
        names = prepare_model(subject, Target(game))[0].joints.names
        assert names == ["origin", "a'b", "a_b"]


# How files are written


@pytest.mark.parametrize("game", Game)
def test_names_of_meshes_are_written_as_the_game_reads_them(game):
    subject = model(meshes=2)
    subject.meshes[0].name = "body"
    subject.meshes[1].shader = "models\\imp/head"
    written, _ = prepare_model(subject, Target(game))
    assert written.meshes[0].name == ("" if game in WITHOUT_NAME_LINES else "body")
    assert (written.meshes[0].comment_name == "body") == (game in WITHOUT_NAME_LINES | WITH_COMMENTS)
    assert written.meshes[1].comment_name == ("head" if game in WITH_COMMENTS else "")
    assert not any(check.is_error for check in check_model(written, game))


def test_names_of_objects_are_used_where_the_file_had_none():
    written, _ = prepare_model(model(meshes=2), Target(Game.SAUERBRATEN), ["Body", "Head"])
    assert [m.comment_name for m in written.meshes] == ["Body", "Head"]


def test_meshes_that_share_their_shader_are_kept_apart():
    subject = model(meshes=3)
    subject.meshes[0].shader = subject.meshes[1].shader
    assert found(subject, Game.ANY) == {"equal_meshes": False}
    written, _ = prepare_model(subject, Target(), ["a", "b", "c"])
    assert [m.comment_name for m in written.meshes] == ["a", "b", ""]
    assert check_model(written) == []


def test_a_long_command_line_is_cut_with_a_warning():
    subject = replace(model(), commandline="é" * 600)
    assert found(subject, Game.QUAKE)["commandline_length"]
    written, warnings = prepare_model(subject, Target(Game.QUAKE))
    assert written.commandline == "é" * 511
    assert "from 1200 to 1023 bytes" in warnings[0]
    clip, _ = prepare_animation(animation(commandline="x" * 1024), Target(Game.QUAKE))
    assert len(clip.commandline) == 1023
    assert prepare_model(subject, Target(Game.DOOM3))[0].commandline == subject.commandline


def test_quake_gets_all_components_and_the_same_poses():
    clip = animation()
    assert found(clip, Game.QUAKE)["base_frame_needed"] is False
    written, _ = prepare_animation(clip, Target(Game.QUAKE))
    assert (written.flags == 63).all()
    assert found(written, Game.QUAKE) == {}
    again = parse_animation(format_animation(written))
    for mine, theirs in zip(skeleton.poses(again), skeleton.poses(clip), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
    np.testing.assert_array_equal(again.bounds, clip.bounds)


def test_an_animation_without_frames_stays_without():
    clip = animation(frames=np.empty((0, 7)), bounds=np.empty((0, 2, 3)))
    assert with_all_components(clip).frames.shape == (0, 18)


def test_the_rest_pose_is_the_bind_pose():
    joints = parse_mesh(MESH.encode()).joints
    clip = rest_pose(joints, np.array([[-1, -1, -1], [1, 1, 1]]))
    assert check_animation(clip, joints) == []
    positions, orientations = skeleton.poses(parse_animation(format_animation(clip)))
    np.testing.assert_allclose(positions[0], joints.positions, atol=1e-8)
    np.testing.assert_allclose(np.abs((orientations[0] * joints.orientations).sum(axis=1)), 1.0, atol=1e-8)


def test_every_rule_has_a_source_and_every_error_a_remedy():
    for game in Game:
        rules = rules_of(game)
        assert len({rule.code for rule in rules}) == len(rules)
        for rule in rules:
            assert rule.source
            assert rule.requirement
            assert rule.remedy
    assert list(PROFILES) == list(Game)


def test_games_of_other_formats_have_a_meaning():
    assert [game_named(name) for name in ("QUAKE2_MODERN", "QUAKE", "")] == [
        Game.QUAKE2,
        Game.QUAKE,
        Game.ANY,
    ]
