"""Only regular files are read; the tests of `io_common.files` have more of the same module."""

from __future__ import annotations

from pathlib import Path

import needs
import pytest

from io_idtech.io_md5.format.regular_files import open_file, read_file


def test_files_are_read_whole(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    assert read_file(tmp_path / "file") == b"content"
    with open_file(tmp_path / "file") as file:
        assert file.read(4) == b"cont"


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read_file(tmp_path / "gone")
    assert caught.value.filename == str(tmp_path / "gone")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OSError) as caught:  # noqa: PT011 (the system's own words differ)
        read_file(tmp_path)
    assert caught.value.filename == str(tmp_path)


@needs.pipes
def test_a_device_is_refused():
    with pytest.raises(OSError, match="/dev/zero"):
        read_file(Path("/dev/zero"))
