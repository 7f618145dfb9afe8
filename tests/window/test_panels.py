"""The choice of animations in the file browser, and the tab id Tech, in the real application with its window.

With ``IO_IDTECH_PICTURES`` the pictures of the documentation are made anew in that folder.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import md2_samples
import md5_scenes
import pytest
from application import check_pictures, needs_application, run_driver
from paths import SAMPLES

from io_idtech.io_md2.format import PLAYER_SEQUENCES, write_model
from io_idtech.io_md5.format import read_animation, write_animation

pytestmark = needs_application

# What part of the picture each page shows: width, height, left, top.
CROPS = {
    "choose-filtered": "1032x708+248+68",
    "panel-armature": "284x280+766+82",
    "panel-md2-clicked": "284x540+766+82",
}


def write_animations(folder: Path) -> None:
    """Animations that fit, one with another joint, one of another skeleton, and one that is damaged."""
    swim = read_animation(folder / "swim.md5anim")
    for name in ("dance", "dash", "walk", "walk_back"):
        write_animation(swim, folder / f"{name}.md5anim")
    text = (folder / "wave.md5anim").read_text(encoding="utf-8")
    other = text.replace(f'"{swim.names[-1]}"', '"hat"')
    (folder / "with_hat.md5anim").write_text(other, encoding="utf-8")
    joints = md5_scenes.skeleton(["wheel", "axle"], md5_scenes.PARENTS[:2], md5_scenes.OFFSETS[:2])
    write_animation(md5_scenes.animation(joints, moving=("axle",)), folder / "car.md5anim")
    (folder / "damaged.md5anim").write_text("MD5Version 10\n", encoding="utf-8")


def write_player(folder: Path) -> Path:
    """A model with the sequences of a player of Quake II."""
    model = md2_samples.make_model(198)
    model.frame_names = [
        f"{sequence.name}{number + 1:02d}" for sequence in PLAYER_SEQUENCES for number in range(sequence.frame_count)
    ]
    write_model(model, folder / "tris.md2")
    return folder / "tris.md2"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down; its pictures lie in ``folder``."""
    folder = tmp_path_factory.mktemp("panels")
    sample = folder / "models" / "octopus"
    shutil.copytree(SAMPLES / "models" / "octopus", sample)
    write_animations(sample)
    md2 = write_player(folder)
    return run_driver("drive_panels.py", folder, CROPS, sample=str(sample / "octopus.md5mesh"), md2=str(md2))


def test_nothing_is_created_while_animations_are_chosen(session):
    assert session["before the import"] == []


def test_what_the_filter_shows_and_is_checked_is_imported(session):
    """The filter is wa*, and walk_back was unchecked by a click."""
    assert session["chosen"] == ["walk", "wave"]


def test_the_chosen_animations_are_muted_strips(session):
    assert session["muted"] == {"walk": [True], "wave": [True]}


def test_a_click_in_the_list_of_the_armature_makes_another_animation_active(session):
    assert (session["first"], session["clicked"]) == ("walk", "wave")


def test_a_click_in_the_list_of_sequences_plays_one(session):
    run = PLAYER_SEQUENCES[1]
    assert session["sequence"] == [run.first, run.last]


def test_a_click_selects_the_shape_key_of_the_frame(session):
    assert session["selected key"] == "run01"


def test_the_pictures_of_the_documentation_show_the_present_interface(session):
    check_pictures(session, CROPS)
