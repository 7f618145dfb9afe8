"""Camera paths made of the cameras of the scene.

Every frame of the scene's range becomes an entry, and every cut adds one: the view of the old camera at that
instant. Markers define cuts by name (see `camera_cuts`) or by binding a camera. The view of the old camera at a cut is
that of the imported file if the end of the shot was not changed; else it is evaluated if the next shot has another
camera, and extrapolated from the last frames otherwise.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender import state
from ...io_blender.clips.animated_values import restored_frame_and_values
from ...io_blender.clips.playing_speed import Played, warn_of_speed
from ...io_blender.reports import Report, kept_on_failure, listing
from ...io_blender.results import ExportResult
from ...io_blender.scene import axes
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.evaluated import world_matrix
from ...io_blender.scene.imported_conversion import ChosenConversion, export_conversion
from ...io_blender.scene.objects import NothingToExportError
from ...io_blender.validation import raise_errors
from ...io_blender.verify_option import Verify, frames_to_verify
from ...io_common.files import atomic
from ..format import Camera, Md5Error, format_camera
from ..format import quaternions as quat
from ..format.check import check_camera
from ..format.games import Game
from ..format.model import Floats, Ints
from ..format.text.camera_file import cut_warnings, cuts_at
from ..importing import camera_view
from ..importing.camera_cuts import cut_frames, jumps, marker_name
from ..records import CAMERA_RATE, COMMANDLINE, StoredCamera, load_camera
from . import camera_verification
from .camera_verification import EvaluatedView

if TYPE_CHECKING:
    from bpy.types import Context, Object, Scene

# Tolerances of values that were not changed since the import: the precision of 32-bit floats.
_SAME_POSITION = 1e-6  # a fraction of the distance from the origin, or units below one
_SAME_ORIENTATION = 4e-6  # in any component
_SAME_ANGLE = 1e-4  # in degrees


@dataclass(frozen=True)
class CameraExportOptions:
    """The options of an export of a camera.

    Attributes:
        conversion: from the scene to the file; if scale or axes are not set, those of the import.
        use_markers: follow the cameras that markers bind; otherwise only the scene's active camera is used.
        use_scene_rate: use the scene's frame rate even for a camera that was imported with another.
        verify: the frames that are compared with Blender before the file is written.
        game: the game to export for.
    """

    conversion: Conversion | ChosenConversion = field(default_factory=axes.identity)
    use_markers: bool = True
    use_scene_rate: bool = False
    verify: Verify = Verify.SOME
    game: Game = Game.ANY


@dataclass(frozen=True, eq=False)
class _Moment:
    """The source of one entry of the file.

    Attributes:
        frame: of the scene.
        camera: the camera object.
        is_end: whether it is the end of a shot at the instant of a cut.
        is_hidden: whether the camera has already begun its next shot on that frame, so that the end is extrapolated.
    """

    frame: int
    camera: Object
    is_end: bool = False
    is_hidden: bool = False


@dataclass(eq=False)
class _ViewTable:
    """Views of cameras, in the coordinates of the file.

    Attributes:
        positions: float64 (N, 3).
        orientations: x y z, float64 (N, 3).
        fields_of_view: in degrees, float64 (N,).
    """

    positions: Floats
    orientations: Floats
    fields_of_view: Floats

    def copy(self) -> _ViewTable:
        """A copy with copied arrays."""
        return _ViewTable(*(table.copy() for table in self.channels()))

    def channels(self) -> tuple[Floats, Floats, Floats]:
        """The three arrays."""
        return self.positions, self.orientations, self.fields_of_view


def export_camera(
    context: Context, path: str | os.PathLike[str], options: CameraExportOptions
) -> ExportResult:
    """Writes the scene's camera over the scene's range.

    Raises NothingToExportError if there is no camera, or one has no field of view or no finite transform; Md5Error if
    something cannot be written or the game would refuse it; OSError if the file cannot be written. With the first two,
    no file was written.
    """
    report = Report()
    with kept_on_failure(report):
        camera = read_scene(context, options, report)
        raise_errors(check_camera(camera, options.game), Md5Error, Path(path).name, report)
        for sentence in cut_warnings(camera.cuts):
            report.warn(sentence)
        atomic.write_file(path, format_camera(camera))
    report.count("frames", camera.entry_count - len(camera.cuts))
    report.count("cuts", len(camera.cuts))
    return ExportResult([Path(path)], report)


def read_scene(context: Context, options: CameraExportOptions, report: Report) -> Camera:
    """The verified camera path of the scene over its range.

    Raises NothingToExportError if there is no camera, if one has no field of view, or if the cameras were imported with
    different scales.
    """
    cameras = exported_cameras(context.scene, use_markers=options.use_markers)
    conversion = export_conversion(options.conversion, cameras, report)
    plan = _Plan(context.scene, options, conversion, use_stored=True)
    for camera in plan.cameras:
        if camera.type != "CAMERA":
            raise NothingToExportError(
                f"{camera.name} is not a camera: choose a camera as the scene's or the marker's"
            )
    chosen = frames_to_verify(len(plan.frames), options.verify, many=True)
    verified = {plan.frames[index] for index in chosen}
    views, evaluated_views = _sample(context, plan.moments, conversion, verified, report)
    result = _assemble(context.scene, plan, views.copy(), options, report)
    differences = camera_verification.find_differences(result, evaluated_views, conversion)
    if differences and any(stored is not None for stored in plan.stored.values()):
        plan = _Plan(context.scene, options, conversion, use_stored=False)
        views, evaluated_views = _sample(context, plan.moments, conversion, verified, report)
        result = _assemble(context.scene, plan, views, options, report)
        differences = camera_verification.find_differences(result, evaluated_views, conversion)
    camera_verification.warn(differences, report)
    _warn_of_jumps(plan, report)
    return result


def _warn_of_jumps(plan: _Plan, report: Report) -> None:
    """Warns of jumps without a cut: games show frames between those of the scene, on which the camera would fly."""
    for camera in plan.cameras:
        frames = [str(frame) for frame in sorted(jumps(camera)) if plan.is_within_shot(camera, frame)]
        if frames:
            report.warn(
                "jumps on frames without a cut, where games move it from one view to the other: "
                f"{listing(frames)}. Add markers named {marker_name(camera.name)!r} there",
                camera.name,
            )


def _assemble(
    scene: Scene, plan: _Plan, views: _ViewTable, options: CameraExportOptions, report: Report
) -> Camera:
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
    """Checks a camera as it is evaluated on a frame: its type and lens shift may be animated."""
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
    """The camera of each frame, and the source of each entry.

    `conversion` goes from the scene to the file; with `use_stored`, data of imported files is used.

    Attributes:
        frames: the frames of the scene.
        moments: the entries in order.
        instants: the first scene frame after each cut, rising.
        cameras: all cameras that are used.
        stored: the imported file of each; None if it was not imported.
    """

    def __init__(
        self, scene: Scene, options: CameraExportOptions, conversion: Conversion, *, use_stored: bool
    ) -> None:
        start, end = scene.frame_start, scene.frame_end
        self._start = start
        self.frames = range(start, end + 1)
        bound = _bound_cameras(scene) if options.use_markers else {}
        self._camera_at = _cameras_of_frames(scene, bound)
        self.cameras = exported_cameras(scene, use_markers=options.use_markers)
        self.stored = {
            camera: load_camera(camera.data, conversion) if use_stored and camera.type == "CAMERA" else None
            for camera in self.cameras
        }
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
        """The cuts of the file, int32 (K,), and their groups."""
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
    """The cameras that the range of the scene shows.

    With `use_markers`, it follows the cameras that markers bind. Raises NothingToExportError if there is none.
    """
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
    """The camera of each frame of the scene's range.

    Blender uses the camera of the last marker that binds one; before the first such marker, the camera of that marker.
    """
    frames = range(scene.frame_start, scene.frame_end + 1)
    if not bound:
        if scene.camera is None:
            raise NothingToExportError("the scene has no active camera: choose one in the scene properties")
        return dict.fromkeys(frames, scene.camera)
    cameras = list(bound.values())
    latest = np.maximum(np.searchsorted(list(bound), list(frames), side="right") - 1, 0)
    return {frame: cameras[index] for frame, index in zip(frames, latest.tolist(), strict=True)}


def _sample(
    context: Context,
    moments: list[_Moment],
    conversion: axes.Conversion,
    verified: set[int],
    report: Report,
) -> tuple[_ViewTable, dict[int, EvaluatedView]]:
    """The views of the entries, and the evaluated view of each frame to verify, by frame counted from the first.

    Extrapolated entries are left to be filled in. `conversion` goes from the scene to the file; `verified` has frames
    of the scene. Raises NothingToExportError if a camera has no field of view or no finite transform.
    """
    scene = context.scene
    count = len(moments)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    fields_of_view = np.ones(count)
    evaluated_views: dict[int, EvaluatedView] = {}
    frame = None
    render = scene.render
    aspect = (render.resolution_x * render.pixel_aspect_x) / (render.resolution_y * render.pixel_aspect_y)
    with restored_frame_and_values(scene):
        for index, moment in enumerate(moments):
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
                evaluated_views[frame - scene.frame_start] = EvaluatedView(
                    moment.camera.name, frame, matrices[index], corners
                )
    positions, orientations = camera_view.to_file(matrices, conversion)
    return _ViewTable(positions, orientations, fields_of_view), evaluated_views


def _restore_stored(views: _ViewTable, plan: _Plan, camera: Object, stored: StoredCamera) -> None:
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
    for table, original, same in zip(
        views.channels(),
        _channels_of(source),
        _is_unchanged(views, moments, source, source_entries),
        strict=True,
    ):
        table[moments[same]] = original[source_entries[same]]


def _channels_of(camera: Camera) -> tuple[Floats, Floats, Floats]:
    return camera.positions, camera.orientations, camera.fields_of_view


def _is_unchanged(
    views: _ViewTable, moments: npt.NDArray[np.int64], source: Camera, source_entries: Ints
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether position, orientation and field of view equal those of entries of the file, each (n,)."""
    positions = source.positions[source_entries]
    distances = np.linalg.norm(views.positions[moments] - positions, axis=1)
    same_position = distances <= _SAME_POSITION * np.maximum(np.linalg.norm(positions, axis=1), 1.0)
    seen, known = (
        quat.wxyz_from_xyz(views.orientations[moments]),
        quat.wxyz_from_xyz(source.orientations[source_entries]),
    )
    off = np.minimum(np.abs(seen - known).max(axis=1), np.abs(seen + known).max(axis=1))
    angles = camera_view.clamped(source.fields_of_view[source_entries])
    same_angle = np.abs(views.fields_of_view[moments] - angles) <= _SAME_ANGLE
    return same_position, off <= _SAME_ORIENTATION, same_angle


def _fill_shot_ends(views: _ViewTable, plan: _Plan) -> None:
    """Fills in the ends of shots: from imported files, or extrapolated."""
    ends = [index for index, moment in enumerate(plan.moments) if moment.is_end]
    for cut, end in enumerate(ends):
        guesses = _extrapolated(views, plan.moments, end) if plan.moments[end].is_hidden else None
        imported = plan.source_cut(cut)
        for channel, table in enumerate(views.channels()):
            if guesses is not None:
                table[end] = guesses[channel]
            if imported is not None:
                stored, number = imported
                original, entry = _channels_of(stored.camera)[channel], stored.ends[number]
                # The end is restored only if the entry before it was not changed.
                if entry == 0 or end == 0 or np.array_equal(table[end - 1], original[entry - 1]):
                    table[end] = original[entry]


def _extrapolated(views: _ViewTable, moments: list[_Moment], end: int) -> tuple[Floats, Floats, Floats]:
    """The view that continues the motion of the last two frames of a shot; the last view if it has one frame."""
    last = max(end - 1, 0)
    before = max(end - 2, 0)
    if moments[last].is_end or moments[before].is_end:
        before = last
    at_last, at_before = (
        quat.wxyz_from_xyz(views.orientations[last]),
        quat.wxyz_from_xyz(views.orientations[before]),
    )
    orientation = quat.multiply(quat.multiply(at_last, quat.conjugate(at_before)), at_last)
    angles = views.fields_of_view
    return (
        2.0 * views.positions[last] - views.positions[before],
        quat.xyz_from_wxyz(orientation),
        camera_view.clamped(2.0 * angles[last] - angles[before]),
    )
