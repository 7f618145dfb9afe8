"""The page of the command line lists the options of a conversion."""

from __future__ import annotations

from importlib import import_module

from paths import ROOT


def test_the_page_is_current(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert import_module("command_options").tables() in page, "python tools/command_options.py --write"
