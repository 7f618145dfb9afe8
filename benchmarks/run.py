"""Times the jobs that matter against the least that Blender's own calls cost, and prints the tables.

    python run.py benchmark

Floors are measured in the same process, in turns with the jobs: see `floors`. Assimp's time (`assimp-py`) stands beside
where it is installed and reads the same file. Real files take part where IO_IDTECH_CORPUS names them, made ones
otherwise. What was measured is kept for `tables`, which makes docs/speed.md of it.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT)]

import tables  # noqa: E402
from extension import load_extension  # noqa: E402
from growing import growth  # noqa: E402
from jobs import Jobs  # noqa: E402
from results import Results  # noqa: E402


def main() -> None:
    """Runs all jobs, prints the tables and keeps what was measured."""
    shown = os.fdopen(os.dup(1), "w")
    # What the operators tell, to Python's stream and to that of the process, is not the table.
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    sys.stdout = os.fdopen(silence, "w")
    curves = load_extension()
    results = Results(bpy.app.version_string, np.__version__, platform.python_version())
    with tempfile.TemporaryDirectory() as name:
        jobs = Jobs(Path(name), curves, results)
        for job in jobs.all():
            job()
        growth(Path(name), results)
    print(f"\nBlender {results.blender}, numpy {results.numpy}, {tables.machine()}\n", file=shown)
    print("\n".join(tables.lines(results)), file=shown, flush=True)
    tables.FOLDER.mkdir(parents=True, exist_ok=True)
    version = ".".join(results.blender.split(".")[:2])
    (tables.FOLDER / f"{version}.json").write_text(json.dumps(results.to_json(), indent=1))


if __name__ == "__main__":
    main()
    os._exit(0)
