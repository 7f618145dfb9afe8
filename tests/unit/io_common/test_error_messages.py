"""One function makes the message for any exception."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from io_common.error_messages import message_for
from io_md2.format import Md2Error


def test_the_text_of_an_expected_exception_is_the_message():
    assert message_for(Md2Error("no frames", path="a.md2"), (Md2Error,)) == "a.md2: no frames"


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
