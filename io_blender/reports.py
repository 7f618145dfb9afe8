"""What an import or export gives and tells the user: results, warnings, counts, errors, and progress in the window."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..io_common.rules import Finding
from ..io_common.texts import counted
from ..io_common.texts import listing as listing

if TYPE_CHECKING:
    from bpy.types import Action, Object, Operator


_Result = TypeVar("_Result")


@dataclass
class Report:
    """Counts, warnings and facts of files, collected during an import or export."""

    # The number of each kind of item, in the order of the summary: ``{"meshes": 3}``
    counts: dict[str, int] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)  # sentences that end the summary: what to do next
    missing_images: list[str] = field(default_factory=list)  # names of those that were not found, each once
    image_remedy: str = "Add the game's folder in the tab id Tech"
    _subjects: dict[str, list[str]] = field(default_factory=dict)
    _important: list[str] = field(default_factory=list)
    _facts: dict[str, list[str]] = field(default_factory=dict)

    def count(self, what: str, number: int = 1) -> None:
        """Adds to a count."""
        self.counts[what] = self.counts.get(what, 0) + number

    def warn(self, text: str, subject: str = "", *, is_important: bool = False) -> None:
        """Adds a warning, what is wrong and what to do; the same about several subjects is shown once."""
        # Important: the result differs from what the user sees, or a game would not load it.
        if is_important and text not in self._important:
            self._important.append(text)
        _add(self._subjects, text, subject)

    def add_fact(self, text: str, subject: str = "") -> None:
        """Adds what is unusual in a file, about which the user need not do anything."""
        _add(self._facts, text, subject)

    def add_missing_images(self, names: Iterable[str]) -> None:
        """Adds names of images that were not found."""
        self.missing_images += [name for name in dict.fromkeys(names) if name not in self.missing_images]

    def hint_split(self, parts: Mapping[str, int]) -> None:
        """Adds a hint about what was split into more than one part, by its name."""
        split = [f"{name} into {count}" for name, count in parts.items() if count > 1]
        if split:
            self.hints.append(f"Over the game's limits, so split into parts: {listing(split)}")

    def merge(self, other: Report) -> None:
        """Adds the counts, warnings, facts and hints of another report."""
        self.hints += other.hints
        self.add_missing_images(other.missing_images)
        for what, number in other.counts.items():
            self.count(what, number)
        self._important += [text for text in other._important if text not in self._important]
        for lines, others in ((self._subjects, other._subjects), (self._facts, other._facts)):
            for text, subjects in others.items():
                _add(lines, text, *subjects)

    @property
    def warnings(self) -> list[str]:
        """The warnings, first that of images, as the user can mend it now, then the most important ones."""
        count, some = counted(len(self.missing_images), "images"), listing(self.missing_images, 2)
        missing = f"{count} not found: {some}. {self.image_remedy}"
        return [*([missing] if self.missing_images else []), *self.other_warnings]

    @property
    def other_warnings(self) -> list[str]:
        """The warnings but for that of images, each with the files or objects that it is about."""
        return [_line(text, self._subjects[text]) for text in dict.fromkeys([*self._important, *self._subjects])]

    @property
    def facts(self) -> list[str]:
        """What is unusual in files, each with the files that it is about."""
        return [_line(text, subjects) for text, subjects in self._facts.items()]

    def summary(self, verb: str, subject: str, seconds: float) -> str:
        """One line with what was done, to which files, the counts, the time, and what to do next."""
        counts = [counted(number, what) for what, number in self.counts.items() if number]
        return ". ".join([f"{verb} {subject}: {', '.join([*counts, f'{seconds:.2f} s'])}", *self.hints])


def _add(lines: dict[str, list[str]], text: str, *subjects: str) -> None:
    known = lines.setdefault(text, [])
    known += [subject for subject in subjects if subject and subject not in known]


def _line(text: str, subjects: list[str]) -> str:
    return f"{listing(subjects, 3)}: {text}" if subjects else text


VERTICES, FACES, BONES, NOTHING = "VERTICES", "FACES", "BONES", "NOTHING"


@dataclass(frozen=True)
class Location:
    """What a finding is about: vertices, faces or bones of an object; without one, the model as a whole."""

    obj: Object | None = None
    kind: str = NOTHING
    elements: tuple[int | str, ...] = ()


LocatedFinding: TypeAlias = tuple[Finding, Location]


@dataclass(eq=False)
class ImportResult:
    """The result of an import."""

    # The new objects; armatures are followed by their meshes, and cameras come last.
    objects: list[Object] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)  # the new actions, one for each animation or sequence
    # Those of the new actions whose frames are also in an action of each sequence.
    divided: list[Action] = field(default_factory=list)
    replaced: dict[Action, Action] = field(default_factory=dict)  # for each action that is replaced, the new one
    report: Report = field(default_factory=Report)  # counts and warnings

    def add_action(self, action: Action) -> None:
        """Adds a new action, which several data-blocks may play."""
        if action not in self.actions:
            self.actions.append(action)


@dataclass(eq=False)
class ExportResult:
    """The result of an export."""

    paths: list[Path] = field(default_factory=list)  # the files that were written, first the one that was asked for
    report: Report = field(default_factory=Report)  # counts and warnings


_ATTRIBUTE = "io_idtech_report"


@contextmanager
def kept_on_failure(report: Report) -> Iterator[None]:
    """Keeps the report of a block on the exception that ends it; `report_of` returns it."""
    try:
        yield
    except Exception as error:
        # Of whatever kind; it is raised again.
        setattr(error, _ATTRIBUTE, report)
        raise


def report_of(error: BaseException) -> Report:
    """The report of the import or export that failed with an exception; empty if it has none."""
    found = getattr(error, _ATTRIBUTE, None)
    return found if isinstance(found, Report) else Report()


def raise_all(findings: Mapping[str, Iterable[Finding]], error: Callable[..., Exception], report: Report) -> None:
    """Reports warnings, and raises one `error` for all files; what several files share is told once."""
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


def raise_errors(findings: Iterable[Finding], error: Callable[..., Exception], name: str, report: Report) -> None:
    """Reports warnings, and raises one exception of the class `error` with the texts of all errors."""
    raise_all({name: findings}, error, report)


def report_message(operator: Operator, kind: str, *texts: str) -> None:
    """Reports messages to the user; bytes of a file that are not text become question marks."""
    for text in texts:
        operator.report({kind}, printable(text))


def printable(text: str) -> str:
    """A text without surrogates, which stand for bytes of names that are not UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def report_result(operator: Operator, report: Report, verb: str, subject: str, started: float) -> None:
    """Reports the summary and every warning; `started` is `time.perf_counter()` at the start."""
    # The status bar shows only the last report: if there are warnings, it is one that says so and has the first.
    report_message(operator, "INFO", *report.facts, report.summary(verb, subject, time.perf_counter() - started))
    warnings = report.warnings
    if len(warnings) > 1:
        report_message(operator, "WARNING", *warnings)
    if warnings:
        count = counted(len(warnings), "warnings") + (", all in the Info editor" if len(warnings) > 1 else "")
        # The file is named once.
        most_important = warnings[0].removeprefix(f"{subject}: ")
        report_message(operator, "WARNING", f"{verb} {subject}: {count}: {most_important}")


class Progress:
    """How far a job is, of a number of steps that may change."""

    def __init__(self, left: int = 0) -> None:
        self._left = left
        self._done = 0

    def expect(self, left: int) -> None:
        """Sets how many steps are left."""
        self._left = left

    def step(self, count: int = 1) -> float:
        """Adds finished steps; the fraction that is done."""
        self._done += count
        self._left = max(self._left - count, 0)
        return self._done / max(self._done + self._left, 1)


Job: TypeAlias = Generator[float, None, _Result]
"""Work that yields the fraction that is done, often enough to be ended within a second."""


def finish(job: Job[_Result]) -> _Result:
    """Runs a job to its end, with the progress at the mouse cursor."""
    import bpy

    window_manager = bpy.context.window_manager
    window_manager.progress_begin(0.0, 1.0)
    try:
        while True:
            window_manager.progress_update(next(job))
    except StopIteration as end:
        return end.value
    finally:
        window_manager.progress_end()
