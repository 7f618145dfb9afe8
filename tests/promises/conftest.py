"""Every test runs in Blender with the extension enabled, and begins with an empty scene."""

from installed import MODULE, empty_scene, extension, part, remove_folders

__all__ = ["MODULE", "empty_scene", "extension", "part"]


def pytest_unconfigure() -> None:
    remove_folders()
