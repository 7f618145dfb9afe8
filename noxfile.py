"""The environments of the project: one for each supported Blender, one for lint and types."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build"

# Every supported Blender as its bpy package, with the Python it is made for and the numpy it ships with.
BLENDERS = {
    "4.2": ("3.11", "numpy==1.24.*"),
    "4.5": ("3.11", "numpy==1.26.*"),
    "5.0": ("3.11", "numpy==1.26.*"),
    "5.2": ("3.13", "numpy>=2.2"),
}
DEMO_BLENDER = "5.0"
TEST_TOOLS = ["pytest>=8.3", "hypothesis>=6.100"]
# What `fuzz/targets.py` has.
FUZZED = ["md5mesh", "md5anim", "md5camera", "md2", "pcx", "mtr", "skins", "archive", "dimensions"]
# Of the tests on edited models those that show that the zip has all they need.
EDITS_OF_PACKAGE = [
    "tests/promises/edits/test_md5_untouched.py",
    "tests/promises/edits/test_md5_sequences.py",
]
# A reader of MD5 that shares no code with the project.
PEERS = ["assimp-py>=1.0"]
# The oldest supported version: what its stubs know is there in all.
STUBS = "fake-bpy-module-4.2"

nox.options.sessions = ["lint", "unit", "blender", "package"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = "CI" in os.environ


def install_blender(session: nox.Session, blender: str, *packages: str) -> None:
    session.install(f"bpy=={blender}.*", BLENDERS[blender][1], *packages)


@nox.session(python="3.11")
def lint(session: nox.Session) -> None:
    """Ruff and mypy."""
    session.install("ruff>=0.13", "mypy>=1.18", "numpy>=2.2", STUBS, *TEST_TOOLS)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    # The project's folder is the package; it is called by its name through a link, whatever the folder's own is.
    parent = Path(session.create_tmp())
    link = parent / "io_idtech"
    link.unlink(missing_ok=True)
    link.symlink_to(ROOT, target_is_directory=True)
    rooms = [
        word
        for room in ("command_line", "io_common", "io_md5", "io_md2")
        for word in ("-p", f"io_idtech.{room}")
    ]
    config = ("--config-file", str(ROOT / "pyproject.toml"))
    session.run("mypy", *config, "-m", "io_idtech", *rooms, env={"MYPYPATH": str(parent)})


@nox.session(python="3.11")
def unit(session: nox.Session) -> None:
    """What needs no Blender."""
    session.install("numpy>=2.2", *TEST_TOOLS)
    session.run("pytest", *(session.posargs or ["tests/unit", "tests/corpus"]))


@nox.session
@nox.parametrize(
    ("python", "blender"), [nox.param(python, name, id=name) for name, (python, _) in BLENDERS.items()]
)
def blender(session: nox.Session, blender: str) -> None:
    """What runs in Blender, on the working copy."""
    install_blender(session, blender, *TEST_TOOLS, *PEERS)
    session.run("python", "tests/run.py", *(session.posargs or ["tests/promises"]))


@nox.session
@nox.parametrize(
    ("python", "blender"), [nox.param(python, name, id=name) for name, (python, _) in BLENDERS.items()]
)
def edits(session: nox.Session, blender: str) -> None:
    """Looks for edits after which an export is not what Blender shows: for so many minutes, from a new seed on.

    With `figures`, the fixed sequences are run and counted in the documentation.
    """
    install_blender(session, blender, *TEST_TOOLS)
    if session.posargs == ["figures"]:
        session.run("python", "tests/helpers/edits/figures.py")
    else:
        session.run("python", "tests/helpers/edits/hunt.py", *(session.posargs or ["60"]))


@nox.session(python="3.11")
def fuzz(session: nox.Session) -> None:
    """Looks for files that break a reader: readers and seconds for each of them, or all of them for a minute."""
    session.install("numpy>=2.2", "atheris>=2.3")
    words = session.posargs or ["60"]
    readers = [word for word in words if not word.isdigit()] or FUZZED
    seconds = next((word for word in words if word.isdigit()), "60")
    for reader in readers:
        session.run("python", "fuzz/run.py", reader, seconds)
    session.run("python", "fuzz/page.py")


@nox.session
@nox.parametrize(
    ("python", "blender"), [nox.param(python, name, id=name) for name, (python, _) in BLENDERS.items()]
)
def robustness(session: nox.Session, blender: str) -> None:
    """Counts what becomes of thousands of damaged files and archives, for docs/robustness.md."""
    install_blender(session, blender, *TEST_TOOLS)
    session.run("python", "fuzz/damaged.py", *session.posargs)
    session.run("python", "fuzz/costs.py")
    session.run("python", "fuzz/page.py")


@nox.session(python="3.11")
def package(session: nox.Session) -> None:
    """The same tests once more, on the built zip, installed."""
    install_blender(session, DEMO_BLENDER, *TEST_TOOLS, *PEERS)
    archive = build_zip(session)
    promises = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.glob("tests/promises/*/test_*.py"))
        if path.parent.name != "edits"
    ]
    arguments = session.posargs or ["tests/package", *promises, *EDITS_OF_PACKAGE]
    session.run("python", "tests/run.py", *arguments, env={"IO_IDTECH_ZIP": str(archive)})


@nox.session(python="3.11")
def window(session: nox.Session) -> None:
    """The application with its window on a virtual screen; skipped, with a reason, where it is not installed."""
    session.install(*TEST_TOOLS)
    session.run("pytest", *(session.posargs or ["tests/window"]))


@nox.session(python="3.11")
def build(session: nox.Session) -> None:
    """The extension as a zip, by Blender's own tool."""
    install_blender(session, DEMO_BLENDER)
    print(f"Built {build_zip(session)}")


@nox.session(python="3.11")
def demo(session: nox.Session) -> None:
    """Imports the sample, or the given files, in Blender and renders a picture."""
    install_blender(session, DEMO_BLENDER)
    session.run("python", "tools/demo.py", *session.posargs)


@nox.session
@nox.parametrize(
    ("python", "blender"), [nox.param(python, name, id=name) for name, (python, _) in BLENDERS.items()]
)
def benchmark(session: nox.Session, blender: str) -> None:
    """How fast the jobs are against the least that Blender's own calls cost."""
    install_blender(session, blender, *PEERS)
    session.run("python", "benchmarks/run.py", *session.posargs)
    # The page of the documentation, of all Blenders that were measured.
    session.run("python", "benchmarks/tables.py")


def build_zip(session: nox.Session) -> Path:
    # Blender's own tool for extensions comes with the package.
    tool = next(Path(session.virtualenv.location).glob("**/bl_pkg/cli/blender_ext.py"))
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir()
    session.run("python", str(tool), "validate", str(ROOT))
    session.run("python", str(tool), "build", "--source-dir", str(ROOT), "--output-dir", str(BUILD))
    return next(BUILD.glob("*.zip"))
