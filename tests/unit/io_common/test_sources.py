"""Models are read from and written to paths, bytes and file objects, and errors name the file."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from md2_samples import make_model

from io_idtech.io_md2.format import Md2Error, format_model, read_model, write_model


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, io.BytesIO])
def test_a_model_is_read_from_bytes_and_file_objects(kind) -> None:
    assert read_model(kind(format_model(make_model()))) == make_model()


def test_a_model_is_read_from_a_path_as_text_or_object_and_from_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "tris.md2"
    write_model(make_model(), path)
    assert read_model(path) == read_model(str(path)) == make_model()
    with path.open("rb") as file:
        assert read_model(file) == make_model()
        assert not file.closed


def test_a_file_object_is_read_from_where_it_is() -> None:
    file = io.BytesIO(b"before" + format_model(make_model()))
    file.seek(6)
    assert read_model(file) == make_model()


def test_entries_of_zip_files_are_read_and_written(tmp_path: Path) -> None:
    archive = tmp_path / "pak0.pk3"
    with zipfile.ZipFile(archive, "w") as files, files.open("models/tris.md2", "w") as entry:
        write_model(make_model(), entry)
    with zipfile.ZipFile(archive) as files, files.open("models/tris.md2") as entry:
        assert read_model(entry) == make_model()


def test_a_model_is_written_to_file_objects_that_take_a_part_only() -> None:
    class Slow(io.RawIOBase):
        def __init__(self) -> None:
            self.data = b""

        def write(self, data) -> int:
            self.data += bytes(data[:7])
            return min(7, len(data))

    file = Slow()
    write_model(make_model(), file)
    assert file.data == format_model(make_model())


def test_errors_name_the_file_wherever_it_comes_from(tmp_path: Path) -> None:
    path = tmp_path / "bad.md2"
    path.write_bytes(b"IDP3")
    archive = tmp_path / "pak0.pk3"
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("models/worse.md2", b"IDP3")
    with pytest.raises(Md2Error, match=r"bad\.md2, byte 0"):
        read_model(path)
    with path.open("rb") as file, pytest.raises(Md2Error, match=r"bad\.md2, byte 0"):
        read_model(file)
    with (
        zipfile.ZipFile(archive) as files,
        files.open("models/worse.md2") as entry,
        pytest.raises(Md2Error, match=r"models/worse\.md2, byte 0"),
    ):
        read_model(entry)
    with pytest.raises(Md2Error, match="download, byte 0"):
        read_model(b"IDP3", "download")
    model = make_model(0)
    with path.open("wb") as file, pytest.raises(Md2Error, match=r"^frame_names.* \(.*bad\.md2\)$"):
        write_model(model, file)


def test_text_files_and_other_objects_are_programming_errors() -> None:
    with pytest.raises(TypeError, match="binary mode"):
        read_model(io.StringIO("IDP2"))
    with pytest.raises(TypeError, match="not int"):
        read_model(5)
    with pytest.raises(TypeError, match="not int"):
        write_model(make_model(), 5)
