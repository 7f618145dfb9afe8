"""Findings of both formats."""

from __future__ import annotations

import dataclasses

from io_idtech.io_md2.format import Finding
from io_idtech.io_md5.format.check import Finding as Md5Finding


def test_findings_of_both_formats_have_the_same_attributes():
    def shape(cls: type) -> list[tuple[str, object]]:
        return [(field.name, field.default) for field in dataclasses.fields(cls)]

    assert shape(Finding) == shape(Md5Finding)
