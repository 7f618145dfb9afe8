"""Only regular files are opened: pipes and devices are never read or waited for."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import needs
import pytest
from paths import PACKAGES, ROOT
from texture_rules import MD5_RULES

from io_idtech.command_line.info import print_info
from io_idtech.io_common import files
from io_idtech.io_common.files import write_file
from io_idtech.io_common.textures.search import Search
from io_idtech.io_md2.format import read_model
from io_idtech.io_md5.format import read_animation, read_camera, read_mesh

KINDS = (
    *(pytest.param(kind, marks=needs.pipes) for kind in ("pipe", "link to a pipe", "device", "link to a device")),
    "folder",
)
READERS = (files.read_file, read_mesh, read_animation, read_camera, read_model)


@pytest.fixture
def odd_file(tmp_path):
    """A function that puts something that is no file in a place."""

    def put(path: Path, kind: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "link to a pipe":
            os.mkfifo(tmp_path / "a pipe")
            path.symlink_to(tmp_path / "a pipe")
        elif kind == "link to a device":
            path.symlink_to("/dev/zero")
        else:
            path = Path("/dev/zero")
        return path

    return put


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("read", READERS)
def test_readers_refuse_anything_but_regular_files(tmp_path, odd_file, kind, read):
    path = odd_file(tmp_path / "walk.md5anim", kind)
    with pytest.raises(OSError, match="this is not a regular file") as caught:
        read(path)
    assert caught.value.filename == str(path)


@needs.pipes
def test_a_file_that_becomes_a_pipe_after_the_first_check_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    regular = os.stat(__file__)
    monkeypatch.setattr(os, "stat", lambda *_arguments, **_options: regular)
    with pytest.raises(OSError, match="this is not a regular file"):
        files.open_file(tmp_path / "pipe")


@needs.links
def test_links_to_files_are_files(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert files.read_file(tmp_path / "link") == b"content"


def test_no_other_module_opens_files_to_read():
    """Besides these: what is written, and what tells the console that nobody listens."""
    writing = {"command_line/info.py", "command_line/command.py", "command_line/tasks.py", "command_line/blenders.py"}
    opening = re.compile(r"(?<![\w.])open\(|\bos\.(?:fd)?open\(|\.read_bytes\(|\.open\(")
    found = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path != ROOT / "io_common" / "files.py" and opening.search(path.read_text(encoding="utf-8"))
    }
    assert found == writing


@needs.pipes
def test_a_pipe_with_the_name_of_a_temporary_file_does_not_stop_an_export(tmp_path):
    pipe = tmp_path / ".io_idtech-x.tmp"
    os.mkfifo(pipe)
    (tmp_path / ".io_idtech-y.tmp").symlink_to("/dev/zero")
    (tmp_path / ".io_idtech-z.tmp").mkdir()
    long_ago = time.time() - 100_000
    os.utime(pipe, (long_ago, long_ago))
    write_file(tmp_path / "model.md2", b"new")
    assert (tmp_path / "model.md2").read_bytes() == b"new"
    assert pipe.is_fifo()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    ["a.pk4", "materials/a.mtr", "models/imp/imp.tga", "models/imp/md5.cfg", "models/imp/imp.skin", "models/imp/a.mtr"],
)
def test_textures_are_looked_for_among_files_only(tmp_path, odd_file, kind, name):
    game = tmp_path / "game"
    odd_file(game / name, kind)
    search = Search([game], MD5_RULES)
    found = search.model(game / "models/imp/imp.md5mesh", ["models/imp/imp"]).material("models/imp/imp", "imp")
    assert found.diffuse is None


@needs.pipes
def test_info_says_that_a_pipe_is_no_file(tmp_path, odd_file, capsys):
    path = odd_file(tmp_path / "walk.md5anim", "pipe")
    assert print_info([str(path)], as_json=False) == 1
    assert "it is not a regular file" in capsys.readouterr().out
