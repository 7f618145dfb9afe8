"""Settings, tasks and outcomes of conversions: plain values that can be sent to other processes and stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

NO_ANIMATIONS = "none"
ANIMATIONS_BESIDE = "same"


@dataclass(frozen=True)
class Settings:
    """How files are converted.

    Attributes:
        format: one of `formats.FORMATS`.
        animations: 'none', 'same' for the animations next to each model, or the path of another folder.
        scale: factor for all lengths; None for that of the file, in a .blend that of the import.
        use_textures: load images for materials.
        game: the identifier of the game to export for; empty for formats without games.
        game_folders: where to search for images.
        verify: the frames on which exports are compared with Blender: 'SOME', 'ALL' or 'NONE'.
        game_data: the folders and archives of the game whose characters are converted; empty for a conversion of files.
        deform_only: leave out bones that do not deform.
        add_origin: add a root joint where a game needs one.
        max_influences: the number of weights to keep for each vertex; 0 for all.
    """

    format: str = "blend"
    animations: str = NO_ANIMATIONS
    scale: float | None = None
    use_textures: bool = True
    game: str = ""
    game_folders: tuple[str, ...] = ()
    verify: str = "SOME"
    game_data: tuple[str, ...] = ()
    deform_only: bool = False
    add_origin: bool = False
    max_influences: int = 0

    def animation_folder(self, source: Path) -> Path | None:
        """The folder with the animations of a model; None if animations are not converted."""
        if self.animations == NO_ANIMATIONS:
            return None
        return source.parent if self.animations == ANIMATIONS_BESIDE else Path(self.animations)

    def to_json(self) -> dict[str, Any]:
        """The values that `from_json` takes, as JSON can hold them."""
        return {
            **asdict(self),
            "game_folders": list(self.game_folders),
            "game_data": list(self.game_data),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Settings:
        """The settings that `to_json` was called on."""
        folders = {key: tuple(values[key]) for key in ("game_folders", "game_data")}
        return cls(**{**values, **folders})


@dataclass(frozen=True)
class Task:
    """One file to convert.

    Attributes:
        source: the file.
        target: the output file; animations may be written next to it.
        name: for messages: the path as the user gave it.
        prefix: of the file names of animations next to the target.
        is_forced: whether files that are not results of earlier runs may be replaced.
        character: the name of the character to convert, which is in no file of its own; empty for a file. The source is
            the game then.
        kind: what the character is in the list of the game.
    """

    source: Path
    target: Path
    name: str
    prefix: str = ""
    is_forced: bool = False
    character: str = ""
    kind: str = ""

    def to_json(self) -> dict[str, Any]:
        """The values that `from_json` takes, as JSON can hold them."""
        return {**asdict(self), "source": str(self.source), "target": str(self.target)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Task:
        """The task that `to_json` was called on."""
        return cls(**{**values, "source": Path(values["source"]), "target": Path(values["target"])})


CONVERTED, UP_TO_DATE, FAILED = "converted", "up to date", "failed"


@dataclass
class Outcome:
    """The outcome of a task.

    Attributes:
        status: one of the three above.
        reason: why it failed.
        warnings: of the import and the export.
        seconds: how long it took.
        exporter_seconds: how much of that one of Blender's own exporters took.
    """

    status: str
    reason: str = ""
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    exporter_seconds: float = 0.0
