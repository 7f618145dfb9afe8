"""Sets up all it needs and runs a job: ``python run.py test`` or ``python run.py demo``.

    python run.py demo                          the sample model, animated: a .blend and a rendered picture in out/
    python run.py demo MODEL.md5mesh ANIM.md5anim …   the same with your own files
    python run.py test                          all tests, in every supported Blender, with lint and types
    python run.py quick                         the fast tests in one Blender, those that failed last time first
    python run.py build                         the extension as a zip, in build/
    python run.py docs                          the documentation as a website, in build/site/
    python run.py coverage                      which lines the tests run, in build/coverage/
    python run.py SESSION [-- ARGUMENT …]       any other session of noxfile.py

Needs Python 3.11 (Blender 4.2 to 5.0) or 3.13 (Blender 5.1 and later). Another Python that a job needs is downloaded
with uv where the network allows it. Everything is installed into .venv and .nox beside this file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
TOOLS = ["nox>=2026.2,<2028", "python-discovery>=1", "uv>=0.8"]
# Jobs of several sessions; any other job is the session of its name.
JOBS = {"test": ["--tags", "test"]}
# Options of pytest whose value is an expression, never a path.
EXPRESSIONS = ("-k", "-m")
# Run by the Python that holds nox: which of the given versions are not installed?
MISSING = "import sys; from python_discovery import get_interpreter as g; print(*[v for v in sys.argv[1:] if not g(v)])"


def tool_python() -> Path:
    """The Python of the environment that holds nox; it is made if it is not there or was made by another Python."""
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    complete = ENVIRONMENT / ".complete"
    made_with = "\n".join([sys.base_prefix, sys.version, *TOOLS])
    if not (complete.is_file() and complete.read_text(encoding="utf-8") == made_with and python.exists()):
        print("Setting up nox in .venv …", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS], check=True)
        complete.write_text(made_with, encoding="utf-8")
    return python


def fetch_interpreters(python: Path, nox: list[str]) -> None:
    """Downloads the Pythons that the selected sessions need and that are not installed, and puts them on PATH."""
    listing = subprocess.run([*nox, "--list", "--json"], capture_output=True, text=True, check=False)
    # nox tells what is wrong with a selection when it runs it.
    sessions = json.loads(listing.stdout) if listing.returncode == 0 else []
    versions = sorted({session["python"] for session in sessions if session["python"]})
    missing = subprocess.run([python, "-c", MISSING, *versions], capture_output=True, text=True, check=True)
    uv = [str(python), "-m", "uv", "python"]
    for version in missing.stdout.split():
        print(f"Python {version} is not installed; downloading it with uv …", flush=True)
        # Without a network uv says so, and nox skips the sessions.
        if subprocess.run([*uv, "install", "--no-config", version], check=False).returncode == 0:
            found = subprocess.run(
                [*uv, "find", "--no-config", "--no-project", "--managed-python", version],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            os.environ["PATH"] += os.pathsep + str(Path(found.stdout.strip()).parent)


def closing(report: Path, status: int) -> int:
    """The exit code of the run, after a list of what was skipped."""
    sessions = json.loads(report.read_text(encoding="utf-8"))["sessions"] if report.exists() else []
    skipped = [session for session in sessions if session["result"] == "skipped"]
    if skipped:
        print("\nNot run:")
        for session in skipped:
            print(f"    {session['signatures'][0]}: {session['reason']}")
        print(
            "Install the missing Python from python.org, with your system's package manager or with uv,\n"
            "and run the same command again: it has to be on PATH or be managed by uv."
        )
    # A job that ran nothing has failed.
    return (status or 1) if len(skipped) == len(sessions) else status


def absolute(words: list[str]) -> list[str]:
    """The arguments of a session, with the paths among them made absolute: nox works in the project's folder.

    A path exists in the folder of the user's shell, and has a separator or a suffix. Names such as ``fuzz`` stay as
    they are, and so do expressions (``-k``, ``-m``). The name of a test may follow after ``::``.
    """
    result = []
    for before, word in zip(["", *words], words, strict=False):
        path, _, test = word.partition("::")
        is_name = Path(path).name == path and not Path(path).suffix
        if before not in EXPRESSIONS and not word.startswith("-") and not is_name and Path(path).exists():
            word = str(Path(path).resolve()) + (f"::{test}" if test else "")
        result.append(word)
    return result


def main() -> int:
    """Runs the job that the command line names."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    job, rest = arguments[0], arguments[1:]
    rest = rest[1:] if rest[:1] == ["--"] else rest
    python = tool_python()
    nox = [str(python), "-m", "nox", "-f", str(ROOT / "noxfile.py"), *JOBS.get(job, ["--sessions", job])]
    # A machine for tests has to have all Pythons: a missing one is an error there.
    if "CI" not in os.environ:
        fetch_interpreters(python, nox)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [*nox, "--report", str(report), *(["--", *absolute(rest)] if rest else [])]
        return closing(report, subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    sys.exit(main())
