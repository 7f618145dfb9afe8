"""Models beside damaged images of every format."""

from __future__ import annotations

from pathlib import Path

import bpy
from damaged_archives import orphans
from game_samples import square, write
from hostile_images import IMAGES, extension
from installed import read_empty_scene
from mutants import mutant


def try_images(folder: Path, seeds: range) -> dict[str, tuple[int, int]]:
    """Imports a model beside damaged copies of an image of each format.

    Returns:
        For each format, how many of the copies were loaded, and how many were refused.

    Raises:
        AssertionError: a model was not imported, or an image that nothing uses remained.
    """
    counts = {}
    for name, make in IMAGES.items():
        file, whole, loaded = f"imp{extension(name)}", make(32, 24), 0
        for seed in seeds:
            read_empty_scene()
            files = {"imp.md5mesh": square(file), file: mutant(whole, seed, False)}
            path = write(folder / "images", files) / "imp.md5mesh"
            assert bpy.ops.import_scene.md5(filepath=str(path)) == {"FINISHED"}, (name, seed)
            assert len(bpy.data.meshes) == 1, (name, seed)
            assert not orphans(), (name, seed)
            loaded += bool(bpy.data.images)
        counts[name] = loaded, len(seeds) - loaded
    return counts
