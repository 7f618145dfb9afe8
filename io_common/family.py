"""The description of a format family. Needs no Blender.

Menus, file handlers, preferences, the command line, ``info``, fuzzing and tests loop over these descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from .files.file_info import Describe
from .textures.rules import TextureRules

if TYPE_CHECKING:
    from pathlib import Path

    from bpy.types import Context

    from .batch import Loaded, LoadOptions, SaveOptions
    from .results import ExportResult


class Role(Enum):
    """What a file holds."""

    MODEL = "model"
    ANIMATION = "animation"
    CAMERA = "camera"


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        suffix: in lower case, with the dot.
        label: its name in menus.
        role: what it holds.
        read: reads a file without Blender; raises the family's error or OSError.
        describe: what ``info`` tells about a file.
    """

    suffix: str
    label: str
    role: Role
    read: Callable[[str], object]
    describe: Describe


class Profile(Protocol):
    """A game, as the interface shows it."""

    @property
    def label(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """Which other games and programs it stands for."""


@dataclass(frozen=True)
class FuzzTarget:
    """A reader to be fuzzed.

    Attributes:
        read: takes the bytes of a file and does with it what an import does before Blender comes in, and what an export
            does after; raises one of `errors` or nothing.
        errors: the reader's own exceptions.
        seeds: files that it reads.
        words: tokens of the format, for the fuzzer's dictionary.
    """

    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class BlenderPart:
    """What a family adds to Blender.

    Attributes:
        importer: the operator of File > Import, also for files dropped onto the window.
        exporters: the operators of File > Export; each has the `filename_ext` of one kind of file. The first is the
            exporter of collections too.
        classes: other classes to register: property groups before what uses them, panels, operators.
        load: imports a file into the scene, for the command line.
        save: exports the scene to a file, for the command line; the suffix of the path says as what.
        action_frame_rate: the frame rate that an action of this family was imported with; None if it has none.
    """

    importer: type
    exporters: tuple[type, ...]
    load: Callable[[Context, Path, LoadOptions], Loaded]
    save: Callable[[Context, Path, SaveOptions], ExportResult]
    classes: tuple[type, ...] = ()
    action_frame_rate: Callable[[Any], float | None] = lambda action: None

    @property
    def operators(self) -> tuple[type, ...]:
        """The operators of the menus."""
        return (self.importer, *self.exporters)


@dataclass(frozen=True)
class Family:
    """A family of formats that belong together.

    Attributes:
        name: in lower case: the operators', the command line's ``--format``, the property group's.
        label: its name in menus.
        kinds: its kinds of files; the first is the model.
        error: what its readers and writers raise about bad data.
        blender: gives the part that needs Blender.
        textures: how names of skins or shaders lead to images.
        games: what the games take; their values are identifiers, the first is the default. Empty if all are alike.
        fuzz_targets: gives the readers to be fuzzed, by name.
        frame_rate: frames per second, where the format has a fixed rate; else None.
        has_one_file: whether a model and all its animations are one file.
    """

    name: str
    label: str
    kinds: tuple[FileKind, ...]
    error: type[ValueError]
    blender: Callable[[], BlenderPart]
    textures: TextureRules
    games: Mapping[Any, Profile] = field(default_factory=dict)
    fuzz_targets: Callable[[], Mapping[str, FuzzTarget]] = dict
    frame_rate: float | None = None
    has_one_file: bool = False

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of all kinds of files, the model's first."""
        return tuple(kind.suffix for kind in self.kinds)

    @property
    def model_suffix(self) -> str:
        """Of a model."""
        return self.kinds[0].suffix

    @property
    def game_identifiers(self) -> tuple[str, ...]:
        """The names of the games."""
        return tuple(game.value for game in self.games)


def kinds_by_suffix(families: Iterable[Family]) -> dict[str, FileKind]:
    """All kinds of files of some families."""
    return {kind.suffix: kind for family in families for kind in family.kinds}


def describers(families: Iterable[Family]) -> dict[str, Describe]:
    """What describes each kind of file, by suffix."""
    return {suffix: kind.describe for suffix, kind in kinds_by_suffix(families).items()}


def family_of(families: Sequence[Family], suffix: str) -> Family | None:
    """The family that a suffix belongs to, in any case; None if it is no family's."""
    return next((family for family in families if suffix.lower() in family.suffixes), None)


def game_identifiers(families: Iterable[Family]) -> list[str]:
    """The names of the games of all families, each once."""
    return list(dict.fromkeys(name for family in families for name in family.game_identifiers))
