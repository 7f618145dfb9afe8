"""Materials for the shaders and skins that models name, reused across imports; and their names in exported files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import bpy
from bpy.types import Image, Material

from ...io_common import names
from ...io_common.game_tree.archives import ARCHIVE_EXTENSIONS
from ...io_common.game_tree.files import GameFile
from ...io_common.game_tree.folders import export_name
from ...io_common.textures.conventions import MaterialImages
from .. import versions
from ..records import MaterialRecord, is_named_by_import, is_quotable, material_records, read_game_folder
from ..reports import Report
from . import images
from .shading import build_nodes, principled_of, reset_nodes

_NEUTRAL_COLOR = (0.8, 0.8, 0.8, 1.0)  # Blender's color of a surface without a material

# Of a skin and of its frame, at the end of the names of images in the re-release of Quake.
_SKIN_NUMBERS = re.compile(r"_\d\d_\d\d")
_MEMBER = re.compile(f"(?:{'|'.join(map(re.escape, ARCHIVE_EXTENSIONS))})/", re.IGNORECASE)


class MaterialLibrary:
    """Finds or makes the materials of one import; `find_palette` returns Quake's palette for LMP images."""

    def __init__(self, record: MaterialRecord, find_palette: Callable[[], GameFile | None] = lambda: None) -> None:
        self._record = record
        self._store = images.ImageStore(record, find_palette)
        self._known: dict[str, list[Material]] | None = None
        self._made: list[Material] = []
        self._missing: list[str] = []
        self._warnings: list[str] = []

    def get(self, name: str, fallback: str, found: MaterialImages | None = None, model: str = "") -> Material:
        """The material of a shader or skin, reused or new; `fallback` is for a name that is empty."""
        if self._known is None:
            self._known = {}
            for material in bpy.data.materials:
                known = self._record.name.read(material) if material.library is None else None
                if known is not None:
                    self._known.setdefault(known, []).append(material)
        same_name = self._known.setdefault(name, [])
        for material in same_name:
            if _is_usable(material, self._record, name, found):
                if found is not None and (self._record.image.read(material) or "") == _identity(found):
                    self._store_missing(material, found)
                return material
        material = self._make(name, fallback, found)
        if model:
            self._record.model.write(material, model)
        same_name.append(material)
        return material

    def skins(self, found: Iterable[MaterialImages], fallback: str, model: str = "") -> list[Material]:
        """The materials of `ModelSearch.skins()` in its order, twice for a skin that is listed twice."""
        return [self.get(skin.name, fallback, skin, model) for skin in found]

    def rebuild(self, material: Material, found: MaterialImages) -> None:
        """Rebuilds the nodes of a local material."""
        versions.enable_nodes(material)
        reset_nodes(material)
        self._fill(material, found)

    def add_to_report(self, report: Report, search_warnings: Sequence[str] = ()) -> None:
        """Adds counts, the names of missing images, and warnings."""
        report.count("materials", len(self._made))
        report.count("images", self._store.loaded)
        report.add_missing_images(map(file_name, self._missing))
        for text in (*self._warnings, *search_warnings):
            report.warn(text)

    def _make(self, name: str, fallback: str, found: MaterialImages | None) -> Material:
        material = bpy.data.materials.new(names.for_blender(name, versions.MAX_ID_NAME, fallback))
        versions.enable_nodes(material)
        material.diffuse_color = _NEUTRAL_COLOR
        self._record.name.store(material, name, material.name)
        if found is not None:
            self._fill(material, found)
        self._made.append(material)
        return material

    def _fill(self, material: Material, found: MaterialImages) -> None:
        self._record.image.write(material, _identity(found))
        self._record.game_folder.write(material, found.game_folder or None)
        self._store_missing(material, found)
        build_nodes(material, found, self._store, self._warnings)

    def _store_missing(self, material: Material, found: MaterialImages) -> None:
        missing = [names.short(raw) for raw in found.missing.values() if raw]
        self._record.missing.write(material, "\n".join(missing) or None)
        self._record.looked_in.write(material, "\n".join(map(names.short, found.looked_in)) if missing else None)
        self._missing += missing


def _identity(found: MaterialImages) -> str:
    return str(found.diffuse) if found.diffuse is not None else ""


def _is_usable(material: Material, record: MaterialRecord, name: str, found: MaterialImages | None) -> bool:
    """Whether a material with this name can be reused: it shows the same image, as far as that is known."""
    image = record.image.read(material)
    if found is None or image is None:
        return True
    identity = _identity(found)
    if not identity and names.clean_name(name).folder:
        return True
    return os.path.normcase(image) == os.path.normcase(identity)


def missing_images(material: Material) -> tuple[MaterialRecord, list[str]] | None:
    """The names of images that an import did not find for a material, and its record; None if nothing is missing."""
    for record in material_records:
        missing = record.missing.read(material)
        # The user may have given it an image since.
        if missing and (record.image.read(material) or color_image(material) is None):
            return record, missing.split("\n")
    return None


def file_name(path: str) -> str:
    """The last part of the path of an image, as messages show it."""
    return path.replace("\\", "/").rpartition("/")[2] or path


def name_for_file(
    material: Material, record: MaterialRecord, game_folders: Sequence[str], report: Report | None = None
) -> str:
    """The name that files have for a material: as imported, the path of its image, or one that the user chose."""
    # `game_folders` are the user's. Warns if the material shows another image and keeps its shader.
    image = color_image(material)
    file = images.source_of(image) if image is not None else ""
    stored, before = record.name.read(material), record.image.read(material)
    if stored is None or not is_quotable(stored):
        path = _path_in_game(material, file, game_folders, with_extension=record.names_are_images) if file else None
        return path if path and not _is_name_in_game(material, record, path) else material.name
    if record.is_renamed(material):
        return material.name
    # The file may have moved.
    if not before or not file or _base_name(before) == _base_name(file):
        return stored
    path = _path_in_game(material, file, game_folders, with_extension=record.names_are_images)
    old_path = _path_in_game(material, before, game_folders, with_extension=False)
    is_path = old_path is not None and names.fold(old_path) == names.without_image_extension(names.fold(stored))
    if record.names_are_images or is_path:
        return path or material.name
    if report is not None:
        text = (
            f"the image is now {path or _base_name(file)}, but the shader {stored} is a declaration of the game and "
            "was kept: rename the material to use another shader"
        )
        report.warn(text, material.name, is_important=True)
    return stored


def _is_name_in_game(material: Material, record: MaterialRecord, path: str) -> bool:
    """Whether the user has named a material as the game knows it, other than by the path of its image."""
    name = material.name
    if is_named_by_import(material) or names.without_copy_suffix(name) != name:
        return False
    if "/" not in name:
        # The re-release of Quake adds the folder and the numbers of the skin and its frame.
        numbers = _base_name(path).removeprefix(names.fold(name))
        return not record.names_are_images and bool(_SKIN_NUMBERS.fullmatch(numbers))
    if record.names_are_images:
        return names.fold(name) != names.without_image_extension(names.fold(path))
    return not names.has_image_extension(name)


def _base_name(path: str) -> str:
    return names.fold(path).rpartition("/")[2]


def _path_in_game(material: Material, file: str, game_folders: Sequence[str], *, with_extension: bool) -> str | None:
    in_archive = _MEMBER.split(file.replace("\\", "/"), maxsplit=1)[1:]
    if not in_archive:
        # The game folders that imports found: first that of the material.
        found = dict.fromkeys(read_game_folder(one) for one in (material, *bpy.data.materials))
        holding = [folder for folder in found if folder and Path(file).is_relative_to(folder)]
        return export_name(file, holding[:1] or game_folders, with_extension=with_extension)
    path = PurePosixPath(in_archive[0])
    if path.parts[0].lower() == "dds":
        path = path.relative_to(path.parts[0])
    return str(path if with_extension else path.with_suffix(""))


def color_image(material: Material) -> Image | None:
    """The image of a material: one linked to Base Color, else that of the active or first image node."""
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
    return next((node.image for node in nodes if node is not None and node.type == "TEX_IMAGE" and node.image), None)


def _image_behind(socket: Any) -> Image | None:
    nodes = [link.from_node for link in socket.links]
    for node in nodes:
        if node.type == "TEX_IMAGE" and node.image is not None:
            return node.image
        behind = [link.from_node for entry in node.inputs for link in entry.links]
        nodes += [one for one in behind if one not in nodes]
    return None
