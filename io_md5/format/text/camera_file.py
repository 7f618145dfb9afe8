"""The .md5camera file: the path of a camera through a cut scene.

    MD5Version 10
    commandline "…"
    numFrames 3
    frameRate 24
    numCuts 1
    cuts {
        1
    }
    camera {
        ( 0 0 64 ) ( 0 0 0.5 ) 90               // position, x y z of the orientation, field of view
        …
    }

The matrix of the orientation has forward, left and up as columns if w is computed as for joints (as rows if w is
positive, which is how Doom 3 stores matrices). The field of view is the horizontal angle of a 4:3 picture in degrees
(``idGameLocal::CalcFov``). Doom 3 requires the keys in this order; any order is read, and counts are not used. In
modified games groups such as ``pos ( 1 2 3 ) rotA ( 0 -132 0 )``, the position of the player, may follow a cut: they
are stored as text. Doom 3 itself accepts no groups, and cuts only from 1 on.
"""

from __future__ import annotations

import re

import numpy as np

from ....io_common.files import Source, Target, read_source, write_target
from ....io_common.skeletal.model import Floats, Ints
from ....io_common.texts import counted
from ..model import Camera
from ..validation import are_valid_groups, validate_camera
from . import blocks, printing
from .blocks import read_contents
from .scanner import Scan

_COLUMNS = 7

_TOKEN = re.compile(rb"//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z)|[()]|[\x21-\x27\x2a-\x7f]+")
_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def read_camera(source: Source, name: str = "") -> Camera:
    """The camera path in an .md5camera file; for source, name and errors see `read_mesh`."""
    return parse_camera(*read_source(source, name))


def parse_camera(data: bytes | bytearray | memoryview, name: str = "") -> Camera:
    """The camera path in the bytes of an .md5camera file, of which `name` is the name for messages; raises Md5Error."""
    scan = Scan(bytes(data), name)
    contents = read_contents(scan, numbers=("numframes", "framerate", "numcuts"), once=("cuts", "camera"))
    contents.is_current("md5camera", "camera")
    opened, header = contents.opened, contents.numbers
    table = _entries(scan, opened["camera"])
    cuts, groups = _cuts(scan, opened["cuts"], len(table)) if "cuts" in opened else ([], [])
    blocks.check_count(scan, header.get("numframes"), len(table), "frames")
    blocks.check_count(scan, header.get("numcuts"), len(cuts), "cuts")
    camera = Camera(
        cuts=np.array(cuts, dtype=np.int32),
        positions=table[:, :3].copy(),
        orientations=table[:, 3:6].copy(),
        fields_of_view=table[:, 6].copy(),
        frame_rate=blocks.frame_rate(scan, header.get("framerate", 0.0)),
        cut_groups=groups,
        commandline=contents.commandline,
    )
    camera.warnings = [*scan.warnings, *cut_warnings(camera.cuts)]
    return camera


def _entries(scan: Scan, opening: int) -> Floats:
    """The numbers of the camera block, (N, 7)."""
    blocks.check_only_numbers(scan, opening, "the camera")
    values = scan.values(opening)
    if len(values) == 0:
        raise scan.error("the camera has no frames", opening + 1, expected="( x y z ) ( x y z ) field of view")
    if len(values) % _COLUMNS:
        raise scan.error(
            "the camera ends within a frame", opening + 1,
            found=counted(len(values), "numbers"), expected=f"{_COLUMNS} for each frame",
        )  # fmt: skip
    return values.reshape(-1, _COLUMNS)


def _cuts(scan: Scan, opening: int, entry_count: int) -> tuple[list[int], list[str]]:
    """The cuts and their groups, scanned again because only parentheses tell where a group ends."""
    start = scan.token_offsets[opening] + 1
    end = scan.token_offsets[scan.block_end(opening)]
    cuts: list[int] = []
    groups: list[list[str]] = []
    in_parentheses = False
    for match in _TOKEN.finditer(scan.data, start, end):
        token = match[0]
        if token.startswith((b"//", b"/*")):
            continue
        if not in_parentheses and token[0] in b"-+.0123456789":
            number = float(token) if _NUMBER.fullmatch(token) else -1.0
            if not (number.is_integer() and 0 <= number < entry_count):
                only = "no cuts, because there is only one frame"
                expected = f"a whole number from 1 to {entry_count - 1}" if entry_count > 1 else only
                reason, found = "a cut is not at one of the camera's frames", token.decode("latin-1")
                raise scan.error_on(scan.line(match.start()), reason, found, expected)
            cuts.append(int(number))
            groups.append([])
            continue
        if not groups:
            found = repr(token.decode("latin-1"))
            raise scan.error_on(scan.line(match.start()), "a group before the first cut", found, "the number of a cut")
        in_parentheses = token == b"(" or (in_parentheses and token != b")")
        groups[-1].append(token.decode("latin-1"))
    texts = [" ".join(group) for group in groups]
    for cut, text in zip(cuts, texts, strict=True):
        if not are_valid_groups(text):
            raise scan.error(
                f"invalid groups after cut {cut}", opening,
                found=repr(text), expected="words, each with numbers in parentheses",
            )  # fmt: skip
    return cuts, texts


def cut_warnings(cuts: Ints) -> list[str]:
    """Warnings about cuts that can be read, but that Doom 3 refuses or plays in another way than meant."""
    warnings = []
    if (cuts == 0).any():
        warnings.append("a cut at frame 0: Doom 3 refuses it")
    if (np.diff(cuts) <= 0).any():
        warnings.append("the cuts are not in ascending order: each cut takes effect only after those before it")
    return warnings


def write_camera(camera: Camera, target: Target) -> None:
    """Writes an .md5camera file to a path or binary file object; raises Md5Error as `format_camera`, or OSError."""
    write_target(format_camera(camera), target)


def format_camera(camera: Camera) -> bytes:
    """The bytes of an .md5camera file, in the layout of id's exporter; raises Md5Error as `validate_camera` does.

    Cuts that `cut_warnings` warns about are written unchanged.
    """
    validate_camera(camera)
    count = camera.entry_count
    groups = camera.cut_groups or [""] * len(camera.cuts)
    tables = camera.positions, camera.orientations, camera.fields_of_view
    lines = [
        *printing.header(camera.commandline),
        f"numFrames {count}",
        f"frameRate {printing.decimal(camera.frame_rate)}",
        f"numCuts {len(camera.cuts)}",
        "",
        "cuts {",
        *(f"\t{cut} {text}".rstrip() for cut, text in zip(camera.cuts.tolist(), groups, strict=True)),
        "}",
        "",
        "camera {",
        printing.rows("\t( %f %f %f ) ( %f %f %f ) %f", *tables) + "}",
        "",
    ]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def timeline(cuts: Ints, entry_count: int) -> tuple[Ints, Ints]:
    """The entry of each whole frame, ascending, int32 (n,) with n at least 1, and the first frame after each cut.

    The latter are from 0 to n, int32 (K,). Cuts are as in the file, each from 0 to N - 1 of N entries, at least one;
    invalid ones are handled as in Doom 3.
    """
    # A frame after a cut is also after all earlier cuts, so each cut takes effect from one frame on, never before the
    # frame of the previous cut; there the earlier cuts have added their count.
    instants = np.maximum.accumulate(np.maximum(cuts - np.arange(len(cuts), dtype=np.int32), 0)).astype(np.int32)
    # One frame more than possible: a cut at the last entry takes effect after the last frame.
    passed = np.cumsum(np.bincount(instants, minlength=entry_count + 1))
    entries = (np.arange(entry_count + 1) + passed).astype(np.int32)
    shown = entries[entries < entry_count]
    # The game holds the last entry after the end.
    return (shown if len(shown) else np.array([entry_count - 1], dtype=np.int32)), instants


def cuts_at(instants: Ints) -> Ints:
    """The cuts of a file, int32 (K,), given the first frame after each cut in ascending order, int32 (K,)."""
    return (instants + np.arange(len(instants))).astype(np.int32)
