"""What an import stores: the file on the parent of the surfaces, and on each mesh and tag which of them it is.
Values that are loaded are valid, but may be outdated: export uses them only where they reproduce what Blender shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..io_blender.records import Bytes, ConversionField, Integer, Json, MaterialRecord, SourceFrames, Text, Texts
from .format import Md3Error, Model, parse_model
from .format.sequences import Sequence

if TYPE_CHECKING:
    from bpy.types import Object


GROUP = "md3"  # the name of the property group

SHADERS = MaterialRecord(GROUP, "shader", names_are_images=True)
"""What is stored on materials: the shader is the path of an image, or a name of the game."""

VERTEX = "md3_vertex"
"""The attribute with the vertex of the file that each vertex is, if they were not merged."""

CORNER_VERTEX = "md3_corner_vertex"
"""The attribute with the vertex of the file that each corner of a face is."""


@dataclass(frozen=True)
class _Sequences:
    found: tuple[Sequence, ...] = ()  # of a model, in its own frames


@dataclass(frozen=True)
class PlayerFiles:
    """What an import found of a part of a player: its name, that of the player, and the texts beside it by file."""

    part: str = ""
    name: str = ""
    texts: tuple[tuple[str, str], ...] = ()  # as Latin-1, so that all bytes come back


FOOTSTEPS = ("default", "normal", "boot", "flesh", "mech", "energy")
"""The words of the game for the sounds of steps."""


@dataclass(frozen=True)
class PlayerSettings:
    """What users set for a player: his name, what `animation.cfg` says before its table, and the names of his skins."""

    name: str = "player"
    sex: str = "m"
    footsteps: str = "normal"
    head_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    skins: str = "default"

    @property
    def skin_names(self) -> list[str]:
        """The names of the skins one by one."""
        return self.skins.replace(",", " ").split()


# On the parent, or the collection of the legs.
PLAYER_SETTINGS = Json(GROUP, "player_settings", PlayerSettings)

# On the parent.
PLAYER = Json(GROUP, "player", PlayerFiles)
_SEQUENCES = Json(GROUP, "sequences", _Sequences)
_FILE = Bytes(GROUP, "file", "u1")
_FRAME_START = Integer(GROUP, "frame_start", lowest=-(2**31))
_KEY_NAMES = Texts(GROUP, "key_names")
CONVERSION = ConversionField(GROUP)

# On what holds tags: the name of its slots, which copies keep.
SLOT = Text(GROUP, "slot", is_quoted=False)

# On meshes and tags.
NUMBER = Integer(GROUP, "number")
MATERIAL_NAMES = Texts(GROUP, "material_names")
# Of corners after the import, in the axes of the file, where they are others than those of the file.
SHOWN_NORMALS = Bytes(GROUP, "shown_normals", "u1", 2)

SAME_NORMAL = math.cos(math.radians(2.5))
"""The cosine of the angle that a step of the file and Blender's custom normals may be off."""


@dataclass(frozen=True, eq=False)
class StoredModel(SourceFrames):
    """A model as it was imported."""

    model: Model


def store_model(
    root: Object, data: bytes, key_names: list[str], frame_start: int, sequences: tuple[Sequence, ...]
) -> None:
    """Stores the bytes of a file on the parent of what was made of it."""
    _FILE.write(root, np.frombuffer(data, np.uint8))
    _KEY_NAMES.write(root, key_names)
    _FRAME_START.write(root, frame_start)
    _SEQUENCES.write(root, _Sequences(sequences))


def load_model(root: Object | None) -> StoredModel | None:
    """The stored model of a parent; None if there is none, or it is not valid."""
    data = _FILE.read(root) if root is not None else None
    frames = load_frames(root)
    if data is None or frames is None:
        return None
    try:
        model = parse_model(data.tobytes(), preserve=True)
    except Md3Error:
        return None
    if len(frames.key_names) not in (0, model.frame_count):
        return None
    return StoredModel(model.frame_names, frames.key_names, frames.frame_start, frames.sequence_names, model)


def load_frames(root: Object | None) -> SourceFrames | None:
    """The frames of a parent, without reading the file: their names are those of the shape keys."""
    start, names = (_FRAME_START.read(root), _KEY_NAMES.read(root)) if root is not None else (None, None)
    if start is None or names is None:
        return None
    return SourceFrames(names, names, start, [one.name for one in load_sequences(root)])


def load_sequences(root: Object | None) -> tuple[Sequence, ...]:
    """The sequences that are stored on a parent."""
    found = _SEQUENCES.read(root) if root is not None else None
    return found.found if found is not None else ()


def with_parents(obj: Object | None) -> Iterator[Object]:
    """An object and its parents, the nearest first."""
    while obj is not None:
        yield obj
        obj = obj.parent


def has_file(obj: Object) -> bool:
    """Whether a file is stored on an object."""
    return _FILE.is_stored(obj)


def root_of(obj: Object | None) -> Object | None:
    """The parent that an imported file is stored on, of a mesh, a tag or itself."""
    return next(filter(has_file, with_parents(obj)), None)
