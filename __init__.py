"""The extension's door: id Software's MD5 and MD2 models in and out of Blender."""

from __future__ import annotations

from importlib import import_module

_FAMILIES = ("io_md5", "io_md2")


def register() -> None:
    """Registers the families with Blender."""
    import_module(".io_common.preferences", __package__).register()
    for family in _FAMILIES:
        import_module(f".{family}.operators", __package__).register()


def unregister() -> None:
    """Takes the families back."""
    for family in reversed(_FAMILIES):
        import_module(f".{family}.operators", __package__).unregister()
    import_module(".io_common.preferences", __package__).unregister()
