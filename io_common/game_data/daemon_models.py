"""The models of Unvanquished and XreaL that a `.cfg` file names.

From the published sources of Unvanquished (`bg_parse.cpp`) and XreaL (`cg_players.c`):

- `configs/buildables/NAME.model.cfg`: `model N PATH` and `modelScale X`. In those of `configs/classes` it is
  `model NAME`, a folder in `models/players`; `null` is none.
- `models/players/NAME/character.cfg` is about `body.md5mesh` beside it, whose animations are in the same folder.
"""

from __future__ import annotations

from ..game_tree.names import fold
from ..game_tree.tree import GameTree
from ..textures.mtr_tokens import scan

MODEL_CONFIG, CHARACTER_CONFIG = ".model.cfg", "character.cfg"
IQM = ".iqm"
_PLAYERS = "models/players"


def is_config(path: str) -> bool:
    """Whether a game path is that of such a file."""
    return fold(path).endswith(MODEL_CONFIG) or fold(path).rpartition("/")[2] == CHARACTER_CONFIG


def declared_model(files: GameTree, path: str) -> tuple[str, float]:
    """The game path of the model that a file names, empty if it names none, and its scale.

    The file is a `.cfg`. Raises FileReadError if it cannot be read.
    """
    if not fold(path).endswith(MODEL_CONFIG):
        return _in_folder(files, path.rpartition("/")[0]), 1.0
    words = [token.text for token in scan(files.read_text(path)) if token.kind in ("word", "string")]
    values = dict(zip(map(str.lower, reversed(words[:-1])), reversed(words[1:]), strict=True))
    model = values.get("model", "")
    if model.isdecimal():
        index = [word.lower() for word in words].index("model")
        model = words[index + 2] if index + 2 < len(words) else ""
    if model and "/" not in model:
        model = "" if fold(model) == "null" else _in_folder(files, f"{_PLAYERS}/{model}")
    try:
        scale = float(values.get("modelscale", "1"))
    except ValueError:
        scale = 1.0
    return model, scale if 1e-6 < scale < 1e6 else 1.0


def _in_folder(files: GameTree, folder: str) -> str:
    """The model of a player's folder, that of the game's own format first."""
    name = folder.rpartition("/")[2]
    paths = [
        f"{folder}/{stem}{suffix}" for suffix in (".md5mesh", IQM) for stem in dict.fromkeys(("body", name))
    ]
    return next((path for path in paths if files.has(path)), paths[0])
