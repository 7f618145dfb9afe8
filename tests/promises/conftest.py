"""Every test runs in Blender with the extension enabled, and begins with an empty scene."""

from pathlib import Path

import pytest
from installed import MODULE, empty_scene, extension, part, remove_folders

__all__ = ["MODULE", "empty_scene", "extension", "part"]


def pytest_unconfigure() -> None:
    remove_folders()


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
