"""The application: where it is, and a screen for it.

``IO_IDTECH_BLENDER`` is the command that starts Blender, on a screen (of 1280 by 800) where it needs one; or `blender`
is found on PATH and gets a virtual one from Xvfb.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from paths import ROOT

_COMMAND = os.environ.get("IO_IDTECH_BLENDER", "")
_TOOLS = ("blender", "Xvfb", "xdotool", "import", "convert")
_PATIENCE = 400
_missing = [] if _COMMAND else [tool for tool in _TOOLS if shutil.which(tool) is None]

needs_application = pytest.mark.skipif(
    bool(_missing), reason=f"IO_IDTECH_BLENDER names no Blender, and PATH lacks {', '.join(_missing)}"
)


def link_extension(user: Path) -> None:
    """Puts the working copy among the extensions of a user folder."""
    extensions = user / "extensions" / "user_default"
    extensions.mkdir(parents=True)
    (extensions / "io_idtech").symlink_to(ROOT, target_is_directory=True)


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
