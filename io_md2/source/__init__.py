"""Data of an imported MD2 file that Blender has no place for, stored on its mesh for export.

That is the bytes on each frame's grid, normal indices, and texture coordinates in texels with the size of the skin,
even unused ones. `model` stores them in the property group ``md2`` of the mesh, `attributes` in two attributes of its
vertices and corners. No other module reads or writes these.

Values that are loaded are valid but may be outdated: the mesh may have been edited, joined or copied since. Export uses
a stored value only where it reproduces what Blender shows now.
"""

from .attributes import load_corner_st, load_vertices, store_attributes
from .model import StoredModel, load_model, store_model

__all__ = ["StoredModel", "load_corner_st", "load_model", "load_vertices", "store_attributes", "store_model"]
