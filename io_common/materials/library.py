"""Materials for the shaders and skins that models name, reused across imports.

Each shader or skin name gets one material in a .blend file. An existing material is reused if it was made by hand, or
for the image file that was found now. One that was made for another image stays as it is, and a second one is made:
`default` and the empty name are common in unrelated models. If no image is found now, a name with a folder in it is
reused.

Custom properties, here for the key ``md5_shader``: the name in the file, ``md5_shader_shown`` what Blender calls the
material, ``md5_shader_image`` the file that was found for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import bpy

from ..reports import Report
from ..scene import names, versions
from ..textures.names import clean_name
from ..textures.search import MaterialImages
from .images import ImageStore
from .shading import build_nodes

if TYPE_CHECKING:
    from bpy.types import Material

SHADER = "md5_shader"
SKIN = "md2_skin"

FOUND = "_image"
"""The suffix of the custom property that holds the file."""

# Blender's colour of a surface without a material.
_NEUTRAL_COLOUR = (0.8, 0.8, 0.8, 1.0)


class MaterialLibrary:
    """Finds or makes the materials of one import.

    Args:
        key: the custom property that holds the name, `SHADER` or `SKIN`.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._store = ImageStore(key.partition("_")[0])
        self._known: dict[str, list[Material]] | None = None
        self._made: list[Material] = []
        self._missing: dict[str, MaterialImages] = {}
        self._warnings: list[str] = []

    def get(self, name: str, fallback: str, found: MaterialImages | None = None) -> Material:
        """The material of a shader or skin: one of this .blend file with the name, else a new one.

        Args:
            name: as in the file; it may be empty.
            fallback: the name in Blender if that is empty.
            found: its images; None to leave textures out.
        """
        if self._known is None:
            self._known = {}
            for material in bpy.data.materials:
                if self._key in material and material.library is None:
                    self._known.setdefault(names.load_text(material, self._key), []).append(material)
        if found is not None and found.missing:
            self._missing.setdefault(name, found)
        same_name = self._known.setdefault(name, [])
        for material in same_name:
            if _is_usable(material, self._key + FOUND, name, found):
                return material
        material = self._make(name, fallback, found)
        same_name.append(material)
        return material

    def skins(self, found: Iterable[MaterialImages], fallback: str) -> list[Material]:
        """The materials of a model's skins, one for each of `ModelSearch.md2_skins()` in its order.

        A skin that the file lists twice is returned twice, as the same material.

        Args:
            found: the skins; their own names are the materials' names.
            fallback: the name of the material of a skin without a name.
        """
        return [self.get(skin.name, fallback, skin) for skin in found]

    def add_to_report(self, report: Report, search_warnings: Sequence[str] = ()) -> None:
        """Adds the counts of materials and images, and one warning for all images that were not found.

        Args:
            report: of the import.
            search_warnings: `Search.warnings`.
        """
        report.count("materials", len(self._made))
        report.count("images", self._store.loaded)
        lines = [line for name, found in self._missing.items() if (line := _describe_missing(name, found))]
        if lines:
            report.warn(f"Images not found: {'; '.join(lines)}")
        for text in (*self._warnings, *search_warnings):
            report.warn(text)

    def _make(self, name: str, fallback: str, found: MaterialImages | None) -> Material:
        material = bpy.data.materials.new(names.for_blender(name, versions.MAX_ID_NAME, fallback))
        versions.enable_nodes(material)
        material.diffuse_color = _NEUTRAL_COLOUR
        names.store_text(material, self._key, name)
        material[self._key + "_shown"] = material.name
        if found is not None:
            names.store_text(material, self._key + FOUND, _identity(found))
            build_nodes(material, found, self._store, self._warnings)
        self._made.append(material)
        return material


def _identity(found: MaterialImages) -> str:
    return str(found.diffuse) if found.diffuse is not None else ""


def _is_usable(material: Material, found_key: str, name: str, found: MaterialImages | None) -> bool:
    """Whether a material with this name can be reused; see the docstring of the module."""
    if found is None or found_key not in material:
        return True
    identity = _identity(found)
    if not identity and clean_name(name).folder:
        return True
    return os.path.normcase(names.load_text(material, found_key)) == os.path.normcase(identity)


def _describe_missing(name: str, found: MaterialImages) -> str:
    """What was not found for a shader or skin, and where it was searched; empty if it names no image."""
    wanted = [raw if raw == name else f"{name}: {raw} ({role})" for role, raw in found.missing.items() if raw]
    if not wanted:
        return ""
    searched = ", ".join(found.looked_in)
    return ", ".join(wanted) + (f" (looked for {searched})" if searched else "")
