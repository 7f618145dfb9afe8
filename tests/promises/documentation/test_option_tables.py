"""The page of options lists what the dialogs show."""

from __future__ import annotations

from importlib import import_module

from installed import MODULE
from paths import ROOT


def test_the_page_of_options_is_current(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    tool = import_module("option_tables")
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert tool.tables(MODULE) in page, "python tools/option_tables.py --write"
