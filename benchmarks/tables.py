"""The tables of the results as Markdown, and the documentation page with them.

    python benchmarks/tables.py

makes docs/speed.md and build/benchmark/details.md from the results that `run.py` stored for each version of Blender.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path

from results import LINEAR, MEMORY, Results

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "benchmark"
PAGE = ROOT / "docs" / "speed.md"
DETAILS = FOLDER / "details.md"

_INTRODUCTION = """\
# Speed

Imports and exports are compared with Blender's own calls for the same data. Times depend on the machine: compare the
ratios. Missed targets are bold.
"""

_METHOD = """\
## How it is measured

`python run.py benchmark` writes this page, and the times of all jobs to `build/benchmark/details.md`. Each time is the
median of up to 31 runs after a warm-up run, of conversions of three. The jobs of a row run alternately in one process.
Run it on an idle machine.

**The floor** is the least time that Blender's own calls take for the same data: `foreach_set` of all arrays, a call for
all vertices of equal weight, the creation of the bones, and `np.fromstring` over the numbers in the file. For an MD2 it
is `byte * scale + translate` in numpy. The *fastest floor* copies whole arrays into attributes, as the add-on does. No
floor includes custom properties, materials, modifiers, merged seams, or Blender's update of the scene.

**Memory** is what a new process takes at its peak during the import, beyond what stays afterwards, as a multiple of the
file.

Assimp (`assimp-py`) only reads files.
"""

_REST = """\
## Where the time goes

- **Importing a mesh**: unlike the floor, it merges seams, checks the bind pose, stores what a Blender mesh cannot hold,
  and selects the result.
- **Exporting a mesh**: Blender has no call that reads the weights of all vertices at once, so this takes longest.
- **Exporting an MD3 with edited frames**: Blender evaluates the mesh once for each frame, to get the normals.
- **Converting a tree**: the time includes Blender's start, with `--jobs 2` two starts, one after the other.
"""


def lines(results: Results) -> Iterable[str]:
    """The tables of one version of Blender, each followed by an empty line."""
    yield "| job | time | against | time | ratio | target | Assimp |"
    yield "|---|---:|---|---:|---:|---:|---:|"
    for row in results.rows:
        target = "" if row.target is None else f"{row.target:.3g}"
        peer = "" if row.peer is None else _time(row.peer)
        own, least = (
            _time(value) if row.unit == "s" else f"{value:.3g} {row.unit}" for value in (row.seconds, row.least)
        )
        yield (f"| {row.job} | {own} | {row.against} | {least} | {row.ratio:.2f} | {target} | {peer} |")
    yield ""
    yield f"| cost over | sizes | times | slope (target {LINEAR:g}) |"
    yield "|---|---|---|---:|"
    for growth in results.growth:
        sizes = ", ".join(f"{size:,}" for size in growth.sizes)
        times = ", ".join(_time(seconds) for seconds in growth.seconds)
        yield f"| {growth.job} | {sizes} | {times} | {growth.slope:.2f} |"
    yield ""
    if results.memory:
        yield f"| import | file | result | peak above it | times the file (target {MEMORY:g}) |"
        yield "|---|---:|---:|---:|---:|"
        for memory in results.memory:
            sizes = " | ".join(f"{size / 1e6:.1f} MB" for size in (memory.file, memory.result, memory.above))
            yield f"| {memory.job} | {sizes} | {memory.ratio:.2f} |"
        yield ""


def page(measured: list[Results]) -> str:
    """The page of the documentation."""
    versions = (f"{r.blender} (Python {r.python}, numpy {r.numpy})" for r in measured)
    where = f"\nMeasured on {machine()}, in Blender {', '.join(versions)}.\n"
    return "\n".join([_INTRODUCTION, *_targets(measured), where, _METHOD, _REST])


def details(measured: list[Results]) -> str:
    """The times of all jobs in each version of Blender; their last column is the time of Assimp."""
    parts = ["# Times of all jobs\n"]
    for results in measured:
        parts += [f"## Blender {results.blender}\n", *lines(results)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _targets(measured: list[Results]) -> Iterable[str]:
    """The targets and the ratios in each version of Blender; missed targets are bold."""
    versions = [".".join(results.blender.split(".")[:2]) for results in measured]
    yield f"|at most|target|{'|'.join(versions)}|"
    yield "|---|---:|" + "---:|" * len(versions)
    targets = {(row.job, row.against): row.target for results in measured for row in results.rows if row.target}
    for (job, against), target in targets.items():
        ratios = [
            next((row.ratio for row in results.rows if (row.job, row.against) == (job, against)), None)
            for results in measured
        ]
        yield _target(f"{job}, against {against}", target, ratios)
    yield _target("steepest slope of cost over size", LINEAR, [_greatest(r.growth, "slope") for r in measured])
    yield _target("memory as a multiple of the file", MEMORY, [_greatest(r.memory, "ratio") for r in measured])


def _greatest(rows: Iterable[object], name: str) -> float | None:
    return max((getattr(row, name) for row in rows), default=None)


def _target(what: str, target: float, ratios: list[float | None]) -> str:
    cells = ["–" if r is None else f"{r:.2f}" if r <= target else f"**{r:.2f}**" for r in ratios]
    return f"|{what}|{target:.3g}|{'|'.join(cells)}|"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{seconds * 1e3:.3g} ms"


def machine() -> str:
    """A description of the machine: processor, cores, system."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        fields = (line.partition(":") for line in information.read_text().splitlines())
        model = next((value.strip() for key, _, value in fields if key.strip() == "model name"), model)
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def main() -> None:
    """Writes the page."""
    files = sorted(FOLDER.glob("*.json"))
    measured = [Results.from_json(json.loads(file.read_text())) for file in files]
    PAGE.write_text(page(measured), encoding="utf-8")
    DETAILS.write_text(details(measured), encoding="utf-8")
    print(f"Wrote {PAGE} and {DETAILS} from {len(files)} Blenders")


if __name__ == "__main__":
    main()
