"""Names: in the files of games, in Blender, and on disk.

Names in files of games cannot be trusted: absolute, with `..`, truncated, or garbage. Only relative names without `..`
are used as paths; of all others only the base name is used. They are compared with listings of folders and never passed
to the operating system, so that device names and the like have no effect.

Names that Blender cannot hold as they are get cut at 63 or 255 bytes, UTF-8, unique and not empty; those that
were read as Latin-1 are shown as the UTF-8 that they may be. One that has to
change is stored with the name it got, and goes back into the file unless it was renamed since.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

IMAGE_EXTENSIONS = (
    ".tga", ".png", ".jpg", ".jpeg", ".pcx", ".bmp", ".webp", ".dds", ".tif", ".tiff", ".sgi", ".rgb", ".lmp",
)  # fmt: skip
"""Extensions of images, in order of preference for files with the same name: first those of the games (Doom 3 loads
.tga, else .jpg), then others that Blender reads. PCX and Quake's LMP are read by this add-on."""

# With those that no game reads: files with them are not used, but names may end in them.
_ALL_EXTENSIONS = frozenset((*IMAGE_EXTENSIONS, ".exr", ".hdr", ".jp2", ".psd"))
_EXTENSION_RANK = {extension: rank for rank, extension in enumerate(IMAGE_EXTENSIONS)}
_MODIFIERS = re.compile(r"^(?:<[^<>]*>\s*)++")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_LENGTH_IN_MESSAGES = 200

# What Windows does not allow in a name, or takes for a device, whatever follows a dot. After a colon, it even takes the
# rest for another drive or a hidden stream of the file.
_FORBIDDEN = r'<>:"\\|?*\x00-\x1f'
_DEVICE = r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]) *(?:\.|\Z)"
# It drops dots and blanks from the end.
UNFIT_FOR_WINDOWS = re.compile(rf".*[{_FORBIDDEN}]|.*[. ]\Z|{_DEVICE}", re.IGNORECASE | re.DOTALL)
_COPY_SUFFIX = re.compile(r"\.\d{3,}$")
_SUFFIX_ROOM = 12


def is_image(file_name: str) -> bool:
    """Whether a file has the extension of an image that is used under any name with the same stem."""
    return split_extension(file_name)[1].lower() in _EXTENSION_RANK


def has_image_extension(name: str) -> bool:
    """Whether a name ends in any extension of an image, also of those that no game reads."""
    return split_extension(name)[1].lower() in _ALL_EXTENSIONS


def extension_rank(file_name: str) -> int:
    """The index of a file's extension in IMAGE_EXTENSIONS; the length of that for other files."""
    return _EXTENSION_RANK.get(split_extension(file_name)[1].lower(), len(IMAGE_EXTENSIONS))


def split_extension(name: str) -> tuple[str, str]:
    """The name without its extension, and the extension: `a.b/c.tga` is (`a.b/c`, `.tga`), `a.b/c` (`a.b/c`, ``)."""
    base_start = name.rfind("/") + 1
    dot = name.rfind(".")
    return (name[:dot], name[dot:]) if dot > base_start else (name, "")


def without_image_extension(name: str) -> str:
    """A name without the extension of an image; `Cylinder.002` and `imp.v2` are returned unchanged."""
    return split_extension(name)[0] if has_image_extension(name) else name


def fold_slashes(name: str) -> str:
    """A name with forward slashes."""
    return name.replace("\\", "/")


def fold(name: str) -> str:
    """The form in which names are compared: casefolded, with forward slashes."""
    return fold_slashes(name).casefold()


def short(name: str) -> str:
    """A name for a message, cut if it is very long."""
    return name if len(name) <= _MAX_LENGTH_IN_MESSAGES else f"{name[:_MAX_LENGTH_IN_MESSAGES]}…"


@dataclass(frozen=True)
class AssetName:
    """A cleaned name from a model or a material."""

    path: str | None  # relative, without empty components and `..`; None if the name is no such path
    base: str  # the last component; may be empty

    @property
    def folder(self) -> str:
        """The directory part of `path`; empty if there is none."""
        return self.path.rpartition("/")[0] if self.path else ""


def as_utf8(name: str) -> str:
    """A name that was read as Latin-1, as UTF-8 if its bytes are that."""
    try:
        return name.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return name


def clean_name(raw: str) -> AssetName:
    """A name without control characters, text after a NUL, quotes around it, and modifiers like `<dds>`."""
    text = _CONTROL.sub("", as_utf8(raw).split("\x00", 1)[0]).strip().strip("\"'").strip()
    text = _MODIFIERS.sub("", text).replace("\\", "/")
    absolute = text.startswith("/") or ":" in text
    parts = [part for part in text.split("/") if part not in ("", ".")]
    # A drive letter may also be in the middle (`players/E:/mod/skin.jpg`); such a path counts as absolute.
    base = parts[-1].rpartition(":")[2] if parts else ""
    if base == "..":
        base = ""
    relative = bool(parts) and not absolute and ".." not in parts
    return AssetName("/".join(parts) if relative else None, base)


def join(*parts: str) -> str:
    """The path made of parts, with forward slashes, without `.` and `..`, which never lead out of the game folder."""
    return posixpath.normpath("/" + fold_slashes("/".join(parts))).lstrip("/")


def ancestors(folder: str) -> list[str]:
    """A folder and those above it, down to the game folder, whose path is empty."""
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def path_on_disk(folder: Path, path: str) -> Path:
    """The path of a game file that is written below a folder; OSError if this system cannot have it there."""
    parts = path.split("/")
    if any(
        part in ("", os.curdir, os.pardir) or "\0" in part or (os.name == "nt" and UNFIT_FOR_WINDOWS.match(part))
        for part in parts
    ):
        raise OSError(errno.EINVAL, "this system cannot have a file of this name", path)
    return folder.joinpath(*parts)


def for_blender(name: str, limit: int, fallback: str) -> str:
    """A name of at most `limit` bytes; bytes that are not UTF-8 come as surrogates."""
    if name.isascii() and 0 < len(name) <= limit and "\0" not in name:
        return name
    data = as_utf8(name).encode("utf-8", "surrogateescape").replace(b"\0", b"")
    text = data.decode("utf-8", "replace") or fallback
    return text.encode("utf-8")[:limit].decode("utf-8", "ignore")


def without_copy_suffix(name: str) -> str:
    """A name without the number that Blender adds to one that is taken."""
    return _COPY_SUFFIX.sub("", name)


def distinct(names: Iterable[str], limit: int) -> list[str]:
    """Unique names within `limit` bytes: repeated ones get a number at the end, as in Blender."""
    # Blender tries every number again for every name: minutes for a thousand equal names.
    taken: set[str] = set()
    numbers: Counter[bytes] = Counter()
    result = []
    for name in names:
        unique = name
        while unique in taken:
            # Those that are cut to the same beginning share their numbers.
            base = without_copy_suffix(name).encode("utf-8")
            numbers[base[: limit - _SUFFIX_ROOM]] += 1
            suffix = f".{numbers[base[: limit - _SUFFIX_ROOM]]:03}"
            unique = base[: limit - len(suffix)].decode("utf-8", "ignore") + suffix
        taken.add(unique)
        result.append(unique)
    return result


def for_files(name: str, fallback: str) -> str:
    """A name that is valid on every file system. `fallback` is used where nothing is left of the name."""
    fit = re.sub(f"[{_FORBIDDEN}/]", "_", name).strip(". ") or fallback
    # An underscore behind the name of a device makes it an ordinary one.
    return re.sub(r"(\.|\Z)", r"_\1", fit, count=1) if re.match(_DEVICE, fit, re.IGNORECASE) else fit
