"""Materials as an artist would make them of the images that a game's shader or skin means.

One material for each shader or skin name, in one import and all that follow it into the same .blend. A material that
is there already is used again if it was made for the file that was found now, or by hand. One of the same name that
was made for another file stays as it is, beside the new one: `default` and the empty name are common shaders of
unlike models. Where nothing is found now, a name with a folder in it is enough.

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
from ..textures.material_images import MaterialImages
from ..textures.names import clean_name
from .images import ImageStore
from .shading import dress

if TYPE_CHECKING:
    from bpy.types import Material

SHADER = "md5_shader"
SKIN = "md2_skin"

FOUND = "_image"
"""Ends the name of the custom property that holds the file."""

# What Blender itself gives to a surface without a material.
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
        """The material of a shader or skin: one of this .blend that bears the name, else a new one.

        Args:
            name: as in the file; it may be empty.
            fallback: what the material is called in Blender then.
            found: its images, None to leave textures out.
        """
        if self._known is None:
            self._known = {}
            for material in bpy.data.materials:
                if self._key in material and material.library is None:
                    self._known.setdefault(names.kept_text(material, self._key), []).append(material)
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
        """The materials of a model's skins, one for each of `ModelSearch.skins()` in its order.

        A skin that the file lists twice is there twice, as the same material.

        Args:
            found: the skins; their own names are the materials' names.
            fallback: what a material is called whose skin has an empty name.
        """
        return [self.get(skin.name, fallback, skin) for skin in found]

    def tell(self, report: Report, search_warnings: Sequence[str] = ()) -> None:
        """Says once what was made, what was not found and where it was looked for, and what could not be read.

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
        names.keep_text(material, self._key, name)
        material[self._key + "_shown"] = material.name
        if found is not None:
            names.keep_text(material, self._key + FOUND, _identity(found))
            dress(material, found, self._store, self._warnings)
        self._made.append(material)
        return material


def _identity(found: MaterialImages) -> str:
    return str(found.diffuse) if found.diffuse is not None else ""


def _is_usable(material: Material, found_key: str, name: str, found: MaterialImages | None) -> bool:
    """Whether a material of this name is the one that is meant. See the module's docstring."""
    if found is None or found_key not in material:
        return True
    identity = _identity(found)
    if not identity and clean_name(name).folder:
        return True
    return os.path.normcase(names.kept_text(material, found_key)) == os.path.normcase(identity)


def _describe_missing(name: str, found: MaterialImages) -> str:
    """What was not found for a shader or skin, and where; empty where nothing was named."""
    wanted = [raw if raw == name else f"{name}: {raw} ({role})" for role, raw in found.missing.items() if raw]
    if not wanted:
        return ""
    places = ", ".join(found.looked_in)
    return ", ".join(wanted) + (f" (looked for {places})" if places else "")
