"""The frames of an .md5anim file, extracted before the rest of the text is scanned.

Frames are nearly all of the file, and usually all have the same lines of numbers. Then lines with the same layout are
read in columns, for all frames and joints at once, and the remaining text has one frame without lines. Other files are
left unchanged for the scanner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from ..model import Floats
from .columns import LINES_AT_ONCE, MAX_GAP, Layout
from .decimals import Offsets, Text
from .rows import MIN_LINES, ExtractedBlock, ReducedText, extract

_FRAME = re.compile(rb"(frame[ \t]+)\d+([ \t]*\{[ \t\r]*\n)")
_PLACEHOLDER = b"frame{}"
_BLANKS = b" \t\r\n"


def extract_frames(data: bytes) -> ReducedText:
    """The text of an .md5anim file without its frames, if all have the layout of the first.

    The frames become one block with a row for each: its number, then its components.
    """
    unchanged = ReducedText(data, len(data))
    # The last line may lack its newline.
    with_newline = data if data.endswith(b"\n") else data + b"\n"
    first, head = _first_frame(with_newline)
    if head is None:
        return unchanged
    text = Text(with_newline)
    starts, ends = text.lines(first, len(text))
    frames = text.beginning_with(starts, head.lead)
    step = int(frames[1]) if len(frames) > 1 else 0
    if not step or not np.array_equal(frames, np.arange(len(frames)) * step):
        return unchanged
    lines = [with_newline[start:end] for start, end in zip(starts[:step], ends[:step], strict=True)]
    size = next((line + 1 for line in range(step) if lines[line].strip(_BLANKS) == b"}"), 0)
    if not size or frames[-1] + size > len(starts):
        return unchanged
    rows = _Frames(text, starts, ends, frames).read(head, lines, size)
    if rows is None:
        return unchanged
    count = int(frames[-1]) + size
    reduced = extract(with_newline, [ExtractedBlock(_PLACEHOLDER, first, int(ends[count - 1]), count, rows)])
    return reduced if with_newline is data else replace(reduced, text=reduced.text[:-1], size=len(data))


def _first_frame(data: bytes) -> tuple[int, Layout | None]:
    """The offset of the line that opens the first frame, and its layout; None if it cannot be read in columns."""
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
        text: that holds them.
        starts: of all lines.
        ends: of all lines.
        firsts: the index of the line that opens each frame, (F,).
    """

    text: Text
    starts: Offsets
    ends: Offsets
    firsts: Offsets

    def read(self, head: Layout, lines: list[bytes], size: int) -> Floats | None:
        """The numbers of all frames, (F, n); None if frames differ, or are so few that the scanner is faster.

        `head` is the layout of the line that opens a frame; `lines` are those of the first frame, up to the second, of
        which the first `size` belong to the frame itself.
        """
        tables: dict[Layout, list[int]] = {head: [0]}
        fixed: dict[tuple[bytes, bool], list[int]] = {}
        widths = [head.width] + [0] * (size - 1)
        for line, content in enumerate(lines[1:], 1):
            layout = Layout.of(content) if line < size else None
            if layout is not None:
                tables.setdefault(layout, []).append(line)
                widths[line] = layout.width
            elif len(content) <= MAX_GAP and content.strip(_BLANKS) == (b"}" if line == size - 1 else b""):
                fixed.setdefault((content, line < size), []).append(line)
            else:
                return None
        columns = np.cumsum([0, *widths])
        if len(self.firsts) * columns[-1] < MIN_LINES * sum(layout.width for layout in tables):
            return None
        for (content, is_inside), line_indices in fixed.items():
            # The lines after the last frame may differ from those between frames.
            frames = self.firsts if is_inside else self.firsts[:-1]
            indices = (frames[:, None] + line_indices).ravel()
            if not self.text.all_equal(self.starts[indices], self.ends[indices], content):
                return None
        places: dict[Layout, slice | Offsets] = {
            layout: _places(columns, line_indices, layout.width) for layout, line_indices in tables.items()
        }
        table = np.empty((len(self.firsts), columns[-1]))
        step = max(1, LINES_AT_ONCE // size)
        for begin in range(0, len(table), step):
            piece = slice(begin, begin + step)
            for layout, line_indices in tables.items():
                indices = (self.firsts[piece, None] + line_indices).ravel()
                numbers = layout.read(
                    self.text, self.starts[indices], self.ends[indices], integers=int(layout is head)
                )
                if numbers is None:
                    return None
                table[piece, places[layout]] = numbers.reshape(-1, len(line_indices) * layout.width)
        return table


def _places(columns: Offsets, lines: list[int], width: int) -> slice | Offsets:
    """The columns of the numbers of some lines, each with `width` of them, in a row of a frame.

    `columns` holds the first column of each line of a frame.
    """
    if lines[-1] - lines[0] + 1 == len(lines):
        return slice(int(columns[lines[0]]), int(columns[lines[-1]]) + width)
    return (columns[lines][:, None] + np.arange(width)).ravel()
