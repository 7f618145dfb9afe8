"""Names of files that Blender cannot hold as they are: cut at 63 or 255 bytes, UTF-8, unique and not empty.

One that has to change is stored with the name it got, and goes back into the file unless it was renamed since.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_COPY_SUFFIX = re.compile(r"\.\d{3,}$")
_SUFFIX_ROOM = 12
_UNFIT_FOR_FILES = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
# What Windows takes for a device, whatever follows a dot, and digits in superscript as well.
_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE)


def for_blender(name: str, limit: int, fallback: str) -> str:
    """A name of at most `limit` bytes; bytes that are not UTF-8 come as surrogates."""
    if name.isascii() and 0 < len(name) <= limit and "\0" not in name:
        return name
    data = name.encode("utf-8", "surrogateescape").replace(b"\0", b"")
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
    fit = _UNFIT_FOR_FILES.sub("_", name).strip(". ") or fallback
    stem, dot, rest = fit.partition(".")
    # An underscore behind the name of a device makes it an ordinary one.
    return f"{stem}_{dot}{rest}" if _DEVICE.fullmatch(stem.rstrip(" ")) else fit
