"""The animations of a folder that fit a model or the active armature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....io_common.errors import message_for
from ....io_common.game_tree import files as game_files
from ....io_common.game_tree.archives import files_in, readable, unpacked_size
from ....io_common.skeletal.formats import SkeletalFormat
from ....io_common.skeletal.model import AnimationHeader, Joints, SkeletalError
from ....io_common.skeletal.scales import NamedAnimation
from ....io_common.skeletal.skeleton import Fit, match_joints
from ....io_common.texts import counted, matches
from ...reports import Job, Progress, Report, printable
from ..options import ImportOptions
from .plan import count_mapped
from .sources import ImportSkeleton, SourceAnimation, SourceFiles

_REMEDY = ". Animation Between Skeletons (tab id Tech of the 3D viewport) transfers those of other skeletons"


def read_folders(
    options: ImportOptions, files: SourceFiles, report: Report, active: ImportSkeleton | None, progress: Progress
) -> Job[None]:
    """Adds the animations of the models' folders, or of a folder for the active armature."""
    folders = [skeleton.path.parent for skeleton in files.skeletons if skeleton.path is not None]
    skeletons = files.skeletons
    if not folders and active is not None and options.animation_folder is not None:
        folders, skeletons = [options.animation_folder], [active]
    chosen = options.chosen if options.animations == "CHOOSE" else None
    before, limits = len(files.animations), game_files.Budget()
    for folder in dict.fromkeys(options.animation_folder or folder for folder in folders):
        paths = [
            path
            for path in animation_paths(folder, files.format)
            if matches(path.stem, options.animation_filter)
            and (chosen is None or printable(path.name) in chosen)
            and not files.has(path)
        ]
        read = within_budget(paths, limits)
        if len(read) < len(paths):
            report.warn(
                f"{counted(len(paths) - len(read), 'animations')} left out: the archives hold more than"
                f" {game_files.MAX_DATA >> 20} MB of them"
            )
        progress.expect(2 * len(read))
        for path in read:
            read_fitting(path, skeletons, files, report, ("full",) if chosen is None else ("full", "part", "none"))
            yield progress.step()
    if not folders or len(files.animations) > before:
        return
    if files.joint_map is not None and files.joint_map.pairs:
        report.warn("no animation was imported: the joint map names none of their joints and the bones of the model")
    elif active is not None or options.animation_filter.strip():
        matching = f" and matches {options.animation_filter!r}" if options.animation_filter.strip() else ""
        report.warn(f"no animation was imported: none in the folder fits{matching}{_REMEDY if active else ''}")


def read_fitting(
    path: Path, skeletons: list[ImportSkeleton], files: SourceFiles, report: Report, fits: tuple[Fit, ...]
) -> None:
    """Adds an animation if it fits well enough; an unreadable file is only a warning."""
    # One without an equal joint fits if it can be transferred. A joint map that names joints of both makes any fit. Of
    # one that does not fit, only the head has to be valid.
    try:
        header: AnimationHeader | Exception = files.format.read_header(readable(path))
    except (SkeletalError, OSError) as problem:
        header = problem
    found = AnimationFile(path, header, [skeleton.joints for skeleton in skeletons])
    error: Exception | None = found.error
    animations: list[SourceAnimation] = []
    sources = set(found.header.names) if found.header is not None else set()
    pairs = files.joint_map.pairs if files.joint_map is not None else {}
    bones = {name for skeleton in skeletons for name in skeleton.joints.names}
    is_renamed = found.match is not None and bool(found.match.renamed)
    is_mapped = any(source in sources and bone in bones for bone, source in pairs.items())
    is_taken = is_mapped or found.fit in fits
    if error is None and (is_taken or is_renamed):
        try:
            animations = read_animations(path, files.format)
            # Its joints match in their order, unless they are those of another model of the folder.
            is_taken = is_taken or not any(one.find_rest().is_known for one in animations)
        except (SkeletalError, OSError) as problem:
            error = problem
    if error is not None:
        report.warn(f"skipped: {message_for(error, (SkeletalError,))}")
    elif (
        animations
        and is_taken
        and (is_mapped or found.fit != "none" or any(count_mapped(animations[0], one) for one in skeletons))
    ):
        files.animations += animations
        for one in animations:
            add_facts(report, path, one.animation.warnings)
    elif "part" in fits and found.fit == "none":
        report.warn(f"skipped: no bone matches a joint of the animation{_REMEDY}", path.name)
    else:
        # Some games take the animation that is named after its model, and stop if its joints are others.
        for skeleton in [one for one in skeletons if one.name.lower() == path.stem.lower()]:
            count = counted(len(sources), "joints")
            others = f"the {len(skeleton.joints)} of {skeleton.name}"
            report.warn(f"skipped: it has {count}, which do not match {others}", path.name)


class AnimationFile:
    """A file in a list of animations, by its head, or by why that cannot be read, with its best fit."""

    def __init__(self, path: Path, header: AnimationHeader | Exception, skeletons: Sequence[Joints]) -> None:
        self.path = path
        self.header = None if isinstance(header, Exception) else header
        self.error = header if isinstance(header, Exception) else None
        fits = [match_joints(self.header, joints) for joints in skeletons] if self.header is not None else []
        self.match = max(fits, key=lambda match: (match.is_complete, len(match.joints)), default=None)

    @property
    def fit(self) -> Fit:
        """How it fits; not at all if it cannot be read."""
        return self.match.fit if self.match is not None else "none"


def animation_paths(folder: Path, kind: SkeletalFormat) -> list[Path]:
    """The animations in a folder on disk or in an archive, by name; raises OSError."""
    paths = [path for path in files_in(folder) if path.suffix.lower() == kind.animation_suffix]
    return [path for path in paths if kind.has_animations(readable(path))]


def read_animations(path: Path, kind: SkeletalFormat) -> list[SourceAnimation]:
    """The animations in a file; raises SkeletalError or OSError."""
    return named_animations(path, kind, kind.read_animations(readable(path)))


def named_animations(path: Path, kind: SkeletalFormat, found: list[NamedAnimation]) -> list[SourceAnimation]:
    """The animations that were read from a file."""
    return [
        SourceAnimation(path, one.animation, one.name or path.stem, one.scales, kind, is_loop=one.is_loop)
        for one in found
    ]


def within_budget(paths: Sequence[Path], budget: game_files.Budget) -> list[Path]:
    """The first of some files, as many as may be unpacked from archives; those on disk do not count."""
    for index, path in enumerate(paths):
        try:
            size = unpacked_size(path)
        except OSError:
            # Reading it tells why.
            continue
        if not budget.take("data", size):
            return list(paths[:index])
    return list(paths)


def add_facts(report: Report, path: Path, warnings: list[str]) -> None:
    """Reports the warnings of a file."""
    for text in warnings:
        report.add_fact(text, path.name)
