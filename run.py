"""Sets up all it needs and runs a job: ``python run.py test`` or ``python run.py demo``.

    python run.py demo                          the sample model, animated: a .blend and a rendered picture in out/
    python run.py demo MODEL.md5mesh ANIM.md5anim …   the same with your own files
    python run.py test                          all tests, in every supported Blender, with lint and types
    python run.py build                         the extension as a zip, in build/
    python run.py SESSION [-- ARGUMENT …]       any other nox session: see noxfile.py

Needs Python 3.11 and nothing else; everything is installed into .venv and .nox beside this file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
NOX = "nox>=2026.2,<2028"
JOBS = {"test": ["lint", "unit", "blender", "package"], "demo": ["demo"], "build": ["build"]}


def tool_python() -> Path:
    """The Python of the environment that holds nox; it is made if it is not there."""
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (ENVIRONMENT / ".complete").exists():
        print("Setting up nox in .venv …", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", NOX], check=True
        )
        (ENVIRONMENT / ".complete").touch()
    return python


def main() -> int:
    """Runs the job that the command line names."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    job, rest = arguments[0], arguments[1:]
    rest = rest[1:] if rest[:1] == ["--"] else rest
    # Files are named as seen from where the user stands; nox works in the project.
    rest = [str(Path(word).resolve()) if Path(word).exists() else word for word in rest]
    command = [str(tool_python()), "-m", "nox", "-f", str(ROOT / "noxfile.py"), "-s", *JOBS.get(job, [job])]
    return subprocess.run([*command, "--", *rest] if rest else command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
