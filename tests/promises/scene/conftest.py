"""What exports have told."""

from __future__ import annotations

import pytest


@pytest.fixture
def warned(part, monkeypatch):
    """The warnings with some words since the last call; exporters of collections print nothing."""
    reports, said = part("io_blender.reports"), []
    tell = reports.report_message
    monkeypatch.setattr(
        reports, "report_message", lambda operator, *words: (said.append(words), tell(operator, *words))
    )

    def told(words: str) -> list[str]:
        texts = [text for kind, *found in said if kind == "WARNING" for text in found]
        said.clear()
        return [text for text in texts if words in text and "all in the Info editor" not in text]

    return told
