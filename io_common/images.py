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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np

from . import names, versions
from .textures.gamefolder import FileReadError, GameFile
from .textures.pcx import PcxError, decode_pcx

if TYPE_CHECKING:
    from bpy.types import Image

_SOURCES = ("md5_image", "md2_image")
_MEMBER = re.compile(r"\.pk[34]/", re.IGNORECASE)

# Pixels are looked at as floats; more than this is not worth the time and memory.
_MAX_PIXELS_SEEN = 1 << 24
# An alpha channel cuts a surface out if nearly all of it is black or white, and it is not all one of them.
_SHARP = 0.9
_SOME = 0.001
_BLACK = 0.03
# Of the light; games' textures are dark, as their lamps were bright.
_VISIBLE = 0.2


class ImageError(ValueError):
    """A file was found but is no image that can be shown."""


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
                image = self._load(file)
            except (ImageError, FileReadError, PcxError, OSError, RuntimeError) as error:
                self._failed[file] = str(error) if str(file) in str(error) else f"{file}: {error}"
                raise ImageError(self._failed[file]) from error
            image.alpha_mode = "CHANNEL_PACKED"
            if is_data:
                image.colorspace_settings.name = "Non-Color"
            self._images[key] = image
            self.loaded += 1
        return self._images[key]

    def impression(self, image: Image) -> Impression:
        """A look at the pixels, once per image."""
        if image not in self._impressions:
            self._impressions[image] = _look_at(image)
        return self._impressions[image]

    def _load(self, file: GameFile) -> Image:
        if file.extension == ".pcx":
            image = _from_pcx(file)
        elif file.member is not None:
            image = _new(file, 1, 1)
            data = file.read()
            image.source = "FILE"
            image.pack(data=data, data_len=len(data))
        else:
            image = bpy.data.images.load(str(file.path), check_existing=False)
        # The size is known once the file was read.
        if not all(image.size):
            bpy.data.images.remove(image)
            raise ImageError("no image that Blender can read")
        if file.member is not None or file.extension == ".pcx":
            names.keep_text(image, self._key, str(file))
        return image


def _new(file: GameFile, width: int, height: int) -> Image:
    name = names.for_blender(file.name, versions.MAX_ID_NAME, "Image")
    return bpy.data.images.new(name, width, height, alpha=True)


def _from_pcx(file: GameFile) -> Image:
    pixels = decode_pcx(file.read())
    height, width = pixels.shape[:2]
    image = _new(file, width, height)
    # Blender's first row is the lowest.
    image.pixels.foreach_set(np.divide(pixels[::-1], 255, dtype=np.float32).ravel())
    image.pack()
    return image


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
