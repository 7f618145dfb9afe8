"""`io_idtech.open` reads any kind of file by its content."""

from __future__ import annotations

import md2_samples
import pytest
from md5_samples import ANIMATION, CAMERA, MESH

import io_idtech
from io_idtech.io_md2.format import Md2Error
from io_idtech.io_md5.format import Md5Error


@pytest.mark.parametrize("name", ["right", "file.txt", "file.md2", "file.md5anim"])
@pytest.mark.parametrize(
    ("text", "suffix", "kind"),
    [(MESH, ".md5mesh", "Model"), (ANIMATION, ".md5anim", "Animation"), (CAMERA, ".md5camera", "Camera")],
)
def test_text_is_read_as_what_it_is(tmp_path, text, suffix, kind, name):
    path = tmp_path / (f"file{suffix}" if name == "right" else name)
    path.write_text(text)
    assert type(io_idtech.open(path)).__name__ == kind


@pytest.mark.parametrize("name", ["file.md2", "file.md5mesh"])
def test_an_md2_is_read_under_any_name(tmp_path, name):
    path = md2_samples.write_sample(tmp_path).rename(tmp_path / name)
    assert len(io_idtech.open(str(path)).vertices) > 0


@pytest.mark.parametrize(("name", "error"), [("file.md5anim", Md5Error), ("file.md2", Md2Error)])
def test_a_file_of_no_kind_is_an_error_of_the_kind_that_its_name_says(tmp_path, name, error):
    path = tmp_path / name
    path.write_bytes(b"nothing")
    with pytest.raises(error, match=path.name):
        io_idtech.open(path)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        io_idtech.open(tmp_path / "none.md2")
