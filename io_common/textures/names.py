"""Names of images, skins and shaders as files hold them: what may be believed of them.

A name is data from a stranger. It may be a path relative to a game folder, an absolute path of another machine
(Windows, UNC, Unix), a path with `..`, cut short, empty or garbage. Only a name that is plainly relative is ever
used as a path; of any other only the base name counts, and that is compared with what directories list: no
name is ever handed to the operating system, so that device names, drive letters and the like mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

IMAGE_EXTENSIONS = (
    ".tga", ".png", ".jpg", ".jpeg", ".pcx", ".bmp", ".webp", ".dds", ".tif", ".tiff", ".exr", ".hdr", ".jp2",
    ".sgi", ".rgb", ".cin", ".dpx", ".psd",
)  # fmt: skip
"""Extensions of images, in the order in which files of the same name are preferred: the games' own first (Doom 3 asks
for .tga and takes .jpg), then what else Blender reads, packed textures late; PCX is read by this project."""

_EXTENSION_RANK = {extension: rank for rank, extension in enumerate(IMAGE_EXTENSIONS)}
_DECORATION = re.compile(r"^(?:<[^<>]*>\s*)+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_image(file_name: str) -> bool:
    """Whether the file's extension is that of an image."""
    return split_extension(file_name)[1].lower() in _EXTENSION_RANK


def extension_rank(file_name: str) -> int:
    """Place of the file's extension in IMAGE_EXTENSIONS; its length for other files."""
    return _EXTENSION_RANK.get(split_extension(file_name)[1].lower(), len(IMAGE_EXTENSIONS))


def split_extension(name: str) -> tuple[str, str]:
    """Split off the extension of the last component: `a.b/c.tga` is (`a.b/c`, `.tga`), `a.b/c` (`a.b/c`, ``)."""
    base_start = name.rfind("/") + 1
    dot = name.rfind(".")
    return (name[:dot], name[dot:]) if dot > base_start else (name, "")


def without_image_extension(name: str) -> str:
    """The name without an image's extension; `Cylinder.002` and `imp.v2` stay as they are."""
    stem, extension = split_extension(name)
    return stem if extension.lower() in _EXTENSION_RANK else name


def fold_slashes(name: str) -> str:
    """The name with forward slashes."""
    return name.replace("\\", "/")


def fold(name: str) -> str:
    """Form in which names are compared: without regard to case, and with forward slashes."""
    return fold_slashes(name).casefold()


@dataclass(frozen=True)
class AssetName:
    """A name out of a model or a material, cleaned.

    raw: as it stood in the file. path: relative, with forward slashes and neither empty components nor `..`, or None
    where the name is not plainly relative. base: the last component, "" where there is none.
    """

    raw: str
    path: str | None
    base: str

    @property
    def empty(self) -> bool:
        """Whether nothing can be looked for."""
        return not self.base

    @property
    def folder(self) -> str:
        """Directory part of `path`, "" where there is none."""
        return self.path.rpartition("/")[0] if self.path else ""


def clean_name(raw: str) -> AssetName:
    """Clean a name.

    What stands after a NUL is left out, as are control characters, quotes and spaces around it, and Sauerbraten's
    decorations in front of it (`<dds>skin.png`).
    """
    text = _CONTROL.sub("", raw.split("\x00", 1)[0]).strip().strip("\"'").strip()
    text = _DECORATION.sub("", text).replace("\\", "/")
    absolute = text.startswith("/") or ":" in text
    parts = [part for part in text.split("/") if part not in ("", ".")]
    # A drive letter may also stand in the middle (`players/E:/mod/skin.jpg`): such a path is absolute all the same.
    base = parts[-1].rpartition(":")[2] if parts else ""
    if base == "..":
        base = ""
    relative = bool(parts) and not absolute and ".." not in parts
    return AssetName(raw, "/".join(parts) if relative else None, base)
