"""Requirements of a game besides the geometry: mesh names, an animation beside the mesh."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...io_blender.reports import Report
from ...io_blender.validation import raise_errors
from ...io_common.rules import Finding
from ..format import Md5Error, Model, format_animation, read_animation
from ..format.check import check_animation
from ..format.games import PROFILES, Target, prepare_animation, prepare_model, rest_pose
from ..format.model import ANIMATION_SUFFIX, SCALE_SUFFIX
from ..format.scale_file import Scales, format_scales, scales_of_table
from ..format.weights_by_joint import pose_bounds
from ..records import MESH_INDEX, load_comment_name

if TYPE_CHECKING:
    from bpy.types import Object

    from .build import Build

# How a finding names its mesh: by the index in the file.
_MESH = re.compile(r"^mesh \d+ \(.*?\): ")


def prepare(built: Build, target: Target, report: Report) -> None:
    """Prepares a model and its animations for a game, in place; what is replaced or shortened is a warning."""
    labels = []
    stored_names = _comment_names(dict.fromkeys(obj for obj, _ in built.parts))
    taken = {stored or obj.name for obj, stored in stored_names.items()}
    for obj, block in built.parts:
        stored = stored_names[obj]
        name = stored or obj.name
        if block.slot:
            # Meshes of one object are distinguished by the index of their material slot.
            number = next(n for n in itertools.count(block.slot) if f"{name}_{n}" not in taken)
            name = f"{name}_{number}"
            taken.add(name)
        block.mesh.comment_name = name if stored is not None else ""
        labels.append(name)
    built.model, warnings = prepare_model(built.model, target, labels)
    for path, animation in built.animations.items():
        built.animations[path], more = prepare_animation(animation, target)
        warnings += more
    for text in warnings:
        report.warn(text)


def _comment_names(objects: Iterable[Object]) -> dict[Object, str | None]:
    """The name in the comment of each object's mesh block; None if it had none.

    Of objects that were made of one block, by duplicating or separating, all but the first have their own names.
    """
    result: dict[Object, str | None] = {}
    owners: set[tuple[int | None, str]] = set()
    for obj in sorted(objects, key=lambda obj: (len(obj.name), obj.name)):
        stored = load_comment_name(obj.data, obj.name)
        if stored is not None:
            block = MESH_INDEX.read(obj.data), stored
            stored = obj.name if block in owners else stored
            owners.add(block)
        result[obj] = stored
    return result


def scale_files(built: Build, target: Target, report: Report) -> dict[Path, bytes]:
    """The scales of joints beside the animations, if the game reads them.

    `built` must have the animations as they are written. An existing file of scales is emptied where no joint is scaled
    any more, because the game would use it.
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

    `path` is the mesh, `model` is as it is written, and `files` has all files of the export. Warns that the rest pose
    is written, or that an existing animation does not fit. Raises Md5Error if the game would refuse the animation.
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
