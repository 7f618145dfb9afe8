"""Runs the fixed sequences of edits and puts the figures of every Blender that did so into docs/matching-blender.md.

python tests/helpers/edits/figures.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(path) for path in (HERE, HERE.parent)]

import installed  # noqa: E402  (enables the extension)
import sequences  # noqa: E402

PAGE = ROOT / "docs" / "matching-blender.md"
FOLDER = ROOT / "build" / "edits"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def measure() -> dict[str, int]:
    """How the fixed sequences end in this Blender."""
    outcomes = [sequences.run(sequences.of_seed(seed)) for seed in sequences.FIXED_SEEDS]
    return {
        "sequences": len(outcomes),
        "edits": sum(len(outcome.ran) for outcome in outcomes),
        "exact": sum(outcome.exact and not outcome.refused and not outcome.findings for outcome in outcomes),
        "refused": sum(bool(outcome.refused) for outcome in outcomes),
        "silent": sum(bool(outcome.findings) for outcome in outcomes),
    }


def table() -> str:
    """The rows of all Blenders that were measured."""
    lines = [
        "|Blender|sequences|edits|exact|with a warning|refused|wrong without a warning|",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(FOLDER.glob("*.json")):
        row = json.loads(path.read_text())
        warned = row["sequences"] - row["exact"] - row["refused"] - row["silent"]
        cells = (row["sequences"], row["edits"], row["exact"], warned, row["refused"], row["silent"])
        lines.append(f"|{path.stem}|" + "|".join(f"{cell:,}" for cell in cells) + "|")
    return "\n".join(lines)


def main() -> None:
    """Measures this Blender and makes the table anew."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{installed.version()}.json").write_text(json.dumps(measure()))
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table()}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
    installed.exit_process(0)
