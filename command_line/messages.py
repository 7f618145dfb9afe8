"""Messages between Blenders: the length in bytes, then JSON.

With the length in front, no text inside a message can be mistaken for the end of it.
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">Q")


def pack(message: dict[str, Any]) -> bytes:
    """The bytes of a message."""
    # File names that are not UTF-8 contain surrogates, which JSON writes as ASCII escapes.
    data = json.dumps(message).encode("ascii")
    return _LENGTH.pack(len(data)) + data


def read(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message in a stream; None at the end, or if the message is not complete yet."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return json.loads(data) if len(data) == length else None
