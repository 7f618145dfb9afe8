"""The description of a format family. Needs no Blender.

Menus, file handlers, preferences, the command line, ``info``, fuzzing and tests loop over these descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from .files.file_info import Describe
from .textures.conventions import TextureRules

if TYPE_CHECKING:
    from pathlib import Path

    from bpy.types import Context, Operator

    from ..io_blender.options import Scene, Settings
    from ..io_blender.reports import ExportResult, ImportResult
    from ..io_blender.scene.axes import Conversion
    from .game_tree.archives import FilesByName


class Role(Enum):
    """The contents of a file."""

    MODEL = "model"
    ANIMATION = "animation"
    CAMERA = "camera"


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        suffix: in lower case, with the dot.
        label: for menus.
        role: the contents.
        read: reads a file without Blender; raises the family's error or OSError.
        describe: returns what ``info`` prints about a file.
    """

    suffix: str
    label: str
    role: Role
    read: Callable[[str], object]
    describe: Describe


class Profile(Protocol):
    """A game, for the user interface."""

    @property
    def label(self) -> str:
        """The name of the game."""

    @property
    def description(self) -> str:
        """The games and programs that it covers."""


@dataclass(frozen=True)
class BlenderPart:
    """What a family adds to Blender.

    Attributes:
        importer: the operator for File > Import and for dropped files.
        exporters: the operators for File > Export; each has the `filename_ext` of one kind of file. The first is also
            the collection exporter.
        groups: property groups that the options of the operators use.
        classes: other classes to register: panels, operators, and property groups before the classes that use them.
        properties: properties that are added to types of Blender: the type, the name and the property.
        load: imports a file into the scene, for the command line.
        save: exports the scene to a file, for the command line; the suffix of the path selects the kind of file.
        action_frame_rate: returns the frame rate with which an action was imported; None if this family did not import
            it.
    """

    importer: type[Operator]
    exporters: tuple[type[Operator], ...]
    load: Callable[[Context, Path, Settings, Conversion], ImportResult]
    save: Callable[[Context, Path, Settings, Scene], ExportResult]
    groups: tuple[type, ...] = ()
    classes: tuple[type, ...] = ()
    properties: tuple[tuple[type, str, Any], ...] = ()
    action_frame_rate: Callable[[Any], float | None] = lambda action: None

    @property
    def operators(self) -> tuple[type[Operator], ...]:
        """The operators in the menus."""
        return (self.importer, *self.exporters)


@dataclass(frozen=True)
class Family:
    """A family of formats that belong together.

    Attributes:
        name: in lower case, as in operators, ``--format`` on the command line, and the property group.
        label: for menus.
        kinds: its kinds of files; the first is the model.
        error: the exception that its readers and writers raise for bad data.
        blender: returns the part that needs Blender.
        textures: the rules by which images are found for its skins or shaders.
        games: the profiles of games; the values of the keys are identifiers, the first is the default. Empty if files
            are the same for all games.
        frame_rate: frames per second if the format has a fixed rate, else None.
        has_one_file: whether a model and all its animations are one file.
        suffix_beside: returns the suffix of the file that a game needs beside each model, with the same name; empty if
            it needs none.
        files_beside: returns the files beside a file that an import reads with it, with the folders listed so far.
    """

    name: str
    label: str
    kinds: tuple[FileKind, ...]
    error: type[ValueError]
    blender: Callable[[], BlenderPart]
    textures: TextureRules
    games: Mapping[Any, Profile] = field(default_factory=dict)
    frame_rate: float | None = None
    has_one_file: bool = False
    suffix_beside: Callable[[str], str] = lambda game: ""
    files_beside: Callable[[Path, FilesByName], list[Path]] = lambda path, listed: []

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of all kinds of files, that of the model first."""
        return tuple(kind.suffix for kind in self.kinds)

    @property
    def model_suffix(self) -> str:
        """The suffix of a model."""
        return self.kinds[0].suffix

    @property
    def game_identifiers(self) -> tuple[str, ...]:
        """The identifiers of the games."""
        return tuple(game.value for game in self.games)


def kinds_by_suffix(families: Iterable[Family]) -> dict[str, FileKind]:
    """The kinds of files of all families, by suffix."""
    return {kind.suffix: kind for family in families for kind in family.kinds}


def family_of(families: Sequence[Family], suffix: str) -> Family | None:
    """The family of files with a suffix, in any case; None if it is unknown."""
    return next((family for family in families if suffix.lower() in family.suffixes), None)


def game_identifiers(families: Iterable[Family]) -> list[str]:
    """The identifiers of the games of all families, each once."""
    return list(dict.fromkeys(name for family in families for name in family.game_identifiers))
