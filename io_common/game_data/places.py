"""Where a file of a game is written on disk: below a folder, under its own name, which this system has to allow."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

# What Windows does not allow in a name, drops from its end, or takes for a device, whatever follows a dot. After a
# colon, it even takes the rest for another drive or a hidden stream of the file.
_UNFIT_FOR_WINDOWS = re.compile(
    r'.*[<>:"\\|?*\x00-\x1f]|.*[. ]\Z'
    r"|(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]) *(?:\.|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def place(target: Path, path: str) -> Path:
    """The path on disk of a file that is written below a folder.

    Args:
        target: the folder.
        path: game path as `GameFiles.walk` gives it.

    Raises:
        OSError: this system cannot have a file of that name, or it would lie elsewhere.
    """
    parts = path.split("/")
    if any(part in ("", os.curdir, os.pardir) or not _is_possible(part) for part in parts):
        raise OSError(errno.EINVAL, "this system cannot have a file of this name", path)
    return target.joinpath(*parts)


def _is_possible(part: str) -> bool:
    return "\0" not in part and not (os.name == "nt" and is_unfit_for_windows(part))


def is_unfit_for_windows(part: str) -> bool:
    """Whether a part of a path names no ordinary file on Windows."""
    return _UNFIT_FOR_WINDOWS.match(part) is not None
