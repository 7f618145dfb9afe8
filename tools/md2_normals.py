"""Compares the normals that the export computes with those in real MD2 files, as a table for docs/md2-normals.md.

    python tools/md2_normals.py            prints it
    python tools/md2_normals.py --write    writes it to the page, between its markers

Needs numpy and the folder of real files (IO_IDTECH_CORPUS). Files do not name the program that wrote them, but they can
be grouped by traits that depend on the program:

- grids: whether scale and translate follow from the bounding box of the frame, as in files by id's compiler;
- GL commands: whether they join triangles into strips and fans, or draw them one by one;
- the bytes after the NUL of frame names: zeros, the rest of a longer name, or uninitialized memory.
"""

from __future__ import annotations

import os
import struct
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/helpers"))

from io_idtech.io_md2.format import Md2Error, Model, box_grid, decompress, normal_indices, normal_vectors, parse_model  # noqa: E402

CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS", ROOT.parent / "shared" / "corpus"))
PAGE = ROOT / "docs" / "md2-normals.md"
BEGIN, END = "<!-- normals: made by tools/md2_normals.py -->", "<!-- end of normals -->"

_STEP_TOLERANCE = 1e-3  # relative
_MIN_GROUP_SIZE = 3  # models; smaller groups share a row


@dataclass(frozen=True)
class Comparison:
    """The comparison of the normals of one model.

    Attributes:
        traits: of the file, which depend on the program that wrote it.
        count: the number of normals.
        equal: the number of equal indices.
        directed: the number of pairs with a direction; indices beyond the table have none.
        angle: the sum of the angles of these pairs, in degrees.
    """

    traits: str
    count: int
    equal: int
    directed: int
    angle: float


def compare(data: bytes) -> Comparison | None:
    """Compares the normals of a file with the computed ones; None if it has no triangles."""
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
    # The arc cosine of values near 1 is inaccurate.
    angle[(computed == original)[directed]] = 0
    return Comparison(
        ", ".join((grids(model, positions), commands(model), after_names(data))),
        original.size,
        int((computed == original).sum()),
        int(directed.sum()),
        float(angle.sum()),
    )


def grids(model: Model, positions: np.ndarray) -> str:
    """Whether the grids follow from the bounding boxes of the frames."""
    scale, _translate = box_grid(positions)
    return "own box" if np.isclose(scale, np.abs(model.scale), rtol=_STEP_TOLERANCE).all() else "other grid"


def commands(model: Model) -> str:
    """Whether the GL commands join triangles."""
    primitives = int((np.abs(model.gl_commands.counts) >= 3).sum())
    return "strips" if primitives < 0.9 * model.triangle_count else "single triangles"


def after_names(data: bytes) -> str:
    """The kind of bytes after the NUL of frame names."""
    header = struct.unpack_from("<17i", data)
    starts = range(header[14] + 24, header[14] + 24 + header[4] * header[10], header[4])
    rests = {data[start : start + 16].partition(b"\0")[2].strip(b"\0") for start in starts} - {b""}
    if not rests:
        return "clean names"
    return "text after names" if all(0x20 <= byte < 0x7F for byte in b"".join(rests)) else "memory after names"


def compare_all() -> list[Comparison]:
    """Compares all readable files."""
    results = []
    for path in sorted(CORPUS.glob("md2/**/*.md2")):
        try:
            result = compare(path.read_bytes())
        except Md2Error:
            continue
        if result is not None:
            results.append(result)
    return results


def table() -> str:
    """The table as Markdown, the largest groups first."""
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for result in compare_all():
        groups[result.traits].append(result)
    small = [group for group in groups if len(groups[group]) < _MIN_GROUP_SIZE]
    rest = [result for group in small for result in groups.pop(group)]
    rows = sorted(groups.items(), key=lambda row: (-len(row[1]), row[0]))
    if rest:
        rows.append(("the others", rest))
    rows.append(("all", [result for _group, members in rows for result in members]))
    lines = ["|traits of the program that wrote the file|models|equal index|median of the models|mean angle|"]
    lines.append("|---|--:|--:|--:|--:|")
    for group, members in rows:
        equal = sum(result.equal for result in members) / sum(result.count for result in members)
        median = float(np.median([result.equal / result.count for result in members]))
        angle = sum(result.angle for result in members) / max(1, sum(result.directed for result in members))
        lines.append(f"|{group}|{len(members)}|{equal:.1%}|{median:.1%}|{angle:.1f}°|")
    return "\n".join(lines)


def main() -> None:
    """Prints the table, or writes it to the page."""
    text = table()
    if "--write" not in sys.argv[1:]:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, _begin, rest = page.partition(BEGIN)
    _old, _end, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
