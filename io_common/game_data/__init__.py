"""What games declare around their models, found in game folders and archives. Needs no Blender.

- `character`: what all games' declarations are turned into: models with animations, skins and attachments.
"""
