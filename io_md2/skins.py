"""Materials as skins: their names, and the size of the skin that texture coordinates count texels of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..io_common.images import size_of
from ..io_common.material_names import colour_image, skin_name
from ..io_common.reports import Report
from .format.naming import to_latin1

if TYPE_CHECKING:
    from bpy.types import Material

    from .export_topology import Part
    from .kept import Kept


def image_size(materials: Iterable[Material | None]) -> tuple[int, int]:
    """Width and height of the first image of colours; zeros if there is none."""
    for material in materials:
        image = colour_image(material) if material is not None else None
        size = size_of(image) if image is not None else (0, 0)
        if all(size):
            return size
    return 0, 0


def material_skins(materials: Iterable[Material | None]) -> list[str]:
    """The names that materials have as skins."""
    return [skin_name(material) for material in materials if material is not None]


def skin_names(parts: list[Part], memory: Kept | None, report: Report) -> list[str]:
    """The names of the skins: those of the imported file while its materials are what they were, else the materials'.

    Args:
        parts: the objects.
        memory: what one of them was imported as.
        report: takes warnings.
    """
    result: list[str] = []
    drawn: set[Material] = set()
    for part in parts:
        materials = _materials(part)
        names = material_skins(materials)
        if memory is not None and part.memory is memory and names == memory.material_skins:
            result += memory.skins
        else:
            for name in dict.fromkeys(names):
                fit = to_latin1(name)
                if fit != name:
                    report.warn(
                        f"the name of a skin has characters that MD2 cannot hold: {name!r} becomes {fit!r}"
                    )
                if fit not in result:
                    result.append(fit)
        used = {materials[slot] for slot in set(part.slots.tolist()) if slot < len(materials)}
        drawn |= {material for material in used if material is not None}
    if len(drawn) > 1:
        report.warn(
            f"faces have {len(drawn)} materials: an MD2 model shows one skin at a time on all of them"
        )
    return result


def skin_size(parts: list[Part], memory: Kept | None, otherwise: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the skin.

    That is the size of the image, unless it is still the one that import found for a file that says another size;
    without an image what the file said, and without a file the size that is given.

    Args:
        parts: the objects.
        memory: what one of them was imported as.
        otherwise: the size if there is neither an image nor a file.
    """
    shown = image_size(material for part in parts for material in _materials(part))
    if memory is not None and shown in (memory.image_size, (0, 0)):
        return memory.skin_size
    return shown if shown != (0, 0) else otherwise


def _materials(part: Part) -> list[Material | None]:
    return [slot.material for slot in part.obj.material_slots]
