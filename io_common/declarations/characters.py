"""A game's character: models with named animations, skins and attachments, whatever the game declares them with.

Paths are game paths: relative to the game folder, with forward slashes, as declared. Rotations are in degrees.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

DOOM3, QUAKE2, QUAKE3, SAUERBRATEN = "DOOM3", "QUAKE2", "QUAKE3", "SAUERBRATEN"
"""Values of `Character.game`: whose declarations the character comes from."""
MD3_SUFFIX = ".md3"
IQM_SUFFIX = ".iqm"
MODEL_SUFFIXES = (".md5mesh", ".md2", MD3_SUFFIX, IQM_SUFFIX)  # of models that can be imported
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class FrameCommand:
    """What a game does on a frame, counted from 1: the command as written, such as `sound_body imp_step`."""

    frame: int
    text: str


@dataclass(frozen=True)
class CharacterAnimation:
    """An animation under the name that the game has for it."""

    name: str
    # Several are equally long and blended in step. Of an IQM, `FILE:NAME` is one of its animations.
    files: tuple[str, ...] = ()
    rate: float | None = None  # frames a second; None for that of the files
    commands: tuple[FrameCommand, ...] = ()
    flags: tuple[str, ...] = ()  # words such as `ai_no_turn`
    frames: tuple[int, int] | None = None  # first frame, from 0, and number of frames, in a model whose file holds all
    priority: int = 0  # which of two animations at once wins, in Sauerbraten
    joints: str = ""  # that it moves with all below them, in Sauerbraten; empty for the whole skeleton
    replacement: str = ""  # the animation that the game plays in its place; empty for itself


@dataclass(frozen=True)
class CharacterSkin:
    """A variant of materials (of an MD2, of images): pairs of one and its replacement; `*` is all others."""

    name: str
    replacements: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class MeshTextures:
    """The images that a declaration gives a mesh, or with `*` all others; None where it gives none."""

    mesh: str
    image: str | None = None
    masks: str | None = None  # the strengths of specular reflection, glow and environment
    bump: str | None = None  # the normal map
    strengths: tuple[float, ...] = ()  # of reflections, in Sauerbraten the most and the least


@dataclass(frozen=True)
class JointAdjustment:
    """How a joint is turned and moved in animations, replacing earlier adjustments of it."""

    joint: str
    rotation: Vector = (0.0, 0.0, 0.0)  # yaw, pitch and roll
    translation: Vector = (0.0, 0.0, 0.0)  # in quarters of a unit of the file, y to the other side
    first_animation: int = 0  # index of the first that is changed


@dataclass(frozen=True)
class Tag:
    """A place on a joint that other parts hang on."""

    name: str
    joint: str
    rotation: Vector = (0.0, 0.0, 0.0)  # around x, y and z
    translation: Vector = (0.0, 0.0, 0.0)  # in units of the file, y to the other side


@dataclass(frozen=True)
class Attachment:
    """Where a part hangs on another part."""

    parent: int  # index in `Character.parts`, smaller than the part's own
    joint: str = ""  # the joint or tag; empty if the part only moves in step with the other one
    rotation: Vector = (0.0, 0.0, 0.0)  # yaw, pitch and roll
    translation: Vector = (0.0, 0.0, 0.0)  # in units of the file
    part_rotation: Vector = (0.0, 0.0, 0.0)  # of the part itself, in the place that the others give
    part_translation: Vector = (0.0, 0.0, 0.0)
    # The part has the other model's axes in the pose of attaching, not the joint's, as heads in Doom 3.
    keeps_axes: bool = False
    along_model: bool = False  # the translation is along the other model's axes in that pose
    # Name of the attached entity, which an export changes; empty for a model.
    entity: str = field(default="", compare=False)


@dataclass(frozen=True)
class CharacterPart:
    """A model of a character."""

    name: str
    model: str  # `.md5mesh`, `.iqm`, `.md2` or `.md3`; of an attachment also something else, or empty
    animations: tuple[CharacterAnimation, ...] = ()
    skins: tuple[CharacterSkin, ...] = ()
    default_skin: str | None = None  # that the game shows; None for the model's own materials
    textures: tuple[MeshTextures, ...] = ()
    offset: Vector = (0.0, 0.0, 0.0)  # of every root joint, in units of the file
    scale: float = 1.0
    channels: tuple[tuple[str, str], ...] = ()  # a name and its joints as written, such as `*Waist -*lleg`
    adjustments: tuple[JointAdjustment, ...] = ()
    attachment: Attachment | None = None  # None for the first part
    declaration: str | None = None  # name of the model declaration; None if there is none
    tags: tuple[Tag, ...] = ()
    skeleton: str = ""  # name by which models share one, in Sauerbraten; empty for its own
    settings: tuple[tuple[str, ...], ...] = ()  # other commands as words: `("md5spec", "Head", "60")`

    @property
    def is_model(self) -> bool:
        """Whether it can be imported: not a light, a particle or a model of another format."""
        return self.model.lower().endswith(MODEL_SUFFIXES)

    @property
    def is_md3(self) -> bool:
        """Whether it is imported with all of its family, not as a part on a joint."""
        return self.model.lower().endswith(MD3_SUFFIX)


@dataclass(frozen=True)
class SourceLine:
    """Where a character is declared: the game path of the file, and the line, counted from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Character:
    """A character: its parts, the first of which carries the others."""

    name: str
    game: str  # `DOOM3`, `QUAKE2`, `QUAKE3` or `SAUERBRATEN`
    parts: tuple[CharacterPart, ...] = ()  # empty if even the first model is missing
    missing: tuple[str, ...] = ()  # game paths or `skin NAME`, each once, sorted
    declaration: SourceLine | None = None
    warnings: tuple[str, ...] = ()  # oddities of the declarations, each with its file and line


def without_animations(part: CharacterPart, deleted: Collection[tuple[str, str]]) -> CharacterPart:
    """A part without some animations, given by their names and the files, in lower case, that they play."""
    names, kept, first_of = {name for name, _ in deleted}, [], [0]
    for animation in part.animations:
        files = tuple(file for file in animation.files if (animation.name, file.lower()) not in deleted)
        # What plays frames of the model, or another animation, names no file of its own.
        has_files = bool(animation.files) and not animation.replacement
        if files if has_files else animation.name not in names:
            kept.append(replace(animation, files=files))
        first_of.append(len(kept))
    adjustments = tuple(
        replace(one, first_animation=first_of[min(one.first_animation, len(part.animations))])
        for one in part.adjustments
    )
    return replace(part, animations=tuple(kept), adjustments=adjustments)


def with_animations(part: CharacterPart, new: Sequence[CharacterAnimation]) -> CharacterPart:
    """A part with more animations, before groups that move some joints alone, which Sauerbraten has no end of."""
    animations = list(part.animations)
    place = next((index for index, one in enumerate(animations) if one.joints), len(animations))
    animations[place:place] = new
    adjustments = tuple(
        replace(one, first_animation=one.first_animation + len(new)) if one.first_animation > place else one
        for one in part.adjustments
    )
    return replace(part, animations=tuple(animations), adjustments=adjustments)
