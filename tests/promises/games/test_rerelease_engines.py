"""Exports for the re-releases, in readers that follow the engines' own code: every frame is as Blender shows it."""

from __future__ import annotations

import csv

import bpy
import numpy as np
import pytest
from engines import loaders
from md5_deviation import file_vertices, meshes_of
from md5_rerelease import generated
from paths import CORPUS

from io_idtech.io_common.skeletal.skinning import bind_pose
from io_idtech.io_md5.format import parse_animation, read_mesh, write_animation, write_mesh
from io_idtech.io_md5.format.check import check_model
from io_idtech.io_md5.format.games.profiles import Game

pytestmark = pytest.mark.slow

# The joints are far from the meshes, and some turn by almost 180°, which engines compute with 32-bit floats.
UNITS = 0.015
GAMES = ("QUAKE", "QUAKE2")
# What these engines show otherwise, and say so in a warning: fewer weights, and biases that do not sum to 1.
WARNED = {"influences", "bias_sums"}


def worst(path, game, armature, slack, engines=None):
    """The greatest distance between an engine's vertex and Blender's over all frames, by engine.

    Less what the warning of the weights that the engine keeps says, which compares other frames.
    """
    data = path.read_bytes(), path.with_suffix(".md5anim").read_bytes()
    animations = [parse_animation(data[1])]
    findings = check_model(read_mesh(path), Game(game), has_animation=True, animations=animations)
    loaded = {name: load(*data) for name, load in loaders.MD5[game].items() if engines is None or name in engines}
    result = dict.fromkeys(loaded, 0.0)
    objects = meshes_of(armature)
    for frame in range(next(iter(loaded.values())).frame_count):
        bpy.context.scene.frame_set(frame)
        shown = [file_vertices(obj) for obj in objects]
        for name, model in loaded.items():
            for seen, found, agreed in zip(shown, model.vertices(frame), slack, strict=True):
                off = np.linalg.norm(seen - found, axis=1) - agreed
                result[name] = max(result[name], float(off.max(initial=0.0)))
    return {name: off - 1.5 * loaders.told(findings, name) for name, off in result.items()}


def slack_of(model):
    """How far the weights of each vertex disagree about the bind pose, which no skinning by bones can show."""
    joints = model.joints
    return [bind_pose(mesh, joints.positions, joints.orientations)[1] for mesh in model.meshes]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(10))
def test_generated_models_are_shown_as_in_blender_on_every_frame(tmp_path, seed, game):
    model, animation = generated(seed, frames=12)
    write_mesh(model, tmp_path / "in.md5mesh")
    write_animation(animation, tmp_path / "in.md5anim")
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "in.md5mesh"), animations="FOLDER")
    armature = bpy.context.view_layer.objects.active
    out = tmp_path / "out.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out), game=game, actions="ACTIVE")
    engines = None
    if (model.joints.parents == -1).sum() > 1:
        engines = set(loaders.MD5[game]) - {"FTEQW"}
    found = worst(out, game, armature, slack_of(model), engines)
    assert found
    assert max(found.values()) <= UNITS, found


def models():
    """The first pair of each real model."""
    table = CORPUS / "pairs.tsv"
    if not table.is_file():
        return [pytest.param("", "", marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    with table.open(encoding="utf-8") as file:
        rows = {row["md5mesh"]: row["md5anim"] for row in reversed(list(csv.DictReader(file, delimiter="\t")))}
    return [pytest.param(mesh, anim, id=anim.split("/")[-1]) for mesh, anim in sorted(rows.items())]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("mesh_path", "anim_path"), models())
def test_real_models_are_shown_as_in_blender_on_every_frame(corpus, tmp_path, mesh_path, anim_path, game):
    model = read_mesh(corpus / mesh_path)
    errors = {finding.code for finding in check_model(model, Game(game)) if finding.is_error}
    if errors & {"vertex_count", "triangle_count", "weight_count", "joint_count", "weight_starts"}:
        pytest.skip(f"{game} refuses it: {', '.join(sorted(errors))}")
    for path in (corpus / mesh_path, corpus / anim_path):
        bpy.ops.import_scene.md5(filepath=str(path), use_textures=False)
    armature = bpy.context.view_layer.objects.active
    out = tmp_path / "out.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out), game=game, actions="ACTIVE")
    written = read_mesh(out)
    codes = {finding.code for finding in check_model(written, Game(game), has_animation=True)}
    if game == "QUAKE" and codes & WARNED:
        pytest.skip(f"shown otherwise, with a warning: {', '.join(sorted(codes & WARNED))}")
    engines = None
    if (written.joints.parents == -1).sum() > 1:
        engines = set(loaders.MD5[game]) - {"FTEQW"}
    found = worst(out, game, armature, slack_of(model), engines)
    assert max(found.values()) <= UNITS, found
