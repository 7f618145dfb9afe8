"""MODELDEF for GZDoom, read as GZDoom reads it: every frame is named, and shown as in Blender."""

from __future__ import annotations

from pathlib import Path

import bpy
import md3_samples
import numpy as np
import pytest
from clouds import farthest
from engines import gzdoom
from sliding_box import hang_on_bone, model_with_actions, shown_points


@pytest.fixture
def mod(tmp_path):
    """The root of a mod with the folder of a model and an image in it."""
    folder = tmp_path / "mymod/models/imp"
    folder.mkdir(parents=True)
    (folder / "skin.png").write_bytes(b"png")
    return tmp_path / "mymod"


def export(mod: Path, family: str = "md3", **options) -> Path:
    path = mod / f"models/imp/imp.{family}"
    operator = getattr(bpy.ops.export_scene, family)
    assert operator(filepath=str(path), game="GZDOOM", write_modeldef=True, **options) == {"FINISHED"}
    return path


def game(mod: Path, actor: str = "Imp") -> gzdoom.Game:
    text = "".join(one.read_text() for one in sorted(mod.glob("modeldef*")))
    sprites = {sprite for found in gzdoom.states(text).values() for sprite, _, _ in found}
    files = {one.relative_to(mod).as_posix(): one.read_bytes() for one in mod.rglob("*") if one.is_file()}
    return gzdoom.Game(files, {actor}, sprites)


@pytest.mark.parametrize("is_rigid", [False, True])
def test_a_monster_shows_every_frame_of_every_sequence_as_blender_does(mod, is_rigid):
    counts = {"walk": 31, "pain": 4}
    box = model_with_actions(counts)
    armature = box.find_armature()
    if is_rigid:
        box.modifiers.clear()
        hang_on_bone(box, armature, "hip")
    bpy.context.view_layer.objects.active = box
    export(mod, frames="LIST")
    found = game(mod)
    states = gzdoom.states((mod / "modeldef.imp").read_text())
    assert {name: len(one) for name, one in states.items()} == counts
    assert states["walk"][23:26] == [("IMPA", "\\", 4), ("IMPA", "]", 4), ("IMPB", "A", 4)]
    assert len(found.frames) == 35
    for name, one in states.items():
        armature.animation_data.action = bpy.data.actions[name]
        for frame, (sprite, letter, _) in enumerate(one):
            bpy.context.scene.frame_set(frame)
            drawn = found.draws("Imp", sprite, letter)
            assert [image for image, *_ in drawn] == ["models/imp/skin.png"] * 2
            points = np.concatenate([points for _, _, points in drawn])
            assert farthest(points, shown_points(box)) <= 1 / 64
            assert len({tuple(np.round(point, 1)) for point in points}) == 8


@pytest.mark.parametrize("family", ["md3", "md2"])
def test_a_weapon_is_named_after_the_options_and_keeps_what_others_wrote(mod, family):
    (mod / "MODELDEF.txt").write_text(
        '// Model Gun { } is no block\nModel Other\n{\n\tModel 0 "x.md3"\n}\n'
        'model "gun" { Path "models/imp" Model 0 "floor.md3" Scale 3 3 3 }\n'
        f'model "gun" {{ // old\n\tPath "models/imp/"\n\tModel 0 "imp.{family}" Offset 0 0 -5.5\n\tScale 2 2 2\n'
        "\tFrameIndex OLDA A 0 0\n}\n; end\n"
    )
    bpy.context.view_layer.objects.active = model_with_actions({"fire": 3})
    export(mod, family, frames="LIST", modeldef_actor="Gun", modeldef_sprite="gunz")
    text = (mod / "MODELDEF.txt").read_text()
    assert not (mod / "modeldef.imp").exists()
    assert text.startswith("// Model Gun { } is no block\nModel Other\n{")
    assert text.endswith("}\n; end\n")
    assert text.count("Offset 0 0 -5.5") == text.count("Scale 2 2 2") == text.count("Scale 3 3 3") == 1
    assert text.count("Scale") == text.count("Model 0 ") - 1 == 2
    assert "OLDA" not in text
    assert gzdoom.states(text)["fire"] == [("GUNZ", "A", 4), ("GUNZ", "B", 4), ("GUNZ", "C", 4)]
    before = text
    export(mod, family, frames="LIST", modeldef_actor="Gun", modeldef_sprite="gunz")
    assert (mod / "MODELDEF.txt").read_text() == before


def test_the_root_of_a_mod_is_where_its_other_texts_are(mod):
    (mod / "models/monsters/models/imp").mkdir(parents=True)
    (mod / "zscript.txt").write_text("")
    bpy.context.view_layer.objects.active = model_with_actions({"fire": 3})
    path = mod / "models/monsters/models/imp/imp.md3"
    assert bpy.ops.export_scene.md3(filepath=str(path), game="GZDOOM", write_modeldef=True) == {"FINISHED"}
    assert 'Path "models/monsters/models/imp"' in (mod / "modeldef.imp").read_text()


def test_a_held_weapon_is_on_the_side_on_which_blender_shows_it(mod):
    box = model_with_actions({"fire": 3})
    export(mod, frames="LIST", modeldef_held=True)
    found, armature = game(mod), box.find_armature()
    assert len(found.frames) == 3
    for frame, letter in enumerate("ABC"):
        armature.animation_data.action = bpy.data.actions["fire"]
        bpy.context.scene.frame_set(frame)
        drawn = found.draws("Imp", "IMPA", letter, is_held=True)
        points = np.concatenate([points for _, _, points in drawn])
        assert farthest(points, shown_points(box)) <= 1 / 64


def test_an_imported_model_is_described_by_its_own_sequences(mod):
    model = md3_samples.tube_model()
    for surface in model.surfaces:
        surface.shaders = ["models/imp/skin"]
    path = md3_samples.write_sample(mod / "models/imp", model)
    assert bpy.ops.import_scene.md3(filepath=str(path)) == {"FINISHED"}
    export(mod)
    assert {name: len(one) for name, one in gzdoom.states((mod / "modeldef.imp").read_text()).items()} == {
        "stand": 3, "run": 3,
    }  # fmt: skip
    assert len(game(mod).draws("Imp", "IMPA", "F")) == 2


@pytest.mark.slow
def test_a_block_with_several_models_and_a_wrong_sprite_are_errors_that_write_nothing(mod):
    bpy.context.view_layer.objects.active = model_with_actions({"fire": 3})
    with pytest.raises(RuntimeError, match="Error: 'TOOLONG' is no name of a sprite in GZDoom"):
        export(mod, modeldef_sprite="toolong")
    (mod / "modeldef.imp").write_text('Model Imp { Model 0 "imp.md3" Model 1 "b.md3" }\n')
    with pytest.raises(RuntimeError, match="Error: The block of Imp in MODELDEF has several models: edit it yourself"):
        export(mod)
    assert not list(mod.rglob("*.md3"))


@pytest.mark.slow
def test_a_model_without_the_folder_models_gets_its_modeldef_beside_it(tmp_path, capsys):
    bpy.context.view_layer.objects.active = model_with_actions({"fire": 3})
    options = {"filepath": str(tmp_path / "imp.md3"), "write_modeldef": True}
    assert bpy.ops.export_scene.md3(game="GZDOOM", **options) == {"FINISHED"}
    assert "Path" not in (tmp_path / "modeldef.imp").read_text()
    assert "put the MODELDEF into the root of your mod" in capsys.readouterr().out
    (tmp_path / "modeldef.imp").unlink()
    assert bpy.ops.export_scene.md3(game="QUAKE3", **options) == {"FINISHED"}
    assert not (tmp_path / "modeldef.imp").exists()
