"""The .md5scale file: scales of joints in the animation beside it, in the re-release of Quake II.

    { "muzzle": { "scale_positions": true, "0": 0.0, "12": 1.5 } }

Keys are frames; docs/specification.md says what the game makes of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...io_common.files import Source, Target, read_source, write_target
from ...io_common.skeletal.scales import ScaleTable
from ...io_common.skeletal.skeleton import first_indices
from ...io_common.texts import listing
from .model import Md5Error

SCALE_POSITIONS = "scale_positions"

_MAX_SCALE = 1e6
_FRAME = re.compile(r"[0-9]{1,9}")
# Halves of characters, which an escape may give. Those from DC80 on stand for bytes that are not UTF-8.
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


@dataclass(eq=False)
class Scales:
    """The contents of an .md5scale file.

    Attributes:
        joints: the scales of each joint by frame, by the joint's name.
        scales_positions: the joints with `scale_positions`.
        warnings: what was read in another way than it may be meant.
    """

    joints: dict[str, dict[int, float]] = field(default_factory=dict)
    scales_positions: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def table(self, names: Sequence[str], frame_count: int) -> tuple[ScaleTable, list[str]]:
        """The scales for the J joints and F frames of an animation, and warnings about unknown joints and frames.

        Of joints with the same name, the first is scaled, as in the game.
        """
        result = np.ones((frame_count, len(names)))
        scales_position = np.zeros(len(names), dtype=bool)
        index = first_indices(names)
        frames: set[int] = set()
        for name, scales in self.joints.items():
            frames.update(frame for frame in scales if frame >= frame_count)
            joint = index.get(name)
            if joint is None:
                continue
            known = [frame for frame in scales if frame < frame_count]
            result[known, joint] = [scales[frame] for frame in known]
            scales_position[joint] = name in self.scales_positions
        warnings = []
        unknown = [repr(name) for name in self.joints if name not in index]
        if unknown:
            warnings.append(f"scales of joints that the animation does not have: {listing(unknown)}")
        if frames:
            warnings.append(
                f"scales on frames that the animation does not have, it has {frame_count}: {listing(sorted(frames))}"
            )
        return ScaleTable(result, scales_position), warnings


def scales_of_table(names: Sequence[str], table: ScaleTable) -> Scales:
    """The scales of the J joints of an animation, only values other than 1 in 32 bits.

    `scale_positions` is kept only for joints with scales.
    """
    values = table.values.astype(np.float32)
    result = Scales()
    for joint in np.flatnonzero((values != 1.0).any(axis=0)).tolist():
        frames = np.flatnonzero(values[:, joint] != 1.0).tolist()
        result.joints[names[joint]] = {frame: float(table.values[frame, joint]) for frame in frames}
        if table.scales_position[joint]:
            result.scales_positions.add(names[joint])
    return result


def read_scales(source: Source, name: str = "") -> Scales:
    """The scales in an .md5scale file; for the source and its name see `read_mesh`.

    Raises Md5Error if it cannot be understood, with the line or the joint; OSError if it cannot be opened.
    """
    return parse_scales(*read_source(source, name))


def parse_scales(data: bytes | bytearray | memoryview, name: str = "") -> Scales:
    """The scales in the bytes of an .md5scale file; raises Md5Error as `read_scales` does."""
    text = bytes(data).decode("utf-8-sig", "surrogateescape")
    try:
        root = json.loads(text, parse_int=float)
    except json.JSONDecodeError as error:
        raise Md5Error(f"invalid JSON: {error.msg}", path=name, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise Md5Error("invalid JSON: objects are nested too deeply", path=name) from None
    scales = Scales()
    unknown: list[str] = []
    for joint, values in _items(root, "the file", name):
        frames = scales.joints[joint] = {}
        for key, value in _items(values, f"the joint {joint!r}", name):
            if key == SCALE_POSITIONS:
                if not isinstance(value, bool):
                    reason = f"{SCALE_POSITIONS} of {joint!r} is neither true nor false"
                    raise Md5Error(reason, path=name, expected="true or false")
                if value:
                    scales.scales_positions.add(joint)
            elif not isinstance(value, float) or not abs(value) <= _MAX_SCALE:
                reason = f"the scale {key!r} of {joint!r} is not a number that can be used"
                raise Md5Error(reason, path=name, expected=f"a number up to {_MAX_SCALE:,.0f}")
            elif _FRAME.fullmatch(key):
                frames[int(key)] = value
            else:
                unknown.append(repr(key))
    if unknown:
        names = listing(list(dict.fromkeys(unknown)))
        scales.warnings.append(f"keys are no numbers of frames and are ignored: {names}")
    return scales


def _items(value: Any, what: str, path: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise Md5Error(f"{what} is not an object of JSON", path=path, expected="{ … }")
    for key in value:
        if _HALF.search(key):
            raise Md5Error(f"a key of {what} has half a character", path=path, found=ascii(key))
    return value.items()


def write_scales(scales: Scales, target: Target) -> None:
    """Writes an .md5scale file to a path or binary file object; raises Md5Error as `format_scales`, or OSError."""
    write_target(format_scales(scales), target)


def format_scales(scales: Scales) -> bytes:
    """The bytes of an .md5scale file: joints in their order, frames ascending, numbers as short as 32 bits allow.

    Scales of 1 are left out, and joints without any other. Raises Md5Error if a scale is not finite or too large.
    """
    blocks = []
    for name, values in scales.joints.items():
        scaled = [(frame, value) for frame, value in sorted(values.items()) if np.float32(value) != 1.0]
        rows = [f'"{frame}": {_decimal(name, value)}' for frame, value in scaled]
        if not rows:
            continue
        if name in scales.scales_positions:
            rows.insert(0, f'"{SCALE_POSITIONS}": true')
        inside = ",\n".join(f"\t\t{row}" for row in rows)
        blocks.append(f"\t{json.dumps(name, ensure_ascii=False)}: {{\n{inside}\n\t}}")
    text = "{\n" + ",\n".join(blocks) + "\n}\n" if blocks else "{\n}\n"
    return text.encode("utf-8", "surrogateescape")


def _decimal(name: str, value: float) -> str:
    if not abs(value) <= _MAX_SCALE:
        raise Md5Error(f"a scale of the joint {name!r} is too large or not finite", found=f"{value:g}")
    # Adding 0 turns -0 into 0.
    return np.format_float_positional(np.float32(value) + np.float32(0.0), trim="0")
