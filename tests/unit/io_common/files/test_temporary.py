"""Temporary files and folders get new names, and what the system refuses is told at once."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import needs
import pytest

from io_idtech.io_common.files.temporary import new_file, new_folder


def make_file(folder: Path) -> Path:
    path, file = new_file(folder, ".x-", ".tmp")
    file.close()
    return path


def make_folder(folder: Path) -> Path:
    return new_folder(folder, ".x-")


MAKERS = {"open": make_file, "mkdir": make_folder}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_name_in_use_is_left_alone(tmp_path, monkeypatch, make):
    names = iter(["taken", "taken", "free"])
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(names))
    for name in (".x-taken", ".x-taken.tmp"):
        (tmp_path / name).write_bytes(b"mine")
    made = make(tmp_path)
    assert made.name.removesuffix(".tmp") == ".x-free"
    assert {path.read_bytes() for path in tmp_path.iterdir() if path != made} == {b"mine"}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(("error", "most"), [(FileExistsError, 10), (PermissionError, 1)])
def test_few_names_are_tried_and_only_one_where_the_user_may_not_write(
    tmp_path, monkeypatch, make, error, most
):
    tried = []

    def refuse(*_arguments, **_options):
        tried.append(1)
        raise error

    for function in MAKERS:
        monkeypatch.setattr(os, function, refuse)
    with pytest.raises(error):
        make(tmp_path)
    assert len(tried) == most


@needs.permissions_of_files
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nobody_else_may_read_them(tmp_path, make):
    assert make(tmp_path).stat().st_mode & 0o077 == 0
