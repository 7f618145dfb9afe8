"""What a game asks of an export besides the geometry: names of meshes, an animation beside the mesh, its own rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..io_common.reports import Report
from .format import Md5Error, Model, format_animation, read_animation
from .format.bounds import pose_bounds
from .format.check import Finding, check_animation
from .format.games import PROFILES, Target, prepare_animation, prepare_model, rest_pose
from .format.suffixes import ANIMATION_SUFFIX
from .source.meshes import read_comment_name

if TYPE_CHECKING:
    from .building import Build


def prepare(built: Build, target: Target, report: Report) -> None:
    """Makes a model and its animations what a game wants; what is replaced or cut is a warning.

    Args:
        built: is changed.
        target: what it is written for.
        report: takes warnings.
    """
    labels = []
    for obj, block in built.parts:
        # Meshes of one object are told apart by the number of their material slot.
        suffix = f"_{block.slot}" if block.slot else ""
        stored = read_comment_name(obj.data, obj.name)
        block.mesh.comment_name = stored + suffix if stored is not None else ""
        labels.append((stored or obj.name) + suffix)
    built.model, warnings = prepare_model(built.model, target, labels)
    for path, animation in built.animations.items():
        built.animations[path], more = prepare_animation(animation, target)
        warnings += more
    for text in warnings:
        report.warn(text)


def animation_beside(
    path: Path, model: Model, target: Target, files: dict[Path, bytes], report: Report
) -> dict[Path, bytes]:
    """The rest pose as an animation beside a mesh, where the game wants one and none is there.

    Args:
        path: of the mesh.
        model: as it is written.
        target: what it is written for.
        files: what is written already.
        report: takes warnings: what is written, or how the one that is there does not fit.

    Raises:
        Md5Error: the game would refuse it.
    """
    beside = path.with_suffix(ANIMATION_SUFFIX)
    if not target.writing.animation_beside or beside in files:
        return {}
    label = PROFILES[target.game].label
    if beside.exists():
        _warn_of_other(beside, model, target, report)
        return {}
    joints = model.joints
    bounds = pose_bounds(model.meshes, joints.positions[None], joints.orientations[None])[0]
    animation, _ = prepare_animation(rest_pose(joints, bounds, model.commandline), target)
    raise_errors(check_animation(animation, joints, target.game), beside.name, report)
    report.warn(f"{label} reads no mesh without an animation of its name: {beside.name} holds the rest pose")
    return {beside: format_animation(animation)}


def _warn_of_other(beside: Path, model: Model, target: Target, report: Report) -> None:
    """Warns if the game would refuse the animation that lies beside a mesh."""
    try:
        findings = check_animation(read_animation(beside), model.joints, target.game)
    except (Md5Error, OSError) as error:
        report.warn(f"left as it is, and the game refuses it: {error}")
        return
    for finding in findings:
        if finding.is_error:
            report.warn(f"left as it is, and the game refuses it: {finding.text}", beside.name)


def raise_errors(findings: list[Finding], name: str, report: Report) -> None:
    """Passes warnings on.

    Raises:
        Md5Error: there are errors.
    """
    for finding in findings:
        if not finding.is_error:
            report.warn(finding.text, name)
    errors = [finding.text for finding in findings if finding.is_error]
    if errors:
        raise Md5Error("; ".join(errors), path=name)
