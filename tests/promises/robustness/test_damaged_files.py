"""Damaged files are imported, or refused with file and reason and no change to the .blend."""

from __future__ import annotations

import pytest
from damaged_files import _LARGEST, made_files, small_files, try_mutants
from mutants import SEEDS
from paths import ROOT

MUTANTS = 1250
"""As many of the first seed as `fuzz/damaged.py` takes of each."""


@pytest.mark.slow
def test_damaged_made_files_load_or_are_refused_and_nothing_changes(tmp_path):
    loaded, refused = try_mutants(made_files(tmp_path), tmp_path, 300, seed=0)
    assert loaded
    assert refused


@pytest.mark.slow
def test_damaged_real_files_load_or_are_refused_and_nothing_changes(corpus, tmp_path):
    sources = small_files(corpus)
    assert {path.suffix.lower() for path in sources} == set(_LARGEST)
    loaded, refused = try_mutants(sources, tmp_path, MUTANTS, SEEDS[0])
    assert loaded + refused == MUTANTS
    assert min(loaded, refused) > MUTANTS / 10
    page = (ROOT / "docs" / "robustness-figures.md").read_text(encoding="utf-8")
    row = f"|{SEEDS[0]}|{MUTANTS:,}|{loaded:,}|{refused:,}|"
    assert row in page, f"docs/robustness-figures.md should say: {row}; python run.py robustness makes its figures"
