"""Materials by the name that a file gives them."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy

from . import names, versions

# What Blender itself gives to a surface without a material.
_NEUTRAL_COLOUR = (0.8, 0.8, 0.8, 1.0)


@dataclass
class MaterialLibrary:
    """Finds or makes one material for each name, over one import.

    Attributes:
        key: the custom property that holds the name, such as ``md5_shader``.
    """

    key: str
    _known: dict[str, bpy.types.Material] = field(default_factory=dict)

    def get(self, name: str, fallback: str) -> bpy.types.Material:
        """The material of a name: one of this .blend that bears it, else a new one.

        Args:
            name: as in the file; it may be empty.
            fallback: what the material is called in Blender then.
        """
        if not self._known:
            for material in bpy.data.materials:
                if self.key in material and material.library is None:
                    self._known.setdefault(names.kept_text(material, self.key), material)
        if name not in self._known:
            self._known[name] = self._make(name, fallback)
        return self._known[name]

    def _make(self, name: str, fallback: str) -> bpy.types.Material:
        material = bpy.data.materials.new(names.for_blender(name, versions.MAX_ID_NAME, fallback))
        versions.enable_nodes(material)
        material.diffuse_color = _NEUTRAL_COLOUR
        names.keep_text(material, self.key, name)
        return material
