"""Stored on materials and images: what files call them, and which files they were made of.

It lies in the property group of the family, such as ``md5``, where imports store everything:

=========  ============================================================================================
material   ``shader``, or what the family calls it: the name in the file; ``shader_shown``: what Blender called the
           material; ``image``: the file that was found for it, empty if there was none; ``game_folder``: the game
           folder that this file is in; ``model``: the file of the model
image      ``file``: where it came from, if it was packed
=========  ============================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import stored_values
from ..scene import names

if TYPE_CHECKING:
    from bpy.types import Image, Material

_IMAGE = "image"
_FILE = "file"
_GAME_FOLDER = "game_folder"
_MODEL = "model"


@dataclass(frozen=True)
class Family:
    """A family of files.

    Attributes:
        group: the name of its property group, which is that of the family.
        name: what it calls the name of a material.
        names_are_images: whether such a name is the path of an image with its extension.
    """

    group: str
    name: str
    names_are_images: bool = False


_groups: list[str] = []


def set_groups(names: Iterable[str]) -> None:
    """Sets the property groups in which `read_file` looks: those of all families."""
    _groups[:] = names


def store_name(material: Material, family: Family, name: str, image: str | None) -> None:
    """Stores what a file calls a new material, which already has its final name in Blender.

    `image` is the file of its colours, empty if none was found; None if none was looked for.
    """
    material[family.group] = {}
    group = material[family.group]
    names.store_text(group, family.name, name)
    group[family.name + "_shown"] = material.name
    if image is not None:
        names.store_text(group, _IMAGE, image)


def read_name(material: Material, family: Family) -> str | None:
    """What a file calls a material, whatever characters it has; None if it was not imported."""
    return _text(stored_values.read_group(material, family.group), family.name)


def is_renamed(material: Material, family: Family) -> bool:
    """Whether a material that has a name of the file was renamed since."""
    group = stored_values.read_group(material, family.group)
    return names.load_name(group, family.name, material.name) != read_name(material, family)


def read_image(material: Material, family: Family) -> str | None:
    """The file that was found for a material, empty if there was none; None if none was looked for."""
    return _text(stored_values.read_group(material, family.group), _IMAGE)


def change_name(material: Material, family: Family, name: str) -> None:
    """Stores another name for the files; an empty one stands for the name of the material."""
    names.change_name(stored_values.own_group(material, family.group), family.name, name, material.name)


def change_image(material: Material, family: Family, image: str, game_folder: str) -> None:
    """Stores the file that was found for a material now, and its game folder; both may be empty."""
    group = stored_values.own_group(material, family.group)
    for key, text in ((_IMAGE, image), (_GAME_FOLDER, game_folder)):
        names.store_text(group, key, text)


def store_model(material: Material, family: Family, model: str) -> None:
    """Stores the file of the model for which a material with a stored name was made."""
    names.store_text(material[family.group], _MODEL, model)


def read_model(material: Material, family: Family) -> str:
    """The file of the model for which a material was made; empty if unknown."""
    return stored_values.read_text(stored_values.read_group(material, family.group), _MODEL) or ""


def store_game_folder(material: Material, family: Family, folder: str) -> None:
    """Stores the game folder of the image that was found for a material with a stored name."""
    names.store_text(material[family.group], _GAME_FOLDER, folder)


def read_game_folder(material: Material) -> str:
    """The game folder of the image that was found for a material; empty if there is none."""
    found = (_text(stored_values.read_group(material, group), _GAME_FOLDER) for group in _groups)
    return next((folder for folder in found if folder), "")


def store_file(image: Image, family: Family, file: str) -> None:
    """Stores where a new image came from."""
    image[family.group] = {}
    names.store_text(image[family.group], _FILE, file)


def read_file(image: Image) -> str:
    """Where an image came from; empty if it was not packed by an import."""
    found = (_text(stored_values.read_group(image, group), _FILE) for group in _groups)
    return next((file for file in found if file), "")


def _text(group: Any, key: str) -> str | None:
    """A text as `names.store_text` stored it."""
    return names.load_text(group, key) if isinstance(group.get(key), str | bytes) else None
