"""Characters of games, built of models, animations, skins and attachments; they use both format families."""
