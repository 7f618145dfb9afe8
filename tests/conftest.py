"""Where tests are found, and what an environment cannot run.

- The checkout is the package `io_idtech`, whatever its folder is called.
- `unit` holds tests that need no Blender. They mirror the modules: `unit/io_common/skeletal/test_skinning.py` tests
  `io_common/skeletal/skinning.py`. Two modules hold what is true of all readers of a format, or of all formats:
  `test_robustness.py` of each format and `unit/test_reading_costs.py`.
- `promises` holds what users can rely on, tested in Blender, in one folder for each subject: `md5`, `md2`, `materials`,
  `games`, `operators`, `command_line`, `scene`, `robustness` (damaged and hostile files), `documentation`, and `edits`
  (edited models, whose exports are read by a reader of their own and compared with what Blender shows). A module that
  needs Blender is tested there by what it does for the user.
- `corpus` reads real files, `package` the built zip, `window` the application.
- `helpers` holds what several test modules use; no test module imports another one.

Tests count work rather than seconds (`helpers/work.py`). Those that take half a second or more, and large sets of
variations, are marked `slow`: `python run.py quick` leaves them out, and `python run.py test` runs each in one Blender.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import CORPUS

HAS_BLENDER = find_spec("bpy") is not None

# Set in the processes among which pytest-xdist divides the tests.
WORKER = os.environ.get("PYTEST_XDIST_WORKER")

if WORKER:
    # Tests look at what is left in the temporary folder: no process may see the files of another. Blender asks for the
    # folder when it is loaded, which is later.
    _folder = tempfile.mkdtemp(prefix=f"io_idtech-{WORKER}-")
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), _folder))
    tempfile.tempdir = None

# "2/4 1/2": the second of four parts of what Blenders share, and the first half of the rest.
_SHARED, _REST = (
    tuple(int(number) for number in part.split("/")) for part in os.environ.get("IO_IDTECH_PARTS", "1/1 1/1").split()
)
# What hardly depends on the version of Blender.
_ANY_BLENDER = ("characters", "command_line", "documentation", "games", "materials", "robustness")

if not HAS_BLENDER:
    collect_ignore = ["promises"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what other Blenders run."""
    others = {item for item in items if not _is_here(item)}
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


def _is_here(item: pytest.Item) -> bool:
    if item.get_closest_marker("every_version"):
        return True
    is_shared = not {"slow", "corpus", *_ANY_BLENDER}.isdisjoint(item.keywords)
    part, parts = _SHARED if is_shared else _REST
    return zlib.crc32(item.nodeid.encode()) % parts == part - 1


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files."""
    if not CORPUS.is_dir():
        pytest.skip(f"no real files at {CORPUS} (IO_IDTECH_CORPUS names another place)")
    return CORPUS


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Ends a process of pytest-xdist without Blender's own exit, which may hang; all results have been sent by then."""
    if WORKER:
        shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)
        if "bpy" in sys.modules:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
