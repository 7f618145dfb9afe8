"""Materials as skins: their names, and the size of the skin that texture coordinates count texels of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..io_common.materials.export_names import colour_image, skin_name
from ..io_common.materials.images import size_of
from ..io_common.reports import Report
from .export_topology import shows_source_uvs
from .format.naming import to_latin1

if TYPE_CHECKING:
    from bpy.types import Material

    from .export_topology import Part


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


def skin_names(parts: list[Part], report: Report) -> list[str]:
    """The names of the skins: those of the imported file while its materials are what they were, else the materials'.

    Args:
        parts: the objects.
        report: takes warnings.
    """
    result: list[str] = []
    drawn: set[Material] = set()
    for part in parts:
        names = material_skins(part.materials)
        if part.stored is not None and names == part.stored.material_skins:
            # A file may list a skin twice; parts of one model, or models of one skin, share it.
            there = set(result)
            result += [name for name in part.stored.skins if name not in there]
        else:
            for name in dict.fromkeys(names):
                fit = to_latin1(name)
                if fit != name:
                    report.warn(
                        f"the name of a skin has characters that MD2 cannot hold: {name!r} becomes {fit!r}"
                    )
                if fit not in result:
                    result.append(fit)
        used = {part.materials[slot] for slot in set(part.slots.tolist()) if slot < len(part.materials)}
        drawn |= {material for material in used if material is not None}
    if len(drawn) > 1:
        report.warn(
            f"faces have {len(drawn)} materials: an MD2 model shows one skin at a time on all of them"
        )
    return result


def skin_size(parts: list[Part], default: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the skin.

    That is the size of the image, unless it is still the one that import found for files that say another size;
    without an image what the files said, if they agree, and without a file the size that is given. What a file said
    only counts if the mesh still has texture coordinates in texels of that size.

    Args:
        parts: the objects.
        default: the size if there is neither an image nor a file.
    """
    shown = image_size(material for part in parts for material in part.materials)
    stored = [part.stored for part in parts if part.stored is not None and shows_source_uvs(part)]
    sizes = {model.skin_size for model in stored}
    if len(sizes) == 1 and (shown == (0, 0) or any(model.image_size == shown for model in stored)):
        return sizes.pop()
    return shown if shown != (0, 0) else default
