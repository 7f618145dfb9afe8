"""Listings of directories, compared without regard to case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .names import extension_rank, fold, has_image_extension, is_image, split_extension


@dataclass
class Listing:
    """The names of the files and folders in a directory, by their folded form."""

    files: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    _stems: dict[str, list[str]] | None = None

    def images(self) -> list[str]:
        """The names of the images, in alphabetical order."""
        return sorted((name for name in self.files.values() if is_image(name)), key=fold)

    def image(self, name: str) -> str | None:
        """The image with this name, else with the name but another image extension; None if there is none.

        The extension may also be missing from `name`.
        """
        exact = self.files.get(fold(name))
        if exact is not None and has_image_extension(exact):
            return exact
        stems = self._image_stems()
        folded = fold(name)
        candidates = stems.get(folded, [])
        if not candidates and has_image_extension(name):
            candidates = stems.get(split_extension(folded)[0], [])
        return candidates[0] if candidates else None

    def _image_stems(self) -> dict[str, list[str]]:
        if self._stems is None:
            self._stems = {}
            for name in sorted(self.files.values(), key=lambda name: (extension_rank(name), name)):
                if is_image(name):
                    self._stems.setdefault(split_extension(fold(name))[0], []).append(name)
        return self._stems


def merged(listings: Iterable[Listing | None]) -> Listing | None:
    """One listing of directories that overlay each other, the first on top; None if none of them exists."""
    result: Listing | None = None
    for listing in listings:
        if listing is None:
            continue
        if result is None:
            result = Listing()
        for key, name in listing.files.items():
            result.files.setdefault(key, name)
        for key, name in listing.folders.items():
            result.folders.setdefault(key, name)
    return result
