"""How often the normals that export computes are those that MD2 files have, as two tables for docs/md2.md.

    python tools/md2_normals.py            prints them
    python tools/md2_normals.py --write    puts them into the page, between its marks

Needs numpy and the folder of real files (IO_IDTECH_CORPUS). No file says which program wrote it, but programs leave
traces, and files with the same ones have much in common:

- grids: whether scale and translate follow from the box of the frame, as those of id's compiler do;
- GL commands: whether they join triangles into strips and fans, or draw each by itself;
- what stands after the NUL of frame names: nothing, the rest of a longer name, or whatever was in memory.
"""

from __future__ import annotations

import os
import struct
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from io_md2.format import (  # noqa: E402
    Md2Error,
    Model,
    box_grid,
    decompress,
    normal_indices,
    normal_vectors,
    parse_model,
)

CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS", ROOT.parent / "shared" / "corpus"))
PAGE = ROOT / "docs" / "md2.md"
BEGIN, END = "<!-- normals: made by tools/md2_normals.py -->", "<!-- end of normals -->"

# Two sizes of a step that are equal but for rounding.
_SAME_STEP = 1e-3
# Rows of fewer models say little.
_FEW = 3


@dataclass(frozen=True)
class Comparison:
    """Normals of one model: how many, how many are equal, and the sum of the angles between them in degrees.

    Indices beyond the table have no direction, so that `directed` of them have an angle.
    """

    source: str
    traces: str
    count: int
    equal: int
    directed: int
    angle: float


def compare(data: bytes, source: str) -> Comparison | None:
    """Compares the normals of a file with those computed; None if it has no triangle."""
    model = parse_model(data)
    used = np.unique(model.triangles)
    if not len(used):
        return None
    positions = decompress(model.vertices, model.scale, model.translate)
    computed = normal_indices(positions, model.triangles)[:, used]
    original = model.normals[:, used]
    a, b = normal_vectors(computed).astype(np.float64), normal_vectors(original).astype(np.float64)
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    directed = lengths > 0
    cosines = (a * b).sum(axis=-1)[directed] / lengths[directed]
    angle = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    # The arc cosine of nearly 1 is all rounding.
    angle[(computed == original)[directed]] = 0
    return Comparison(
        source,
        ", ".join((grids(model, positions), commands(model), after_names(data))),
        original.size,
        int((computed == original).sum()),
        int(directed.sum()),
        float(angle.sum()),
    )


def grids(model: Model, positions: np.ndarray) -> str:
    """Whether the grids are those of the frames' boxes."""
    scale, _translate = box_grid(positions)
    return "own box" if np.isclose(scale, np.abs(model.scale), rtol=_SAME_STEP).all() else "other grid"


def commands(model: Model) -> str:
    """Whether GL commands join triangles."""
    primitives = int((np.abs(model.gl_commands.counts) >= 3).sum())
    return "strips" if primitives < 0.9 * model.triangle_count else "single triangles"


def after_names(data: bytes) -> str:
    """What stands after the NUL of frame names."""
    header = struct.unpack_from("<17i", data)
    starts = range(header[14] + 24, header[14] + 24 + header[4] * header[10], header[4])
    rests = {data[start : start + 16].partition(b"\0")[2].strip(b"\0") for start in starts} - {b""}
    if not rests:
        return "clean names"
    return (
        "text after names" if all(0x20 <= byte < 0x7F for byte in b"".join(rests)) else "memory after names"
    )


def compare_all() -> list[Comparison]:
    """Compares all readable files."""
    results = []
    for path in sorted(CORPUS.glob("md2/**/*.md2")):
        try:
            result = compare(path.read_bytes(), path.relative_to(CORPUS / "md2").parts[0].replace("+", "/"))
        except Md2Error:
            continue
        if result is not None:
            results.append(result)
    return results


def table(results: Iterable[Comparison], head: str, key: Callable[[Comparison], str]) -> list[str]:
    """The lines of a Markdown table, groups of many models first."""
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    few = [group for group in groups if len(groups[group]) < _FEW]
    rest = [result for group in few for result in groups.pop(group)]
    rows = sorted(groups.items(), key=lambda row: (-len(row[1]), row[0]))
    if rest:
        rows.append(("the others", rest))
    rows.append(("all", [result for _group, members in rows for result in members]))
    lines = [
        f"| {head} | models | equal index | median of the models | mean angle |",
        "|---|--:|--:|--:|--:|",
    ]
    for group, members in rows:
        equal = sum(result.equal for result in members) / sum(result.count for result in members)
        median = float(np.median([result.equal / result.count for result in members]))
        angle = sum(result.angle for result in members) / max(1, sum(result.directed for result in members))
        lines.append(f"| {group} | {len(members)} | {equal:.1%} | {median:.1%} | {angle:.1f}° |")
    return lines


def tables() -> str:
    """Both tables in Markdown."""
    results = compare_all()
    return "\n".join(
        [
            *table(results, "traces of the program that wrote the file", lambda result: result.traces),
            "",
            *table(results, "source", lambda result: result.source),
        ]
    )


def main() -> None:
    """Prints the tables, or puts them into the page."""
    text = tables()
    if "--write" not in sys.argv[1:]:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, _begin, rest = page.partition(BEGIN)
    _old, _end, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
