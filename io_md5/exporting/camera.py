"""Camera paths made of the cameras of the scene."""
# Every frame of the scene's range becomes an entry, and every cut adds one: the view of the old camera at that instant.
# Markers define cuts by name (see `camera_cuts`) or by binding a camera. The view of the old camera at a cut is that of
# the imported file if the end of the shot was not changed; else it is evaluated if the next shot has another camera,
# and extrapolated from the last frames otherwise.
#
# The path is compared with what Blender shows as Doom 3 plays it: the cuts give the entry of a frame; the matrix of an
# entry has forward, left and up as columns. The picture in Blender is the rectangle of its camera's view frame.

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bpy.types import Context, Object, Scene

from ...io_blender import state
from ...io_blender.clips.clip import Played, warn_of_speed
from ...io_blender.clips.playing import restored_frame_and_values
from ...io_blender.reports import ExportResult, Job, Progress, Report, kept_on_failure, listing, raise_errors
from ...io_blender.scene import axes
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.mesh_data import world_matrix
from ...io_blender.scene.objects import ChosenConversion, NothingToExportError, export_conversion
from ...io_blender.skeletal.records import COMMANDLINE
from ...io_blender.verification import Verify, amount, diagonal, frames_to_verify
from ...io_common.files import write_file
from ...io_common.skeletal import quaternions as quat
from ...io_common.skeletal.model import Floats, Ints
from ...io_common.skeletal.skinning import unit
from ..format import Camera, Md5Error, format_camera
from ..format.check import check_camera
from ..format.games.profiles import Game
from ..format.text.camera_file import cut_warnings, cuts_at, timeline
from ..importing.camera import clamped, cut_frames, field_of_view, jumps, marker_name, to_file
from ..options import CameraProperties
from ..records import CAMERA_RATE, StoredCamera, load_camera

# Tolerances of values that were not changed since the import: the precision of 32-bit floats.
_SAME_POSITION = 1e-6  # a fraction of the distance from the origin, or units below one
_SAME_ORIENTATION = 4e-6  # in any component
_SAME_ANGLE = 1e-4  # in degrees

# Tolerances of what is shown: a fraction of the path's size, degrees, and degrees.
_POSITION, _DIRECTION, _FIELD_OF_VIEW = 1e-4, 0.01, 0.01
_ROUNDING = 2e-6  # the precision of 32-bit floats, as a fraction of a coordinate
_SKEWED = 1e-5  # by how much the axes of a camera that is not skewed may be off from right angles

_MIRRORED = (
    "negative scale mirrors the picture in Blender, which no path can: the path looks the same way, not mirrored. Make "
    "the scale of the camera and its parents positive"
)


@dataclass(frozen=True)
class CameraExportOptions(CameraProperties):
    """The options of an export of a camera."""

    # From the scene to the file; if scale or axes are not set, those of the import.
    conversion: Conversion | ChosenConversion = field(default_factory=axes.identity)
    # Use the scene's frame rate even for a camera that was imported with another.
    use_scene_rate: bool = False
    verify: Verify = Verify.SOME  # the frames that are compared with Blender before the file is written
    game: Game = Game.ANY  # the game to export for


@dataclass(frozen=True, eq=False)
class _Moment:
    """The source of one entry of the file."""

    frame: int  # of the scene
    camera: Object  # the camera object
    is_end: bool = False  # whether it is the end of a shot at the instant of a cut
    # Whether the camera has already begun its next shot on that frame, so that the end is extrapolated.
    is_hidden: bool = False


class _ShownView(NamedTuple):
    """What a camera shows on a frame."""

    name: str  # of the camera
    frame: int  # of the scene
    matrix: Floats  # of the evaluated camera, in the scene, float64 (4, 4)
    # Of its picture in its own space: right top, right bottom, left bottom, left top, float64 (4, 3).
    corners: Floats

    @property
    def basis(self) -> Floats:
        """Its axes of length 1, as columns: Blender removes the scale of each, float64 (3, 3)."""
        return unit(self.matrix[:3, :3].T).T


def export_camera(context: Context, path: str | os.PathLike[str], options: CameraExportOptions) -> Job[ExportResult]:
    """Writes the scene's camera over its range; raises NothingToExportError, Md5Error or OSError."""
    # With the first two, no file was written.
    report = Report()
    with kept_on_failure(report):
        camera = yield from _read_scene(context, options, report)
        raise_errors(check_camera(camera, options.game), Md5Error, Path(path).name, report)
        for sentence in cut_warnings(camera.cuts):
            report.warn(sentence)
        write_file(path, format_camera(camera))
    report.count("frames", camera.entry_count - len(camera.cuts))
    report.count("cuts", len(camera.cuts))
    return ExportResult([Path(path)], report)


def _read_scene(context: Context, options: CameraExportOptions, report: Report) -> Job[Camera]:
    """The verified camera path of the scene; raises NothingToExportError."""
    scene = context.scene
    cameras = exported_cameras(scene, use_markers=options.use_markers)
    conversion = export_conversion(options.conversion, cameras, report)
    for camera in cameras:
        if camera.type != "CAMERA":
            raise NothingToExportError(f"{camera.name} is not a camera: choose a camera as the scene's or the marker's")
    for use_stored in (True, False):
        stored = {camera: load_camera(camera.data, conversion) if use_stored else None for camera in cameras}
        plan = _Plan(scene, stored, use_markers=options.use_markers)
        chosen = frames_to_verify(len(plan.frames), options.verify, many=True)
        verified = {plan.frames[index] for index in chosen}
        result, shown = yield from _sample(context, plan.moments, conversion, verified, report)
        _restore_stored(result, plan)
        _fill_shot_ends(result, plan)
        first = plan.moments[0].camera.data
        imported_rate = None if options.use_scene_rate else CAMERA_RATE.read(first)
        result.cuts, result.cut_groups = plan.cuts()
        result.frame_rate = _frame_rate(scene, imported_rate, len(plan.frames), report)
        result.commandline = COMMANDLINE.read(first) or ""
        differences = _find_differences(result, shown, conversion)
        if not differences or not any(stored.values()):
            break
    for name, text in differences:
        report.warn(text, name)
    # Games show frames between those of the scene, on which the camera would fly.
    for camera in cameras:
        frames = [str(frame) for frame in sorted(jumps(camera)) if plan.is_within_shot(camera, frame)]
        if frames:
            report.warn(
                "jumps on frames without a cut, where games move it from one view to the other: "
                f"{listing(frames)}. Add markers named {marker_name(camera.name)!r} there",
                camera.name,
            )
    return result


def _frame_rate(scene: Scene, imported: float | None, frames: int, report: Report) -> float:
    """Frames per second of the imported file, else of the scene, rounded as Doom 3 requires."""
    exact = state.frame_rate(scene)
    if imported is None:
        rate = max(1.0, float(round(exact)))
        if abs(rate - exact) > 1e-4:
            report.warn(f"camera paths have whole frame rates: {exact:.6g} was rounded to {rate:g}")
        return rate
    warn_of_speed([Played("", frames, 1.0, imported)], exact, report, is_fixed=False)
    return imported


class _Plan:
    """The camera of each frame, and the source of each entry."""

    def __init__(self, scene: Scene, stored: dict[Object, StoredCamera | None], *, use_markers: bool) -> None:
        # `stored` has the imported file of each camera, None for a camera that was not imported, or not as it is now.
        start, end = scene.frame_start, scene.frame_end
        self.frames = range(start, end + 1)
        bound = _bound_cameras(scene) if use_markers else {}
        self._camera_at = _cameras_of_frames(scene, bound)
        self.stored = stored
        # The first scene frame after each cut, ascending; the imported file with the index of the cut in it, or None.
        self.instants: list[int] = []
        self.sources: list[tuple[StoredCamera, int] | None] = []
        self._find_cuts(scene, bound)
        self.moments: list[_Moment] = []
        cuts = Counter(self.instants)
        for frame in range(start, end + 2):
            old, new = self._camera_at[max(frame - 1, start)], self._camera_at[min(frame, end)]
            hidden = old == new
            self.moments += [_Moment(frame, old, is_end=True, is_hidden=hidden)] * cuts[frame]
            if frame <= end:
                self.moments.append(_Moment(frame, new))

    def _find_cuts(self, scene: Scene, bound: Iterable[int]) -> None:
        start, end = scene.frame_start, scene.frame_end
        marked = cut_frames(scene, list(self.stored))
        for frame in sorted({*marked, *bound}):
            stored = self.stored[self._camera_at[min(max(frame - 1, start), end)]]
            imported = stored.cuts_at(frame) if stored is not None else []
            # Cuts at the first or after the last frame come from invalid files, as do several on one frame.
            is_outermost = stored is not None and frame - stored.frame_start in (0, len(stored.frame_entries))
            if start < frame <= end or (imported and is_outermost and frame in (start, end + 1)):
                count = max(1, min(len(imported), marked[frame]))
                self.instants += [frame] * count
                self.sources += [(stored, number) for number in imported[:count] if stored is not None] or [None]

    def is_within_shot(self, camera: Object, frame: int) -> bool:
        """Whether a camera is seen on a frame and on the one before, without a cut between them."""
        seen = self._camera_at.get(frame - 1), self._camera_at.get(frame)
        return seen == (camera, camera) and frame not in self.instants

    def cuts(self) -> tuple[Ints, list[str]]:
        """The cuts of the file, (K,), and their groups; cuts of an imported file as there, in whatever order."""
        groups = [one[0].camera.cut_groups[one[1]] if one is not None else "" for one in self.sources]
        instants = np.array(self.instants, dtype=np.int32)
        stored = next(iter(self.stored.values())) if len(self.stored) == 1 else None
        is_whole = stored is not None and stored.camera.entry_count == len(self.moments)
        if stored is not None and is_whole and np.array_equal(stored.instants + stored.frame_start, instants):
            return stored.camera.cuts, groups
        return cuts_at(instants - self.frames[0]), groups


def exported_cameras(scene: Scene, *, use_markers: bool) -> list[Object]:
    """The cameras that the scene's range shows; raises NothingToExportError if there is none."""
    # With `use_markers`, it follows the cameras that markers bind.
    shown = _cameras_of_frames(scene, _bound_cameras(scene) if use_markers else {})
    return list(dict.fromkeys(shown.values()))


def _bound_cameras(scene: Scene) -> dict[int, Object]:
    """The cameras bound by markers, by frame; of several markers on one frame Blender uses the first."""
    bound: dict[int, Object] = {}
    for marker in scene.timeline_markers:
        if marker.camera and not marker.camera.hide_render:
            bound.setdefault(marker.frame, marker.camera)
    return dict(sorted(bound.items()))


def _cameras_of_frames(scene: Scene, bound: dict[int, Object]) -> dict[int, Object]:
    frames = range(scene.frame_start, scene.frame_end + 1)
    if not bound:
        if scene.camera is None:
            raise NothingToExportError("the scene has no active camera: choose one in the scene properties")
        return dict.fromkeys(frames, scene.camera)
    cameras = list(bound.values())
    latest = np.maximum(np.searchsorted(list(bound), list(frames), side="right") - 1, 0)
    return {frame: cameras[index] for frame, index in zip(frames, latest.tolist(), strict=True)}


def _sample(
    context: Context, moments: list[_Moment], conversion: axes.Conversion, verified: set[int], report: Report
) -> Job[tuple[Camera, dict[int, _ShownView]]]:
    """A path without its cuts, and the evaluated view of each frame to verify, counted from the first."""
    # Extrapolated entries are left to be filled in. `verified` has frames of the scene. Raises NothingToExportError if
    # a camera has no field of view or no finite transform.
    scene = context.scene
    count = len(moments)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    fields_of_view = np.ones(count)
    shown: dict[int, _ShownView] = {}
    frame = None
    render = scene.render
    aspect = (render.resolution_x * render.pixel_aspect_x) / (render.resolution_y * render.pixel_aspect_y)
    progress = Progress(count)
    with restored_frame_and_values(scene):
        for index, moment in enumerate(moments):
            yield progress.step()
            if moment.is_hidden:
                continue
            if moment.frame != frame:
                frame = moment.frame
                scene.frame_set(frame)
                depsgraph = context.evaluated_depsgraph_get()
            camera = moment.camera.evaluated_get(depsgraph)
            data = camera.data
            # The type and lens shift may be animated.
            if data.type != "PERSP":
                kind = data.bl_rna.properties["type"].enum_items[data.type].name
                raise NothingToExportError(
                    f"{camera.name} is of the type {kind} on frame {frame}, which the format does not have: set Type "
                    "to Perspective in the properties of the camera"
                )
            if data.shift_x or data.shift_y:
                report.warn("lens shift is ignored, because the format has none", camera.name)
            matrices[index] = world_matrix(camera)
            if not np.isfinite(matrices[index]).all():
                raise NothingToExportError(
                    f"the transform of {moment.camera.name} is not a number on frame {frame}: delete the key or driver "
                    "that causes it"
                )
            fields_of_view[index] = field_of_view(data, aspect)
            if frame in verified and not moment.is_end:
                corners = np.array(data.view_frame(scene=scene), dtype=np.float64)
                shown[frame - scene.frame_start] = _ShownView(moment.camera.name, frame, matrices[index], corners)
    positions, orientations = to_file(matrices, conversion)
    return Camera(np.empty(0, np.int32), positions, orientations, fields_of_view), shown


def _restore_stored(path: Camera, plan: _Plan) -> None:
    """Replaces values that were not changed since the import by the exact values of the file."""
    frames = np.array([moment.frame for moment in plan.moments])
    for camera, stored in plan.stored.items():
        if stored is None:
            continue
        source, of_file = _channels_of(stored.camera), frames - stored.frame_start
        is_own = np.array([moment.camera == camera and not moment.is_end for moment in plan.moments])
        moments = np.flatnonzero(is_own & (of_file >= 0) & (of_file < len(stored.frame_entries)))
        entries = stored.frame_entries[of_file[moments]]
        positions, orientations, angles = (channel[moments] for channel in _channels_of(path))
        file_positions, file_orientations, file_angles = (channel[entries] for channel in source)
        distances = np.linalg.norm(positions - file_positions, axis=1)
        seen, known = quat.wxyz_from_xyz(orientations), quat.wxyz_from_xyz(file_orientations)
        turns = np.minimum(np.abs(seen - known).max(axis=1), np.abs(seen + known).max(axis=1))
        is_same = (
            distances <= _SAME_POSITION * np.maximum(np.linalg.norm(file_positions, axis=1), 1.0),
            turns <= _SAME_ORIENTATION,
            np.abs(angles - clamped(file_angles)) <= _SAME_ANGLE,
        )
        for table, original, same in zip(_channels_of(path), source, is_same, strict=True):
            table[moments[same]] = original[entries[same]]


def _channels_of(camera: Camera) -> tuple[Floats, Floats, Floats]:
    return camera.positions, camera.orientations, camera.fields_of_view


def _fill_shot_ends(path: Camera, plan: _Plan) -> None:
    ends = [index for index, moment in enumerate(plan.moments) if moment.is_end]
    for cut, end in enumerate(ends):
        guesses = _extrapolated(path, plan.moments, end) if plan.moments[end].is_hidden else None
        imported = plan.sources[cut]
        for channel, table in enumerate(_channels_of(path)):
            if guesses is not None:
                table[end] = guesses[channel]
            if imported is not None:
                stored, number = imported
                original, entry = _channels_of(stored.camera)[channel], stored.ends[number]
                # The end is restored only if the entry before it was not changed.
                if entry == 0 or end == 0 or np.array_equal(table[end - 1], original[entry - 1]):
                    table[end] = original[entry]


def _extrapolated(path: Camera, moments: list[_Moment], end: int) -> tuple[Floats, Floats, Floats]:
    """The view that continues the motion of the last two frames of a shot; the last if there is only one."""
    last = max(end - 1, 0)
    before = max(end - 2, 0)
    if moments[last].is_end or moments[before].is_end:
        before = last
    at_last, at_before = (quat.wxyz_from_xyz(path.orientations[last]), quat.wxyz_from_xyz(path.orientations[before]))
    orientation = quat.multiply(quat.multiply(at_last, quat.conjugate(at_before)), at_last)
    angles = path.fields_of_view
    return (
        2.0 * path.positions[last] - path.positions[before],
        quat.xyz_from_wxyz(orientation),
        clamped(2.0 * angles[last] - angles[before]),
    )


def _find_differences(camera: Camera, views: dict[int, _ShownView], conversion: Conversion) -> list[tuple[str, str]]:
    """A warning and a name for the first difference of each camera between a path and what Blender shows."""
    # `views` are by frame counted from the first.
    entries, _instants = timeline(camera.cuts, camera.entry_count)
    result: list[tuple[str, str]] = []
    size = diagonal(camera.positions)
    for frame, view in sorted(views.items()):
        if any(name == view.name for name, _ in result):
            continue
        what = "the path ends before this frame"
        if frame < len(entries):
            what = _compare(camera, int(entries[frame]), view, conversion, size)
            if np.linalg.det(view.basis) < 0.0:
                result.append((view.name, _MIRRORED))
        if what:
            cause = (
                "parents with uneven scale shear the camera: apply their scale"
                if np.abs(view.basis.T @ view.basis - np.eye(3)).max() > _SKEWED
                else "the camera is too far from the origin, or has a field of view that the format cannot store"
            )
            text = f"the path differs from what Blender shows on frame {view.frame}: {what}. Likely cause: {cause}"
            result.append((view.name, text))
    return result


def _compare(camera: Camera, entry: int, view: _ShownView, conversion: Conversion, size: float) -> str:
    """What of an entry differs from what is shown, and by how much; empty if nothing does."""
    position = conversion.points(view.matrix[:3, 3])
    distance = float(np.linalg.norm(camera.positions[entry] - position))
    allowed = _POSITION * size + _ROUNDING * max(float(np.abs(position).max()), 1.0)
    # Lens shift, which the format does not have, moves the middle of the picture off the axis.
    right_top, right_bottom, left_bottom, left_top = view.corners
    across, upright = right_top - left_top, right_top - right_bottom
    middle = np.array([0.0, 0.0, (right_top + left_bottom)[2] / 2.0])
    angle = 2.0 * math.degrees(math.atan2(float(np.linalg.norm(across)) / 2.0, abs(middle[2])))
    # If the picture is mirrored, only forward and up tell where the camera looks.
    left = across if np.linalg.det(view.basis) < 0.0 else -across
    matrix = quat.to_matrices(quat.wxyz_from_xyz(camera.orientations[entry]))
    off = max(
        _angle(matrix[:, k], conversion.rotation @ view.basis @ direction)
        for k, direction in enumerate((middle, left, upright))
    )
    zoom = abs(float(clamped(camera.fields_of_view[entry])) - angle)
    parts = {
        f"position by {amount(distance, size, 'path')}": distance <= allowed,
        f"direction by {off:.3g}°": off <= _DIRECTION,
        f"field of view by {zoom:.3g}°": zoom <= _FIELD_OF_VIEW,
    }
    return ", ".join(words for words, is_small in parts.items() if not is_small)


def _angle(some: Floats, other: Floats) -> float:
    cross = float(np.linalg.norm(np.cross(some, other)))
    return math.degrees(math.atan2(cross, float(np.dot(some, other))))
