"""Puts the figures of damaged files and of fuzzing, as far as they were made, into docs/robustness.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "robustness.md"
LABELS = {
    "mtr": "mtr (material declarations)",
    "skins": "skins (`md5.cfg`, `.skin`)",
    "archive": "archive (`.pk4`, `.pk3`)",
    "dimensions": "dimensions (the headers of images)",
}


def main() -> None:
    """Replaces the tables for which there are figures."""
    page = PAGE.read_text(encoding="utf-8")
    folder = ROOT / "build" / "robustness"
    damaged = {path.stem: json.loads(path.read_text()) for path in folder.glob("[0-9].[0-9].json")}
    if damaged:
        page = replaced(page, "damaged", damaged_tables(dict(sorted(damaged.items()))))
    if (folder / "costs.json").is_file():
        page = replaced(page, "costs", cost_table(json.loads((folder / "costs.json").read_text())))
    fuzzed = {
        path.parent.name: json.loads(path.read_text())
        for path in sorted((ROOT / "build" / "fuzz").glob("*/figures.json"))
    }
    if fuzzed:
        page = replaced(page, "fuzzed", fuzz_table(fuzzed))
    PAGE.write_text(page, encoding="utf-8")


def replaced(page: str, name: str, text: str) -> str:
    """The page with other text between two marks."""
    marks = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(f"{re.escape(marks[0])}.*?{re.escape(marks[1])}", re.DOTALL)
    assert pattern.search(page), f"{PAGE} has no place for: {name}"
    return pattern.sub(lambda _: f"{marks[0]}\n{text}\n{marks[1]}", page)


def damaged_tables(counts: dict[str, dict[str, Any]]) -> str:
    """How many of each seed loaded and were refused: the same in all versions, or it is said where not."""
    first = next(iter(counts.values()))
    for version, others in counts.items():
        for kind in ("sources", "files", "archives"):
            assert others[kind] == first[kind], f"Blender {version} counts other {kind}: {others[kind]}"
    files, archives = sum(sum(pair) for pair in first["files"].values()), sum(first["archives"])
    versions = list(counts)
    lines = [
        f"Blender {', '.join(versions)}: {len(versions) * files:,} damaged copies of {first['sources']} real files "
        f"and {len(versions) * archives:,} damaged archives.",
        f"The same {files:,} files and {archives:,} archives in each version, with the same outcome in all of them:",
        "",
        "| Seed | Files | Loaded | Refused |",
        "|---|---|---|---|",
    ]
    for seed, (loaded, refused) in first["files"].items():
        lines.append(f"| {seed} | {loaded + refused:,} | {loaded:,} | {refused:,} |")
    loaded, refused = map(sum, zip(*first["files"].values(), strict=True))
    properties = sum(others["properties"] for others in counts.values())
    lines += [
        f"| all | {files:,} | {loaded:,} | {refused:,} |",
        "",
        f"Of the {archives:,} archives, {first['archives'][0]:,} still gave the model its image of colours and "
        f"{first['archives'][1]:,} did not; the model was imported with all of them.",
        "",
        f"{properties:,} exports with a hostile value in a custom property that an import stores were what Blender "
        "shows: texts, bytes, huge, negative, NaN and infinite numbers, wrong types and sizes.",
    ]
    return "\n".join(lines)


def cost_table(costs: dict[str, dict[str, Any]]) -> str:
    """Time and memory of the import of hostile files."""
    lines = ["| File | Seconds | MB | Imported |", "|---|---|---|---|"]
    for case, told in costs.items():
        is_imported = "yes" if told["imported"] else "refused"
        lines.append(f"| {case} | {told['seconds']:.1f} | {told['megabytes']} | {is_imported} |")
    return "\n".join(lines)


def fuzz_table(figures: dict[str, dict[str, Any]]) -> str:
    """Inputs and processor time of each reader."""
    lines = ["| Reader | Inputs | Processor time |", "|---|---|---|"]
    for name, told in figures.items():
        minutes = told["cpu_seconds"] / 60
        lines.append(f"| {LABELS.get(name, name)} | {told['inputs']:,} | {minutes:,.0f} minutes |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
