"""Materials as skins: their names, and the size of the skin in texels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...io_blender.materials.export_names import colour_image, name_for_file
from ...io_blender.materials.images import size_of
from ...io_blender.reports import Report
from ..exporting.topology import shows_source_uvs
from ..format.sequences import to_latin1
from ..records import SKINS, load_skin_size

if TYPE_CHECKING:
    from bpy.types import Material

    from ..exporting.topology import Part


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


def skin_names(parts: list[Part], game_folders: Sequence[str], report: Report) -> list[str]:
    """The names of the skins: those of the imported file while its materials are unchanged, else new ones.

    `game_folders` are the user's, in order.
    """
    result: list[str] = []
    written: set[str] = set()
    drawn: set[Material] = set()
    for part in parts:
        names = material_skins(part.materials, game_folders)
        stored = part.stored.skins if part.stored is not None else []
        if part.stored is not None and names == part.stored.material_skins:
            # A file may list a skin twice, but parts that share a skin must not repeat it.
            added = [name for name in stored if name not in written]
        else:
            # Skins without a material cannot have changed.
            added = []
            for name in dict.fromkeys([*names, *stored[MAX_MATERIALS:]]):
                fit = to_latin1(name)
                if fit != name:
                    report.warn(
                        f"the skin name {name!r} has characters that are not in Latin-1 and was written as {fit!r}: "
                        "rename the image or material"
                    )
                if fit not in written:
                    added.append(fit)
                    written.add(fit)
        result += added
        written.update(added)
        used = {part.materials[slot] for slot in set(part.slots.tolist()) if slot < len(part.materials)}
        drawn |= {material for material in used if material is not None}
    if len(drawn) > 1:
        remedy = ", or leave objects out with Selected Only" if len(parts) > 1 else ""
        report.warn(
            f"faces have {len(drawn)} materials, but games show one skin on the whole model: bake them into one image"
            f"{remedy}"
        )
    return result


def own_skin_size(parts: list[Part]) -> tuple[int, int] | None:
    """The size that the user has set on the meshes; None if there is none, or they disagree."""
    sizes = {size for part in parts if (size := load_skin_size(part.obj.data)) is not None}
    return sizes.pop() if len(sizes) == 1 else None


def skin_size(parts: list[Part], default: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the skin.

    It is the size of the image, unless that is still the image that import found and the file gives another size.
    Without an image it is the size in the imported files, if they agree, and without a file the default. The size of a
    file is used only if the mesh still has texture coordinates in texels of that size.
    """
    current = image_size(material for part in parts for material in part.materials)
    stored = [part.stored for part in parts if part.stored is not None and shows_source_uvs(part)]
    sizes = {model.skin_size for model in stored}
    if len(sizes) == 1 and (current == (0, 0) or any(model.image_size == current for model in stored)):
        return sizes.pop()
    return current if current != (0, 0) else default
