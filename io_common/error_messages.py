"""What went wrong, told so that the user knows what to do: the system's faults and the program's own."""

from __future__ import annotations

import errno
import os
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from . import manifest, reports

if TYPE_CHECKING:
    from bpy.types import Operator

_ADVICE = {
    errno.ENOSPC: "the disk is full: make room, or choose another folder",
    errno.EDQUOT: "the quota of the disk is used up: make room, or choose another folder",
    errno.EFBIG: "the disk does not take files of this size: choose another folder",
    errno.EROFS: "the disk cannot be written: choose another folder",
    errno.EACCES: "it is not permitted: choose another folder, or close the program that has the file open",
    errno.EPERM: "it is not permitted: choose another folder",
    errno.EBUSY: "the file is in use: close the program that has it open",
    errno.ETXTBSY: "the file is in use: close the program that has it open",
    errno.ENAMETOOLONG: "the name is too long for the disk: choose a shorter one",
    errno.EISDIR: "there is a folder of this name: choose another name",
    errno.ENOTDIR: "a part of the path is no folder: choose another one",
    errno.ELOOP: "the link leads to itself: choose another file",
    errno.EEXIST: "there is a file of this name: choose another name",
    errno.EIO: "the disk fails: choose another folder",
    errno.EMFILE: "too many files are open: close some, or restart Blender",
    errno.EINVAL: "the disk does not take this name: choose another one",
}
_SHARING_VIOLATION, _LOCK_VIOLATION = 32, 33


def of_file(error: OSError) -> str:
    """One sentence on a file that could not be read or written: which, and what to do."""
    advice = _ADVICE.get(error.errno or 0, "")
    if getattr(error, "winerror", None) in (_SHARING_VIOLATION, _LOCK_VIOLATION):
        advice = _ADVICE[errno.EBUSY]
    if error.errno == errno.ENOENT:
        advice = "there is no such file or folder"
    # Of a replaced file the target is of interest, not the temporary name.
    name = error.filename2 or error.filename
    place = os.fsdecode(name) if name is not None else ""
    reason = advice or error.strerror or str(error)
    return f"{place}: {reason}" if place else reason


def of_operator(error: RuntimeError, path: Path) -> str:
    """One sentence on what an operator of Blender's reported, such as an exporter.

    Args:
        error: what the operator raised.
        path: the file that it was to write.
    """
    # A traceback ends with what matters, and then Blender says where it was called.
    lines = [line for line in str(error).strip().splitlines() if line and not line.startswith("Location: ")]
    last = lines[-1].removeprefix("Error: ") if lines else type(error).__name__
    for number in _ADVICE:
        # Python's words for it, and Blender's own.
        if f"[Errno {number}]" in last or last.endswith(os.strerror(number)):
            return of_file(OSError(number, os.strerror(number), os.fspath(path)))
    return last


def tell_own(operator: Operator, subject: str, error: Exception) -> None:
    """Tells that the program is at fault, and where to send what stands on the console.

    Args:
        operator: whose report it is.
        subject: the file.
        error: what was raised, while it is handled; its traceback is printed.
    """
    reports.tell(operator, "ERROR", f"{subject}: {of_program(error)}")


def of_program(error: Exception) -> str:
    """Sentences on a fault of the program, and where to send what stands on the console.

    Args:
        error: what was raised, while it is handled; its traceback is printed.
    """
    traceback.print_exception(error)
    kind = type(error).__name__
    return (
        f"this is a fault of the add-on, not yours ({kind}: {error}). Nothing was changed. Please send the file and "
        f"the text on the system console to {manifest.address()}"
    )
