"""Import and export of id Software's models: one package for each format family, listed in `families`."""

from __future__ import annotations


def register() -> None:
    """Registers the families, the characters and the command line with Blender."""
    # Only Blender calls this: without it, the packages that need no Blender can be imported on their own.
    from .command_line import command
    from .families import FAMILIES
    from .io_blender.operators import registration
    from .io_characters import operators as characters

    registration.register(FAMILIES)
    characters.register()
    command.register()


def unregister() -> None:
    """Removes everything that `register` added."""
    from .command_line import command
    from .families import FAMILIES
    from .io_blender.operators import registration
    from .io_characters import operators as characters

    command.unregister()
    characters.unregister()
    registration.unregister(FAMILIES)
