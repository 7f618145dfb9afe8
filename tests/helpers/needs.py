"""Marks for tests that need what not every system has; elsewhere they are skipped with the reason."""

from __future__ import annotations

import os
import sys

import pytest

IS_WINDOWS = os.name == "nt"


def _not_on_windows(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(IS_WINDOWS, reason=f"on Windows, {reason}")


pipes = _not_on_windows("pipes and devices are not files in a folder")
links = _not_on_windows("links need rights")
signals = _not_on_windows("processes get no signals from others")
any_name = _not_on_windows("file names cannot have all characters")
long_paths = _not_on_windows("paths are shorter")
case = _not_on_windows("file names that differ only in case are the same")
permissions_of_files = _not_on_windows("files have no permissions")
limits = _not_on_windows("the memory and the files of a process have no limits")
one_root = _not_on_windows("a path with two slashes is that of another computer")
shell = _not_on_windows("there is no shell of Unix")
python_path = pytest.mark.skipif(
    bool(sys.flags.ignore_environment), reason="this Python ignores PYTHONPATH, as one that is embedded in a program"
)
proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has folders that not even root can write")
locks = pytest.mark.skipif(not IS_WINDOWS, reason="only Windows keeps a file from being replaced while it is open")
# The permissions of files do not bind root.
permissions = pytest.mark.skipif(IS_WINDOWS or os.geteuid() == 0, reason="permissions have no effect here")


def status_after(number: int) -> int:
    """The status that `subprocess` gives of a process that a signal has ended."""
    return 128 + number if IS_WINDOWS else -number
