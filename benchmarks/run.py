"""Compares imports and exports with the minimum time of Blender's own calls, and prints the tables.

    python run.py benchmark

The floors are measured in the same process, alternating with the jobs: see `floors`. If Assimp (`assimp-py`) is
installed and can read a file, its time is listed too. Real files are used if IO_IDTECH_CORPUS is set, else generated
ones. The results are stored for `tables`, which makes docs/speed.md.
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
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "tests/helpers")]

import tables  # noqa: E402
from extension import load_extension  # noqa: E402
from growing import growth  # noqa: E402
from jobs import Jobs  # noqa: E402
from library import library  # noqa: E402
from results import Results  # noqa: E402


def main() -> None:
    """Runs all jobs, prints the tables and stores the results."""
    out = os.fdopen(os.dup(1), "w")
    # Discard what the operators print, both through Python and directly to the process's output.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    sys.stdout = os.fdopen(null, "w")
    curves = load_extension()
    results = Results(bpy.app.version_string, np.__version__, platform.python_version())
    with tempfile.TemporaryDirectory() as name:
        jobs = Jobs(Path(name), curves, results)
        for job in jobs.all():
            job()
        library(results)
        growth(Path(name), results)
    print(f"\nBlender {results.blender}, numpy {results.numpy}, {tables.machine()}\n", file=out)
    print("\n".join(tables.lines(results)), file=out, flush=True)
    tables.FOLDER.mkdir(parents=True, exist_ok=True)
    version = ".".join(results.blender.split(".")[:2])
    (tables.FOLDER / f"{version}.json").write_text(json.dumps(results.to_json(), indent=1))


if __name__ == "__main__":
    main()
    os._exit(0)
