"""Materials for the shaders and skins that models name, reused across imports.

Each shader or skin name gets one material in a .blend file. An existing material is reused if it was made by hand, or
for the image file that was found now. One that was made for another image stays as it is, and a second one is made:
`default` and the empty name are common in unrelated models. If no image is found now, a name with a folder in it is
reused.

What is stored on materials for that is described in `source`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import bpy

from ..game_tree.files import GameFile
from ..game_tree.names import clean_name, short
from ..reports import Report
from ..scene import names, versions
from ..textures.material_images import MaterialImages
from . import source
from .images import ImageStore
from .shading import build_nodes, reset_nodes

if TYPE_CHECKING:
    from bpy.types import Material

# Blender's colour of a surface without a material.
_NEUTRAL_COLOUR = (0.8, 0.8, 0.8, 1.0)


class MaterialLibrary:
    """Finds or makes the materials of one import.

    `find_palette` returns Quake's palette for LMP images; None if it is not found.
    """

    def __init__(
        self, family: source.Family, find_palette: Callable[[], GameFile | None] = lambda: None
    ) -> None:
        self._family = family
        self._store = ImageStore(family, find_palette)
        self._known: dict[str, list[Material]] | None = None
        self._made: list[Material] = []
        self._missing: dict[str, MaterialImages] = {}
        self._warnings: list[str] = []

    def get(self, name: str, fallback: str, found: MaterialImages | None = None, model: str = "") -> Material:
        """The material of a shader or skin: one of this .blend file with the name, else a new one.

        `name` is as in the file; if it is empty, `fallback` is the name in Blender. Textures are left out if `found` is
        None. `model` is the file of the model.
        """
        if self._known is None:
            self._known = {}
            for material in bpy.data.materials:
                known = source.read_name(material, self._family) if material.library is None else None
                if known is not None:
                    self._known.setdefault(known, []).append(material)
        if found is not None and found.missing:
            self._missing.setdefault(name, found)
        same_name = self._known.setdefault(name, [])
        for material in same_name:
            if _is_usable(material, self._family, name, found):
                return material
        material = self._make(name, fallback, found)
        if model:
            source.store_model(material, self._family, model)
        same_name.append(material)
        return material

    def skins(self, found: Iterable[MaterialImages], fallback: str, model: str = "") -> list[Material]:
        """The materials of a model's skins, one for each of `ModelSearch.skins()` in its order.

        A skin that the file lists twice is returned twice, as the same material. Their own names are the materials'
        names; `fallback` is that of the material of a skin without a name. `model` is the file of the model.
        """
        return [self.get(skin.name, fallback, skin, model) for skin in found]

    def rebuild(self, material: Material, found: MaterialImages) -> None:
        """Builds the nodes of a local material anew; the old ones are removed."""
        if found.missing:
            self._missing.setdefault(found.name, found)
        versions.enable_nodes(material)
        reset_nodes(material)
        source.change_image(material, self._family, _identity(found), found.game_folder)
        build_nodes(material, found, self._store, self._warnings)

    @property
    def missing_images(self) -> list[str]:
        """The names of images that were not found, each once."""
        names = [raw for found in self._missing.values() for raw in found.missing.values() if raw]
        return list(dict.fromkeys(names))

    def add_to_report(
        self, report: Report, search_warnings: Sequence[str] = (), *, names_missing: bool = True
    ) -> None:
        """Adds the counts of materials and images, and one warning for all images that were not found.

        `search_warnings` are `Search.warnings`. Without `names_missing`, that warning is left out, and the caller tells
        of `missing_images`.
        """
        report.count("materials", len(self._made))
        report.count("images", self._store.loaded)
        if not names_missing:
            self._missing.clear()
        lines = [line for name, found in self._missing.items() if (line := _describe_missing(name, found))]
        if lines:
            report.warn(f"Images not found: {'; '.join(lines)}")
        for text in (*self._warnings, *search_warnings):
            report.warn(text)

    def _make(self, name: str, fallback: str, found: MaterialImages | None) -> Material:
        material = bpy.data.materials.new(names.for_blender(name, versions.MAX_ID_NAME, fallback))
        versions.enable_nodes(material)
        material.diffuse_color = _NEUTRAL_COLOUR
        source.store_name(material, self._family, name, _identity(found) if found is not None else None)
        if found is not None and found.game_folder:
            source.store_game_folder(material, self._family, found.game_folder)
        if found is not None:
            build_nodes(material, found, self._store, self._warnings)
        self._made.append(material)
        return material


def _identity(found: MaterialImages) -> str:
    return str(found.diffuse) if found.diffuse is not None else ""


def _is_usable(material: Material, family: source.Family, name: str, found: MaterialImages | None) -> bool:
    """Whether a material with this name can be reused; see the docstring of the module."""
    image = source.read_image(material, family)
    if found is None or image is None:
        return True
    identity = _identity(found)
    if not identity and clean_name(name).folder:
        return True
    return os.path.normcase(image) == os.path.normcase(identity)


def _describe_missing(name: str, found: MaterialImages) -> str:
    """What was not found for a shader or skin, and where it was searched; empty if it names no image."""
    wanted = [
        short(raw) if raw == name else f"{short(name)}: {short(raw)} ({role})"
        for role, raw in found.missing.items()
        if raw
    ]
    if not wanted:
        return ""
    searched = ", ".join(map(short, found.looked_in))
    return ", ".join(wanted) + (f" (looked for {searched})" if searched else "")
