"""Files are read from and written to paths, bytes and binary file objects."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from md5_samples import ANIMATION, CAMERA, MESH

from io_idtech.io_md5 import format as md5
from io_idtech.io_md5.format import Md5Error

KINDS = pytest.mark.parametrize(
    ("text", "read", "write"),
    [
        (MESH, md5.read_mesh, md5.write_mesh),
        (ANIMATION, md5.read_animation, md5.write_animation),
        (CAMERA, md5.read_camera, md5.write_camera),
    ],
    ids=["mesh", "animation", "camera"],
)


@KINDS
def test_every_kind_of_source_gives_the_same(text, read, write, tmp_path):
    data = text.encode()
    path = tmp_path / "file"
    path.write_bytes(data)
    expected = read(path)
    assert read(str(path)) == expected
    for source in (data, bytearray(data), memoryview(data), io.BytesIO(data)):
        assert read(source) == expected
    with path.open("rb") as file:
        assert read(file) == expected
        assert not file.closed


@KINDS
def test_entries_of_zip_files_are_read_and_written(text, read, write, tmp_path):
    expected = read(text.encode())
    with zipfile.ZipFile(tmp_path / "a.pk4", "w") as archive, archive.open("models/a", "w") as entry:
        write(expected, entry)
    with zipfile.ZipFile(tmp_path / "a.pk4") as archive, archive.open("models/a") as entry:
        assert read(entry) == expected


@KINDS
def test_paths_and_file_objects_get_the_same_bytes(text, read, write, tmp_path):
    file = io.BytesIO()
    write(read(text.encode()), file)
    write(read(text.encode()), str(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == file.getvalue() == text.encode()


@KINDS
def test_errors_name_the_file_of_a_file_object(text, read, write, tmp_path):
    bad = text.replace("MD5Version 10", "MD5Version 10\nnumJoints ten\nnumFrames ten").encode()
    path = tmp_path / "bad"
    path.write_bytes(bad)
    with path.open("rb") as file, pytest.raises(Md5Error, match=rf" \({re.escape(str(path))}, line"):
        read(file)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("models/bad", bad)
    with (
        zipfile.ZipFile(tmp_path / "a.zip") as archive,
        archive.open("models/bad") as entry,
        pytest.raises(Md5Error, match=r" \(models/bad, line"),
    ):
        read(entry)
    with pytest.raises(Md5Error, match=r" \(line \d+\)$"):
        read(memoryview(bad))


def test_a_file_opened_as_text_is_a_programming_error():
    with pytest.raises(TypeError, match="binary mode"):
        md5.read_mesh(io.StringIO(MESH))
