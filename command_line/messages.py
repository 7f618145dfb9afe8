"""Messages between Blenders: each is the number of its bytes, then JSON.

Whatever stands in a message, no text in it can be taken for its end or for the beginning of another one.
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">Q")


def pack(message: dict[str, Any]) -> bytes:
    """The bytes of a message."""
    # Names that are no UTF-8 are surrogates, which JSON's escapes can hold.
    data = json.dumps(message).encode("ascii")
    return _LENGTH.pack(len(data)) + data


def read(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message of a stream; None if it ended, or holds no more than a part of one so far."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return json.loads(data) if len(data) == length else None
