"""Times the list of characters of a game with 1,000 models and 5,000 animations, packed and loose.

    python benchmarks/catalogue.py

It needs no Blender. The target is 2 seconds from the first access to the game's folder to the finished list.
"""

from __future__ import annotations

import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/helpers"))

from io_idtech.io_common.catalogue import Catalogue  # noqa: E402
from io_idtech.io_common.game_tree import archives  # noqa: E402
from io_idtech.io_common.game_tree.tree import GameTree  # noqa: E402

MODELS, ANIMATIONS, MODELS_PER_FILE = 1_000, 5, 20
ARCHIVES = 4
TARGET = 2.0  # seconds
_RUNS = 5


def game_files() -> Iterator[tuple[str, str]]:
    """The files of a game: declarations of models, entities and skins, models, animations and images."""
    for first in range(0, MODELS, MODELS_PER_FILE):
        numbers = range(first, first + MODELS_PER_FILE)
        yield f"def/monsters{first:04}.def", "\n".join(_declarations(number) for number in numbers)
        yield f"skins/monsters{first:04}.skin", "\n".join(_skin(number) for number in numbers)
    for number in range(MODELS):
        folder = _folder(number)
        yield f"{folder}/monster.md5mesh", ""
        for animation in range(ANIMATIONS):
            yield f"{folder}/animation{animation}.md5anim", ""
        for suffix in ("", "_local", "_s"):
            yield f"{folder}/skin{suffix}.tga", ""


def _folder(number: int) -> str:
    return f"models/md5/monsters/monster{number:04}"


def _declarations(number: int) -> str:
    folder = _folder(number)
    lines = [f"model monster{number:04} {{", f"\tmesh {folder}/monster.md5mesh", "\toffset ( 0 0 -4 )"]
    lines += ["\tchannel torso ( *Waist -*lleg -*rleg )", "\tchannel legs ( origin *lleg *rleg )"]
    for animation in range(ANIMATIONS):
        lines += [f"\tanim animation{animation} {folder}/animation{animation}.md5anim {{"]
        lines += [f"\t\tframe {frame} sound_body step{frame}" for frame in (1, 8, 15)]
        lines += ["\t\tai_no_turn", "\t}"]
    lines += ["}", f"entityDef entity{number:04} {{"]
    lines += [f'\t"key{key}"\t"value {key}"' for key in range(20)]
    lines += [f'\t"model" "monster{number:04}"', f'\t"skin" "skins/monster{number:04}"', "}"]
    return "\n".join(lines) + "\n"


def _skin(number: int) -> str:
    folder = _folder(number)
    return f"skin skins/monster{number:04} {{ model {folder}/monster.md5mesh\n{folder}/skin {folder}/other }}\n"


def pack(folder: Path) -> Path:
    """The game in several archives."""
    folder.mkdir()
    files = list(game_files())
    for number in range(ARCHIVES):
        with zipfile.ZipFile(folder / f"pak{number:03}.pk4", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files[number::ARCHIVES]:
                archive.writestr(name, text)
    return folder


def unpack(folder: Path) -> Path:
    """The game as loose files."""
    for name, text in game_files():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def seconds(folder: Path) -> float:
    """The time that the list takes, with nothing kept from before."""
    archives.read_directory.cache_clear()
    start = time.perf_counter()
    catalogue = Catalogue(GameTree([folder]))
    duration = time.perf_counter() - start
    counts = [entry.animations.found for entry in catalogue.entries]
    assert (len(counts), sum(counts)) == (2 * MODELS, 2 * MODELS * ANIMATIONS), catalogue.warnings[:3]
    return duration


def main() -> int:
    """Prints the times; returns 1 if one misses the target."""
    missed = False
    with tempfile.TemporaryDirectory() as name:
        for what, folder in (("packed", pack(Path(name, "packed"))), ("loose", unpack(Path(name, "loose")))):
            time_taken = median(seconds(folder) for _ in range(_RUNS))
            missed |= time_taken > TARGET
            print(f"{what}: {MODELS:,} models, {MODELS * ANIMATIONS:,} animations: {time_taken:.2f} s")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
