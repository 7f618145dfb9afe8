"""The frames of an .md5anim file, read before the text around them is taken apart.

Nearly all of the file are its frames, each with the same lines of numbers. Where that is so, lines that are laid out
alike are read in columns, those of all frames and all joints at once. In the text one frame without lines is left,
followed by as many empty lines as there were. Other files are left as they are for the scanner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from .columns import Layout
from .decimals import Offsets, Text
from .model import Floats
from .rows import FEWEST, Block, RowBlocks, cut, fits

_FRAME = re.compile(rb"(frame[ \t]+)\d+([ \t]*\{[ \t\r]*\n)")
_LEFT = b"frame{}"
_BLANKS = b" \t\r\n"


def cut_frames(data: bytes) -> tuple[bytes, RowBlocks]:
    """Takes the frames out of the text of an .md5anim file, if they are all laid out like the first.

    Returns:
        The text that is left, and a block with a row for each frame: its number, then its components.
    """
    # A last line without its end is as good as one with it.
    ended = data if data.endswith(b"\n") else data + b"\n"
    first, head = _first_frame(ended)
    if head is None:
        return data, {}
    text = Text(ended + b"\n" * Text.MARGIN)
    starts, ends = text.lines(first, len(ended))
    frames = np.flatnonzero(text.says(starts, head.lead))
    step = int(frames[1]) if len(frames) > 1 else 0
    if not step or not np.array_equal(frames, np.arange(len(frames)) * step):
        return data, {}
    lines = [ended[start:end] for start, end in zip(starts[:step], ends[:step], strict=True)]
    size = next((line + 1 for line in range(step) if lines[line].strip(_BLANKS) == b"}"), 0)
    if not size or frames[-1] + size > len(starts):
        return data, {}
    rows = _Frames(text, starts, ends, frames).read(head, lines[1:size], lines[size:])
    if rows is None or not fits(rows):
        return data, {}
    count = int(frames[-1]) + size
    left, blocks = cut(ended, [Block(_LEFT, first, int(ends[count - 1]), count, rows)])
    return left if ended is data else left[:-1], blocks


def _first_frame(data: bytes) -> tuple[int, Layout | None]:
    """Where the line begins that opens the first frame, and how it is laid out; None if it opens with something else."""
    at = 0
    while (at := data.find(b"frame", at)) >= 0:
        if match := _FRAME.match(data, at):
            start = data.rfind(b"\n", 0, at) + 1
            alone = not data[start:at].strip(_BLANKS)
            return start, Layout(data[start:at] + match[1], (match[2],)) if alone else None
        at += len(b"frame")
    return 0, None


@dataclass(frozen=True, eq=False)
class _Frames:
    """Frames in a text.

    Attributes:
        text: in which they are.
        starts: where each line begins.
        ends: behind the end of each.
        firsts: the line that opens each frame, (F,).
    """

    text: Text
    starts: Offsets
    ends: Offsets
    firsts: Offsets

    def read(self, head: Layout, body: list[bytes], between: list[bytes]) -> Floats | None:
        """The numbers of all frames, (F, n).

        Args:
            head: the line that opens a frame.
            body: the other lines of one; the last closes it.
            between: the lines up to the next one.

        Returns:
            None if not all frames are like that, or they are read sooner by the scanner.
        """
        layouts = [head, *map(Layout.of, body)]
        after = len(layouts)
        if any(line.strip(_BLANKS) for line in between) or not self._stand(between, after, self.firsts[:-1]):
            return None
        groups: dict[Layout, list[int]] = {}
        for line, layout in enumerate(layouts):
            if layout is not None:
                groups.setdefault(layout, []).append(line)
            elif (body[line - 1].strip(_BLANKS) and line != after - 1) or not self._stand(
                [body[line - 1]], line, self.firsts
            ):
                return None
        widths = [layout.width if layout else 0 for layout in layouts]
        columns = np.cumsum([0, *widths])
        table = np.empty((len(self.firsts), columns[-1]))
        if table.size < FEWEST * sum(layout.width for layout in groups):
            return None
        for layout, lines in groups.items():
            places = (self.firsts[:, None] + lines).ravel()
            numbers = layout.read(self.text, self.starts[places], self.ends[places], wholes=int(layout is head))
            if numbers is None:
                return None
            numbers = numbers.reshape(len(table), -1)
            if lines[-1] - lines[0] + 1 == len(lines):
                table[:, columns[lines[0]] : columns[lines[-1] + 1]] = numbers
            else:
                table[:, (columns[lines][:, None] + np.arange(layout.width)).ravel()] = numbers
        return table

    def _stand(self, lines: list[bytes], after: int, frames: Offsets) -> bool:
        """Whether the same lines stand so many lines after the openings of frames."""
        for line, content in enumerate(lines, after):
            starts = self.starts[frames + line]
            same_length = self.ends[frames + line] - starts == len(content)
            if not (same_length & self.text.says(starts, content)).all():
                return False
        return True
