"""The names of materials in exported files: the reverse of `library`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ..scene import stored_values
from ..textures.export_names import export_name
from ..textures.names import fold
from . import images, source
from .shading import principled_of

if TYPE_CHECKING:
    from bpy.types import Image, Material


def name_for_file(material: Material, family: source.Family, game_folders: Sequence[str]) -> str:
    """The name that the files of a family have for a material.

    The first of these that applies: the name in the imported file, unless the material was renamed; the new name, if
    that is a path; the path of its colour image, relative to the game folder; its name. Where a name is that of an
    image, with extension, the name in the imported file no longer applies if the material shows another image.

    Args:
        material: the material.
        family: of the file to write.
        game_folders: the user's, in order.
    """
    image = colour_image(material)
    file = images.source_of(image) if image is not None else ""
    stored = source.read_name(material, family)
    if stored is not None and stored_values.is_quotable(stored):
        is_renamed = source.is_renamed(material, family)
        if not is_renamed and not (family.names_are_images and _is_replaced(material, family, file)):
            return stored
        if is_renamed and "/" in material.name:
            return material.name
    path = _path_in_game(file, game_folders, with_extension=family.names_are_images) if file else None
    return path or material.name


def _is_replaced(material: Material, family: source.Family, file: str) -> bool:
    """Whether a material shows another image than the one that was found; the file may have moved."""
    before = source.read_image(material, family)
    return bool(before and file) and _base_name(before or "") != _base_name(file)


def _base_name(path: str) -> str:
    return fold(path).rpartition("/")[2]


def _path_in_game(file: str, game_folders: Sequence[str], *, with_extension: bool) -> str | None:
    inside = images.name_in_archive(file)
    if inside is None:
        return export_name(file, game_folders, with_extension=with_extension)
    path = PurePosixPath(inside)
    if path.parts[0].lower() == "dds":
        path = path.relative_to(path.parts[0])
    return str(path if with_extension else path.with_suffix(""))


def colour_image(material: Material) -> Image | None:
    """The colour image of a material: one linked to Base Color, else that of the active or first image node."""
    tree = material.node_tree
    if tree is None:
        return None
    shader = principled_of(material)
    start = [shader.inputs["Base Color"], shader.inputs["Emission Color"]] if shader is not None else []
    for socket in start:
        image = _image_behind(socket)
        if image is not None:
            return image
    nodes = [tree.nodes.active, *tree.nodes]
    return next(
        (node.image for node in nodes if node is not None and node.type == "TEX_IMAGE" and node.image), None
    )


def _image_behind(socket: Any) -> Image | None:
    """The first image upstream of an input."""
    waiting = [link.from_node for link in socket.links]
    seen: set[str] = set()
    while waiting:
        node = waiting.pop(0)
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.type == "TEX_IMAGE" and node.image is not None:
            return node.image
        waiting += [link.from_node for entry in node.inputs for link in entry.links]
    return None
