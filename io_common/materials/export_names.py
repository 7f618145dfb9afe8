"""The names under which files mention materials: the way back of `materials`."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ..operators import preferences
from ..scene import names, stored_values
from ..textures.export_names import export_name
from ..textures.names import fold
from . import images
from .library import FOUND, SHADER, SKIN
from .shading import principled_of

if TYPE_CHECKING:
    from bpy.types import Image, Material


def shader_name(material: Material) -> str:
    """The shader that an MD5 mesh names for a material.

    In this order: the name it had in the file, unless the material was renamed; what it was renamed to, if that is a
    path; the path of its image of colours, relative to the game folder and without extension; the material's name.
    """
    return _name_for_file(material, SHADER, with_extension=False)


def skin_name(material: Material) -> str:
    """The skin that an MD2 model names for a material: as `shader_name`, with the image's extension.

    A skin is nothing but an image: if another was put in its place, the name it had in the file counts no more.
    """
    return _name_for_file(material, SKIN, with_extension=True)


def _name_for_file(material: Material, key: str, *, with_extension: bool) -> str:
    image = colour_image(material)
    source = images.source_of(image) if image is not None else ""
    kept = stored_values.read_text(material, key)
    if kept is not None:
        is_renamed = names.original(material, key, material.name) != kept
        if not is_renamed and not (with_extension and _is_replaced(material, key, source)):
            return kept
        if is_renamed and "/" in material.name:
            return material.name
    return (_path_in_game(source, with_extension=with_extension) if source else None) or material.name


def _is_replaced(material: Material, key: str, source: str) -> bool:
    """Whether a material shows another image than the one that was found; the same one may have moved."""
    before = names.kept_text(material, key + FOUND)
    return bool(before and source) and _base_name(before) != _base_name(source)


def _base_name(path: str) -> str:
    return fold(path).rpartition("/")[2]


def _path_in_game(source: str, *, with_extension: bool) -> str | None:
    inside = images.name_in_archive(source)
    if inside is None:
        return export_name(source, preferences.game_folders(), with_extension=with_extension)
    path = PurePosixPath(inside)
    if path.parts[0].lower() == "dds":
        path = path.relative_to(path.parts[0])
    return str(path if with_extension else path.with_suffix(""))


def colour_image(material: Material) -> Image | None:
    """The image that gives a material its colours: what leads to Base Color, else the active or first image node."""
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
    """The first image that links lead back to from an input."""
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
