"""Real models, written for every game, in readers that follow the games' own loaders.

Whatever the profile lets through is loaded, and stands in every pose where the formula says, or a warning says that it
does not; whatever the profile refuses, a loader refuses too.
"""

from __future__ import annotations

import csv
from functools import lru_cache

import numpy as np
import pytest
from engines import loaders
from engines.posing import EngineMesh, Refused, compose, direct, skinned
from paths import CORPUS

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal.skeleton import components, poses
from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_md2.format import Game as Md2Game
from io_idtech.io_md2.format import check_model as check_md2
from io_idtech.io_md2.format import decompress, format_model, generate_commands, read_model, st_fractions
from io_idtech.io_md2.format import prepare_model as prepare_md2
from io_idtech.io_md2.format.model import Md2Error
from io_idtech.io_md5.format import format_animation, format_mesh, read_animation, read_mesh
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.games.profiles import COMMON, PROFILES, Game
from io_idtech.io_md5.format.games.writing import prepare_animation, prepare_model

UNITS = 0.01

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no real files at {CORPUS} (set IO_IDTECH_CORPUS)"),
]


def pairs():
    table = CORPUS / "pairs.tsv"
    if not table.is_file():
        return []
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [pytest.param(row["md5mesh"], row["md5anim"], id=row["md5anim"].split("/")[-1]) for row in rows]


def expected(model, animation, frame, loaded):
    """Where the vertices of each mesh are: by the formula, or as the vertex of the bind pose is carried along."""
    positions, orientations = (part[0] for part in poses(animation, [frame], as_read=True))
    if not loaded.baked and not loaded.folds:
        return [skin(mesh, positions, orientations) for mesh in model.meshes]
    joints = model.joints
    bind = (quat.to_matrices(joints.orientations), joints.positions)
    pose = (quat.to_matrices(orientations), positions)
    if loaded.folds:
        # Digits of files whose squares add up to more than 1 are a small turn in Doom 3.
        pose = compose(animation.parents, components(animation, [frame])[0], folds=True)
    meshes = [
        EngineMesh(
            mesh.uvs, mesh.weight_starts, mesh.weight_counts, mesh.triangles, mesh.weight_joints,
            mesh.weight_biases, mesh.weight_positions,
        )
        for mesh in model.meshes
    ]  # fmt: skip
    return [skinned(mesh, bind, pose, most=None) if loaded.baked else direct(mesh, pose) for mesh in meshes]


@pytest.mark.parametrize(("mesh_path", "anim_path"), pairs())
@pytest.mark.parametrize("game", Game, ids=[game.value for game in Game])
def test_every_pair_is_loaded_and_posed_or_warned_about(game, mesh_path, anim_path):
    model, written, mesh_file = written_for(game, mesh_path)
    animation = read_animation(CORPUS / anim_path)
    moved, _ = prepare_animation(animation, game)
    findings = check_model(written, game, has_animation=True, animations=[moved])
    findings += check_animation(moved, written.joints, game)
    codes = {finding.code for finding in findings}
    errors = {finding.code for finding in findings if finding.is_error}
    if errors:
        if not errors <= {rule.code for rule in COMMON}:
            assert any(refuses(load, mesh_file, moved) for load in loaders.MD5[game.value].values()), errors
        return
    data = mesh_file, format_animation(moved)
    for engine, load in loaders.MD5[game.value].items():
        if {(engine, code) for code in codes} & loaders.REFUSED_WITH_WARNING:
            with pytest.raises(Refused):
                load(*data)
            continue
        loaded = load(*data)
        assert loaded.frame_count == animation.frame_count
        assert len(loaded.meshes) == len(model.meshes)
        warned = codes & {"influences", "bias_sums", "root_away", "base_root_away", "base_frame_needed"}
        for frame in sorted({0, animation.frame_count // 2, animation.frame_count - 1}):
            shown = loaded.vertices(frame)
            wanted = expected(model, animation, frame, loaded)
            for mine, theirs in zip(shown, wanted, strict=True):
                off = np.linalg.norm(mine - theirs, axis=1).max(initial=0.0)
                # The warning compares other frames.
                allowed = UNITS + 1.5 * loaders.told(findings, engine)
                assert off <= allowed or warned, f"{engine}, frame {frame}: {off:g} units"


@lru_cache(maxsize=8)
def written_for(game, mesh_path):
    """A model, as it is written for a game, and the bytes of that."""
    model = read_mesh(CORPUS / mesh_path)
    written, _ = prepare_model(model, game)
    return model, written, format_mesh(written)


def refuses(load, mesh_file, animation):
    """Whether a loader refuses what the profile refuses."""
    try:
        load(mesh_file, format_animation(animation))
    except Refused:
        return True
    return False


def test_sauerbraten_knows_every_mesh_by_its_name():
    for path in sorted({param.values[0] for param in pairs()}):
        written, _ = prepare_model(read_mesh(CORPUS / path), Game.SAUERBRATEN)
        assert all(mesh.comment_name for mesh in written.meshes), path
        assert not PROFILES[Game.SAUERBRATEN].writing.all_components


# MD2


def md2_files():
    return [pytest.param(path, id=str(path.relative_to(CORPUS))) for path in sorted(CORPUS.glob("md2/**/*.md2"))]


@pytest.mark.parametrize("path", md2_files())
def test_every_md2_model_is_loaded_and_drawn_alike_by_all(path):
    try:
        model = read_model(path)
    except Md2Error:
        with pytest.raises(Refused):
            loaders.MD2["QUAKE2"]["Quake II"](path.read_bytes())
        return
    model, _ = prepare_md2(model)
    model.gl_commands = generate_commands(
        model.triangles, model.triangle_st, model.st, model.skin_width, model.skin_height
    )
    data = format_model(model)
    places = decompress(model.vertices, model.scale, model.translate)
    fractions = st_fractions(model.st, model.skin_width, model.skin_height)[model.triangle_st]
    for game in Md2Game:
        errors = {finding.code for finding in check_md2(model, game) if finding.is_error}
        for engine, load in loaders.MD2.get(game.value, {}).items():
            if errors:
                with pytest.raises(Refused):
                    load(data)
                continue
            drawn = load(data)
            np.testing.assert_allclose(drawn.frames, places, atol=1e-4 * max(1.0, np.abs(places).max(initial=0.0)))
            assert in_order(drawn.corners) == in_order(model.triangles), engine
            # q2pro leaves out the half texel that GL commands have.
            texel = 0.51 / max(min(model.skin_width, model.skin_height), 1)
            assert abs(drawn.uvs.sum() - fractions.sum()) <= texel * fractions.size + 1e-3 * fractions.size


def in_order(triangles):
    """Triangles, each from its lowest vertex on."""
    rows = (tuple(row) for row in triangles.tolist())
    return sorted(min(row[k:] + row[:k] for k in range(3)) for row in rows)
