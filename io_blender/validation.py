"""The step between checking a model and writing it: warnings are reported, errors stop the export. Needs no Blender."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def raise_all(findings: Mapping[str, Iterable[Finding]], error: FormatError, report: Report) -> None:
    """Reports warnings, and raises one exception of the class `error` for the errors of all files.

    `findings` are by the name of the file. The exception has the texts of all errors; errors that several files share
    are told once.
    """
    names: dict[str, list[str]] = {}
    for name, found in findings.items():
        for finding in found:
            if finding.is_error:
                names.setdefault(finding.text, []).append(name)
            else:
                report.warn(finding.text, name, is_important=True)
    concerned = list(dict.fromkeys(name for files in names.values() for name in files))
    if concerned:
        raise error("; ".join(names), path=", ".join(concerned))


def raise_errors(findings: Iterable[Finding], error: FormatError, name: str, report: Report) -> None:
    """Reports warnings, and raises one exception of the class `error` with the texts of all errors.

    `name` is that of the file.
    """
    raise_all({name: findings}, error, report)
