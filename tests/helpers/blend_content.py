"""The content of uncompressed .blend files, without what differs each time that one is saved.

A .blend file consists of blocks, each an array of structs. One block, called DNA1, lists the fields of all structs:
https://docs.blender.org/manual/en/latest/advanced/blender_file_format.html is a summary. From 5.0, blocks have longer
heads.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_POINTER_SIZE = 8
# Numbers of the session, flags for its updates, and a number made from the time.
_PASSING = {"session_uid", "uid_", "recalc_after_undo_push", "runtime_flag", "face_sets_color_seed"}


class _Block(NamedTuple):
    code: bytes
    kind: int
    address: int
    data: bytes


def content_of(path: Path) -> list[tuple[str, bytes]]:
    """The name of the struct of each block, and its bytes, with zeros for pointers, padding, and what passes."""
    blocks = list(_blocks(path.read_bytes()))
    structs = _Structs(next(block.data for block in blocks if block.code == b"DNA1"))
    addresses = np.array([block.address for block in blocks], dtype=np.uint64)
    result = []
    for block in blocks:
        name = structs.names[block.kind]
        data = np.frombuffer(block.data, dtype=np.uint8).copy()
        if name == "raw_data" and len(data) % _POINTER_SIZE == 0:
            # Arrays of pointers have no struct.
            words = data.view(np.uint64)
            words[np.isin(words, addresses)] = 0
        elif name != "FileGlobal":
            data[np.resize(structs.passing(name), len(data))] = 0
        else:
            # Bytes after the ends of its texts are whatever was in memory.
            data = data[:0]
        result.append((name, data.tobytes()))
    return result


def _blocks(data: bytes) -> Iterator[_Block]:
    assert data.startswith(b"BLENDER"), "the file is compressed, or not a .blend file"
    is_old = data[7:8] in b"_-"
    head = struct.Struct("<4siQii" if is_old else "<4siQqq")
    position = 12 if is_old else int(data[7:9])
    code = b""
    while code != b"ENDB":
        if is_old:
            code, length, address, kind, _ = head.unpack_from(data, position)
        else:
            code, kind, address, length, _ = head.unpack_from(data, position)
        position += head.size
        yield _Block(code, kind, address, data[position : position + length])
        position += length


class _Structs:
    """The structs that the block DNA1 lists."""

    def __init__(self, data: bytes) -> None:
        fields, position = self._texts(data, 8)
        types, position = self._texts(data, self._aligned(position) + 4)
        position = self._aligned(position) + 4
        sizes = struct.unpack_from(f"<{len(types)}h", data, position)
        position = self._aligned(position + 2 * len(types)) + 4
        (count,) = struct.unpack_from("<i", data, position)
        position += 4
        self._sizes = dict(zip(types, sizes, strict=True))
        self._fields: dict[str, list[tuple[str, str]]] = {}
        for _ in range(count):
            kind, field_count = struct.unpack_from("<hh", data, position)
            numbers = struct.unpack_from(f"<{2 * field_count}h", data, position + 4)
            position += 4 + 4 * field_count
            self._fields[types[kind]] = [
                (types[one], fields[name]) for one, name in zip(numbers[::2], numbers[1::2], strict=True)
            ]
        self.names = list(self._fields)

    def passing(self, name: str) -> npt.NDArray[np.bool_]:
        """For each byte of a type, whether it belongs to a pointer, to padding, or to what passes."""
        parts = [np.zeros(0, dtype=np.bool_)]
        for kind, field in self._fields.get(name, ()):
            count = math.prod(int(number) for number in re.findall(r"\[(\d+)\]", field))
            if field.startswith(("*", "(*")):
                parts.append(np.ones(count * _POINTER_SIZE, dtype=np.bool_))
            elif field.partition("[")[0] in _PASSING or field.startswith("_pad"):
                parts.append(np.ones(count * self._sizes[kind], dtype=np.bool_))
            else:
                parts.append(np.tile(self.passing(kind), count))
        if name not in self._fields:
            return np.zeros(self._sizes[name], dtype=np.bool_)
        return np.concatenate(parts)

    @staticmethod
    def _texts(data: bytes, position: int) -> tuple[list[str], int]:
        """Texts that end with a zero byte, with their number in front; and the position after them."""
        (count,) = struct.unpack_from("<i", data, position)
        texts = data[position + 4 :].split(b"\0", count)[:count]
        return [text.decode() for text in texts], position + 4 + sum(len(text) + 1 for text in texts)

    @staticmethod
    def _aligned(position: int) -> int:
        return (position + 3) & ~3
