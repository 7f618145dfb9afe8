"""Rules of games, the findings about files that break them, and descriptions of files with their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import FormatError
from .texts import counted

_Game = TypeVar("_Game", bound=Enum)


@dataclass(frozen=True)
class Finding:
    """What a check finds: something that a game would refuse, or would show differently from Blender."""

    code: str  # the name of the rule, for programs: lower case with underscores
    is_error: bool  # whether the game or the format would refuse the file; otherwise it would look different
    text: str  # what is wrong and where, the limit and the game, and what to do
    found: str = ""  # the value that was found
    limit: str = ""  # empty if there is none
    engine: str = ""  # whose loader has the rule
    remedy: str = ""  # what to do
    mesh: int = -1  # its index in the file, 0 where a format has one mesh; -1 if the finding is not about a mesh
    joints: tuple[int, ...] = ()  # indices of those concerned; empty in formats without joints
    vertices: tuple[int, ...] = ()  # indices of those concerned, in that mesh
    triangles: tuple[int, ...] = ()  # the same

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Subject:
    """A model that is checked, of a family with one model in a file."""

    model: Any
    source: Any = None  # the model of the file that it was imported from


Check = Callable[["Rule", Any], Iterable[Finding]]  # finds what breaks a rule in a subject


@dataclass(frozen=True)
class Rule:
    """A requirement of a game: what its loader refuses or shows differently from Blender."""

    code: str
    is_error: bool
    check: Check
    engine: str  # whose loader has the rule
    requirement: str  # what a file has to be like, as the documentation states it
    why: str  # what the loader does with a file that breaks it; the middle of a message
    remedy: str  # the end of a message
    source: str  # the place in the loader's source code
    limit: float = 0  # the most, or least, that is accepted; 0 where there is no number

    def finding(
        self,
        what: str,
        found: object = "",
        *,
        joints: npt.ArrayLike = (),
        vertices: npt.ArrayLike = (),
        triangles: npt.ArrayLike = (),
        remedy: str = "",
        is_in_source: bool = False,
    ) -> Finding:
        """A finding, whose text `what` begins; a warning if the imported file already broke the rule."""
        remedy = remedy or self.remedy
        tail = "; the imported file already did" if is_in_source else f": {remedy}" if remedy else ""
        joints, vertices, triangles = (
            tuple(np.asarray(part, dtype=np.int64).ravel().tolist()) for part in (joints, vertices, triangles)
        )
        return Finding(
            self.code,
            self.is_error and not is_in_source,
            "".join([what, f"; {self.why}" if self.why else "", tail]),
            found=str(found),
            limit=f"{self.limit:g}" if self.limit else "",
            engine=self.engine,
            remedy=remedy,
            mesh=0 if vertices or triangles else -1,
            joints=joints,
            vertices=vertices,
            triangles=triangles,
        )


@dataclass(frozen=True)
class Profile:
    """A game."""

    game: Any  # its identifier
    label: str  # its name in the interface
    description: str  # the games and programs that it covers, in one line
    engines: str  # whose loaders were read
    rules: tuple[Rule, ...] = ()  # its own, besides those of every game
    written: tuple[str, ...] = ()  # sentences about how files for it are written, with reasons
    frame_rate: float | None = None  # frames per second at which it plays all files; None for that of each file
    lacks: tuple[str, ...] = ()  # the codes of rules of every game that it does not have

    def rules_with(self, common: Iterable[Rule]) -> tuple[Rule, ...]:
        """Its rules after those of every game, except what it lacks and where it has one with the same code."""
        codes = {*self.lacks, *(rule.code for rule in self.rules)}
        return (*(rule for rule in common if rule.code not in codes), *self.rules)


def limited(
    counts: Callable[[Any, str], Iterable[tuple[str, int]]],
    what: str,
    words: str = "",
    *,
    is_least: bool = False,
    selected: bool = False,
) -> Check:
    """A check that numbers of a model are at most the limit, or at least; `words` are for what is counted."""
    # `counts` gives the numbers with the words for whose they are. Surplus elements are selected where they can be.

    def broken(model: Any, limit: float) -> list[tuple[str, int]]:
        return [one for one in counts(model, what) if (one[1] < limit if is_least else one[1] > limit)]

    def check(rule: Rule, subject: Subject) -> Iterable[Finding]:
        is_in_source = subject.source is not None and bool(broken(subject.source, rule.limit))
        for whose, count in broken(subject.model, rule.limit):
            text = f"{whose} {counted(count, words or what) if count else f'no {words or what}'}"
            beyond: dict[str, Any] = {what: range(int(rule.limit), count)} if selected else {}
            yield rule.finding(text, count, **beyond, is_in_source=is_in_source)

    return check


def game_named(games: type[_Game], name: str) -> _Game:
    """The game with an identifier; ANY for that of another family."""
    return games[name if name in games.__members__ else "ANY"]


def find(rules: Iterable[Rule], subject: object) -> list[Finding]:
    """The findings of some rules, errors first."""
    found = [finding for rule in rules for finding in rule.check(rule, subject)]
    return sorted(found, key=lambda finding: not finding.is_error)


def find_invalid(code: str, validate: Callable[[], object]) -> list[Finding]:
    """What a validator finds that no file can hold, whatever the game."""
    try:
        validate()
    except FormatError as error:
        found, expected = error.found or "", error.expected or ""
        return [Finding(code, True, str(error), found=found, limit=expected, engine="all")]
    return []


@dataclass(frozen=True)
class Description:
    """A description of a file."""

    facts: dict[str, Any]  # for JSON; "kind" and "warnings" are always present, "findings" if a game was given
    lines: list[str]  # the same as text


def describe_findings(
    facts: dict[str, Any], lines: Sequence[str], game: str, findings: Iterable[Finding] | None
) -> Description:
    """A description with the findings for a game, None without one; a warning that is also a finding is listed once."""
    if findings is None:
        return Description(facts, list(lines))
    findings = list(findings)
    texts = {finding.text for finding in findings}
    facts = {
        **facts,
        "warnings": [text for text in facts["warnings"] if text not in texts],
        "game": game,
        "findings": [asdict(finding) for finding in findings],
    }
    found = [f"{game} {'error' if finding.is_error else 'warning'}: {finding.text}" for finding in findings]
    return Description(facts, [*lines, *(found or [f"{game}: no problems found"])])


def box_of(points: npt.NDArray[np.floating]) -> list[list[float]]:
    """The lower and upper corner around points (n, 3); empty without points."""
    return [points.min(axis=0).tolist(), points.max(axis=0).tolist()] if len(points) else []


def box_line(box: list[list[float]]) -> list[str]:
    """The line of a description about a box; none if it is empty."""
    corners = [" ".join(f"{value:.6g}" for value in corner) for corner in box]
    return [f"box from ({corners[0]}) to ({corners[1]})"] if corners else []
