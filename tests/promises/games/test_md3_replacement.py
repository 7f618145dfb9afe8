"""An MD3 that replaces an MDL of Quake: its frames are those of the MDL, and .skin files name its images."""

from __future__ import annotations

import bpy
import md3_samples
import numpy as np
import pytest
from clouds import farthest
from engines import md3 as engines
from md5_rerelease import mdl
from sliding_box import model_with_actions, shown_points

from io_idtech.io_md3.format import read_model

FRAMES = ["stand1", "stand2", "run1", "run2", "run3"]


@pytest.fixture
def progs(tmp_path):
    """The folder of a mod with the MDL that is replaced."""
    folder = tmp_path / "mymod/progs"
    folder.mkdir(parents=True)
    (folder / "knight.mdl").write_bytes(mdl(FRAMES))
    return folder


def export(progs, **options):
    path = progs / "knight.md3"
    assert bpy.ops.export_scene.md3(filepath=str(path), game="QUAKE", frames="LIST", **options) == {"FINISHED"}
    return path


def test_actions_are_put_into_the_order_of_the_mdl_and_shown_by_the_game_as_in_blender(progs, capsys):
    box = model_with_actions({"run": 3, "Stand": 2, "wave": 4})
    model = engines.quake(export(progs).read_bytes())
    assert [frame[-1].lower() for frame in model.frames] == FRAMES
    armature = box.find_armature()
    for number, (action, frame) in enumerate([("Stand", 0), ("Stand", 1), ("run", 0), ("run", 1), ("run", 2)]):
        armature.animation_data.action = bpy.data.actions[action]
        bpy.context.scene.frame_set(frame)
        points = np.concatenate([surface.points[number] for surface in model.surfaces])
        assert farthest(points, shown_points(box)) <= 1 / 64
    assert "no sequences of knight.mdl, so not exported: wave" in capsys.readouterr().out


def test_what_does_not_fit_the_mdl_is_listed_and_nothing_is_written(progs, capsys):
    model_with_actions({"run": 4})
    problems = r"stand: no animation, needs 2 frames.*run: 4 frames instead of 3.*Match MDL"
    with pytest.raises(RuntimeError, match=problems):
        export(progs)
    assert not (progs / "knight.md3").exists()
    assert len(read_model(export(progs, match_companion=False)).frame_names) == 4
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 3
    path = str(progs / "knight.md3")
    bpy.ops.export_scene.md3(filepath=path, game="QUAKE", frames="SCENE")
    assert "it has 4 frames, knight.mdl has 5, which the game counts" in capsys.readouterr().out
    bpy.ops.export_scene.md3(filepath=path, game="QUAKE3", frames="LIST")


def test_the_mdl_gives_the_sequences_of_a_model_whose_frames_have_no_names(progs):
    model = md3_samples.tube_model(5)
    model.frame_names = [f"frame{number}" for number in range(5)]
    path = md3_samples.write_sample(progs, model)
    path.rename(progs / "knight.md3")
    bpy.ops.import_scene.md3(filepath=str(progs / "knight.md3"))
    markers = {(marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers}
    assert markers == {("stand", 0), ("run", 2)}


@pytest.mark.slow
def test_skin_files_name_the_images_of_all_surfaces_and_skins(progs, capsys):
    box = model_with_actions({"run": 3, "stand": 2})
    bpy.ops.mesh.primitive_cube_add()
    hat = bpy.context.object
    hat.name = "hat"
    for name in ("progs/hat.tga", "progs/шляпа"):
        hat.data.materials.append(bpy.data.materials.new(name))
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "rod"
    bpy.context.view_layer.objects.active = box
    path = export(progs, write_skins=True)
    names = [surface.name for surface in read_model(path).surfaces]
    skins = {one.name: one.read_text().splitlines() for one in progs.glob("*.skin")}
    # The game takes a file only if all surfaces have a line.
    assert skins == {
        "knight.md3_0.skin": [
            f"{names[0]},models/imp/skin.png", f"{names[1]},skin", f"{names[2]},progs/hat.tga", "rod,rod",
        ],
        "knight.md3_1.skin": [
            f"{names[0]},models/imp/skin.png", f"{names[1]},skin", f"{names[2]},progs/_____", "rod,rod",
        ],
    }  # fmt: skip
    assert (
        "progs/шляпа: names have at most 63 Latin-1 characters, so it was written as progs/_____"
        in capsys.readouterr().out
    )
    bpy.ops.object.md3_check_game(game="QUAKE", write_skins=True)
    (finding,) = bpy.context.window_manager.io_idtech_findings
    assert "The image of the surface 'rod' is looked for as" in finding.text
    bpy.ops.object.md3_check_game(game="QUAKE")
    assert "is looked for as" in bpy.context.window_manager.io_idtech_findings[0].text
    assert bpy.ops.import_scene.md3(filepath=str(path)) == {"FINISHED"}
    imported = next(obj for obj in bpy.context.selected_objects if obj.type == "MESH" and obj.name.startswith("hat"))
    assert [material.name for material in imported.data.materials][:1] == ["progs/hat.tga.001"]
