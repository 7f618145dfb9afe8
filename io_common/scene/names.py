"""Names that Blender cannot hold as they are.

Blender cuts names at 63 or 255 bytes, takes only UTF-8, wants them to be different and not empty. A name that
suffers from this is kept beside, in a custom property, and counts as long as the shown name is still what Blender
made of it: renaming the thing in Blender renames it in the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

_COPY_SUFFIX = re.compile(r"\.\d{3,}$")
_SUFFIX_ROOM = 12
_UNFIT_FOR_FILES = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
# What Windows takes for a device, whatever follows a dot, and digits in superscript as well.
_DEVICE = re.compile(
    r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE
)


def for_blender(name: str, limit: int, fallback: str) -> str:
    """A name that Blender can show.

    Args:
        name: as in the file; bytes that are no UTF-8 as surrogates.
        limit: how many bytes Blender keeps.
        fallback: what an empty name becomes.
    """
    if name.isascii() and 0 < len(name) <= limit and "\0" not in name:
        return name
    data = name.encode("utf-8", "surrogateescape").replace(b"\0", b"")
    shown = data.decode("utf-8", "replace") or fallback
    return shown.encode("utf-8")[:limit].decode("utf-8", "ignore")


def distinct(shown: Iterable[str], limit: int) -> list[str]:
    """Names with numbers behind those that were there before, as Blender makes them.

    Blender tries every number anew for every name: a file of a thousand equal names would take it minutes.

    Args:
        shown: what Blender can show, in order; at most `limit` bytes each.
        limit: how many bytes Blender keeps.
    """
    taken: set[str] = set()
    numbers: Counter[bytes] = Counter()
    result = []
    for name in shown:
        unique = name
        while unique in taken:
            # Those that are cut to the same beginning share their numbers.
            base = _COPY_SUFFIX.sub("", name).encode("utf-8")
            numbers[base[: limit - _SUFFIX_ROOM]] += 1
            suffix = f".{numbers[base[: limit - _SUFFIX_ROOM]]:03}"
            unique = base[: limit - len(suffix)].decode("utf-8", "ignore") + suffix
        taken.add(unique)
        result.append(unique)
    return result


def for_files(name: str, fallback: str) -> str:
    """A name that every file system takes.

    Args:
        name: of anything.
        fallback: what a name of which nothing is left becomes.
    """
    fit = _UNFIT_FOR_FILES.sub("_", name).strip(". ") or fallback
    stem, dot, rest = fit.partition(".")
    # An underscore behind the name of a device makes it an ordinary one.
    return f"{stem}_{dot}{rest}" if _DEVICE.fullmatch(stem.rstrip(" ")) else fit


def keep(owner: Any, key: str, name: str, shown: str) -> None:
    """Remembers the name of the file on a data-block or bone, where the name it bears in Blender differs.

    Args:
        owner: what has custom properties.
        key: the custom property.
        name: as in the file.
        shown: the name that it bears in Blender.
    """
    if name != shown:
        keep_text(owner, key, name)
        owner[key + "_shown"] = shown


def original(owner: Any, key: str, shown: str) -> str:
    """The name for the file: the kept one, unless the thing was renamed since."""
    if key not in owner:
        return shown
    given = owner.get(key + "_shown", shown)
    if not isinstance(given, str):
        return shown
    if shown in (given, _COPY_SUFFIX.sub("", given)) or _COPY_SUFFIX.sub("", shown) == given:
        return kept_text(owner, key)
    return shown


def keep_text(owner: Any, key: str, text: str) -> None:
    """Remembers a text of the file; one that is no UTF-8 is kept as its bytes."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        owner[key] = data.decode("utf-8")
    except UnicodeDecodeError:
        owner[key] = data


def kept_text(owner: Any, key: str, default: str = "") -> str:
    """A text that `keep_text` remembered."""
    value = owner.get(key, default)
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
