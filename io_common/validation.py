"""The step between checking a model and writing it: warnings are reported, errors stop the export. Needs no Blender."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .reports import Report


class Finding(Protocol):
    """What a format's check finds; each format package has its own class with these attributes."""

    @property
    def is_error(self) -> bool:
        """Whether the file must not be written."""

    @property
    def text(self) -> str:
        """What is wrong and what to do."""


class FormatError(Protocol):
    """Makes a format's exception."""

    def __call__(self, reason: str, *, path: str) -> Exception:
        """An exception with a reason, about a file."""


def raise_errors(findings: Iterable[Finding], error: FormatError, name: str, report: Report) -> None:
    """Reports warnings, and raises one exception for all errors.

    Args:
        findings: of a check.
        error: the format's exception class.
        name: the name of the file.
        report: takes the warnings.

    Raises:
        Exception: of the class `error`, with the texts of all errors.
    """
    errors = []
    for finding in findings:
        if finding.is_error:
            errors.append(finding.text)
        else:
            report.warn(finding.text, name)
    if errors:
        raise error("; ".join(errors), path=name)
