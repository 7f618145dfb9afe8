"""Image files of games as Blender's images, each loaded once.

- The first use sets the color space: the color image comes first, so one that is also the height map stays sRGB.
- Files on disk are linked, files in archives are packed; PCX and LMP, which Blender cannot read, as PNG (see
  `source_of`).
- Alpha is 'Channel Packed': games use it for other data, and with other modes colors would be black where it is 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Image

from ...io_common import names
from ...io_common.files import open_file
from ...io_common.game_tree import files as limits
from ...io_common.game_tree.files import FileReadError, GameFile
from ...io_common.textures import image_files
from .. import versions
from ..records import MaterialRecord, read_file

_FILE_SOURCES = ("FILE", "SEQUENCE", "MOVIE", "TILED")  # image sources that are files on disk
_DECODED = (".pcx", ".lmp")  # read by this add-on and packed as PNG
# Statistics need all pixels as floats; larger images are not worth the time and memory.
_MAX_STATISTICS_PIXELS = 1 << 24
_MAX_KEPT = 256 << 20  # the bytes of unpacked images that an import may keep in memory
_HEAD, _LONGEST_HEAD = 1 << 16, 1 << 26  # the bytes of a file that are read to find the size of its image
# An alpha channel is an alpha test if nearly all of it is black or white, with some of both.
_SHARP = 0.9
_SOME = 0.001
_BLACK = 0.03
_VISIBLE = 0.2  # linear; the textures of these games are dark


class ImageError(ValueError):
    """A file was found but is not an image that Blender can show."""


class TooMuchError(ImageError):
    """All images together are more than an import loads; reported once, not for each image."""


@dataclass(frozen=True)
class ImageStatistics:
    """Statistics of the pixels of an image."""

    # Mean linear RGB of opaque pixels that are not black, brightened; None if unknown.
    color: tuple[float, float, float] | None
    is_cut_out: bool  # alpha has holes with sharp edges


class ImageStore:
    """The images of one import; `find_palette` returns Quake's palette for LMP images, if there is one."""

    def __init__(self, record: MaterialRecord, find_palette: Callable[[], GameFile | None] = lambda: None) -> None:
        self._record = record
        self._find_palette = find_palette
        self._palette: image_files.Bytes | None = None
        self._images: dict[str, Image] | None = None
        self._failed: dict[GameFile, str] = {}
        self._statistics: dict[Image, ImageStatistics] = {}
        self._budget = limits.Budget()
        self.loaded = 0  # how many images were loaded, without those that were in the .blend file already

    def get(self, file: GameFile, *, is_data: bool) -> Image:
        """The image of a file; `is_data` means no colors. Raises ImageError if it cannot be read."""
        # `is_data` is ignored if the image is loaded already.
        if file in self._failed:
            raise ImageError(self._failed[file])
        if self._images is None:
            self._images = {}
            for known in bpy.data.images:
                path = source_of(known)
                if path and known.library is None:
                    self._images.setdefault(_folded(path), known)
        key = _folded(str(file))
        if key not in self._images:
            try:
                with self._budget.timed():
                    image = self._load(file)
            except (ImageError, FileReadError, image_files.ImageFileError, OSError, RuntimeError) as error:
                reason = (error.strerror if isinstance(error, OSError) else "") or str(error).strip()
                is_named = isinstance(error, TooMuchError) or str(file) in reason
                self._failed[file] = reason if is_named else f"{file}: {reason}"
                raise ImageError(self._failed[file]) from error
            image.alpha_mode = "CHANNEL_PACKED"
            if is_data:
                image.colorspace_settings.name = "Non-Color"
            self._images[key] = image
            self._free_if_many(image)
            self.loaded += 1
        return self._images[key]

    def statistics(self, image: Image) -> ImageStatistics:
        """The statistics of an image, computed once."""
        if image not in self._statistics:
            self._statistics[image] = _image_statistics(image)
            self._free_if_many(image)
        return self._statistics[image]

    def _load(self, file: GameFile) -> Image:
        if self._budget.is_over():
            raise TooMuchError("some images were not loaded because it took too long: load them by hand")
        is_packed = file.member is not None or file.extension in _DECODED
        data = self._read(file) if is_packed else b""
        if file.extension in _DECODED:
            pixels = (
                image_files.decode_pcx(data)
                if file.extension == ".pcx"
                else image_files.decode_lmp(data, self._colors(file))
            )
            self._take(16 * pixels.shape[0] * pixels.shape[1])
            image = _new(file, pixels.shape[1], pixels.shape[0])
            with _removed_on_errors(image):
                # Blender's first row is the lowest.
                values: Any = image.pixels  # for the stubs a single number
                values.foreach_set(np.divide(pixels[::-1], 255, dtype=np.float32).ravel())
                image.pack()
        elif is_packed:
            self._take(image_files.loaded_bytes(data))
            image = _new(file, 1, 1)
            with _removed_on_errors(image):
                image.source = "FILE"
                image.pack(data=data, data_len=len(data))
        else:
            self._take(_loaded_bytes_on_disk(file))
            image = bpy.data.images.load(str(file.path), check_existing=False)
        with _removed_on_errors(image):
            if not all(image.size):
                raise ImageError("Blender cannot read this image")
            if is_packed:
                self._record.file.write(image, str(file))
        return image

    def _colors(self, file: GameFile) -> image_files.Bytes:
        """Quake's palette. Raises ImageError if it was not found, and image_files.ImageFileError if it is damaged."""
        if self._palette is None:
            palette = self._find_palette()
            if palette is None:
                raise ImageError(
                    f"{file}: needs Quake's palette, and {image_files.PALETTE_PATH} was not found: add the game's "
                    "folder id1 to the Game Folders in the add-on's preferences, or use PNG images"
                )
            self._palette = image_files.read_palette(palette.read())
        return self._palette

    def _read(self, file: GameFile) -> bytes:
        """The bytes of a file. Raises TooMuchError if too much was unpacked already, or FileReadError."""
        if not self._budget.take("data", file.size()):
            raise TooMuchError(
                f"some images were not loaded: the archives hold more than {limits.MAX_DATA >> 20} MB of them"
            )
        return file.read()

    def _take(self, size: int | None) -> None:
        """Counts an image. Raises ImageError for one that is too large, TooMuchError if all are too large."""
        if size is None:
            raise ImageError("it is no image that this add-on can load: use PNG or TGA")
        if size > limits.MAX_LOADED_OF_ONE:
            limit = limits.MAX_LOADED_OF_ONE >> 20
            raise ImageError(f"the image is too large ({size >> 20:,} MB loaded, at most {limit}): use a smaller one")
        if not self._budget.take("loaded", size):
            limit = limits.MAX_LOADED >> 30
            raise TooMuchError(f"some images were not loaded: together they would take more than {limit} GB")

    def _free_if_many(self, image: Image) -> None:
        """Frees the pixels once there are many; Blender loads them again when the image is shown."""
        if limits.MAX_LOADED - self._budget.loaded > _MAX_KEPT and not image.is_dirty:
            image.buffers_free()


def _new(file: GameFile, width: int, height: int) -> Image:
    name = names.for_blender(file.name, versions.MAX_ID_NAME, "Image")
    return bpy.data.images.new(name, width, height, alpha=True)


@contextmanager
def _removed_on_errors(image: Image) -> Iterator[None]:
    """Removes the image if the block raises an exception: it would stay without a user."""
    try:
        yield
    except Exception:  # raised again
        bpy.data.images.remove(image)
        raise


def _loaded_bytes_on_disk(file: GameFile) -> int | None:
    with open_file(file.path) as stream:
        head = stream.read(_HEAD)
        size = image_files.loaded_bytes(head)
        # In a few files the size is further back.
        if size is None and len(head) == _HEAD:
            size = image_files.loaded_bytes(head + stream.read(_LONGEST_HEAD))
    return size


def _folded(path: str) -> str:
    return os.path.normcase(os.path.normpath(path))


def source_of(image: Image) -> str:
    """The absolute path of an image's file, with the name in an archive; empty if it is not one file."""
    stored = read_file(image)
    if stored:
        return stored
    if image.source != "FILE" or not image.filepath:
        return ""
    return os.path.abspath(bpy.path.abspath(image.filepath, library=image.library))


def size_of(image: Image) -> tuple[int, int]:
    """Width and height of an image; zeros if it cannot be read."""
    # Blender reads the file for this, and would wait for a pipe.
    if image.source in _FILE_SOURCES and not image.packed_files and not image.has_data:
        path = bpy.path.abspath(image.filepath, library=image.library)
        if os.path.exists(path) and not os.path.isfile(path):
            return 0, 0
    width, height = image.size
    return int(width), int(height)


def _image_statistics(image: Image) -> ImageStatistics:
    width, height = image.size
    if not 0 < width * height <= _MAX_STATISTICS_PIXELS:
        return ImageStatistics(None, False)
    flat = np.empty(width * height * 4, dtype=np.float32)
    values: Any = image.pixels
    values.foreach_get(flat)
    pixels = flat.reshape(-1, 4)
    alpha = pixels[:, 3]
    clear, solid = float(np.mean(alpha < 0.1)), float(np.mean(alpha > 0.9))
    is_cut_out = clear > _SOME and solid > _SOME and clear + solid > _SHARP
    # Textures are padded with black.
    visible = pixels[(pixels[:, :3].max(axis=1) > _BLACK) & ((alpha > 0.5) | (not is_cut_out))]
    if not len(visible):
        return ImageStatistics(None, is_cut_out)
    mean = visible[:, :3].mean(axis=0, dtype=np.float64)
    if not image.is_float:
        # An approximation: the mean of sRGB values, not of linear ones.
        mean = np.where(mean <= 0.04045, mean / 12.92, ((mean + 0.055) / 1.055) ** 2.4)
    mean = np.nan_to_num(mean) * max(1.0, _VISIBLE / max(float(mean.max()), 1e-6))
    red, green, blue = np.clip(mean, 0.0, 1.0).tolist()
    return ImageStatistics((red, green, blue), is_cut_out)
