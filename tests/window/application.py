"""The application: where it is, and a screen for it.

``IO_IDTECH_BLENDER`` is the command that starts Blender, on a screen (of 1280 by 800) where it needs one; or `blender`
is found on PATH and gets a virtual one from Xvfb.
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
from paths import ROOT

_COMMAND = os.environ.get("IO_IDTECH_BLENDER", "")
_TOOLS = ("blender", "Xvfb", "xdotool", "import", "convert")
_PATIENCE = 1800
_LABELS = ROOT / "docs" / "images" / "labels.json"


def missing() -> str:
    """Why there is no application, or nothing."""
    lacking = [] if _COMMAND else [tool for tool in _TOOLS if shutil.which(tool) is None]
    return f"IO_IDTECH_BLENDER names no Blender, and PATH lacks {', '.join(lacking)}" if lacking else ""


needs_application = pytest.mark.skipif(bool(missing()), reason=missing())


def link_extension(user: Path) -> None:
    """Puts the working copy among the extensions of a user folder."""
    extensions = user / "extensions" / "user_default"
    extensions.mkdir(parents=True)
    (extensions / "io_idtech").symlink_to(ROOT, target_is_directory=True)


def run_driver(name: str | Path, folder: Path, crops: dict[str, str], **plan: str) -> dict[str, Any]:
    """What a driver wrote down of its work in the window; the cropped pictures are in ``folder/pages``."""
    (folder / "pages").mkdir()
    link_extension(folder / "user")
    written = folder / "plan.json"
    written.write_text(json.dumps({"folder": str(folder), "crops": crops, **plan}), encoding="utf-8")
    ended = run_blender(folder / "user", "--python", Path(__file__).parent / name, "--", written)
    results = folder / "results.json"
    assert results.exists(), ended.stdout + ended.stderr
    found = json.loads(results.read_text(encoding="utf-8"))
    assert "error" not in found, found["error"] + ended.stdout + ended.stderr
    return {**found, "folder": folder}


def check_pictures(session: dict[str, Any], crops: dict[str, str]) -> None:
    """The pages' pictures are small and show the labels of the present interface, or are replaced on request."""
    # With IO_IDTECH_PICTURES they are written to that folder.
    pages = sorted((session["folder"] / "pages").iterdir())
    assert {picture.stem for picture in pages} == set(crops)
    assert all(0 < picture.stat().st_size < 250_000 for picture in pages)
    labels = {name: session["labels"][name] for name in crops}
    known = json.loads(_LABELS.read_text(encoding="utf-8")) if _LABELS.exists() else {}
    if "IO_IDTECH_PICTURES" in os.environ:
        folder = Path(os.environ["IO_IDTECH_PICTURES"])
        for picture in pages:
            shutil.copy(picture, folder)
        text = json.dumps(known | labels, indent=1, sort_keys=True, ensure_ascii=False)
        (folder / _LABELS.name).write_text(text + "\n", encoding="utf-8")
    else:
        assert {name: known.get(name) for name in crops} == labels, "the pictures of docs/images are out of date"


def run_blender(user: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs Blender to its end.

    Args:
        user: its user folder.
        words: of its command line.
    """
    needs_window = "--command" not in words and "--background" not in words
    command = shlex.split(_COMMAND) or ["blender"]
    if needs_window and not _COMMAND:
        command += ["--window-geometry", "0", "0", "1280", "800"]
    with _screen() as environment:
        return subprocess.run(
            [*command, *map(str, words)],
            env={**environment, "BLENDER_USER_RESOURCES": str(user)},
            timeout=_PATIENCE,
            check=False,
            capture_output=True,
            text=True,
            cwd=ROOT,
        )


@contextmanager
def _screen() -> Iterator[dict[str, str]]:
    """The environment with a display, unless the command brings its own."""
    if _COMMAND:
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
