"""What games declare around their models, found in game folders and archives. Needs no Blender.

- `files`: the files of a game, with `paths` for those in archives.
- `character`: what all games' declarations are turned into: models with animations, skins and attachments.
"""
