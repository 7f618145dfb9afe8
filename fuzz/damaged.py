"""Imports damaged files in this Blender and counts the outcomes: ``damaged.py [FILES_PER_SEED [ARCHIVES]]``.

Each file must load, or be refused with its name and a reason and without any change to the .blend file. A model next to
a damaged archive must be imported, and leave no unused image. Anything else is an error. The counts go to
`build/robustness`, from which `page.py` makes tables.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("tests/helpers", "tests/helpers/edits")
sys.path[:0] = [str(ROOT / folder) for folder in _FOLDERS]

import installed  # noqa: E402 # it makes the working copy an extension of this Blender
from damaged_archives import try_archives  # noqa: E402
from damaged_files import small_files, try_mutants  # noqa: E402
from damaged_images import try_images  # noqa: E402
from md5_stored_values import CASES, VALUES, try_value  # noqa: E402
from mutants import SEEDS  # noqa: E402
from paths import CORPUS  # noqa: E402

# Files per seed, and archives: 20,000 and 3,000 in four versions of Blender; images of each format.
FILES, ARCHIVES, IMAGES = 1250, 750, 100
FOLDER = ROOT / "build" / "robustness"


def main(arguments: list[str]) -> None:
    """Counts the outcomes and writes the counts to a file."""
    numbers = [int(word) for word in arguments]
    files, archives = numbers + [FILES, ARCHIVES][len(numbers) :]
    sources = small_files(CORPUS)
    counts: dict[str, object] = {"sources": len(sources), "files": {}}
    started = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="io_idtech-damaged-"))
    try:
        for seed in SEEDS:
            counts["files"][str(seed)] = try_mutants(sources, scratch, files, seed)
            print(f"seed {seed}: (loaded, refused) = {counts['files'][str(seed)]} of {files}", file=sys.stderr)
        counts["archives"] = try_archives(scratch, range(archives))
        counts["images"] = try_images(scratch, range(IMAGES))
        print(f"images: (loaded, refused) = {counts['images']}", file=sys.stderr)
        print(f"archives: (readable, unreadable) = {counts['archives']} of {archives}", file=sys.stderr)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    counts["properties"] = try_properties()
    counts["seconds"] = round(time.monotonic() - started)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{installed.version()}.json").write_text(json.dumps(counts, indent=1))


def try_properties() -> int:
    """The number of exports with a hostile value in a custom property, all of which must match Blender.

    Raises:
        AssertionError: one does not.
    """
    exports = 0
    settings = dict.fromkeys(setting for setting, _ in CASES)
    for setting, value in [(setting, value) for setting in settings for value in VALUES]:
        installed.read_empty_scene()
        with tempfile.TemporaryDirectory(prefix="io_idtech-hostile-") as folder:
            cases, failures = try_value(Path(folder), setting, value)
        assert not failures, f"{setting}, {value}: {failures[0]}"
        exports += cases
    print(f"properties: {exports} exports", file=sys.stderr)
    return exports


if __name__ == "__main__":
    status = 1
    try:
        main(sys.argv[1:])
        status = 0
    except Exception:
        sys.excepthook(*sys.exc_info())
    installed.exit_process(status)
