"""Where a file of a game is written on disk: below a folder, under its own name, which this system has to allow."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..textures.folders import LooseFiles
from ..textures.names import fold

# What Windows does not allow in a name, drops from its end, or takes for a device, whatever follows a dot. After a
# colon, it even takes the rest for another drive or a hidden stream of the file.
_UNFIT_FOR_WINDOWS = re.compile(
    r'.*[<>:"\\|?*\x00-\x1f]|.*[. ]\Z'
    r"|(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]) *(?:\.|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def place(target: Path, path: str) -> Path:
    """The path on disk of a file that is written below a folder.

    The game path is as `GameFiles.walk` gives it. Raises OSError if this system cannot have a file of that name, or it
    would lie elsewhere.
    """
    parts = path.split("/")
    if any(part in ("", os.curdir, os.pardir) or not _is_possible(part) for part in parts):
        raise OSError(errno.EINVAL, "this system cannot have a file of this name", path)
    return target.joinpath(*parts)


def existing_places(target: Path, paths: Iterable[str]) -> dict[str, Path]:
    """The paths on disk of files that are written below a folder, as folders and files there are spelled already.

    Games take names that differ only in case for the same; on disk they may be two. The folder need not exist. The game
    paths have forward slashes.
    """
    loose = LooseFiles(target)
    found: dict[str, Path] = {}
    for path in paths:
        spelled = target
        for part in path.split("/"):
            if not os.path.lexists(spelled / part):
                listing = loose.listing(spelled.relative_to(target).as_posix().removeprefix("."))
                known = listing.folders | listing.files if listing is not None else {}
                part = known.get(fold(part), part)
            spelled /= part
        found[path] = spelled
    return found


def _is_possible(part: str) -> bool:
    return "\0" not in part and not (os.name == "nt" and is_unfit_for_windows(part))


def is_unfit_for_windows(part: str) -> bool:
    """Whether a part of a path names no ordinary file on Windows."""
    return _UNFIT_FOR_WINDOWS.match(part) is not None
