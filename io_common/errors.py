"""What is wrong with files: the exceptions for bad data, and the messages that a user sees for any exception."""

from __future__ import annotations

import errno
import os
import tomllib
import traceback
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from .files import open_file


@dataclass(eq=False, repr=False)
class FormatError(ValueError):
    """A file that cannot be understood, or a model that cannot be written; each family has a subclass.

    The message names the file, the place in it, what was found and what was expected, as far as these are known. Lines
    and columns count from 1, the `offset` of a byte from 0.
    """

    reason: str
    _: KW_ONLY
    path: str = ""
    line: int | None = None
    column: int | None = None
    offset: int | None = None
    found: str | None = None
    expected: str | None = None

    def __post_init__(self) -> None:
        super().__init__(self.reason)

    @property
    def place(self) -> str:
        """The file, and the line and column or the byte in it, as far as they are known."""
        numbers = (("line", self.line), ("column", self.column), ("byte", self.offset))
        known = [f"{what} {number}" for what, number in numbers if number is not None]
        return ", ".join([*filter(None, [self.path]), *known])

    def __str__(self) -> str:
        """The problem, then the values, then the place."""
        text = self.reason
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        return f"{text} ({self.place})" if self.place else text


_families: list[Any] = []  # of the type `Family`, whose module needs this one


def know_families(families: Iterable[Any]) -> None:
    """Lets messages say of which format a file is, and where it is imported."""
    _families[:] = families


_MANIFEST = Path(__file__).resolve().parent.parent / "blender_manifest.toml"


def extension_version() -> str:
    """The version of the extension."""
    return _entry("version")


def contact_address() -> str:
    """Where faults of the extension are reported: its website, else its maintainer."""
    return _entry("website") or f"the maintainer of the add-on, {_entry('maintainer')}"


def _entry(key: str) -> str:
    return str(tomllib.loads(_MANIFEST.read_text(encoding="utf-8")).get(key, ""))


_ADVICE = {
    errno.ENOSPC: "the disk is full: free some space, or choose another folder",
    errno.EDQUOT: "the disk quota is used up: free some space, or choose another folder",
    errno.EFBIG: "the file is too large for this disk: choose another folder",
    errno.EROFS: "the disk is read-only: choose another folder",
    errno.EACCES: "permission denied: change the permissions, choose another folder, or close the program that has "
    "the file open",
    errno.EPERM: "permission denied: change the permissions, or choose another folder",
    errno.EBUSY: "the file is in use: close the program that has it open",
    errno.ETXTBSY: "the file is in use: close the program that has it open",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
    errno.EISDIR: "there is a folder with this name: choose another name",
    errno.ENOTDIR: "part of the path is a file, not a folder: choose another path",
    errno.ELOOP: "the link points to itself: choose another file",
    errno.EEXIST: "a file with this name exists already: choose another name",
    errno.EIO: "the disk failed: choose another folder",
    errno.EMFILE: "too many files are open: close some, or restart Blender",
    errno.EINVAL: "the disk does not allow this name: choose another one",
}
_SHARING_VIOLATION, _LOCK_VIOLATION = 32, 33
_LONGEST_ON_WINDOWS = 259  # characters, unless the user has allowed longer paths

# How other files begin, and what they are.
_OTHER_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG"),
    (b"PK\x03\x04", "a ZIP archive, such as .pk4: use File > Import > id Tech Game Character"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"PACK", "a .pak archive: use File > Import > id Tech Game Character"),
    (b"IDPO", "an MDL model of Quake"),
    (b"IDST", "an MDL model of Half-Life"),
    (b"RAPO", "an MDL model of Hexen II"),
    (b"IDSP", "a sprite of Quake or Half-Life"),
    (b"IDS2", "a sprite of Quake II"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"\xff\xfe", "UTF-16 text: save it as ASCII or UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as ASCII or UTF-8"),
    (b"version https://git-lfs", "a Git LFS pointer: download the file itself"),
)


def message_for(
    error: BaseException,
    expected: tuple[type[BaseException], ...] = (),
    *,
    subject: str = "",
    target: Path | None = None,
) -> str:
    """The message for an exception; the traceback of an internal error is printed."""
    # `subject` is the file that the run was about, for messages that would not name one; `target` the file that an
    # operator of Blender was to write: a RuntimeError is then what that operator reported.
    about = f"{subject}: " if subject else ""
    if isinstance(error, expected):
        return _data_message(error)
    if isinstance(error, OSError):
        return _file_message(error)
    if isinstance(error, MemoryError):
        return f"{about}there is not enough memory: close other programs, or use a smaller file"
    if isinstance(error, RuntimeError) and target is not None:
        return _operator_message(error, target)
    traceback.print_exception(error)
    return (
        f"{about}internal error of the add-on ({type(error).__name__}: {error}). Nothing was changed. Please report it "
        f"with the file and the text on the system console to {contact_address()}"
    )


def _data_message(error: BaseException) -> str:
    """What is wrong with a file, in plain words first; then the values, and the place."""
    if getattr(error, "reason", None) is None:
        return str(error)
    path = getattr(error, "path", "")
    # Families may share their error.
    wanted = [known for known in _families if isinstance(error, known.error)]
    wanted = [known for known in wanted if path.lower().endswith(known.suffixes)] or wanted
    other_kind = _describe_mismatch(path, wanted) if path and wanted else ""
    if other_kind:
        return f"{other_kind} ({path})"
    text = str(error)
    return text[:1].upper() + text[1:]


def _describe_mismatch(path: str, wanted: list[Any]) -> str:
    """What a file is instead of a wanted one, and where to import it; empty if that is not known."""
    try:
        with open_file(path) as file:
            head = file.read(512)
    except OSError:
        return ""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    name = wanted[0].name.upper()
    for known in _families:
        if known.magic and text.startswith(known.magic):
            other = f"This file is not {name} but {known.name.upper()}: use File > Import > {known.label}"
            return "" if known in wanted else other
    for signature, what in _OTHER_KINDS:
        if head.startswith(signature):
            return f"This file is not {name} (it looks like {what})"
    return ""


def without_path(text: str, path: str | os.PathLike[str]) -> str:
    """A message without the path of its file, which is shown before it."""
    name = os.fspath(path)
    text = text.removeprefix(f"{name}, ").removeprefix(f"{name}: ")
    return text.removesuffix(f" ({name})").replace(f"({name}, ", "(")


def _file_message(error: OSError) -> str:
    advice = _ADVICE.get(error.errno or 0, "")
    if getattr(error, "winerror", None) in (_SHARING_VIOLATION, _LOCK_VIOLATION):
        advice = _ADVICE[errno.EBUSY]
    # For a file that was to be replaced, the target matters and not the temporary name.
    name = error.filename2 or error.filename
    if error.errno == errno.ENOENT:
        advice = "there is no such file or folder"
    # Windows has no error of its own for a path that is too long.
    is_vague = os.name == "nt" and error.errno in (errno.ENOENT, errno.EINVAL)
    if is_vague and name is not None and len(os.fsdecode(name)) > _LONGEST_ON_WINDOWS:
        advice = _ADVICE[errno.ENAMETOOLONG]
    text = advice or error.strerror or str(error)
    return f"{os.fsdecode(name)}: {text}" if name is not None else text


def _operator_message(error: RuntimeError, target: Path) -> str:
    # A traceback ends with the reason, and after that Blender adds where the operator was called.
    lines = [line for line in str(error).strip().splitlines() if line and not line.startswith("Location: ")]
    last = lines[-1].removeprefix("Error: ") if lines else type(error).__name__
    for number in _ADVICE:
        # The text of the system error, as Python and as Blender print it.
        if f"[Errno {number}]" in last or last.endswith(os.strerror(number)):
            return _file_message(OSError(number, os.strerror(number), os.fspath(target)))
    return last
