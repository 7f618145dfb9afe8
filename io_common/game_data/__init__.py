"""What games declare around their models, found in game folders and archives. Needs no Blender.

- `files`: the files of a game, with `paths` for those in archives, and `places` for those that are written to disk.
- `character`: what all games' declarations are turned into: models with animations, skins and attachments.
- `catalogue`: the list of what can be imported from a game.
- `doom3`: Doom 3's entities, models and skins, with `declarations` and `doom3_models` for the text files.
- `model_cfg`: Sauerbraten's `md5.cfg` and `md2.cfg`, run by `cubescript`.
- `quake2_player`: Quake II's players.
"""
