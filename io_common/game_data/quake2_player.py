"""Quake II's players: a folder with `tris.md2`, weapons whose frames play in step with it, and skins.

From the published source of Quake II (`client/menu.c`, `client/cl_main.c`): a skin is a `.pcx` with an icon beside it,
`NAME_i.pcx`, which is no skin itself. `weapon.md2` is shown unless the server asks for a `w_*.md2`.
"""

from __future__ import annotations

from ..game_tree.files import FileReadError
from ..game_tree.names import fold, is_image, join, split_extension
from ..game_tree.tree import GameTree
from .character import QUAKE2, Attachment, Character, CharacterPart, CharacterSkin, Declaration

MODEL = "tris.md2"
"""The name of a player's model."""

_WEAPON = "weapon.md2"
_ICON = "_i"
# The images of weapons have their models' names.
_SKIN_OF_WEAPON = ("weapon", "w_")


def player_character(files: GameTree, folder: str) -> Character:
    """The character of a player's folder, such as `players/male`. Raises FileReadError if there is no `tris.md2`."""
    folder = join(folder)
    names = {key: file.name for key, file in files.files(folder).items()}
    if MODEL not in names:
        raise FileReadError(f"{join(folder, MODEL)}: not found")
    body = CharacterPart("tris", join(folder, names[MODEL]), skins=_skins(folder, list(names.values())))
    weapons = sorted(
        (key for key in names if key == _WEAPON or (key.startswith("w_") and key.endswith(".md2"))),
        key=lambda key: (key != _WEAPON, key),
    )
    parts = [
        CharacterPart(split_extension(names[key])[0], join(folder, names[key]), attachment=Attachment(0))
        for key in weapons
    ]
    return Character(
        name=folder.rpartition("/")[2] or "player",
        game=QUAKE2,
        parts=(body, *parts),
        declaration=Declaration(join(folder, names[MODEL]), 1),
    )


def _skins(folder: str, names: list[str]) -> tuple[CharacterSkin, ...]:
    """The skins of a folder, by name; if none has an icon, all images but icons and those of weapons."""
    images = {split_extension(fold(name))[0]: name for name in sorted(names) if is_image(name)}
    stems = [stem for stem in images if stem + _ICON in images]
    if not stems:
        stems = [stem for stem in images if not stem.endswith(_ICON) and not stem.startswith(_SKIN_OF_WEAPON)]
    return tuple(
        CharacterSkin(split_extension(images[stem])[0], (("*", join(folder, images[stem])),))
        for stem in sorted(stems)
    )
