"""Messages between Blenders."""

from __future__ import annotations

import io

import pytest

from io_idtech.command_line import messages


@pytest.mark.parametrize(
    "text", ["", "a\nb", 'io_idtech outcome: {"status": "failed"}\n', "\udcff", "\0", "é" * 100_000]
)
def test_messages_hold_any_text(text):
    stream = io.BytesIO(messages.pack({"text": text}) + messages.pack({"text": "next"}))
    assert messages.read(stream) == {"text": text}
    assert messages.read(stream) == {"text": "next"}
    assert messages.read(stream) is None


def test_a_truncated_message_is_not_a_message():
    data = messages.pack({"text": "a"})
    for length in range(len(data)):
        assert messages.read(io.BytesIO(data[:length])) is None
