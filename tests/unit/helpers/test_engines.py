"""The readers that follow the games' loaders ignore, refuse and cut what the games do."""

from __future__ import annotations

import re
from dataclasses import replace

import md5_samples
import numpy as np
import pytest
from engines import cube, daemon, doom3, loaders, md2, q2pro, quake
from engines.posing import Refused
from md2_samples import fan
from md5_game_models import camera

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal import skeleton
from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_md2.format import format_model, generate_commands
from io_idtech.io_md5.format import format_animation, format_camera, format_mesh, parse_animation, parse_mesh
from io_idtech.io_md5.format.check import check_animation, check_camera, check_model
from io_idtech.io_md5.format.games.profiles import Game
from io_idtech.io_md5.format.games.writing import prepare_animation, prepare_model, rest_pose

GAMES = [game.value for game in Game]
EVERY_LOADER = [
    pytest.param(load, id=f"{game}-{engine}")
    for game, engines in loaders.MD5.items()
    for engine, load in engines.items()
]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def pair(rng):
    """A random model whose root is at the origin, with an animation of its joints."""
    return sample(rng)


def sample(rng, frames=4):
    """A random model with one weight for each vertex, and an animation whose flags are random too."""
    model = md5_samples.random_model(rng)
    count = len(model.joints)
    model.joints.parents[:] = np.maximum(np.arange(count) - 2, -1)
    model.joints.parents[1] = 0
    model.joints.names[:] = [f"joint{i}" for i in range(count)]
    model.joints.positions[0] = 0.0
    for mesh in model.meshes:
        mesh.weight_biases[:] = 1.0
        mesh.weight_counts[:] = 1
    table = rng.normal(size=(frames, count, 6)) * 0.3
    table[:, :, 3:] *= 0.5
    table[:, 0, :3] -= table[0, 0, :3]
    flags = rng.integers(0, 64, count).astype(np.int32)
    sizes = np.array([int(flag).bit_count() for flag in flags])
    starts = np.where(sizes > 0, np.cumsum(sizes) - sizes, 0).astype(np.int32)
    animated = (flags[:, None] >> np.arange(6)) & 1 == 1
    animation = md5_samples.random_animation(rng)
    return model, replace(
        animation,
        names=list(model.joints.names),
        parents=model.joints.parents.copy(),
        flags=flags,
        starts=starts,
        bounds=np.zeros((frames, 2, 3)),
        base_positions=table[0, :, :3].copy(),
        base_orientations=table[0, :, 3:].copy(),
        frames=table[:, animated],
        frame_rate=24.0,
    )


def files(model, animation, game="ANY"):
    game = Game(game)
    model, animation = prepare_model(model, game)[0], prepare_animation(animation, game)[0]
    findings = [*check_model(model, game), *check_animation(animation, model.joints, game)]
    assert [f.text for f in findings if f.is_error] == []
    return format_mesh(model), format_animation(animation)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_generated_models_are_loaded_and_posed_by_every_engine(game, seed):
    model, animation = sample(np.random.default_rng(seed))
    data = files(model, animation, game)
    positions, orientations = skeleton.poses(animation)
    for engine, load in loaders.MD5[game].items():
        loaded = load(*data)
        for frame in range(animation.frame_count):
            wanted = [skin(mesh, positions[frame], orientations[frame]) for mesh in model.meshes]
            wanted = [points for points, mesh in zip(wanted, model.meshes, strict=True) if kept(mesh, engine)]
            for shown, expected in zip(loaded.vertices(frame), wanted, strict=True):
                np.testing.assert_allclose(shown, expected, atol=0.01, err_msg=f"{engine}, frame {frame}")


def kept(mesh, engine):
    """The Cube line leaves out meshes of nothing."""
    return engine not in ("iqm", "Sauerbraten") or (len(mesh.triangles) > 0 and mesh.vertex_count > 0)


def test_ironwail_treats_components_without_a_flag_as_zero(pair):
    data = files(*pair)
    ironwail, vkquake = (quake.load(*data, engine=name) for name in ("ironwail", "vkquake"))
    left = (pair[1].flags[:, None] >> np.arange(6)) & 1 == 0
    assert (ironwail.components[:, left] == 0).all()
    assert (vkquake.components[:, left] != 0).any()


def test_doom_3_ignores_the_base_translation_of_the_root(pair):
    model, animation = pair
    moved = replace(animation, base_positions=animation.base_positions + 0.0)
    moved.base_positions[0] += (0.0, 0.0, 32.0)
    moved.flags[0] = 0
    data = files(model, moved)
    shown = doom3.load(*data).vertices(0)[0]
    positions, orientations = skeleton.poses(moved)
    expected = skin(model.meshes[0], positions[0], orientations[0])
    np.testing.assert_allclose(shown + np.array([0.0, 0.0, 32.0]), expected, atol=1e-6)


def test_doom_3_counts_the_roots_motion_from_its_base(pair):
    model, animation = pair
    animation.flags[0], animation.starts[0] = 4, 0
    animation.flags[1:], animation.starts[1:] = 0, 0
    moved = replace(animation, frames=np.array([[32.0], [33.0]]), bounds=np.zeros((2, 2, 3)))
    moved.base_positions[0] = (0.0, 0.0, 32.0)
    loaded = doom3.load(*files(model, moved))
    assert loaded.components[:, 0, 2].tolist() == [0.0, 1.0]


def test_doom_3_cuts_the_frame_rate(pair):
    model, animation = pair
    assert doom3.load(*files(model, replace(animation, frame_rate=23.976))).frame_rate == 23
    with pytest.raises(Refused):
        doom3.load(*files(model, replace(animation, frame_rate=0.5)))


@pytest.mark.parametrize("load", [load for load in EVERY_LOADER if load.id != "QUAKE-vkQuake"])
def test_another_number_of_joints_is_refused(pair, load):
    model, animation = pair
    mesh, _ = files(model, animation, "SAUERBRATEN")
    short = parse_animation(md5_samples.ANIMATION.encode())
    if len(short.names) == len(model.joints):
        short = parse_animation(md5_samples.ANIMATION.replace("numJoints 3", "numJoints 9").encode())
    with pytest.raises(Refused):
        load(mesh, format_animation(prepare_animation(short, Game.QUAKE)[0]))


@pytest.mark.parametrize(
    ("load", "refuses"),
    [(doom3.load, False), (quake.load, True), (q2pro.load, True), (daemon.load, True), (cube.load, False)],
    ids=["Doom 3", "ironwail", "q2pro", "Daemon", "Sauerbraten"],
)
def test_a_line_with_the_meshs_name_is_refused_where_the_profile_says_so(pair, load, refuses):
    model, animation = pair
    model.meshes[0].name = "body"
    data = format_mesh(model), format_animation(prepare_animation(animation, Game.QUAKE)[0])
    if refuses:
        with pytest.raises(Refused):
            load(*data)
    else:
        load(*data)


def named(pair, name):
    model, animation = pair
    model.joints.names[1] = animation.names[1] = name
    return format_mesh(model), format_animation(animation)


def test_names_that_profiles_replace_are_refused_by_their_engines(pair):
    long = named(pair, "x" * 32)
    with pytest.raises(Refused, match="renamed"):
        quake.load(*long)
    assert cube.load(*long).frame_count
    spaced = named(pair, "two words")
    with pytest.raises(Refused, match="crashes"):
        cube.load(*spaced)
    assert cube.load(*spaced, iqm=True).frame_count
    assert doom3.load(*spaced).frame_count
    assert cube.load(*named(pair, "x" * 98)).frame_count
    with pytest.raises(Refused, match="crashes"):
        cube.load(*named(pair, "x" * 99))


def test_a_long_command_line_is_refused_by_quake_alone(pair):
    model, animation = pair
    for length, refuses in ((1023, False), (1024, True)):
        data = format_mesh(replace(model, commandline="x" * length)), format_animation(animation)
        assert q2pro.load(*data).frame_count
        if refuses:
            with pytest.raises(Refused):
                quake.load(*data)
        else:
            assert quake.load(*data).frame_count


def test_several_roots_are_refused_by_doom_3_and_fteqw(pair):
    model, animation = pair
    model.joints.parents[1] = animation.parents[1] = -1
    data = format_mesh(model), format_animation(animation)
    for load in (doom3.load, loaders.MD5["QUAKE"]["FTEQW"]):
        with pytest.raises(Refused):
            load(*data)
    assert quake.load(*data).frame_count


def test_vkquake_finds_joints_by_31_bytes_of_their_names(pair):
    long = named(pair, "x" * 40)
    assert quake.load(*long, engine="vkquake").frame_count
    model, animation = pair
    model.joints.names[2] = animation.names[2] = "x" * 39
    with pytest.raises(Refused, match="duplicate"):
        quake.load(format_mesh(model), format_animation(animation), engine="vkquake")


def chain(count, parents):
    """A model and animation with a chain of parents and the other joints on its end; every joint has a vertex."""
    model, _ = sample(np.random.default_rng(3))
    model.joints.names[:] = [f"joint{index}" for index in range(count)]
    model.joints.parents = np.minimum(np.arange(count), parents).astype(np.int32) - 1
    model.joints.positions = np.zeros((count, 3))
    model.joints.positions[:, 2] = np.minimum(np.arange(count), parents)
    model.joints.orientations = np.tile((-1.0, 0.0, 0.0, 0.0), (count, 1))
    part = next(mesh for mesh in model.meshes if mesh.vertex_count >= 3 and len(mesh.triangles))
    part.weight_starts[:] = np.arange(part.vertex_count)
    part.weight_joints = np.full(part.vertex_count, count - 1, dtype=np.int32)
    part.weight_biases, part.weight_positions = np.ones(part.vertex_count), np.zeros((part.vertex_count, 3))
    model.meshes[:] = [part]
    return model, rest_pose(model.joints, np.zeros((2, 3)))


def test_daemon_detaches_joints_with_a_parent_over_127_and_refuses_256():
    model, animation = chain(140, 140)
    data = format_mesh(model), format_animation(animation)
    assert daemon.load(*data).vertices(0)[0][0, 2] == pytest.approx(1)
    assert cube.load(*data).vertices(0)[0][0, 2] == pytest.approx(139)
    model, animation = chain(255, 3)
    assert daemon.load(format_mesh(model), format_animation(animation)).vertices(0)[0][0, 2] == pytest.approx(3)
    model, animation = chain(256, 3)
    with pytest.raises(Refused):
        daemon.load(format_mesh(model), format_animation(animation))


def test_sauerbraten_takes_256_joints_and_iqm_255():
    model, animation = chain(256, 256)
    data = format_mesh(model), format_animation(animation)
    assert cube.load(*data).vertices(0)[0][0, 2] == pytest.approx(255)
    with pytest.raises(Refused):
        cube.load(*data, iqm=True)


def several_weights(count, seed=5):
    """A model with so many weights on each vertex that agree in the bind pose, and an animation of it."""
    model, animation = sample(np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    part = next(mesh for mesh in model.meshes if mesh.vertex_count >= 3 and len(mesh.triangles))
    points = np.repeat(rng.normal(scale=20, size=(part.vertex_count, 3)), count, axis=0)
    joints = np.argsort(rng.random((part.vertex_count, len(model.joints))), axis=1)[:, :count].ravel()
    biases = rng.random((part.vertex_count, count)) + 0.05
    part.weight_biases = (biases / biases.sum(axis=1, keepdims=True)).ravel()
    part.weight_joints = joints.astype(np.int32)
    bind = model.joints
    inverse = quat.conjugate(bind.orientations[joints])
    part.weight_positions = quat.rotate(inverse, points - bind.positions[joints])
    part.weight_starts = np.arange(part.vertex_count, dtype=np.int32) * count
    part.weight_counts[:] = count
    model.meshes[:] = [part]
    return model, prepare_animation(animation, Game.QUAKE)[0]


@pytest.mark.parametrize("count", [2, 4, 6])
@pytest.mark.parametrize("game", ["QUAKE", "DOOM3_BFG"])
def test_warnings_of_weights_give_the_units_that_they_are_off_in_the_engines(count, game):
    model, animation = several_weights(count)
    positions, orientations = skeleton.poses(animation)
    code = "influences" if count > 4 else "rounded_weights"
    findings = check_model(model, Game(game), has_animation=True, animations=[animation])
    (finding,) = [one for one in findings if one.code in ("influences", "rounded_weights")]
    assert (finding.code, finding.is_error) == (code, False)
    data = format_mesh(model), format_animation(animation)
    for engine, load in loaders.MD5[game].items():
        if engine == "FTEQW":
            continue
        loaded = load(*data)
        distances = [
            np.linalg.norm(loaded.vertices(frame)[0] - skin(model.meshes[0], *pose), axis=1).max()
            for frame, pose in enumerate(zip(positions, orientations, strict=True))
        ]
        told = re.search(rf"([\d.]+) units in {engine.replace('RBDOOM-3-', 'Doom 3 ')}", finding.text)
        assert told, finding.text
        assert float(told[1]) == pytest.approx(max(distances), rel=0.01), finding.text


def test_one_weight_for_each_vertex_is_exact_in_all_engines():
    model, animation = several_weights(1)
    for game in ("QUAKE", "DOOM3_BFG"):
        codes = {one.code for one in check_model(model, Game(game), has_animation=True, animations=[animation])}
        assert not codes & {"influences", "rounded_weights"}


@pytest.mark.parametrize(
    "changes",
    [
        {"cuts": np.array([0], dtype=np.int32)},
        {"cut_groups": ["pos ( 1 2 3 ) rot ( 0 90 0 )"]},
        {"frame_rate": 0.5},
        {"fields_of_view": np.array([90.0, 90.0, 0.0, 90.0])},
    ],
)
def test_camera_paths_that_the_profile_refuses_stop_doom_3(changes):
    cuts, entries = doom3.load_camera(format_camera(camera()))
    assert (cuts, len(entries)) == ([2], 4)
    path = camera(**changes)
    assert [finding.is_error for finding in check_camera(path, Game.DOOM3)] == [True]
    with pytest.raises(Refused):
        doom3.load_camera(format_camera(path))


def test_the_re_releases_need_an_animation():
    for load in (quake.load, q2pro.load):
        with pytest.raises(Refused):
            load(md5_samples.MESH.encode(), None)


def test_sauerbraten_and_kin_identify_meshes_by_their_comment(pair):
    model, animation = pair
    data = files(model, animation, "SAUERBRATEN")
    names = [mesh.comment_name for mesh in parse_mesh(data[0]).meshes]
    assert all(names)
    assert {mesh.name for mesh in cube.load(*data).meshes} <= set(names)
    plain = format_mesh(model), format_animation(animation)
    assert {mesh.name for mesh in cube.load(*plain).meshes} == {""}


def test_iqm_keeps_one_of_several_meshes_with_the_same_name(pair):
    model, animation = pair
    block = next(mesh for mesh in model.meshes if len(mesh.triangles))
    model = replace(model, meshes=[block, replace(block)])
    assert len(cube.load(format_mesh(model), format_animation(animation), iqm=True).meshes) == 1
    assert len(cube.load(*files(model, animation), iqm=True).meshes) == 2


# MD2


def md2_bytes(**changes):
    model = fan(4)
    for name, value in changes.items():
        setattr(model, name, value)
    model.gl_commands = generate_commands(model.triangles, model.triangle_st, model.st, 64, 64)
    return format_model(model)


def test_tall_skins_are_refused_by_quake_ii_alone():
    data = md2_bytes(skin_height=512)
    with pytest.raises(Refused):
        md2.quake2(data)
    assert len(md2.q2pro(data).corners) == len(md2.cube(data).corners) == 4


def test_an_end_beyond_the_file_is_refused_by_yquake2_alone():
    data = bytearray(md2_bytes())
    assert len(md2.yquake2(bytes(data)).corners) == 4
    data[64:68] = (len(data) + 1).to_bytes(4, "little")
    with pytest.raises(Refused, match="too small"):
        md2.yquake2(bytes(data))
    assert len(md2.quake2(bytes(data)).corners) == 4


def test_few_texture_coordinates_are_refused_by_q2pro_alone():
    model = fan(1)
    data = md2_bytes(triangles=model.triangles, triangle_st=np.zeros((1, 3), np.int32), st=np.zeros((2, 2), np.int16))
    with pytest.raises(Refused, match="empty"):
        md2.q2pro(data)
    assert len(md2.quake2(data).corners) == 1


def test_a_skin_name_without_end_is_refused_by_q2pro_alone():
    data = md2_bytes(skins=["x" * 64])
    with pytest.raises(Refused):
        md2.q2pro(data)
    assert md2.quake2(data).skins == [b"x" * 64]
