"""Image files of games as Blender's images.

- An image is loaded once, however many materials use it, in this import or one before it. The first use says whether
  it holds colours: the image of colours comes first, so that one that is also the height map stays sRGB.
- Files on disk stay there. What lies in an archive is packed into the .blend as it is, and PCX, which Blender cannot
  read, as PNG: where these came from is kept in the custom property ``md5_image`` or ``md2_image``.
- The alpha channel says nothing about the colours under it (Blender's 'Channel Packed'): games keep what they like
  in it, and colours would turn black where it is 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..files.regular_files import open_file
from ..scene import names, versions
from ..textures import budget
from ..textures.dimensions import pixel_count
from ..textures.game_files import FileReadError, GameFile
from ..textures.pcx import PcxError, decode_pcx

if TYPE_CHECKING:
    from bpy.types import Image

# Where Blender asks for one file, and for others only when they are shown.
_ONE_FILE = ("FILE", "SEQUENCE", "MOVIE")
_SOURCES = ("md5_image", "md2_image")
_MEMBER = re.compile(r"\.pk[34]/", re.IGNORECASE)

# Pixels are looked at as floats; more than this is not worth the time and memory.
_MAX_PIXELS_SEEN = 1 << 24
# Of all images of an import, so many are kept as they were unpacked.
_MANY_PIXELS = 1 << 26
# How much of a file is read for the size of its image.
_HEAD, _LONGEST_HEAD = 1 << 16, 1 << 26
# An alpha channel cuts a surface out if nearly all of it is black or white, and it is not all one of them.
_SHARP = 0.9
_SOME = 0.001
_BLACK = 0.03
# Of the light; games' textures are dark, as their lamps were bright.
_VISIBLE = 0.2


class ImageError(ValueError):
    """A file was found but is no image that can be shown."""


class TooMuchError(ImageError):
    """All images together are more than an import loads; said once, and not for each of them."""


@dataclass(frozen=True)
class Impression:
    """What an image looks like from afar.

    Attributes:
        colour: mean linear RGB of what is opaque and not black, lifted to be visible; None if unknown.
        is_cut_out: whether the alpha channel holds holes with sharp edges.
    """

    colour: tuple[float, float, float] | None
    is_cut_out: bool


class ImageStore:
    """The images of one import.

    Args:
        family: ``md5`` or ``md2``.
    """

    def __init__(self, family: str) -> None:
        self._key = f"{family}_image"
        self._images: dict[str, Image] | None = None
        self._failed: dict[GameFile, str] = {}
        self._impressions: dict[Image, Impression] = {}
        self._budget = budget.Budget()
        self.loaded = 0
        """How many were loaded, not counting those that were there."""

    def get(self, file: GameFile, *, is_data: bool) -> Image:
        """The image of a file.

        Args:
            file: as it was found.
            is_data: the values are no colours; counts where the image is not there already.

        Raises:
            ImageError: the file cannot be read, or Blender cannot read the image.
        """
        if file in self._failed:
            raise ImageError(self._failed[file])
        if self._images is None:
            self._images = _images_of_blend()
        key = _folded(str(file))
        if key not in self._images:
            try:
                with self._budget.timed():
                    image = self._load(file)
            except TooMuchError as error:
                self._failed[file] = str(error)
                raise
            except (ImageError, FileReadError, PcxError, OSError, RuntimeError) as error:
                self._failed[file] = str(error) if str(file) in str(error) else f"{file}: {error}"
                raise ImageError(self._failed[file]) from error
            image.alpha_mode = "CHANNEL_PACKED"
            if is_data:
                image.colorspace_settings.name = "Non-Color"
            self._images[key] = image
            self._free_if_many(image)
            self.loaded += 1
        return self._images[key]

    def impression(self, image: Image) -> Impression:
        """A look at the pixels, once per image."""
        if image not in self._impressions:
            self._impressions[image] = _look_at(image)
            self._free_if_many(image)
        return self._impressions[image]

    def _load(self, file: GameFile) -> Image:
        if self._budget.is_over():
            raise TooMuchError("images were left out: loading all of them takes too long")
        is_kept = file.member is not None or file.extension == ".pcx"
        data = self._read(file) if is_kept else b""
        if file.extension == ".pcx":
            pixels = decode_pcx(data)
            self._take_pixels(file, 4 * pixels.shape[0] * pixels.shape[1])
            image = _new(file, pixels.shape[1], pixels.shape[0])
            with _removed_on_errors(image):
                # Blender's first row is the lowest.
                image.pixels.foreach_set(np.divide(pixels[::-1], 255, dtype=np.float32).ravel())
                image.pack()
        elif is_kept:
            self._take_pixels(file, pixel_count(data))
            image = _new(file, 1, 1)
            with _removed_on_errors(image):
                image.source = "FILE"
                image.pack(data=data, data_len=len(data))
        else:
            self._take_pixels(file, _pixels_on_disk(file))
            image = bpy.data.images.load(str(file.path), check_existing=False)
        with _removed_on_errors(image):
            # The size is known once the file was read.
            if not all(image.size):
                raise ImageError("no image that Blender can read")
            if is_kept:
                names.keep_text(image, self._key, str(file))
        return image

    def _read(self, file: GameFile) -> bytes:
        """The bytes of a file that is to be unpacked.

        Raises:
            TooMuchError: there were enough of them.
            FileReadError: it cannot be read.
        """
        if not self._budget.take("data", file.size()):
            raise TooMuchError(
                f"images were left out: those in archives are more than {budget.MAX_DATA >> 20} MB"
            )
        return file.read()

    def _take_pixels(self, file: GameFile, count: int | None) -> None:
        """Raises ImageError for an image that is too large, TooMuchError where all of them are."""
        count = count or 0
        if count > budget.MAX_PIXELS_OF_ONE:
            raise ImageError(f"the image is too large ({count >> 20} megapixels)")
        if not self._budget.take("pixels", count):
            limit = budget.MAX_PIXELS >> 20
            raise TooMuchError(f"images were left out: all of them are more than {limit} megapixels")

    def _free_if_many(self, image: Image) -> None:
        """Blender unpacks an image again when it is shown; until then memory is not filled with pixels."""
        if budget.MAX_PIXELS - self._budget.pixels > _MANY_PIXELS and not image.is_dirty:
            image.buffers_free()


def _new(file: GameFile, width: int, height: int) -> Image:
    name = names.for_blender(file.name, versions.MAX_ID_NAME, "Image")
    return bpy.data.images.new(name, width, height, alpha=True)


@contextmanager
def _removed_on_errors(image: Image) -> Iterator[None]:
    """Leaves no image behind that nothing uses, if the block raises an exception."""
    try:
        yield
    except Exception:
        bpy.data.images.remove(image)
        raise


def _pixels_on_disk(file: GameFile) -> int | None:
    """The number of pixels of an image in a file of its own.

    Raises:
        OSError: it is no regular file, or cannot be read.
    """
    with open_file(file.path) as stream:
        head = stream.read(_HEAD)
        count = pixel_count(head)
        # Few files say it further back.
        return (
            count
            if count is not None or len(head) < _HEAD
            else pixel_count(head + stream.read(_LONGEST_HEAD))
        )


def _folded(path: str) -> str:
    return os.path.normcase(os.path.normpath(path))


def _images_of_blend() -> dict[str, Image]:
    found: dict[str, Image] = {}
    for image in bpy.data.images:
        source = source_of(image)
        if source and image.library is None:
            found.setdefault(_folded(source), image)
    return found


def source_of(image: Image) -> str:
    """The file that an image came from, as an absolute path (in an archive: the archive's, a slash and the name there).

    Empty for images that were made in Blender.
    """
    for key in _SOURCES:
        if key in image:
            return names.kept_text(image, key)
    if image.source != "FILE" or not image.filepath:
        return ""
    return os.path.abspath(bpy.path.abspath(image.filepath))


def size_of(image: Image) -> tuple[int, int]:
    """Width and height of an image; zeros if it cannot be read.

    Blender reads the file to know. In somebody else's .blend that may be a pipe, for which it would wait.
    """
    if image.source in _ONE_FILE and image.packed_file is None and not image.has_data:
        try:
            open_file(bpy.path.abspath(image.filepath, library=image.library)).close()
        except (OSError, ValueError):
            return 0, 0
    width, height = image.size
    return int(width), int(height)


def name_in_archive(source: str) -> str | None:
    """The name that a file has in its archive, None for a file of its own.

    Args:
        source: from `source_of`.
    """
    parts = _MEMBER.split(source.replace("\\", "/"), maxsplit=1)
    return parts[1] if len(parts) > 1 else None


def _look_at(image: Image) -> Impression:
    width, height = image.size
    if not 0 < width * height <= _MAX_PIXELS_SEEN:
        return Impression(None, False)
    flat = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(flat)
    pixels = flat.reshape(-1, 4)
    alpha = pixels[:, 3]
    clear, solid = float(np.mean(alpha < 0.1)), float(np.mean(alpha > 0.9))
    is_cut_out = clear > _SOME and solid > _SOME and clear + solid > _SHARP
    # Black is what textures are filled up with.
    shown = pixels[(pixels[:, :3].max(axis=1) > _BLACK) & ((alpha > 0.5) | (not is_cut_out))]
    if not len(shown):
        return Impression(None, is_cut_out)
    mean = shown[:, :3].mean(axis=0, dtype=np.float64)
    if not image.is_float:
        # By and large: the mean of the sRGB values, not of the light.
        mean = np.where(mean <= 0.04045, mean / 12.92, ((mean + 0.055) / 1.055) ** 2.4)
    mean = np.nan_to_num(mean) * max(1.0, _VISIBLE / max(float(mean.max()), 1e-6))
    red, green, blue = np.clip(mean, 0.0, 1.0).tolist()
    return Impression((red, green, blue), is_cut_out)
