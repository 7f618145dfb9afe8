"""The table of the specifications names functions and tests that exist."""

from __future__ import annotations

import re

import pytest
from paths import ROOT

from io_idtech.io_md5 import format as md5

PAGE = (ROOT / "docs" / "specification.md").read_text(encoding="utf-8")
MD5 = PAGE[PAGE.index("## MD5") :].split("\n## ")[0]
ROWS = re.findall(r"^\|(?!In the documents|---)(.+)\|(`.+`)\|`(test_\w+)`\|$", MD5, re.MULTILINE)


@pytest.fixture(scope="module")
def tests():
    folders = [ROOT / "tests" / folder for folder in ("unit/io_md5", "unit/io_common/skeletal", "corpus")]
    text = "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("test_*.py"))
    return set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))


def test_the_table_has_rows():
    assert len(ROWS) > 30


@pytest.mark.parametrize(("subject", "functions", "test"), ROWS, ids=[row[0] for row in ROWS])
def test_each_row_names_public_functions_and_a_test_that_exists(subject, functions, test, tests):
    assert set(re.findall(r"`(\w+)`", functions)) <= set(md5.__all__), subject
    assert test in tests, subject
