"""The real application with its window: the menu, the panels, the model, the timeline.

``IO_IDTECH_BLENDER`` is the command that starts Blender on a screen (of 1280 by 800), or `blender` is found on PATH
and gets a virtual one from Xvfb. With ``IO_IDTECH_PICTURES`` the pictures of the documentation are made anew in that
folder.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT, SAMPLES

COMMAND = os.environ.get("IO_IDTECH_BLENDER", "")
TOOLS = ("blender", "Xvfb", "xdotool", "import", "convert")
DRIVER = Path(__file__).with_name("drive.py")
PATIENCE = 400
# What part of the picture each page shows: width, height, left, top.
CROPS = {
    "menu": "720x560+0+0",
    "import": "1040x708+240+68",
    "export": "1040x708+240+68",
    "model": "1048x688+0+28",
    "timeline": "1280x800+0+0",
}
# The share of the screen that the textured sample covers, at least.
RED = 0.01


def missing() -> list[str]:
    return [] if COMMAND else [tool for tool in TOOLS if shutil.which(tool) is None]


pytestmark = pytest.mark.skipif(
    bool(missing()),
    reason=f"IO_IDTECH_BLENDER names no Blender, and PATH lacks {', '.join(missing())}",
)


@contextmanager
def screen() -> Iterator[dict[str, str]]:
    """The environment with a display, unless the command brings its own."""
    if COMMAND:
        yield dict(os.environ)
        return
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        yield {**os.environ, "DISPLAY": f":{number}", "LIBGL_ALWAYS_SOFTWARE": "1"}
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down; its pictures lie in ``folder``."""
    folder = tmp_path_factory.mktemp("window")
    (folder / "exported").mkdir()
    (folder / "pages").mkdir()
    extensions = folder / "user" / "extensions" / "user_default"
    extensions.mkdir(parents=True)
    (extensions / "io_idtech").symlink_to(ROOT, target_is_directory=True)
    sample = folder / "models" / "octopus"
    shutil.copytree(SAMPLES / "models" / "octopus", sample)
    sample = sample / "octopus.md5mesh"
    plan = folder / "plan.json"
    work = {"folder": str(folder), "sample": str(sample), "red": RED, "crops": CROPS}
    plan.write_text(json.dumps(work), encoding="utf-8")
    command = shlex.split(COMMAND) if COMMAND else ["blender", "--window-geometry", "0", "0", "1280", "800"]
    with screen() as environment:
        environment["BLENDER_USER_RESOURCES"] = str(folder / "user")
        ended = subprocess.run(
            [*command, "--python", str(DRIVER), "--", str(plan)],
            env=environment, timeout=PATIENCE, check=False, capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
    written = folder / "results.json"
    assert written.exists(), ended.stdout + ended.stderr
    results = json.loads(written.read_text(encoding="utf-8"))
    assert "error" not in results, results["error"] + ended.stdout + ended.stderr
    return {**results, "folder": folder}


def test_every_picture_shows_something(session):
    assert set(session["pictures"]) == {"empty", "menu", "import", "model", "export", "timeline"}
    assert all(picture["colours"] > 50 for picture in session["pictures"].values())


def test_the_menu_opens_over_the_empty_scene(session):
    folder = session["folder"]
    assert (folder / "menu.png").read_bytes() != (folder / "empty.png").read_bytes()


def test_enter_in_the_file_browser_imports_the_model_with_its_animations(session):
    assert session["imported"] == ["ARMATURE octopus", "MESH eye", "MESH eye.001", "MESH skin"]
    assert session["actions"] == ["swim", "wave"]
    assert {"eye.png", "skin.png"} <= set(session["images"])


def test_the_textured_model_is_seen(session):
    pictures = session["pictures"]
    assert pictures["empty"]["red"] < RED < min(pictures["model"]["red"], pictures["timeline"]["red"])


def test_enter_in_the_file_browser_exports_the_model_with_its_animations(session):
    assert session["exported"] == ["octopus.md5mesh", "swim.md5anim", "wave.md5anim"]


def test_the_sequences_of_an_md2_are_markers_in_the_timeline(session):
    assert session["markers"]["swim"] == 0
    assert 0 < session["markers"]["wave"] < session["frames"]


def test_pictures_of_the_documentation_are_small(session):
    pictures = sorted((session["folder"] / "pages").iterdir())
    assert {picture.stem for picture in pictures} == set(CROPS)
    assert all(0 < picture.stat().st_size < 250_000 for picture in pictures)
    if "IO_IDTECH_PICTURES" in os.environ:
        for picture in pictures:
            shutil.copy(picture, os.environ["IO_IDTECH_PICTURES"])
