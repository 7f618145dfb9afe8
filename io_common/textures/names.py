"""Names of images, skins and shaders in files, which cannot be trusted.

A name may be a path relative to a game folder, an absolute path from another machine (Windows, UNC, Unix), a path with
`..`, truncated, empty or garbage. Only relative names without `..` are used as paths; of all others only the base name
is used. Names are compared with listings of directories and never passed to the operating system, so that device
names, drive letters and the like have no effect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

IMAGE_EXTENSIONS = (
    ".tga", ".png", ".jpg", ".jpeg", ".pcx", ".bmp", ".webp", ".dds", ".tif", ".tiff", ".sgi", ".rgb", ".lmp",
)  # fmt: skip
"""Extensions of images, in order of preference for files with the same name: first those of the games (Doom 3 loads
.tga, else .jpg), then others that Blender reads. PCX and Quake's LMP are read by this add-on."""

NAMED_EXTENSIONS = (".exr", ".hdr", ".jp2", ".psd")
"""Extensions of images that no game reads, and that may be large: only a file whose name is given with it is used."""

_ALL_EXTENSIONS = frozenset(IMAGE_EXTENSIONS + NAMED_EXTENSIONS)
_EXTENSION_RANK = {extension: rank for rank, extension in enumerate(IMAGE_EXTENSIONS)}
_MODIFIERS = re.compile(r"^(?:<[^<>]*>\s*)++")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_LENGTH_IN_MESSAGES = 200


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
    """A cleaned name from a model or a material.

    Attributes:
        path: relative, with forward slashes, without empty components and `..`; None if the name is not such a path.
        base: the last component; may be empty.
    """

    path: str | None
    base: str

    @property
    def folder(self) -> str:
        """The directory part of `path`; empty if there is none."""
        return self.path.rpartition("/")[0] if self.path else ""


def clean_name(raw: str) -> AssetName:
    """A name without the text after a NUL, control characters, surrounding quotes and spaces, and Sauerbraten's
    modifiers (`<dds>skin.png`).
    """
    text = _CONTROL.sub("", raw.split("\x00", 1)[0]).strip().strip("\"'").strip()
    text = _MODIFIERS.sub("", text).replace("\\", "/")
    absolute = text.startswith("/") or ":" in text
    parts = [part for part in text.split("/") if part not in ("", ".")]
    # A drive letter may also be in the middle (`players/E:/mod/skin.jpg`); such a path counts as absolute.
    base = parts[-1].rpartition(":")[2] if parts else ""
    if base == "..":
        base = ""
    relative = bool(parts) and not absolute and ".." not in parts
    return AssetName("/".join(parts) if relative else None, base)
