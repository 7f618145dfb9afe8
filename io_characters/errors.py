"""What is wrong with the data of a character."""

from __future__ import annotations


class CharacterError(ValueError):
    """A character cannot be imported or exported; the text says why and what to do."""
