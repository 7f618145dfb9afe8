"""The kind of a file by its first bytes, for messages about a file for another reader. Needs no Blender."""

from __future__ import annotations

import os

from .regular_files import open_file

MD5, MD2 = "MD5", "MD2"

# How a file of the families begins, what it is, and where it is imported.
_OWN = {
    MD5: (b"MD5Version", "an MD5 file", "File > Import > id Tech 4 MD5"),
    MD2: (b"IDP2", "an MD2 model", "File > Import > id Tech 2 MD2"),
}

# Signature, and what the file is.
_OTHERS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG"),
    (b"\xff\xd8\xff", "a JPEG"),
    (b"DDS ", "a DDS texture"),
    (b"GIF8", "a GIF"),
    (b"BM", "a BMP"),
    (b"PK\x03\x04", "a ZIP archive, such as .pk4: use File > Import > id Tech Game Character"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"PACK", "a .pak archive: use File > Import > id Tech Game Character"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"),
    (b"Rar!", "a RAR archive: unpack it first"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"BLENDER", "a .blend file"),
    (b"glTF", "a glTF file"),
    (b"Kaydara FBX", "an FBX file"),
    (b"IDP3", "an MD3 model"),
    (b"IDPO", "an MDL model of Quake"),
    (b"IDST", "an MDL model of Half-Life"),
    (b"%PDF", "a PDF"),
    (b"OggS", "an Ogg sound"),
    (b"RIFF", "a WAV sound"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"\xff\xfe", "UTF-16 text: save it as ASCII or UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as ASCII or UTF-8"),
    (b"version https://git-lfs", "a Git LFS pointer: download the file itself"),
)
_HEAD_SIZE = 512


def describe_mismatch(path: str | os.PathLike[str], expected: str) -> str:
    """What a file is instead of what a reader expects, and where to import it; empty if that is not known.

    `expected` is `MD5` or `MD2`.
    """
    try:
        with open_file(path) as file:
            head = file.read(_HEAD_SIZE)
    except OSError:
        return ""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for name, (signature, what, entry) in _OWN.items():
        if text.startswith(signature):
            return f"This is not an {expected} file but {what}: use {entry}" if name != expected else ""
    for signature, what in _OTHERS:
        if head.startswith(signature):
            return f"This is not an {expected} file (it looks like {what})"
    return ""
