"""The edits of meshes that an imported MD2 model can have."""

from __future__ import annotations

import mesh_edits

NOT_FOR_MD2 = {
    # Of weights and armatures.
    "paint weights on seam vertices", "paint one side of a seam", "weights that do not add up to one", "smooth weights",
    "normalize and clean weights", "remove a vertex group", "reorder vertex groups", "sort vertex groups",
    "mirror vertex groups", "bind anew with automatic weights", "parent inverse", "join with a new mesh",
    "shape key with a vertex group",
    # See test_md2_animation: keys of an imported model are frames.
    "shape key without a value", "shape key pinned", "absolute shape keys", "shape key muted",
    "basis edited under a shape key", "shape key with a value",
}  # fmt: skip

EDITS = [name for name in mesh_edits.EDITS if name not in NOT_FOR_MD2]
