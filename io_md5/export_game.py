"""Requirements of a game besides the geometry: mesh names, an animation beside the mesh."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..io_common.reports import Report
from ..io_common.validation import raise_errors
from .format import Md5Error, Model, format_animation, read_animation
from .format.bounds import pose_bounds
from .format.check import Finding, check_animation
from .format.games import PROFILES, Target, prepare_animation, prepare_model, rest_pose
from .format.scale_file import Scales, format_scales, scales_of_table
from .format.suffixes import ANIMATION_SUFFIX, SCALE_SUFFIX
from .source.meshes import load_comment_name

if TYPE_CHECKING:
    from .export_build import Build

# How a finding names its mesh: by the index in the file.
_MESH = re.compile(r"^mesh \d+ \(.*?\): ")


def prepare(built: Build, target: Target, report: Report) -> None:
    """Prepares a model and its animations for a game; what is replaced or shortened is a warning.

    Args:
        built: is changed.
        target: of the export.
        report: takes warnings.
    """
    labels = []
    for obj, block in built.parts:
        # Meshes of one object are distinguished by the index of their material slot.
        suffix = f"_{block.slot}" if block.slot else ""
        stored = load_comment_name(obj.data, obj.name)
        block.mesh.comment_name = stored + suffix if stored is not None else ""
        labels.append((stored or obj.name) + suffix)
    built.model, warnings = prepare_model(built.model, target, labels)
    for path, animation in built.animations.items():
        built.animations[path], more = prepare_animation(animation, target)
        warnings += more
    for text in warnings:
        report.warn(text)


def scale_files(built: Build, target: Target, report: Report) -> dict[Path, bytes]:
    """The scales of joints beside the animations, if the game reads them.

    An existing file of scales is emptied where no joint is scaled any more, because the game would use it.

    Args:
        built: with the animations as they are written.
        target: of the export.
        report: takes warnings.
    """
    if not target.writing.joint_scales:
        return {}
    files = {}
    for path, animation in built.animations.items():
        beside = path.with_suffix(SCALE_SUFFIX)
        table = built.scales.get(path)
        if table is not None:
            files[beside] = format_scales(scales_of_table(animation.names, table))
        elif beside.exists():
            files[beside] = format_scales(Scales())
            report.warn("emptied, because no bone is scaled any more", beside.name)
    return files


def with_object_name(finding: Finding, built: Build) -> Finding:
    """A finding that names the object of its mesh."""
    if not 0 <= finding.mesh < len(built.parts):
        return finding
    obj, _ = built.parts[finding.mesh]
    return replace(finding, text=f"{obj.name}: {_MESH.sub('', finding.text)}")


def animation_beside(
    path: Path, model: Model, target: Target, files: dict[Path, bytes], report: Report
) -> dict[Path, bytes]:
    """The rest pose as an animation beside a mesh, if the game requires one and there is none.

    Args:
        path: of the mesh.
        model: as it is written.
        target: of the export.
        files: the files of the export.
        report: takes warnings: that the rest pose is written, or that an existing animation does not fit.

    Raises:
        Md5Error: the game would refuse the animation.
    """
    beside = path.with_suffix(ANIMATION_SUFFIX)
    if not target.writing.animation_beside or beside in files:
        return {}
    label = PROFILES[target.game].label
    if beside.exists():
        _warn_of_existing(beside, model, target, report)
        return {}
    joints = model.joints
    bounds = pose_bounds(model.meshes, joints.positions[None], joints.orientations[None])[0]
    animation, _ = prepare_animation(rest_pose(joints, bounds, model.commandline), target)
    raise_errors(check_animation(animation, joints, target.game), Md5Error, beside.name, report)
    report.warn(f"{label} needs an animation beside the mesh: {beside.name} was written with the rest pose")
    return {beside: format_animation(animation)}


def _warn_of_existing(beside: Path, model: Model, target: Target, report: Report) -> None:
    """Warns if the game would refuse an existing animation beside a mesh."""
    try:
        findings = check_animation(read_animation(beside), model.joints, target.game)
    except (Md5Error, OSError) as error:
        report.warn(f"not overwritten, but the game will refuse it: {error}")
        return
    for finding in findings:
        if finding.is_error:
            report.warn(f"not overwritten, but the game will refuse it: {finding.text}", beside.name)
