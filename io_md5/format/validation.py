"""What a model, an animation or a camera needs beyond valid arrays, so that its text can be written and read again."""

from __future__ import annotations

import re

import numpy as np

from ...io_common.skeletal import validation as skeletal
from ...io_common.skeletal.model import Animation, Model
from .model import Camera, Md5Error

# The ends of a string, and UTF-16 surrogates except those that stand for single bytes.
_UNQUOTABLE = re.compile('["\r\n\0\ud800-\udc7f\udd00-\udfff]')
# One or more of: a word and numbers in parentheses.
_GROUPS = re.compile(r"(?:[A-Za-z_]\w* \((?: [-+.\deE]+)*+ \)(?: (?!$)|$))*+", re.ASCII)
# Limits: vertices along a UV seam share weights, but a file where every vertex has all weights would fill the memory.
_MIN_WEIGHTS, _WEIGHTS_PER_LINE = 1 << 20, 16


def validate_model(model: Model) -> None:
    """Raises Md5Error if a model cannot be written and read again; the message names the attribute."""
    skeletal.validate_model(model)
    _check_names(model.joints.names, "Model.joints")
    check_string(model.commandline, "Model.commandline")
    for index, mesh in enumerate(model.meshes):
        what = f"Model.meshes[{index}]"
        check_string(mesh.shader, f"{what}.shader")
        check_string(mesh.name, f"{what}.name")
        rows = int(mesh.weight_counts.sum(dtype=np.int64))
        limit = weight_limit(mesh.vertex_count, len(mesh.weight_joints))
        if rows > limit:
            raise Md5Error(
                f"{what}.weight_counts: too many weights are shared by vertices",
                found=str(rows), expected=f"at most {limit}, or the file could not be read",
            )  # fmt: skip


def validate_animation(animation: Animation) -> None:
    """Checks an animation; for the errors see `validate_model`."""
    skeletal.validate_animation(animation)
    check_string(animation.commandline, "Animation.commandline")
    _check_names(animation.names, "Animation")


def validate_camera(camera: Camera) -> None:
    """Checks a camera; for the errors see `validate_model`."""
    what = "Camera"
    camera.check_arrays(f"{what}.")
    if camera.cut_groups and len(camera.cut_groups) != len(camera.cuts):
        raise Md5Error(
            f"{what}.cut_groups has the wrong length",
            found=str(len(camera.cut_groups)), expected=f"{len(camera.cuts)}, one for each cut, or none",
        )  # fmt: skip
    check_string(camera.commandline, f"{what}.commandline")
    count = camera.entry_count
    if count == 0:
        raise Md5Error(f"{what}.positions: there are no frames", found="0", expected="1 or more")
    skeletal.check_rate(camera.frame_rate, f"{what}.frame_rate")
    expected = f"1 to {count - 1}" if count > 1 else "no cuts, because there is only one frame"
    outside = (camera.cuts < 0) | (camera.cuts >= count)
    skeletal.refuse_first(outside, f"{what}.cuts", " is not at one of the camera's frames", camera.cuts, expected)
    for index, text in enumerate(camera.cut_groups):
        if not are_valid_groups(text):
            raise Md5Error(
                f"{what}.cut_groups[{index}]: invalid groups after a cut",
                found=repr(text), expected="words, each with numbers in parentheses",
            )  # fmt: skip
    skeletal.check_finite(camera, what, "positions", "orientations", "fields_of_view")


def _check_names(names: list[str], what: str) -> None:
    for index, name in enumerate(names):
        check_string(name, f"{what}.names[{index}]")


def check_string(text: str, what: str) -> None:
    """Raises Md5Error if a text contains a double quote, a line break, a NUL or an invalid character."""
    if not is_writable(text):
        raise Md5Error(
            f"{what}: a name contains a double quote, a line break or an invalid character: rename it", found=repr(text)
        )


def is_writable(name: str) -> bool:
    """Whether a name can be written as a quoted string."""
    return not _UNQUOTABLE.search(name)


def are_valid_groups(text: str) -> bool:
    """Whether a text is valid as the groups of a cut; an empty one is."""
    return _GROUPS.fullmatch(text) is not None


def weight_limit(vertex_count: int, weight_count: int) -> int:
    """The most weights of all vertices together that are read."""
    return _MIN_WEIGHTS + _WEIGHTS_PER_LINE * (vertex_count + weight_count)
