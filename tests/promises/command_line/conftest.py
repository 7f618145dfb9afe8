"""The command as tests run it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def idtech(part, capfd):
    """Runs the command; returns its status, what it printed, and what it told on the way."""
    main = part("command_line.command").main

    def run(*words: str | Path) -> tuple[int, str, str]:
        capfd.readouterr()
        status = main([str(word) for word in words])
        told = capfd.readouterr()
        return status, told.out, told.err

    return run
