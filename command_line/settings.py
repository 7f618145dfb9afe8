"""How files are converted, and what becomes of them: plain values, which other processes and records can hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

NO_ANIMATIONS = "none"
ANIMATIONS_BESIDE = "folder"


@dataclass(frozen=True)
class Settings:
    """How files are converted.

    Attributes:
        format: one of `formats.FORMATS`.
        animations: 'none', 'folder' for those beside a model, or the path of another folder.
        scale: factor of all lengths.
        use_textures: give materials their images.
        game: the name of the game that files are exported for; nothing for those of the preferences.
        game_folders: where images are looked for.
        verify: on which frames exports are compared with Blender: 'SOME', 'ALL' or 'NONE'.
    """

    format: str = "blend"
    animations: str = NO_ANIMATIONS
    scale: float = 1.0
    use_textures: bool = True
    game: str = ""
    game_folders: tuple[str, ...] = ()
    verify: str = "SOME"

    def animation_folder(self, source: Path) -> Path | None:
        """Where the animations of a model are; None if none are wanted."""
        if self.animations == NO_ANIMATIONS:
            return None
        return source.parent if self.animations == ANIMATIONS_BESIDE else Path(self.animations)

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {**asdict(self), "game_folders": list(self.game_folders)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Settings:
        """Back from `plain`."""
        return cls(**{**values, "game_folders": tuple(values["game_folders"])})


@dataclass(frozen=True)
class Task:
    """One file to convert.

    Attributes:
        source: the file.
        target: the file that it becomes; others may be written beside it.
        name: what it is called in messages: its path as the user gave it.
        prefix: what the names of animations beside the target begin with.
        is_forced: whether files that are no results may be written over.
    """

    source: Path
    target: Path
    name: str
    prefix: str = ""
    is_forced: bool = False

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {**asdict(self), "source": str(self.source), "target": str(self.target)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Task:
        """Back from `plain`."""
        return cls(**{**values, "source": Path(values["source"]), "target": Path(values["target"])})


CONVERTED, UP_TO_DATE, FAILED = "converted", "up to date", "failed"


@dataclass
class Outcome:
    """What became of a task.

    Attributes:
        status: one of the three above.
        reason: why it failed.
        warnings: what was odd or left out.
        seconds: how long it took.
    """

    status: str
    reason: str = ""
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
