"""Warnings are reported and errors are raised, whatever the format."""

from __future__ import annotations

import pytest

from io_idtech.io_blender.reports import raise_all, raise_errors
from io_idtech.io_common.rules import Finding
from io_idtech.io_md2.format import Md2Error
from io_idtech.io_md5.format import Md5Error


class Warnings:
    """Takes warnings as a report does."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []

    def warn(self, text: str, subject: str = "", *, is_important: bool = False) -> None:
        self.texts.append((text, subject))


@pytest.mark.parametrize("error", [Md2Error, Md5Error])
def test_all_errors_are_raised_as_one_exception_of_the_format(error):
    findings = [Finding("a", True, "too many"), Finding("b", False, "odd"), Finding("c", True, "too few")]
    report = Warnings()
    with pytest.raises(error) as caught:
        raise_errors(findings, error, "model.x", report)
    assert str(caught.value) == "too many; too few (model.x)"
    assert report.texts == [("odd", "model.x")]


def test_the_errors_of_all_files_are_raised_at_once_and_shared_ones_are_told_once():
    roots, rate = Finding("a", True, "three roots"), Finding("b", True, "no rate")
    with pytest.raises(Md5Error) as caught:
        raise_all({"a.md5mesh": [roots], "b.md5anim": [roots, rate]}, Md5Error, Warnings())
    assert caught.value.reason == "three roots; no rate"
    assert caught.value.place == "a.md5mesh, b.md5anim"


def test_warnings_alone_stop_nothing():
    report = Warnings()
    raise_errors([Finding("b", False, "odd")], Md2Error, "model.md2", report)
    assert report.texts == [("odd", "model.md2")]
