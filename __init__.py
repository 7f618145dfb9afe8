"""The extension's door: id Software's MD5 and MD2 models in and out of Blender."""

from __future__ import annotations

from importlib import import_module

# What Blender is told of, in this order: the families need the preferences.
_PARTS = (
    ".io_common.operators.preferences",
    ".io_common.operators.game_check",
    ".io_md5.operators",
    ".io_md2.operators",
    ".command_line.command",
)


def register() -> None:
    """Registers the families and the command with Blender."""
    for part in _PARTS:
        import_module(part, __package__).register()


def unregister() -> None:
    """Takes all back."""
    for part in reversed(_PARTS):
        import_module(part, __package__).unregister()
