"""Import and export of id Software's models: one package for each format family, listed in `families`."""

from __future__ import annotations

import os
from typing import Any


def open(path: str | os.PathLike[str]) -> Any:  # noqa: A001 # as in gzip and other modules
    """What is in a file, by its content: a model, an animation or a camera path of a format package.

    The file may have any name. Raises the error of the format that its name says, such as Md5Error, or of the first
    format, if it cannot be understood; OSError if it cannot be opened, or is not a regular file.
    """
    from .families import FAMILIES

    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    kinds = [(kind, family.error) for family in FAMILIES for kind in family.kinds]
    failure: Exception | None = None
    # First what the name says.
    for kind, bad_data in sorted(kinds, key=lambda found: found[0].suffix != suffix):
        try:
            return kind.read(name)
        except bad_data as error:
            failure = failure or error
    assert failure is not None
    raise failure


def register() -> None:
    """Registers the families, the characters and the command line with Blender."""
    # Only Blender calls this: without it, the packages that need no Blender can be imported on their own.
    from .command_line import command, make_library
    from .families import FAMILIES
    from .io_blender.operators import registration
    from .io_characters import operators as characters

    registration.register(FAMILIES)
    characters.register()
    command.register()
    registration.add(*registration.declared_in(make_library))


def unregister() -> None:
    """Removes everything that `register` added."""
    from .command_line import command, make_library
    from .families import FAMILIES
    from .io_blender.operators import registration
    from .io_characters import operators as characters

    registration.remove(*registration.declared_in(make_library))
    command.unregister()
    characters.unregister()
    registration.unregister(FAMILIES)
