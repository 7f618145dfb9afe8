"""A tag gets the notes of its version, or the reason why there are none."""

from __future__ import annotations

import pytest

from tools.release import LINES, missing_lines, notes

CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.0] - 2026-01-31

### Added

- A thing.

## [1.1.0] - 2025-12-01

- An older thing.
"""


def test_the_notes_are_the_section_of_the_version():
    assert notes("v1.2.0", "1.2.0", CHANGELOG) == "### Added\n\n- A thing."
    assert notes("v1.1.0", "1.1.0", CHANGELOG) == "- An older thing."


def test_a_tag_of_another_version_is_refused():
    with pytest.raises(ValueError, match=r"should be v1\.2\.0"):
        notes("v1.3.0", "1.2.0", CHANGELOG)


def test_a_version_without_notes_is_refused():
    with pytest.raises(ValueError, match="no section"):
        notes("v1.3.0", "1.3.0", CHANGELOG)


def test_a_release_needs_the_lines_of_the_maintainer(tmp_path):
    for name, _, _ in LINES:
        (tmp_path / name).write_text("# website = and Issues = and Contact: are not filled in\n")
    assert [problem.partition(" ")[0] for problem in missing_lines(tmp_path)] == [name for name, _, _ in LINES]
    for name, _, example in LINES:
        (tmp_path / name).write_text(f"{example}\n".replace("…", "example.org"))
    assert missing_lines(tmp_path) == []
