"""Characters of games, built of models, animations, skins and attachments; they use both format families."""


class CharacterError(ValueError):
    """A character cannot be imported or exported; the text says why and what to do."""
