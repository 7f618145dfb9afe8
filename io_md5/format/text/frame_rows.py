"""The frames of an .md5anim file, read before the text around them is taken apart.

Nearly all of the file are its frames, each with the same lines of numbers. Where that is so, lines that are laid out
alike are read in columns, those of all frames and all joints at once, and in the text one frame without lines is left.
Other files are left as they are for the scanner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from ..model import Floats
from .columns import MAX_GAP, Layout
from .decimals import Offsets, Text
from .rows import MIN_LINES, ExtractedBlock, ReducedText, extract

_FRAME = re.compile(rb"(frame[ \t]+)\d+([ \t]*\{[ \t\r]*\n)")
_LEFT = b"frame{}"
_BLANKS = b" \t\r\n"


def extract_frames(data: bytes) -> ReducedText:
    """Takes the frames out of the text of an .md5anim file, if they are all laid out like the first.

    They are a block with a row for each frame: its number, then its components.
    """
    whole = ReducedText(data, len(data))
    # A last line without its end is as good as one with it.
    ended = data if data.endswith(b"\n") else data + b"\n"
    first, head = _first_frame(ended)
    if head is None:
        return whole
    text = Text(ended + b"\n" * 2 * MAX_GAP)
    starts, ends = text.lines(first, len(ended))
    frames = np.flatnonzero(text.matches(starts, head.lead))
    step = int(frames[1]) if len(frames) > 1 else 0
    if not step or not np.array_equal(frames, np.arange(len(frames)) * step):
        return whole
    lines = [ended[start:end] for start, end in zip(starts[:step], ends[:step], strict=True)]
    size = next((line + 1 for line in range(step) if lines[line].strip(_BLANKS) == b"}"), 0)
    if not size or frames[-1] + size > len(starts):
        return whole
    rows = _Frames(text, starts, ends, frames).read(head, lines, size)
    if rows is None:
        return whole
    count = int(frames[-1]) + size
    left = extract(ended, [ExtractedBlock(_LEFT, first, int(ends[count - 1]), count, rows)])
    return left if ended is data else replace(left, text=left.text[:-1], size=len(data))


def _first_frame(data: bytes) -> tuple[int, Layout | None]:
    """Where the line begins that opens the first frame, and its layout; None if it begins with something else."""
    at = 0
    while (at := data.find(b"frame", at)) >= 0:
        if match := _FRAME.match(data, at):
            start = data.rfind(b"\n", 0, at) + 1
            head = Layout(data[start:at] + match[1], (match[2],))
            fits_in = head.lead.strip(_BLANKS) == b"frame" and max(len(head.lead), len(match[2])) <= MAX_GAP
            return start, head if fits_in else None
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

    def read(self, head: Layout, lines: list[bytes], size: int) -> Floats | None:
        """The numbers of all frames, (F, n).

        Args:
            head: the line that opens a frame.
            lines: those of the first frame, and those from there to the second.
            size: how many of them are the frame itself.

        Returns:
            None if not all frames are like that, or they are read sooner by the scanner.
        """
        tables: dict[Layout, list[int]] = {head: [0]}
        fixed: dict[tuple[bytes, bool], list[int]] = {}
        widths = [head.width] + [0] * (size - 1)
        for line, content in enumerate(lines[1:], 1):
            layout = Layout.of(content) if line < size else None
            if layout is not None:
                tables.setdefault(layout, []).append(line)
                widths[line] = layout.width
            elif content.strip(_BLANKS) == (b"}" if line == size - 1 else b""):
                fixed.setdefault((content, line < size), []).append(line)
            else:
                return None
        columns = np.cumsum([0, *widths])
        if len(self.firsts) * columns[-1] < MIN_LINES * sum(layout.width for layout in tables):
            return None
        for (content, is_inside), own in fixed.items():
            # What follows the last frame need not be what stands between them.
            frames = self.firsts if is_inside else self.firsts[:-1]
            if not self._all_equal(content, (frames[:, None] + own).ravel()):
                return None
        table = np.empty((len(self.firsts), columns[-1]))
        for layout, own in tables.items():
            places = (self.firsts[:, None] + own).ravel()
            numbers = layout.read(
                self.text, self.starts[places], self.ends[places], integers=int(layout is head)
            )
            if numbers is None:
                return None
            parts = numbers.reshape(len(table), len(own), layout.width)
            if own[-1] - own[0] + 1 == len(own):
                table[:, columns[own[0]] : columns[own[-1] + 1]].reshape(parts.shape)[:] = parts
            else:
                for line, part in zip(own, parts.swapaxes(0, 1), strict=True):
                    table[:, columns[line] : columns[line + 1]] = part
        return table

    def _all_equal(self, content: bytes, lines: Offsets) -> bool:
        """Whether some lines all have the same content."""
        if len(content) > MAX_GAP:
            return False
        starts = self.starts[lines]
        same = (self.ends[lines] - starts == len(content)) & self.text.matches(starts, content)
        return bool(same.all())
