"""One function makes the message for any exception."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from io_idtech.families import FAMILIES
from io_idtech.io_common.errors import message_for, without_path
from io_idtech.io_md2.format import Md2Error
from io_idtech.io_md5.format import Md5Error


def test_the_text_of_an_expected_exception_is_the_message():
    assert message_for(ValueError("no frames"), (ValueError,)) == "no frames"


def test_a_message_leads_with_the_cause_and_ends_with_the_place():
    error = Md5Error("the block never ends", path="a.md5mesh", line=65, found="x", expected="}")
    assert message_for(error, (Md5Error,)) == "The block never ends; found x; expected } (a.md5mesh, line 65)"
    assert message_for(Md2Error("no frames", path="a.md2"), (Md2Error,)) == "No frames (a.md2)"
    assert message_for(Md2Error("no frames", offset=4), (Md2Error,)) == "No frames (byte 4)"


def test_a_message_next_to_a_file_name_does_not_repeat_it():
    error = Md5Error("the block never ends", path="in/a.md5mesh", line=65)
    assert without_path(message_for(error, (Md5Error,)), "in/a.md5mesh") == "The block never ends (line 65)"
    path = Path("in/a.md2")
    assert without_path(f"No frames ({path})", path) == "No frames"


@pytest.mark.parametrize(
    ("content", "error", "text"),
    [
        (
            b"PK\x03\x04",
            Md5Error,
            "This file is not MD5 (it looks like a ZIP archive, such as .pk4: use File > Import > id Tech Game "
            "Character)",
        ),
        (b"\x89PNG\r\n\x1a\n0000", Md5Error, "This file is not MD5 (it looks like a PNG)"),
        (
            "MD5Version 10".encode("utf-16"),
            Md5Error,
            "This file is not MD5 (it looks like UTF-16 text: save it as ASCII or UTF-8)",
        ),
        (b"IDS2" + bytes(64), Md2Error, "This file is not MD2 (it looks like a sprite of Quake II)"),
        (b"IDP2" + bytes(64), Md5Error, "This file is not MD5 but MD2: use File > Import > id Tech 2 MD2"),
        (b"MD5Version 10", Md2Error, "This file is not MD2 but MD5: use File > Import > id Tech 4 MD5"),
        (b"IDP3" + bytes(64), Md5Error, "This file is not MD5 but MD3: use File > Import > id Tech 3 MD3"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path, content, error, text):
    path = tmp_path / "model"
    path.write_bytes(content)
    assert message_for(error("bad", path=str(path)), (error,)) == f"{text} ({path})"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_damaged_file_of_the_right_kind_keeps_its_own_message(tmp_path, family):
    path = tmp_path / "model"
    path.write_bytes(family.magic)
    error = family.error("bad", path=str(path))
    assert message_for(error, (family.error,)) == f"Bad ({path})"


def test_an_expected_exception_comes_before_what_it_is_derived_from():
    assert message_for(FileNotFoundError("my own words"), (FileNotFoundError,)) == "my own words"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (errno.ENOENT, "there is no such file or folder"),
        (errno.ENOSPC, "the disk is full: free some space, or choose another folder"),
        (errno.EISDIR, "there is a folder with this name: choose another name"),
    ],
)
def test_an_error_of_the_system_names_the_file_and_what_to_do(number, text):
    error = OSError(number, os.strerror(number), "folder/model.md2")
    assert message_for(error) == f"folder/model.md2: {text}"


def test_of_a_file_that_was_to_be_replaced_the_target_is_named():
    error = OSError(errno.EIO, "failed", "temporary", None, "model.md2")
    assert message_for(error).startswith("model.md2: ")


def test_too_little_memory_is_not_an_internal_error(capsys):
    assert message_for(MemoryError(), subject="model.md2").startswith("model.md2: there is not enough memory")
    assert "Traceback" not in capsys.readouterr().err


def test_what_an_operator_of_blenders_reports_is_shortened_to_its_reason():
    error = RuntimeError("Error: Python: Traceback\nOSError: [Errno 28] No space\nLocation: a.py:1\n")
    assert message_for(error, target=Path("out.glb")).startswith("out.glb: the disk is full")


def test_any_other_exception_is_an_internal_error_with_a_traceback_and_where_to_report_it(capsys):
    text = message_for(KeyError("joint"), (Md2Error,), subject="model.md2")
    assert text.startswith("model.md2: internal error of the add-on (KeyError: 'joint')")
    assert "Please report it" in text
    assert "KeyError" in capsys.readouterr().err


def test_a_runtime_error_without_an_operator_is_an_internal_error(capsys):
    assert "internal error" in message_for(RuntimeError("loop"))
    assert "RuntimeError" in capsys.readouterr().err
