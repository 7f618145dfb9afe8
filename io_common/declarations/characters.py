"""A game's character: models with named animations, skins and attachments, whatever the game declares them with.

Every path is a game path: relative to the game folder, with forward slashes, as spelled in the declaration. It may lead
to a loose file or into an archive. Rotations are in degrees.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DOOM3, QUAKE2, SAUERBRATEN = "DOOM3", "QUAKE2", "SAUERBRATEN"
"""Values of `Character.game`: whose declarations the character comes from."""
MODEL_SUFFIXES = (".md5mesh", ".md2")
"""Of models that can be imported."""

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class FrameCommand:
    """What a game does on a frame, counted from 1: the command as written, such as `sound_body imp_step`."""

    frame: int
    text: str


@dataclass(frozen=True)
class CharacterAnimation:
    """An animation under the name that the game has for it.

    Attributes:
        name: as declared.
        files: its animation files; several are equally long and blended in step.
        rate: frames a second; None for that of the files.
        commands: what happens on which frame, in the order of the declaration.
        flags: words such as `ai_no_turn`.
        frames: the first frame, counted from 0, and the number of frames, of a model whose file holds all frames.
        priority: which of two animations at once wins, in Sauerbraten.
        joints: the joints that it moves with all below them, in Sauerbraten; empty for the whole skeleton.
        replacement: the animation that the game plays in its place; empty for itself.
    """

    name: str
    files: tuple[str, ...] = ()
    rate: float | None = None
    commands: tuple[FrameCommand, ...] = ()
    flags: tuple[str, ...] = ()
    frames: tuple[int, int] | None = None
    priority: int = 0
    joints: str = ""
    replacement: str = ""


@dataclass(frozen=True)
class CharacterSkin:
    """A variant of a character's materials or images, with its declared name or that of the image.

    The replacements are pairs of a material and what replaces it, for MD2 models an image; `*` stands for all others.
    """

    name: str
    replacements: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class MeshTextures:
    """The images that a declaration gives a mesh, `*` for all others; None where it gives none.

    Masks are the strengths of specular reflection, glow and environment; `bump` is the normal map. `strengths` are
    those of reflections, as declared: in Sauerbraten the most and the least of them.
    """

    mesh: str
    image: str | None = None
    masks: str | None = None
    bump: str | None = None
    strengths: tuple[float, ...] = ()


@dataclass(frozen=True)
class JointAdjustment:
    """How a joint is turned and moved in animations. A later adjustment of a joint replaces an earlier one.

    The rotation is yaw, pitch and roll, the translation in quarters of a unit of the file with y to the other side, as
    declared. `first_animation` is the index of the first animation that is changed.
    """

    joint: str
    rotation: Vector = (0.0, 0.0, 0.0)
    translation: Vector = (0.0, 0.0, 0.0)
    first_animation: int = 0


@dataclass(frozen=True)
class Tag:
    """A place on a joint that other parts hang on.

    The rotation is around x, y and z, the translation in units of the file with y to the other side, as declared.
    """

    name: str
    joint: str
    rotation: Vector = (0.0, 0.0, 0.0)
    translation: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Attachment:
    """Where a part hangs on another part.

    Attributes:
        parent: the index of the other part in `Character.parts`, which is smaller than the part's own.
        joint: the joint or tag of the other part; empty if the part only moves in step with it.
        rotation: yaw, pitch and roll.
        translation: in units of the file.
        own_rotation, own_translation: the same of the part itself, in the place that the others give.
        keeps_axes: the part has the axes of the other model, not those of the joint, while that is in the pose in which
            the game attaches parts; so have heads in Doom 3.
        along_model: the translation is along the axes of the other model, in that pose.
        entity: the name of the entity that is attached, which an export changes; empty for a model.
    """

    parent: int
    joint: str = ""
    rotation: Vector = (0.0, 0.0, 0.0)
    translation: Vector = (0.0, 0.0, 0.0)
    own_rotation: Vector = (0.0, 0.0, 0.0)
    own_translation: Vector = (0.0, 0.0, 0.0)
    keeps_axes: bool = False
    along_model: bool = False
    entity: str = field(default="", compare=False)


@dataclass(frozen=True)
class CharacterPart:
    """A model of a character.

    Attributes:
        name: of its declaration or its file.
        model: path of the `.md5mesh` or `.md2`; of an attachment also of something else, or empty.
        animations: in the order of the declaration.
        skins: the variants of its materials.
        default_skin: the name of the skin that the game shows; None if it shows the model's own materials.
        textures: images of the meshes.
        offset: added to the position of every root joint, in units of the file.
        scale: of the model; 1 for its own size.
        channels: pairs of a name and its joints as written, such as `*Waist -*lleg`.
        adjustments: of joints, in the order in which they apply.
        attachment: where the part hangs; None for the first part.
        declaration: name of the model declaration; None if there is none.
        tags: places on joints that parts hang on.
        skeleton: the name by which models share their skeleton, in Sauerbraten; empty for one of its own.
        settings: other commands of the declaration, each as its words, such as `("md5spec", "Head", "60")`.
    """

    name: str
    model: str
    animations: tuple[CharacterAnimation, ...] = ()
    skins: tuple[CharacterSkin, ...] = ()
    default_skin: str | None = None
    textures: tuple[MeshTextures, ...] = ()
    offset: Vector = (0.0, 0.0, 0.0)
    scale: float = 1.0
    channels: tuple[tuple[str, str], ...] = ()
    adjustments: tuple[JointAdjustment, ...] = ()
    attachment: Attachment | None = None
    declaration: str | None = None
    tags: tuple[Tag, ...] = ()
    skeleton: str = ""
    settings: tuple[tuple[str, ...], ...] = ()

    @property
    def is_model(self) -> bool:
        """Whether it can be imported: not a light, a particle or a model of another format."""
        return self.model.lower().endswith(MODEL_SUFFIXES)


@dataclass(frozen=True)
class SourceLine:
    """Where a character is declared: the game path of the file, and the line, counted from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Character:
    """A character: its parts, the first of which carries the others.

    Attributes:
        name: under which it is listed.
        game: whose declarations it comes from: `DOOM3`, `QUAKE2` or `SAUERBRATEN`.
        parts: the models; empty if even the first is missing.
        missing: what is named but not there, as game paths or `skin NAME`, each once, sorted.
        declaration: where it is declared; None for a model without a declaration.
        warnings: oddities of the declarations, each with its file and line.
    """

    name: str
    game: str
    parts: tuple[CharacterPart, ...] = ()
    missing: tuple[str, ...] = ()
    declaration: SourceLine | None = None
    warnings: tuple[str, ...] = ()
