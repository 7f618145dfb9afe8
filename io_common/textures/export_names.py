"""The names under which exported models mention images."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from .names import fold, without_image_extension
from .search_paths import guess_game_folder


def export_name(
    image_path: str | os.PathLike[str],
    game_folders: Iterable[str | os.PathLike[str]] = (),
    *,
    with_extension: bool,
) -> str | None:
    """The name under which a model mentions an image: the path relative to the game folder, with forward slashes.

    If none of the user's game folders contains the image, the game folder is guessed from its path. Returns None if the
    image is in no game folder. `with_extension` is True for an image file, False for a shader.
    """
    path = Path(os.path.abspath(image_path))
    folders = [Path(os.path.abspath(folder)) for folder in game_folders if os.fspath(folder)]
    inside = [folder for folder in folders if folder != path and path.is_relative_to(folder)]
    root = max(inside, key=lambda folder: len(folder.parts)) if inside else guess_game_folder(path)
    if root is None:
        return None
    relative = path.relative_to(root).as_posix()
    if fold(relative).startswith("dds/"):
        # Doom 3 has a compressed copy of `textures/a.tga` in `dds/textures/a.dds`; models name the original.
        relative = relative[4:]
    return relative if with_extension else without_image_extension(relative)
