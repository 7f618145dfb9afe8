"""What Quake needs besides a model: the frames of the MDL that it replaces, in order, and .skin files."""

from __future__ import annotations

from ...io_blender.frames.frame_plan import Segment
from ...io_blender.reports import Report, listing
from ...io_common.companions import Companion, match_sequences
from ...io_common.textures.search import Search
from ...io_md5.format.companions import find_companion
from ..format import Game, Md3Error, Model
from ..format.games import TEXTURE_RULES
from ..options import ExportOptions


def find_replaced(options: ExportOptions, report: Report) -> Companion | None:
    """The MDL that the game replaces by the model, if the export has to fit it."""
    if options.game is not Game.QUAKE or not options.match_companion or options.path is None:
        return None
    found, problem = find_companion(options.path, Search(options.game_folders, TEXTURE_RULES))
    if problem:
        report.warn(f"its sequences are not compared: {problem}")
    return found


def in_order(segments: list[Segment], replaced: Companion | None, report: Report) -> list[Segment]:
    """The sequences in the order of the replaced model; raises Md3Error for all that do not fit."""
    if replaced is None:
        return segments
    order, problems, left_out = match_sequences(replaced, [((one.name,), len(one.frames)) for one in segments])
    if problems:
        raise Md3Error(replaced.misfit(listing(problems, 40), "Match MDL"))
    if left_out:
        report.warn(f"no sequences of {replaced.name}, so not exported: {listing(left_out)}")
    return [segments[index] for index in order]


def skin_files(model: Model, further: list[list[str]]) -> dict[str, bytes]:
    """The .skin files of a model: a line for each surface, with its shader or one of its `further` skins."""
    skins = [[*surface.shaders[:1], *others] for surface, others in zip(model.surfaces, further, strict=True)]
    texts = [
        "".join(
            f"{surface.name},{names[min(number, len(names) - 1)]}\n"
            for surface, names in zip(model.surfaces, skins, strict=True)
            if names
        )
        for number in range(max(map(len, skins), default=0))
    ]
    return {f"_{number}.skin": text.encode("latin-1") for number, text in enumerate(texts)}
