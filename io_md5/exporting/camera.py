"""Camera paths made of the cameras of the scene."""
# Every frame of the scene's range becomes an entry, and every cut adds one: the view of the old camera at that instant.
# Markers define cuts by name (see `camera_cuts`) or by binding a camera. The view of the old camera at a cut is that of
# the imported file if the end of the shot was not changed; else it is evaluated if the next shot has another camera,
# and extrapolated from the last frames otherwise.

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...io_blender import state
from ...io_blender.clips.clip import Played, warn_of_speed
from ...io_blender.clips.playing import restored_frame_and_values
from ...io_blender.reports import ExportResult, Job, Progress, Report, kept_on_failure, listing, raise_errors
from ...io_blender.scene import axes
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.mesh_data import world_matrix
from ...io_blender.scene.objects import ChosenConversion, NothingToExportError, export_conversion
from ...io_blender.verification import Verify, frames_to_verify
from ...io_common.files import atomic
from ..format import Camera, Md5Error, format_camera
from ..format import quaternions as quat
from ..format.check import check_camera
from ..format.games import Game
from ..format.model import Floats, Ints
from ..format.text.camera_file import cut_warnings, cuts_at
from ..importing import camera as camera_view
from ..importing.camera import cut_frames, jumps, marker_name
from ..options import CameraProperties
from ..records import CAMERA_RATE, COMMANDLINE, StoredCamera, load_camera
from .camera_verification import ShownView, find_differences

if TYPE_CHECKING:
    from bpy.types import Context, Object, Scene

# Tolerances of values that were not changed since the import: the precision of 32-bit floats.
_SAME_POSITION = 1e-6  # a fraction of the distance from the origin, or units below one
_SAME_ORIENTATION = 4e-6  # in any component
_SAME_ANGLE = 1e-4  # in degrees


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


class _Views(NamedTuple):
    """Views of cameras, in the coordinates of the file."""

    positions: Floats  # float64 (N, 3)
    orientations: Floats  # x y z, float64 (N, 3)
    fields_of_view: Floats  # in degrees, float64 (N,)


def export_camera(context: Context, path: str | os.PathLike[str], options: CameraExportOptions) -> Job[ExportResult]:
    """Writes the scene's camera over its range; raises NothingToExportError, Md5Error or OSError."""
    # With the first two, no file was written.
    report = Report()
    with kept_on_failure(report):
        camera = yield from read_scene(context, options, report)
        raise_errors(check_camera(camera, options.game), Md5Error, Path(path).name, report)
        for sentence in cut_warnings(camera.cuts):
            report.warn(sentence)
        atomic.write_file(path, format_camera(camera))
    report.count("frames", camera.entry_count - len(camera.cuts))
    report.count("cuts", len(camera.cuts))
    return ExportResult([Path(path)], report)


def read_scene(context: Context, options: CameraExportOptions, report: Report) -> Job[Camera]:
    """The verified camera path of the scene; raises NothingToExportError."""
    cameras = exported_cameras(context.scene, use_markers=options.use_markers)
    conversion = export_conversion(options.conversion, cameras, report)
    for use_stored in (True, False):
        plan = _Plan(context.scene, options, conversion, use_stored=use_stored)
        for camera in plan.cameras:
            if camera.type != "CAMERA":
                raise NothingToExportError(
                    f"{camera.name} is not a camera: choose a camera as the scene's or the marker's"
                )
        chosen = frames_to_verify(len(plan.frames), options.verify, many=True)
        verified = {plan.frames[index] for index in chosen}
        views, shown = yield from _sample(context, plan.moments, conversion, verified, report)
        result = _assemble(context.scene, plan, views, options, report)
        differences = find_differences(result, shown, conversion)
        if not differences or all(stored is None for stored in plan.stored.values()):
            break
    for name, text in differences:
        report.warn(text, name)
    _warn_of_jumps(plan, report)
    return result


def _warn_of_jumps(plan: _Plan, report: Report) -> None:
    # Games show frames between those of the scene, on which the camera would fly.
    for camera in plan.cameras:
        frames = [str(frame) for frame in sorted(jumps(camera)) if plan.is_within_shot(camera, frame)]
        if frames:
            report.warn(
                "jumps on frames without a cut, where games move it from one view to the other: "
                f"{listing(frames)}. Add markers named {marker_name(camera.name)!r} there",
                camera.name,
            )


def _assemble(scene: Scene, plan: _Plan, views: _Views, options: CameraExportOptions, report: Report) -> Camera:
    for camera in plan.cameras:
        stored = plan.stored[camera]
        if stored is not None:
            _restore_stored(views, plan, camera, stored)
    _fill_shot_ends(views, plan)
    first = plan.moments[0].camera.data
    cuts, groups = plan.cuts()
    imported_rate = None if options.use_scene_rate else CAMERA_RATE.read(first)
    return Camera(
        cuts=cuts,
        positions=views.positions,
        orientations=views.orientations,
        fields_of_view=views.fields_of_view,
        frame_rate=_frame_rate(scene, imported_rate, len(plan.frames), report),
        cut_groups=groups,
        commandline=COMMANDLINE.read(first) or "",
    )


def _check(camera: Object, frame: int, report: Report) -> None:
    # The type and lens shift may be animated.
    data = camera.data
    if data.type != "PERSP":
        kind = data.bl_rna.properties["type"].enum_items[data.type].name
        raise NothingToExportError(
            f"{camera.name} is of the type {kind} on frame {frame}, which the format does not have: set Type to "
            "Perspective in the properties of the camera"
        )
    if data.shift_x or data.shift_y:
        report.warn("lens shift is ignored, because the format has none", camera.name)


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
    """The camera of each frame, and the source of each entry; `use_stored` uses data of imported files."""

    def __init__(self, scene: Scene, options: CameraExportOptions, conversion: Conversion, *, use_stored: bool) -> None:
        start, end = scene.frame_start, scene.frame_end
        self._start = start
        self.frames = range(start, end + 1)
        bound = _bound_cameras(scene) if options.use_markers else {}
        self._camera_at = _cameras_of_frames(scene, bound)
        self.cameras = exported_cameras(scene, use_markers=options.use_markers)
        # The imported file of each camera; None if it was not imported.
        self.stored = {
            camera: load_camera(camera.data, conversion) if use_stored and camera.type == "CAMERA" else None
            for camera in self.cameras
        }
        # The first scene frame after each cut, rising.
        self.instants = self._find_cuts(scene, bound)
        self.moments: list[_Moment] = []
        cuts = Counter(self.instants)
        for frame in range(start, end + 2):
            old, new = self._camera_at[max(frame - 1, start)], self._camera_at[min(frame, end)]
            hidden = old == new
            self.moments += [_Moment(frame, old, is_end=True, is_hidden=hidden)] * cuts[frame]
            if frame <= end:
                self.moments.append(_Moment(frame, new))

    def _find_cuts(self, scene: Scene, bound: Iterable[int]) -> list[int]:
        start, end = scene.frame_start, scene.frame_end
        marked = cut_frames(scene, self.cameras)
        instants: list[int] = []
        for frame in sorted({*marked, *bound}):
            stored = self.stored[self._camera_at[min(max(frame - 1, start), end)]]
            imported = len(stored.cuts_at(frame)) if stored else 0
            # Cuts at the first or after the last frame come from invalid files, as do several on one frame.
            outermost = imported and stored and stored.is_outermost(frame) and frame in (start, end + 1)
            if start < frame <= end or outermost:
                instants += [frame] * max(1, min(imported, marked[frame]))
        return instants

    def is_within_shot(self, camera: Object, frame: int) -> bool:
        """Whether a camera is seen on a frame and on the one before, without a cut between them."""
        seen = self._camera_at.get(frame - 1), self._camera_at.get(frame)
        return seen == (camera, camera) and frame not in self.instants

    def source_cut(self, index: int) -> tuple[StoredCamera, int] | None:
        """The imported file of a cut, and the index of the cut in it; None if the cut is new."""
        frame = self.instants[index]
        stored = self.stored[self._camera_at[max(frame - 1, self._start)]]
        found = stored.cuts_at(frame) if stored else []
        nth = index - self.instants.index(frame)
        return (stored, found[nth]) if stored is not None and nth < len(found) else None

    def cuts(self) -> tuple[Ints, list[str]]:
        """The cuts of the file, (K,), and their groups."""
        groups = []
        for index in range(len(self.instants)):
            imported = self.source_cut(index)
            groups.append(imported[0].camera.cut_groups[imported[1]] if imported else "")
        instants = np.array(self.instants, dtype=np.int32)
        stored = self.stored[self.cameras[0]]
        if (
            len(self.cameras) == 1
            and stored is not None
            and stored.camera.entry_count == len(self.moments)
            and np.array_equal(stored.instants + stored.frame_start, instants)
        ):
            return stored.camera.cuts, groups
        return cuts_at(instants - self._start), groups


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
) -> Job[tuple[_Views, dict[int, ShownView]]]:
    """The views of the entries, and the evaluated view of each frame to verify, counted from the first."""
    # Extrapolated entries are left to be filled in. `verified` has frames of the scene. Raises NothingToExportError if
    # a camera has no field of view or no finite transform.
    scene = context.scene
    count = len(moments)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    fields_of_view = np.ones(count)
    shown: dict[int, ShownView] = {}
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
            _check(camera, frame, report)
            matrices[index] = world_matrix(camera)
            if not np.isfinite(matrices[index]).all():
                raise NothingToExportError(
                    f"the transform of {moment.camera.name} is not a number on frame {frame}: delete the key or driver "
                    "that causes it"
                )
            fields_of_view[index] = camera_view.field_of_view(
                data.lens, data.sensor_width, data.sensor_height, data.sensor_fit, aspect
            )
            if frame in verified and not moment.is_end:
                corners = np.array(data.view_frame(scene=scene), dtype=np.float64)
                shown[frame - scene.frame_start] = ShownView(moment.camera.name, frame, matrices[index], corners)
    positions, orientations = camera_view.to_file(matrices, conversion)
    return _Views(positions, orientations, fields_of_view), shown


def _restore_stored(views: _Views, plan: _Plan, camera: Object, stored: StoredCamera) -> None:
    """Replaces values that were not changed since the import by the exact values of the file."""
    moments = np.array(
        [
            index
            for index, moment in enumerate(plan.moments)
            if moment.camera == camera
            and not moment.is_end
            and 0 <= moment.frame - stored.frame_start < len(stored.frame_entries)
        ],
        dtype=np.int64,
    )
    frames = np.array([plan.moments[index].frame for index in moments], dtype=np.int64)
    source_entries = stored.frame_entries[frames - stored.frame_start]
    source = stored.camera
    positions = source.positions[source_entries]
    distances = np.linalg.norm(views.positions[moments] - positions, axis=1)
    seen, known = (
        quat.wxyz_from_xyz(orientations)
        for orientations in (views.orientations[moments], source.orientations[source_entries])
    )
    turns = np.minimum(np.abs(seen - known).max(axis=1), np.abs(seen + known).max(axis=1))
    angles = views.fields_of_view[moments] - camera_view.clamped(source.fields_of_view[source_entries])
    is_same = (
        distances <= _SAME_POSITION * np.maximum(np.linalg.norm(positions, axis=1), 1.0),
        turns <= _SAME_ORIENTATION,
        np.abs(angles) <= _SAME_ANGLE,
    )
    for table, original, same in zip(views, _channels_of(source), is_same, strict=True):
        table[moments[same]] = original[source_entries[same]]


def _channels_of(camera: Camera) -> tuple[Floats, Floats, Floats]:
    return camera.positions, camera.orientations, camera.fields_of_view


def _fill_shot_ends(views: _Views, plan: _Plan) -> None:
    ends = [index for index, moment in enumerate(plan.moments) if moment.is_end]
    for cut, end in enumerate(ends):
        guesses = _extrapolated(views, plan.moments, end) if plan.moments[end].is_hidden else None
        imported = plan.source_cut(cut)
        for channel, table in enumerate(views):
            if guesses is not None:
                table[end] = guesses[channel]
            if imported is not None:
                stored, number = imported
                original, entry = _channels_of(stored.camera)[channel], stored.ends[number]
                # The end is restored only if the entry before it was not changed.
                if entry == 0 or end == 0 or np.array_equal(table[end - 1], original[entry - 1]):
                    table[end] = original[entry]


def _extrapolated(views: _Views, moments: list[_Moment], end: int) -> tuple[Floats, Floats, Floats]:
    """The view that continues the motion of the last two frames of a shot; the last if there is only one."""
    last = max(end - 1, 0)
    before = max(end - 2, 0)
    if moments[last].is_end or moments[before].is_end:
        before = last
    at_last, at_before = (quat.wxyz_from_xyz(views.orientations[last]), quat.wxyz_from_xyz(views.orientations[before]))
    orientation = quat.multiply(quat.multiply(at_last, quat.conjugate(at_before)), at_last)
    angles = views.fields_of_view
    return (
        2.0 * views.positions[last] - views.positions[before],
        quat.xyz_from_wxyz(orientation),
        camera_view.clamped(2.0 * angles[last] - angles[before]),
    )
