"""Game paths as declarations spell them: joined, without `..`, and found with other extensions."""

from __future__ import annotations

from ..textures.names import IMAGE_EXTENSIONS, clean_name, has_image_extension, without_image_extension
from .files import GameFiles


def join(*parts: str) -> str:
    """The path made of parts, with forward slashes, without `.` and `..`, which never lead out of the game folder."""
    result: list[str] = []
    for part in "/".join(parts).replace("\\", "/").split("/"):
        if part == "..":
            del result[-1:]
        elif part not in ("", "."):
            result.append(part)
    return "/".join(result)


def ancestors(folder: str) -> list[str]:
    """A folder and those above it, down to the game folder, whose path is empty."""
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def find_image(files: GameFiles, path: str) -> str | None:
    """The path of an image with its own or another image extension, else in `dds/`; None if there is none."""
    for base in (path, f"dds/{path}"):
        # Most games have no dds/, and many names are tried.
        if files.listing(clean_name(base).folder) is None:
            continue
        stem = without_image_extension(base)
        for candidate in dict.fromkeys((base, *(stem + extension for extension in IMAGE_EXTENSIONS))):
            if has_image_extension(candidate) and files.has(candidate):
                return candidate
    return None
