"""The tables, as text that is also Markdown, and the page of the documentation that holds them.

    python benchmarks/tables.py

makes docs/speed.md of what `run.py` measured in each Blender.
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

_INTRODUCTION = """\
# Speed

Made by `python run.py benchmark`. Look at the ratios: seconds differ from machine to machine. Each time is the median
of up to 31 runs after one that does not count, and the times of a row were taken in turns in one process. Nothing is
kept from one run to the next: each begins with an empty file of Blender. Other work on the machine shows in single
rows: run it on an idle one.

**The floor** is the least that Blender's own calls cost for the same data: the bare `foreach_set` of vertices, corners,
faces, texture coordinates, shape keys and keyframes, vertex groups with one call for all vertices of equal weight,
bones (which only Edit Mode can make, so the two changes of mode are in it), plus `np.fromstring` over the numbers of
the file; for an MD2, whose numbers are bytes on a grid, `byte * scale + translate` in numpy instead. The *fastest
floor* does the same, but sets places and corners through the attributes `position` and `.corner_vert`, which copies
whole arrays; so does the add-on. Custom properties, materials, modifiers, parents, merging seams and Blender's own
update of the scene after an operator are in no floor.

**Memory** is the resident memory of a fresh process for each file: its peak during the import above what stays of it
once what was freed was given back, as a multiple of the file's size. What stays includes what Blender evaluates.

Assimp (`assimp-py`) only reads; where it can read the same file, its time stands in the last column.
"""

_REST = """\
Bold is what was not reached, or what other work on the machine disturbed. What takes the time:

- Reading an .md5mesh: lines that are laid out alike, as exporters write them, are converted column by column in numpy,
  eight digits at a time. `np.fromstring` alone takes longer for the same numbers (the rows *against np.fromstring*).
- Importing a clip: reading the file and the bare calls stand below. What they leave is the add-on's own: the poses of
  the joints turned into channels of the bones, with the bind pose and the rest pose of each, and made continuous.
- Importing an MD2 player model: `view_layer.update`, without which nothing new can be selected, and with which Blender
  ends every operator, is in no floor. With shape keys and a curve for each it takes about as long as the bare calls.
  Its row, and those of the other parts, stand below, with the ratio to the floor and these updates together.
"""


def lines(results: Results) -> Iterable[str]:
    """The tables of one Blender, each ended by an empty line."""
    yield "| job | time | against | time | ratio | target | Assimp |"
    yield "|---|---:|---|---:|---:|---:|---:|"
    for row in results.rows:
        target = "" if row.target is None else f"{row.target:g}"
        peer = "" if row.peer is None else _time(row.peer)
        least = _time(row.least)
        yield (
            f"| {row.job} | {_time(row.seconds)} | {row.against} | {least} | {row.ratio:.2f} | {target} | {peer} |"
        )
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
    parts = [_INTRODUCTION, f"Measured on {machine()}.\n", "## Targets\n", *_targets(measured), "", _REST]
    for results in measured:
        versions = f"Blender {results.blender} (Python {results.python}, numpy {results.numpy})"
        parts += [f"## {versions}\n", *lines(results)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _targets(measured: list[Results]) -> Iterable[str]:
    """What was promised, and the ratio in each Blender; what was not reached is bold."""
    versions = [".".join(results.blender.split(".")[:2]) for results in measured]
    yield f"| at most | target | {' | '.join(versions)} |"
    yield "|---|---:|" + "---:|" * len(versions)
    promised = {
        (row.job, row.against): row.target for results in measured for row in results.rows if row.target
    }
    for (job, against), target in promised.items():
        ratios = [
            next((row.ratio for row in results.rows if (row.job, row.against) == (job, against)), None)
            for results in measured
        ]
        yield _target(f"{job}, against {against}", target, ratios)
    yield _target(
        "steepest slope of cost over size", LINEAR, [_greatest(r.growth, "slope") for r in measured]
    )
    yield _target(
        "memory as a multiple of the file", MEMORY, [_greatest(r.memory, "ratio") for r in measured]
    )


def _greatest(rows: Iterable[object], name: str) -> float | None:
    return max((getattr(row, name) for row in rows), default=None)


def _target(what: str, target: float, ratios: list[float | None]) -> str:
    cells = ["–" if r is None else f"{r:.2f}" if r <= target else f"**{r:.2f}**" for r in ratios]
    return f"| {what} | {target:g} | {' | '.join(cells)} |"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{seconds * 1e3:.3g} ms"


def machine() -> str:
    """The machine in words: processor, cores, memory, system."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        fields = dict(
            line.split(":", 1)
            for line in information.read_text().split("\n\n")[0].splitlines()
            if ":" in line
        )
        named = {key.strip(): value.strip() for key, value in fields.items()}
        kind = [f"{word} {named[word]}" for word in ("cpu family", "model") if word in named]
        model = f"{named.get('model name', model)} ({', '.join(kind)}, {named.get('cpu MHz', '?')} MHz)"
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()} {platform.machine()}"


def main() -> None:
    """Makes the page."""
    files = sorted(FOLDER.glob("*.json"))
    measured = [Results.from_json(json.loads(file.read_text())) for file in files]
    PAGE.write_text(page(measured), encoding="utf-8")
    print(f"Wrote {PAGE} from {len(files)} Blenders")


if __name__ == "__main__":
    main()
