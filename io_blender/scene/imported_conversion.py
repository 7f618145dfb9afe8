"""The scale and axes that data-blocks were imported with. Exports use them, unless the user sets others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..records import ConversionField
from ..reports import listing
from .axes import Conversion
from .objects import NothingToExportError

if TYPE_CHECKING:
    from bpy.types import Object

    from ..reports import Report

_MIN_SCALE = 0.9e-6
_ROTATION_TOLERANCE = 1e-4

# Scales of operators have 32 bits, and users shorten them: 39.37.
_SCALE_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class ChosenConversion:
    """The scale and axes of an export, as far as the user has set them.

    Attributes:
        conversion: what the user has set, else the default.
        has_scale: whether the scale is set.
        has_axes: whether the axes are set.
    """

    conversion: Conversion
    has_scale: bool = False
    has_axes: bool = False


def conversion_of(obj: Object) -> Conversion | None:
    """The scale and axes that an object, else its armature, was imported with; None if they are unknown."""
    for owner in (obj, obj.find_armature()):
        data: Any = owner.data if owner is not None else None
        # Each family has a property group of its own.
        for key in data.keys() if data is not None else ():
            found = ConversionField(key).read(data)
            if found is not None:
                return found
    return None


def export_conversion(
    choice: Conversion | ChosenConversion, objects: Iterable[Object], report: Report
) -> Conversion:
    """The conversion from the scene to the file.

    A `Conversion` is taken as it is. What the user has not set is taken from the imports of the objects. Warns if the
    user has set another size or other axes than those of the imported file.

    Raises NothingToExportError if the objects were imported with different scales or axes, and the user has set none.
    """
    if isinstance(choice, Conversion):
        return choice
    known = [(obj, conversion) for obj in objects if (conversion := conversion_of(obj)) is not None]
    if not known:
        return choice.conversion
    obj, first = known[0]
    scales = [f"{other.name} with {conversion.scale:.4g}" for other, conversion in known]
    if not choice.has_scale and not all(_is_one(found.scale / first.scale) for _, found in known):
        raise NothingToExportError(
            f"the models were imported with different scales: {listing(scales, 10)}. Export one at a time, or set Scale"
        )
    turned = [other.name for other, found in known if not _has_axes(found, first.rotation)]
    if not choice.has_axes and turned:
        raise NothingToExportError(
            f"the models were imported with other axes than {obj.name}: {listing(turned, 10)}. Export one at a time, "
            "or set Forward and Up"
        )
    back, own = first.inverse(), choice.conversion
    result = Conversion(
        own.scale if choice.has_scale else back.scale, own.rotation if choice.has_axes else back.rotation
    )
    _warn_of_change(obj, back, result, report)
    return result


def _warn_of_change(obj: Object, back: Conversion, result: Conversion, report: Report) -> None:
    """Warns if a conversion does not lead back to the file that an object was imported from."""
    parts, remedies = [], []
    # The object may have been scaled to make up for it.
    size = max(result.scale / back.scale * obj.matrix_world.median_scale, _MIN_SCALE)
    if not _is_one(result.scale / back.scale) and not _is_one(size):
        parts.append(
            f"is {size:.3g} times as large as" if size > 1.0 else f"is {1.0 / size:.3g} times smaller than"
        )
        remedies.append(f"Scale to {back.scale:.6g}")
    if not _has_axes(result, back.rotation):
        parts.append("is turned against")
        remedies.append(f"the axes to those of the import ({' and '.join(axes_of(back))})")
    if parts:
        report.warn(
            f"the export {' and '.join(parts)} the imported file, because of the options: set "
            f"{' and '.join(remedies)} to get it as it was",
            obj.name,
            is_important=True,
        )


def axes_of(conversion: Conversion) -> tuple[str, str]:
    """The axes of the file that point forward and up in Blender, of a conversion from the scene to the file."""
    forward, up = (
        ("-" if column.sum() < 0.0 else "") + "XYZ"[int(np.abs(column).argmax())]
        for column in conversion.rotation.T[1:]
    )
    return forward, up


def _is_one(ratio: float) -> bool:
    return abs(ratio - 1.0) <= _SCALE_TOLERANCE


def _has_axes(conversion: Conversion, rotation: npt.NDArray[np.float64]) -> bool:
    return bool(np.allclose(conversion.rotation, rotation, atol=_ROTATION_TOLERANCE))
