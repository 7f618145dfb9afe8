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

Imports and exports are compared with Blender's own calls for the same data, in every version. Times depend on the
machine; compare the ratios. Missed targets are bold.
"""

_METHOD = """\
## How it is measured

`python run.py benchmark` writes this page, and the times of all jobs to `build/benchmark/details.md`. Each time is the
median of up to 31 runs after a warm-up run, and the jobs of a row were run alternately in one process; conversions are
medians of three runs in new processes. Each run starts
with an empty .blend file. Other work on the machine distorts single rows, so run it on an idle one.

**The floor** is the minimum time of Blender's own calls for the same data: `foreach_set` of vertices, corners, faces,
texture coordinates, shape keys and keyframes, vertex groups with one call for all vertices of equal weight, bones
(including two mode changes, as bones can only be created in Edit Mode), plus `np.fromstring` over the numbers in the
file; for an MD2, whose positions are bytes on a grid, `byte * scale + translate` in numpy instead. The *fastest floor*
does the same, but sets positions and corners through the attributes `position` and `.corner_vert`, which copies whole
arrays, as the add-on does. Custom properties, materials, modifiers, parents, merging of seams and Blender's update of
the scene after an operator are not part of the floors.

**Memory** is the peak resident memory of a new process during the import, in addition to what remains once freed memory
has been returned, as a multiple of the file size. What remains includes Blender's evaluated data.

Assimp (`assimp-py`) only reads files.
"""

_REST = """\
## Where the time goes

- Reading an .md5mesh: lines with the same layout, as exporters write them, are converted column by column in numpy,
  eight digits at a time. `np.fromstring` alone takes longer for the same numbers.
- Reading an .md5anim: the same for the lines of all frames. Converting the digits takes about half of the time.
- Importing a mesh: the floor neither merges the copies of vertices along seams nor checks the bind pose, stores what a
  Blender mesh cannot hold, or selects the result, which updates the scene.
- Importing a clip: besides reading the file and Blender's calls, the poses of the joints are converted to channels of
  the bones, with the bind pose and the rest pose of each, and made continuous.
- Importing an MD2 player model: `view_layer.update`, without which nothing new can be selected, and with which Blender
  ends every operator, is not part of the floor. With shape keys and a curve for each, it takes about as long as the
  floor's calls.
- Exporting a mesh: Blender has no call that reads the weights of all vertices at once, and asking one vertex after the
  other takes longer than any other part. Stored weights are compared with these, the result is compared with what
  Blender shows, and the file is written through to the disk.
- Exporting the frames of a clip: their bounds need the meshes, which are read as for a mesh export.
- Exporting many short clips: each is verified on its first and last frame and one between, a large part of ten frames.
  Blender's evaluation of these frames and skinning them take most of that; the poses themselves are read from F-curves.
- Exporting an MD3 whose frames were edited: the file has the normals that Blender shows, which it computes for each
  frame from the custom normals, on a copy of the mesh. An untouched model keeps those of its file.
- Converting a tree: the time includes Blender's start, the records of what was converted and moving the results, which
  a script that imports and saves in a running Blender does not have; but that loads an empty scene for each model. With
  `--jobs 2`, Blender starts twice, one start after the other: first the one that plans the work, then the two that do
  it. For .glb, Blender's own exporter takes nearly all of the time.
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
    yield f"| at most | target | {' | '.join(versions)} |"
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
    return f"| {what} | {target:.3g} | {' | '.join(cells)} |"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{seconds * 1e3:.3g} ms"


def machine() -> str:
    """A description of the machine: processor, cores, system."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        fields = dict(
            line.split(":", 1) for line in information.read_text().split("\n\n")[0].splitlines() if ":" in line
        )
        named = {key.strip(): value.strip() for key, value in fields.items()}
        kind = [f"{word} {named[word]}" for word in ("cpu family", "model") if word in named]
        model = f"{named.get('model name', model)} ({', '.join(kind)}, {named.get('cpu MHz', '?')} MHz)"
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()} {platform.machine()}"


def main() -> None:
    """Writes the page."""
    files = sorted(FOLDER.glob("*.json"))
    measured = [Results.from_json(json.loads(file.read_text())) for file in files]
    PAGE.write_text(page(measured), encoding="utf-8")
    DETAILS.write_text(details(measured), encoding="utf-8")
    print(f"Wrote {PAGE} and {DETAILS} from {len(files)} Blenders")


if __name__ == "__main__":
    main()
