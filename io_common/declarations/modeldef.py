"""MODELDEF, the text in which GZDoom finds the frame of a model that it shows for each frame of a sprite.

    Model Imp
    {
        Path "models/imp"
        Model 0 "imp.md3"
        FrameIndex IMPA A 0 0
    }

It is read only in the root of the archive, from all files whose name without suffix is `modeldef` (GZDoom
`r_data/models.cpp`, `ParseModelDefLump`; `sc_man_scanner.re`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from ..errors import FormatError
from ..files import read_file
from ..frames import FrameSequence
from ..names import fold, without_image_extension

TICS_PER_SECOND = 35
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]"
_COMMENTS = r"//[^\n]*|;[^\n]*|/\*.*?(?:\*/|\Z)"  # a comment that is not closed goes to the end
_SKIPPED = rf'{_COMMENTS}|"[^"]*"'  # what nothing else counts in
# What this module writes into a block: comments that begin like this, and statements; `other` is a further model.
_COMMENT = "//: "
_WORD = r'\s+("[^"]*"|[^\s"{}]+)'
_STATEMENTS = re.compile(
    rf"(?P<ours>{_COMMENT.strip()}[^\n]*|\bpath(?P<path>{_WORD})|\bmodel\s+0(?P<model>{_WORD})"
    rf"|\bskin(?:{_WORD}){{2}}|\bsurfaceskin(?:{_WORD}){{3}}|\bframe(?:index)?(?:{_WORD}){{4}})"
    rf"|(?P<other>\b(?:model|animation)\s+[1-9])|{_SKIPPED}",
    re.IGNORECASE | re.DOTALL,
)
_ROOT_FILES = ("modeldef", "zscript", "decorate")  # what is in the root of a mod alone


@dataclass(frozen=True)
class Definition:
    """What shows a model for an actor."""

    actor: str  # the class
    folder: str  # of the model in the archive; empty for its root
    model: str  # the name of the file
    skins: tuple[str, ...]  # the image of each surface; empty for that of the file
    keyword: str  # of a skin: `Skin 0` or `SurfaceSkin 0 N`, with N for the surface
    sprite: str  # the four characters of the first sprite
    is_held: bool  # as a weapon is, in the view of the player
    sequences: tuple[FrameSequence, ...]
    frame_rate: float

    def __post_init__(self) -> None:
        for what, name, form, expected in (
            ("a sprite", self.sprite, r"[A-Z0-9]{4}", "four letters A to Z or digits"),
            ("an actor", self.actor, r"[A-Za-z_]\w*", "letters, digits and underscores"),
        ):
            if not re.fullmatch(form, name, re.ASCII):
                raise FormatError(f"{name!r} is no name of {what} in GZDoom", expected=expected)

    def frame_name(self, frame: int) -> tuple[str, str]:
        """The sprite and the letter that show a frame; after 29 frames the name of the sprite counts up."""
        number = int(self.sprite, 36) + frame // len(_LETTERS)
        return np.base_repr(number, 36).rjust(4, "0")[-4:], _LETTERS[frame % len(_LETTERS)]

    def lines(self, kept: list[str]) -> Iterator[str]:
        """The lines of the block, with those that were kept of an earlier one."""
        yield f"Model {self.actor}\n{{"
        if self.folder:
            yield f'\tPath "{self.folder}"'
        yield f'\tModel 0 "{self.model}"'
        for number, skin in enumerate(self.skins[:32]):
            folder, _, name = skin.rpartition("/")
            is_beside = not folder or fold(folder) == fold(self.folder)
            # Only images beside the model are found without their suffix; the file itself names others too.
            if skin and (is_beside or without_image_extension(skin) != skin):
                yield f'\t{self.keyword.replace("N", str(number))} "{name if is_beside else skin}"'
        if not any(re.search(r"\bscale\b", re.sub(_COMMENTS, "", line), re.IGNORECASE) for line in kept):
            # In the view of the player, GZDoom has left and right the other way round (`RenderHUDModel`).
            yield f"\tScale {'-' if self.is_held else ''}1.0 1.0 1.0"
        yield from kept
        tics = TICS_PER_SECOND / self.frame_rate
        yield f"\t{_COMMENT}At the rate of the scene a frame lasts {tics:.4g} tics. States in ZScript:"
        for one in self.sequences:
            names = [self.frame_name(frame) for frame in range(one.first, one.last + 1)]
            yield f"\t{_COMMENT}{re.sub(r'[^A-Za-z0-9_]', '_', one.name) or 'Frames'}:"
            for sprite, group in groupby(names, lambda name: name[0]):
                yield f"\t{_COMMENT}\t{sprite} {''.join(letter for _, letter in group)} {max(1, round(tics))};"
            yield f"\t{_COMMENT}\tLoop;"
            for frame, (sprite, letter) in enumerate(names, one.first):
                yield f"\tFrameIndex {sprite} {letter} 0 {frame}"
        yield "}"


def with_definition(text: str, definition: Definition) -> str:
    """A text with the block of a model replaced or added; raises FormatError if that has several models."""
    # Other keywords of the block, such as Offset or Scale, are kept, as are other blocks of the actor.
    found = _find_block(text, definition)
    kept, end = [], "\r\n" if "\r\n" in text else "\n"
    if found is not None:
        if any(one["other"] for one in _STATEMENTS.finditer(found["content"])):
            raise FormatError(f"the block of {definition.actor} in MODELDEF has several models: edit it yourself")
        rest = _STATEMENTS.sub(lambda one: "" if one["ours"] else one[0], found["content"])
        kept = [line.rstrip() for line in rest.splitlines() if line.strip()]
    block = end.join("\n".join(definition.lines(kept)).split("\n"))
    if found is not None:
        return text[: found.start()] + block + text[found.end() :]
    return f"{text.rstrip()}{end * 2}{block}{end}" if text.strip() else block + end


def _find_block(text: str, definition: Definition) -> re.Match[str] | None:
    """The block of an actor that shows a model, or none yet, with its content."""
    gap = rf"(?:\s|{_COMMENTS})"
    block = rf'\bmodel{gap}++"?{definition.actor}"?{gap}*+\{{(?P<content>(?:{_SKIPPED}|[^{{}}])*+)\}}'
    found = re.finditer(rf"{_SKIPPED}|{block}", text, re.DOTALL | re.IGNORECASE)
    return next((one for one in found if one["content"] is not None and _shows(one["content"], definition)), None)


def _shows(content: str, definition: Definition) -> bool:
    """Whether the content of a block names the model, at its path, or no model."""
    given: dict[str, str] = {}
    for one in _STATEMENTS.finditer(content):
        given |= {name: fold(one[name].strip().strip('"')).strip("/") for name in ("path", "model") if one[name]}
    wanted = {"path": fold(definition.folder), "model": fold(definition.model)}
    return "model" not in given or given.items() <= wanted.items()


def _lump(path: Path) -> str:
    """The name by which GZDoom finds a file in the root of an archive."""
    return fold(path.name).split(".")[0]


def archive_folder(model: Path) -> tuple[Path, str]:
    """The root of the mod of a model, and the folder of the model in it; without `models`, the folder itself."""
    above = (folder.parent for folder in model.parents if fold(folder.name) == "models")
    marked = (folder for folder in model.parents if any(_lump(one) in _ROOT_FILES for one in folder.glob("*")))
    root = next(marked, None) or next(above, model.parent)
    folder = model.parent.relative_to(root).as_posix()
    return root, "" if folder == "." else folder


def updated_file(root: Path, name: str, definition: Definition) -> dict[Path, bytes]:
    """The file that has the block of an actor, else `modeldef.NAME`, with the definition; FormatError or OSError."""
    files = sorted(one for one in root.glob("*") if _lump(one) == "modeldef" and one.is_file())
    texts = {one: read_file(one).decode("utf-8", "surrogateescape") for one in files}
    path = next((one for one, text in texts.items() if _find_block(text, definition)), None)
    path = path or next((one for one in files if fold(one.name) == fold(f"modeldef.{name}")), root / f"modeldef.{name}")
    return {path: with_definition(texts.get(path, ""), definition).encode("utf-8", "surrogateescape")}
