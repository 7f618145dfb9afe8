"""Writes the figures of damaged files and of fuzzing to docs/robustness-figures.md, as far as there are any."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "robustness-figures.md"
LABELS = {
    "declarations": "declarations (Doom 3's `.def`, `.skin`)",
    "model_config": "model_config (`md5.cfg` as a script)",
    "mtr": "mtr (material files)",
    "skins": "skins (`md5.cfg`, `.skin`)",
    "archive": "archive (`.pk4`, `.pak`)",
    "dimensions": "dimensions (image headers)",
}


def main() -> None:
    """Replaces the tables that have new figures."""
    page = PAGE.read_text(encoding="utf-8")
    folder = ROOT / "build" / "robustness"
    damaged = {path.stem: json.loads(path.read_text()) for path in folder.glob("[0-9].[0-9].json")}
    if damaged:
        page = replaced(page, "damaged", damaged_tables(dict(sorted(damaged.items()))))
    if (folder / "costs.json").is_file():
        page = replaced(page, "costs", cost_table(json.loads((folder / "costs.json").read_text())))
    if (folder / "images.json").is_file():
        page = replaced(page, "images", image_table(json.loads((folder / "images.json").read_text()), damaged))
    fuzzed = {
        path.parent.name: json.loads(path.read_text())
        for path in sorted((ROOT / "build" / "fuzz").glob("*/figures.json"))
    }
    if fuzzed:
        page = replaced(page, "fuzzed", fuzz_table(fuzzed))
    PAGE.write_text(page, encoding="utf-8")


def replaced(page: str, name: str, text: str) -> str:
    """The page with new text between two markers."""
    markers = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(f"{re.escape(markers[0])}.*?{re.escape(markers[1])}", re.DOTALL)
    assert pattern.search(page), f"{PAGE} has no markers for: {name}"
    return pattern.sub(lambda _: f"{markers[0]}\n\n{text}\n\n{markers[1]}", page)


def damaged_tables(counts: dict[str, dict[str, Any]]) -> str:
    """How many files of each seed loaded and how many were refused, which must be the same in all versions."""
    first = next(iter(counts.values()))
    for version, others in counts.items():
        for kind in ("sources", "files", "archives"):
            assert others[kind] == first[kind], f"different counts in Blender {version}: {kind} {others[kind]}"
    files, archives = sum(sum(pair) for pair in first["files"].values()), sum(first["archives"])
    versions = list(counts)
    lines = [
        f"Blender {', '.join(versions)}: {len(versions) * files:,} damaged copies of {first['sources']} real files "
        f"and {len(versions) * archives:,} damaged archives.",
        f"The same {files:,} files and {archives:,} archives in each version, with the same outcome in all:",
        "",
        "|seed|files|loaded|refused|",
        "|---|---|---|---|",
    ]
    for seed, (loaded, refused) in first["files"].items():
        lines.append(f"|{seed}|{loaded + refused:,}|{loaded:,}|{refused:,}|")
    loaded, refused = map(sum, zip(*first["files"].values(), strict=True))
    properties = sum(others["properties"] for others in counts.values())
    lines += [
        f"|all|{files:,}|{loaded:,}|{refused:,}|",
        "",
        f"The diffuse image could still be read from {first['archives'][0]:,} of the {archives:,} archives; the model "
        "was imported with all of them.",
        "",
        f"{properties:,} exports after setting a custom property of an import to a hostile value matched Blender: "
        "strings, bytes, huge, negative, NaN and infinite numbers, wrong types and sizes.",
    ]
    return "\n".join(lines)


def cost_table(costs: dict[str, dict[str, Any]]) -> str:
    """The time and memory that hostile files take to import."""
    lines = ["|file|seconds|MB|imported|", "|---|---|---|---|"]
    for case, cost in costs.items():
        is_imported = "yes" if cost["imported"] else "refused"
        lines.append(f"|{case}|{cost['seconds']:.1f}|{cost['megabytes']}|{is_imported}|")
    return "\n".join(lines)


def image_table(costs: dict[str, dict[str, Any]], damaged: dict[str, dict[str, Any]]) -> str:
    """What images of each format cost, and what becomes of damaged ones, in all versions together."""
    lines = ["|format|just within 512 MB|just beyond|damaged: loaded|refused|", "|---|---|---|---|---|"]
    for name in dict.fromkeys(case.rpartition(": ")[0] for case in costs):
        cells = []
        for size in ("within", "beyond"):
            cost = costs[f"{name}: {size}"]
            cells.append(f"{cost['seconds']:.1f} s, {cost['megabytes']:,} MB" if cost["images"] else "refused")
        counts = [sum(version["images"][name][index] for version in damaged.values()) for index in (0, 1)]
        lines.append(f"|{name}|{'|'.join(cells)}|{counts[0]:,}|{counts[1]:,}|")
    return "\n".join(lines)


def fuzz_table(figures: dict[str, dict[str, Any]]) -> str:
    """The number of inputs and the processor time of each reader."""
    lines = ["|reader|inputs|minutes of processor time|", "|---|---|---|"]
    for name, figure in figures.items():
        minutes = figure["cpu_seconds"] / 60
        lines.append(f"|{LABELS.get(name, name)}|{figure['inputs']:,}|{minutes:,.0f}|")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
