"""Properties of many items of Blender as an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def read_array(items: Any, name: str, *shape: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """The values that a property has in all items of a collection, (n, *shape)."""
    values = np.empty((len(items), *shape), dtype)
    items.foreach_get(name, values.ravel())
    return values
