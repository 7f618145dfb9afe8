"""Materials as skins: their names, and the size of the skin in texels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...io_blender.materials.export_names import colour_image, name_for_file
from ...io_blender.materials.images import size_of
from ..records import SKINS

if TYPE_CHECKING:
    from bpy.types import Material


MAX_MATERIALS = 64
"""How many of a model's skins become materials: twice as many as the format's own tools take."""


def image_size(materials: Iterable[Material | None]) -> tuple[int, int]:
    """Width and height of the first colour image; zeros if there is none."""
    for material in materials:
        image = colour_image(material) if material is not None else None
        size = size_of(image) if image is not None else (0, 0)
        if all(size):
            return size
    return 0, 0


def skin_name(material: Material, game_folders: Sequence[str]) -> str:
    """The skin that an MD2 model names for a material; for the rules see `name_for_file`."""
    return name_for_file(material, SKINS, game_folders)


def material_skins(materials: Iterable[Material | None], game_folders: Sequence[str]) -> list[str]:
    """The skin names of materials."""
    return [skin_name(material, game_folders) for material in materials if material is not None]
