"""The materials of a character's skins, stored on mesh objects: one material for each skin, that of the first slot.

A pointer to a material in a custom property keeps it in the .blend file, even while no face shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...io_blender import stored_values as values
from ...io_blender.scene import names
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Material, Object

_SKINS, _NAMES, _MATERIALS = "skins", "names", "materials"
_MAX_SKINS = 4096


def store_skins(obj: Object, skins: dict[str, Material]) -> None:
    """Stores the material of each skin that changes that of an object's first slot."""
    if not skins:
        return
    if not values.read_group(obj, GROUP):
        obj[GROUP] = {}
    obj[GROUP][_SKINS] = {_NAMES: {}, _MATERIALS: {}}
    group = obj[GROUP][_SKINS]
    for index, (name, material) in enumerate(skins.items()):
        names.store_text(group[_NAMES], str(index), name)
        group[_MATERIALS][str(index)] = material


def load_skins(obj: Object) -> dict[str, Material]:
    """The material of each skin that changes an object; empty if none is stored."""
    group: Any = values.read_group(values.read_group(obj, GROUP), _SKINS)
    stored_names, materials = (group.get(key) for key in (_NAMES, _MATERIALS))
    if not hasattr(stored_names, "keys") or not hasattr(materials, "keys"):
        return {}
    found: dict[str, Material] = {}
    for key in list(stored_names.keys())[:_MAX_SKINS]:
        name, material = values.read_text(stored_names, key), materials.get(key)
        if name and getattr(getattr(material, "bl_rna", None), "identifier", "") == "Material":
            found[name] = material
    return found
