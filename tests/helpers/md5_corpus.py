"""The real MD5 models that have animations."""

from __future__ import annotations

import csv

import pytest
from paths import CORPUS


def pairs():
    table = CORPUS / "pairs.tsv"
    if not table.is_file():
        return [pytest.param("", "", marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [pytest.param(row["md5mesh"], row["md5anim"], id=row["md5anim"].split("/")[-1]) for row in rows]


def models():
    """The models, each with all its animations."""
    found: dict[str, list[str]] = {}
    marks: tuple = ()
    for pair in pairs():
        mesh, animation = pair.values
        found.setdefault(mesh, []).append(animation)
        marks = pair.marks
    return [pytest.param(mesh, animations, id=mesh.split("/")[-1], marks=marks) for mesh, animations in found.items()]
