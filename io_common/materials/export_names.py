"""The names of materials in exported files: the reverse of `library`.

The first of these that applies is the shader of an MD5 mesh, or the skin of an MD2 model:

1. of an imported material that was renamed: its new name;
2. of an imported material that shows another image now: the path of that image, if the name in the file was the path of
   the image found by the import, as it always is for a skin. A shader that is a declaration is kept, with a warning;
3. of an imported material: the name in the file;
4. the path of its colour image, relative to the game folder, for a skin with the extension;
5. the name of the material.

The game folder is the one found by the import, else one in the preferences, else the outermost one that the path of the
image suggests.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import bpy

from ..game_tree.folders import export_name
from ..game_tree.names import fold, without_image_extension
from ..scene import stored_values
from . import images, source
from .shading import principled_of

if TYPE_CHECKING:
    from bpy.types import Image, Material

    from ..reports import Report


def name_for_file(
    material: Material, family: source.Family, game_folders: Sequence[str], report: Report | None = None
) -> str:
    """The name that the files of a family have for a material; for the rules see the docstring of the module.

    `game_folders` are the user's, in order. Warns if the material shows another image and keeps its shader.
    """
    image = colour_image(material)
    file = images.source_of(image) if image is not None else ""
    path = (
        _path_in_game(material, file, game_folders, with_extension=family.names_are_images) if file else None
    )
    stored = source.read_name(material, family)
    if stored is None or not stored_values.is_quotable(stored):
        return path or material.name
    if source.is_renamed(material, family):
        return material.name
    if not _is_replaced(material, family, file):
        return stored
    if family.names_are_images or _is_path_of(material, family, stored, game_folders):
        return path or material.name
    if report is not None:
        report.warn(
            f"the image is now {path or _base_name(file)}, but the shader {stored} is a declaration of the game and "
            "was kept: rename the material to use another shader",
            material.name,
            is_important=True,
        )
    return stored


def _is_path_of(material: Material, family: source.Family, name: str, game_folders: Sequence[str]) -> bool:
    """Whether the shader of a material is the path of the image that was found for it."""
    before = source.read_image(material, family)
    path = _path_in_game(material, before, game_folders, with_extension=False) if before else None
    return path is not None and fold(path) == fold(without_image_extension(name.replace("\\", "/")))


def _is_replaced(material: Material, family: source.Family, file: str) -> bool:
    """Whether a material shows another image than the one that was found; the file may have moved."""
    before = source.read_image(material, family)
    return bool(before and file) and _base_name(before or "") != _base_name(file)


def _base_name(path: str) -> str:
    return fold(path).rpartition("/")[2]


def _path_in_game(
    material: Material, file: str, game_folders: Sequence[str], *, with_extension: bool
) -> str | None:
    inside = images.name_in_archive(file)
    if inside is None:
        # The game folders that imports found: first that of the material.
        found = [source.read_game_folder(one) for one in (material, *bpy.data.materials)]
        for folder in dict.fromkeys(found):
            if folder and Path(file).is_relative_to(folder):
                return export_name(file, [folder], with_extension=with_extension)
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
