"""Measures the time and memory of importing hostile files in this Blender, each in a separate process.

The figures go to `build/robustness`, from which `page.py` makes tables: `costs.json`, and `images.json` with images of
each format that are just within the limit of what one may take once it is loaded, and just beyond it.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/helpers")]
from hostile_images import IMAGES, extension  # noqa: E402

from io_idtech.io_common.game_tree.files import MAX_LOADED_OF_ONE  # noqa: E402
from io_idtech.io_common.textures.image_files import loaded_bytes  # noqa: E402

FOLDER = ROOT / "build" / "robustness"
SHADER = "models/imp/imp"


def write_model(folder: Path, *shaders: str) -> Path:
    from game_samples import square, write

    write(folder, {"models/imp/imp.md5mesh": square(*(shaders or (SHADER,)))})
    return folder / "models/imp/imp.md5mesh"


def plain(folder: Path) -> Path:
    return write_model(folder)


def braces(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "a.pk4", "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("materials/a.mtr", SHADER + " " + "{" * 15_990_000)
    return write_model(folder)


def large_images(folder: Path) -> Path:
    from game_samples import black_png

    with zipfile.ZipFile(folder / "a.pk4", "w", zipfile.ZIP_STORED) as target:
        image = black_png(16_000)
        for number in range(8):
            target.writestr(f"models/imp/{number}.png", image)
    return write_model(folder, *(f"models/imp/{number}" for number in range(8)))


def shared_entries(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "a.pk4", "w", zipfile.ZIP_DEFLATED) as target:
        for number in range(200):
            target.writestr(f"materials/{number}.mtr", f"{SHADER}{number} {{ map a }}\n" + "// filler\n" * 100_000)
    return write_model(folder, *(f"{SHADER}{number}" for number in range(50)))


def shared_animations(folder: Path) -> Path:
    from game_folders import share_first, zipped
    from game_samples import square

    path = folder / "a.pk4"
    zipped(path, {"imp/0.md5anim": "{" * 4_000_000, "imp/imp.md5mesh": square(SHADER)})
    share_first(path, [f"imp/{number}.md5anim" for number in range(1, 100)])
    return path / "imp/imp.md5mesh"


def long_expression(folder: Path) -> Path:
    from game_samples import GREEN, plain, tga, write

    images = ", ".join(["models/imp/a.tga", "models/imp/b.tga"] * 1000)
    text = f"{SHADER} {{ diffusemap add( {images} )\nbumpmap addnormals( {images} ) }}"
    write(
        folder, {"materials/a.mtr": text, "models/imp/a.tga": tga(plain(GREEN)), "models/imp/b.tga": tga(plain(GREEN))}
    )
    return write_model(folder)


def mesh_of(text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "imp.md5mesh"
        path.write_text(text * (10_000_000 // len(text)))
        return path

    return make


CASES: dict[str, Callable[[Path], Path]] = {
    "for comparison: a model of two triangles": plain,
    "a 16 kB archive with 16 MB of braces": braces,
    "eight images of 16,000 by 16,000 in an archive": large_images,
    "an archive with 200 MB of material files, 50 shaders": shared_entries,
    "100 animations in an archive that share 4 MB of braces": shared_animations,
    "two image expressions of 2,000 images": long_expression,
    "10 MB of braces as an MD5 mesh": mesh_of("{}"),
    "10 MB of quotes as an MD5 mesh": mesh_of('"'),
}


def image(name: str, *, is_beyond: bool) -> Callable[[Path], Path]:
    """A case with an image of a format beside a model."""

    def make(folder: Path) -> Path:
        from game_samples import square, write

        per_pixel = (loaded_bytes(IMAGES[name](64, 64)) or 0) / (64 * 64)
        # Some formats have blocks of pixels.
        side = math.isqrt(int(MAX_LOADED_OF_ONE / per_pixel)) // 16 * 16 + (16 if is_beyond else 0)
        file = f"imp{extension(name)}"
        write(folder, {"imp.md5mesh": square(file), file: IMAGES[name](side, side)})
        return folder / "imp.md5mesh"

    return make


IMAGE_CASES = {
    f"{name}: {size}": image(name, is_beyond=size == "beyond") for name in IMAGES for size in ("within", "beyond")
}


def measure(case: str) -> None:
    """Imports one case and prints the seconds, the additional megabytes, and whether it was imported."""
    import installed

    with tempfile.TemporaryDirectory() as name:
        path = {**CASES, **IMAGE_CASES}[case](Path(name))
        before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        try:
            installed.bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
            is_imported = True
        except RuntimeError:
            is_imported = False
        seconds = time.perf_counter() - started
        additional = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    figures = {
        "seconds": round(seconds, 1),
        "megabytes": additional >> 10,
        "imported": is_imported,
        "images": sum(image.source == "FILE" for image in installed.bpy.data.images),
    }
    print(f"\n{json.dumps(figures)}", flush=True)
    installed.exit_process(0)


def main() -> None:
    """Measures all cases."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, cases in (("costs.json", CASES), ("images.json", IMAGE_CASES)):
        figures = {}
        for case in cases:
            done = subprocess.run([sys.executable, __file__, case], capture_output=True, text=True, check=True)
            figures[case] = json.loads(done.stdout.strip().splitlines()[-1])
            print(case, figures[case], flush=True)
        (FOLDER / file).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(sys.argv[1])
    main()
