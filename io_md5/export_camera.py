"""Cameras of the scene into a camera path.

Every frame of the scene's range becomes an entry, and every cut one more: where the old camera would be at that
instant. A cut is where a marker says so (see `camera_cuts`), or binds a camera. The old camera's position at a cut is
that of the imported file if the shot still ends as it did there, looked up if the next shot has another camera, and
otherwise where the motion of its last frame leads.
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

from ..io_common.files import atomic
from ..io_common.reports import Report
from ..io_common.results import ExportResult
from ..io_common.scene import axes
from ..io_common.scene.animated_values import kept_frame_and_values
from ..io_common.scene.evaluated import world_matrix
from ..io_common.scene.objects import NothingToExportError
from ..io_common.verification import Verify, frames_to_verify
from . import camera_verification, camera_view
from .camera_cuts import cut_frames
from .camera_verification import ShownView
from .format import Camera, format_camera
from .format import quaternions as quat
from .format.camera_file import odd_cuts
from .format.cuts import numbered
from .format.model import Floats, Ints
from .source.camera import StoredCamera, load_camera, load_commandline, load_frame_rate

if TYPE_CHECKING:
    from bpy.types import Context, Object, Scene

# What was not changed since the import may be off by this much: what 32-bit floats leave of it.
_SAME_POSITION = 1e-6  # of the distance from the origin, or in units where that is less than one
_SAME_ORIENTATION = 4e-6  # in any component
_SAME_ANGLE = 1e-4  # in degrees


@dataclass(frozen=True)
class CameraExportOptions:
    """What the user asks for.

    Attributes:
        conversion: from the scene to the file.
        use_markers: follow the cameras that markers bind; otherwise the scene's active camera is the only one.
        use_scene_rate: the scene's frame rate, also for a camera that was imported with another one.
        verify: which frames are compared with Blender before the file is written.
    """

    conversion: axes.Conversion = field(default_factory=axes.unchanged)
    use_markers: bool = True
    use_scene_rate: bool = False
    verify: Verify = Verify.SOME


@dataclass(frozen=True, eq=False)
class _Moment:
    """One entry of the file.

    Attributes:
        frame: of the scene.
        camera: whose view it is.
        is_end: whether it is the end of a shot at the instant of the cut.
        is_hidden: whether the camera has already begun its next shot on that frame.
    """

    frame: int
    camera: Object
    is_end: bool = False
    is_hidden: bool = False


@dataclass(eq=False)
class _Views:
    """What cameras show, in the file's terms.

    Attributes:
        positions: float64 (N, 3).
        orientations: x y z, float64 (N, 3).
        fields_of_view: in degrees, float64 (N,).
    """

    positions: Floats
    orientations: Floats
    fields_of_view: Floats

    def copy(self) -> _Views:
        """The same in arrays of its own."""
        return _Views(*(table.copy() for table in self.channels()))

    def channels(self) -> tuple[Floats, Floats, Floats]:
        """The three tables."""
        return self.positions, self.orientations, self.fields_of_view


def export_camera(
    context: Context, path: str | os.PathLike[str], options: CameraExportOptions
) -> ExportResult:
    """Writes the scene's camera over the scene's range.

    Args:
        context: of the scene.
        path: the file.
        options: what the user asks for.

    Raises:
        NothingToExportError: there is no camera.
        Md5Error: a camera has no field of view, or something cannot be written; no file was written.
        OSError: the file cannot be written.
    """
    report = Report()
    camera = read_scene(context, options, report)
    for sentence in odd_cuts(camera.cuts):
        report.warn(sentence)
    atomic.write_file(path, format_camera(camera))
    report.count("frames", camera.entry_count - len(camera.cuts))
    report.count("cuts", len(camera.cuts))
    return ExportResult([Path(path)], report)


def read_scene(context: Context, options: CameraExportOptions, report: Report) -> Camera:
    """The scene's camera over the scene's range, as a file would hold it; verified.

    Raises:
        NothingToExportError: there is no camera, or one without a field of view.
    """
    plan = _Plan(context.scene, options, use_stored=True)
    for camera in plan.cameras:
        _check(camera, report)
    verified = {plan.frames[index] for index in frames_to_verify(len(plan.frames), options.verify)}
    views, shown = _sample(context, plan.moments, options.conversion, verified)
    result = _assemble(context.scene, plan, views.copy(), options, report)
    differences = camera_verification.find_differences(result, shown, options.conversion)
    if differences and any(stored is not None for stored in plan.stored.values()):
        plan = _Plan(context.scene, options, use_stored=False)
        views, shown = _sample(context, plan.moments, options.conversion, verified)
        result = _assemble(context.scene, plan, views, options, report)
        differences = camera_verification.find_differences(result, shown, options.conversion)
    camera_verification.warn(differences, report)
    return result


def _assemble(
    scene: Scene, plan: _Plan, views: _Views, options: CameraExportOptions, report: Report
) -> Camera:
    for camera in plan.cameras:
        stored = plan.stored[camera]
        if stored is not None:
            _restore(views, plan, camera, stored)
    _finish_shots(views, plan)
    first = plan.moments[0].camera.data
    cuts, groups = plan.cuts()
    imported_rate = None if options.use_scene_rate else load_frame_rate(first)
    return Camera(
        cuts=cuts,
        positions=views.positions,
        orientations=views.orientations,
        fields_of_view=views.fields_of_view,
        frame_rate=_frame_rate(scene, imported_rate, report),
        cut_groups=groups,
        commandline=load_commandline(first),
    )


def _check(camera: Object, report: Report) -> None:
    if camera.type != "CAMERA":
        raise NothingToExportError(f"{camera.name} is no camera")
    if camera.data.type != "PERSP":
        raise NothingToExportError(f"{camera.name}: a camera of the file has perspective; this one has not")
    if camera.data.shift_x or camera.data.shift_y:
        report.warn("the format has no lens shift; left out", camera.name)


def _frame_rate(scene: Scene, imported: float | None, report: Report) -> float:
    """Frames per second, of the file that the camera came from or else of the scene, made whole: Doom 3 insists."""
    exact = scene.render.fps / scene.render.fps_base
    if imported is None:
        rate = max(1.0, float(round(exact)))
        if abs(rate - exact) > 1e-4:
            report.warn(f"Doom 3 takes whole frame rates only: {exact:.6g} became {rate:g}")
        return rate
    if abs(imported - exact) > 1e-3:
        report.warn(
            f"the camera plays {imported:g} frames per second, as in the imported file, while the scene plays "
            f"{exact:g}: choose the frame rate of the scene if that is not meant"
        )
    if imported != round(imported):
        report.warn(f"Doom 3 takes whole frame rates only, and refuses {imported:.6g}")
    return imported


class _Plan:
    """Which camera is shown when, and what becomes an entry.

    Args:
        scene: with markers and range.
        options: what the user asks for.
        use_stored: whether data of imported files may be used.

    Attributes:
        frames: the frames of the scene.
        moments: the entries in order.
        instants: the first scene frame after each cut, rising.
        cameras: all that are shown.
        stored: the file that each of them came from.
    """

    def __init__(self, scene: Scene, options: CameraExportOptions, *, use_stored: bool) -> None:
        start, end = scene.frame_start, scene.frame_end
        self._start = start
        self.frames = range(start, end + 1)
        bound = _bound_cameras(scene) if options.use_markers else {}
        self._camera_at = _cameras_of_frames(scene, bound)
        self.cameras = list(dict.fromkeys(self._camera_at.values()))
        self.stored = {
            camera: load_camera(camera.data, options.conversion)
            if use_stored and camera.type == "CAMERA"
            else None
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
            # Cuts that separate nothing come from odd files, as do several on one frame.
            outermost = imported and stored and stored.is_outermost(frame) and frame in (start, end + 1)
            if start < frame <= end or outermost:
                instants += [frame] * max(1, min(imported, marked[frame]))
        return instants

    def imported_cut(self, index: int) -> tuple[StoredCamera, int] | None:
        """The file whose cut a cut of the scene is, and the number of that cut."""
        frame = self.instants[index]
        stored = self.stored[self._camera_at[max(frame - 1, self._start)]]
        found = stored.cuts_at(frame) if stored else []
        nth = index - self.instants.index(frame)
        return (stored, found[nth]) if stored is not None and nth < len(found) else None

    def cuts(self) -> tuple[Ints, list[str]]:
        """The cuts of the file, int32 (K,), and their groups."""
        groups = []
        for index in range(len(self.instants)):
            imported = self.imported_cut(index)
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
        return numbered(instants - self._start), groups


def _bound_cameras(scene: Scene) -> dict[int, Object]:
    """The frames on which markers bind cameras, rising; of several markers on one frame Blender takes the first."""
    bound: dict[int, Object] = {}
    for marker in scene.timeline_markers:
        if marker.camera and not marker.camera.hide_render:
            bound.setdefault(marker.frame, marker.camera)
    return dict(sorted(bound.items()))


def _cameras_of_frames(scene: Scene, bound: dict[int, Object]) -> dict[int, Object]:
    """The camera of each frame of the scene's range.

    Blender shows the camera of the last marker that binds one; before the first such marker, that marker's.
    """
    frames = range(scene.frame_start, scene.frame_end + 1)
    if not bound:
        if scene.camera is None:
            raise NothingToExportError("the scene has no active camera")
        return dict.fromkeys(frames, scene.camera)
    cameras = list(bound.values())
    latest = np.maximum(np.searchsorted(list(bound), list(frames), side="right") - 1, 0)
    return {frame: cameras[index] for frame, index in zip(frames, latest.tolist(), strict=True)}


def _sample(
    context: Context, moments: list[_Moment], conversion: axes.Conversion, verified: set[int]
) -> tuple[_Views, dict[int, ShownView]]:
    """What the cameras show on their frames, evaluated; entries that none shows are left to be filled in.

    Args:
        context: of the scene.
        moments: the entries.
        conversion: from the scene to the file.
        verified: the frames of the scene to verify.

    Returns:
        The views of the entries, and for each frame to verify, numbered from the first one, what Blender shows.
    """
    scene = context.scene
    count = len(moments)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    fields_of_view = np.ones(count)
    shown: dict[int, ShownView] = {}
    frame = None
    render = scene.render
    aspect = (render.resolution_x * render.pixel_aspect_x) / (render.resolution_y * render.pixel_aspect_y)
    with kept_frame_and_values(scene):
        for index, moment in enumerate(moments):
            if moment.is_hidden:
                continue
            if moment.frame != frame:
                frame = moment.frame
                scene.frame_set(frame)
                depsgraph = context.evaluated_depsgraph_get()
            camera = moment.camera.evaluated_get(depsgraph)
            data = camera.data
            matrices[index] = world_matrix(camera)
            fields_of_view[index] = camera_view.field_of_view(
                data.lens, data.sensor_width, data.sensor_height, data.sensor_fit, aspect
            )
            if frame in verified and not moment.is_end:
                corners = np.array(data.view_frame(scene=scene), dtype=np.float64)
                shown[frame - scene.frame_start] = ShownView(
                    moment.camera.name, frame, matrices[index], corners
                )
    positions, orientations = camera_view.to_file(matrices, conversion)
    return _Views(positions, orientations, fields_of_view), shown


def _restore(views: _Views, plan: _Plan, camera: Object, stored: StoredCamera) -> None:
    """Puts the exact values of the file in place of what Blender made of them, where they were not changed since."""
    moments = np.array(
        [
            index
            for index, moment in enumerate(plan.moments)
            if moment.camera == camera
            and not moment.is_end
            and 0 <= moment.frame - stored.frame_start < len(stored.shown)
        ],
        dtype=np.int64,
    )
    frames = np.array([plan.moments[index].frame for index in moments], dtype=np.int64)
    entries = stored.shown[frames - stored.frame_start]
    source = stored.camera
    for table, original, same in zip(
        views.channels(), _channels_of(source), _unchanged(views, moments, source, entries), strict=True
    ):
        table[moments[same]] = original[entries[same]]


def _channels_of(camera: Camera) -> tuple[Floats, Floats, Floats]:
    return camera.positions, camera.orientations, camera.fields_of_view


def _unchanged(
    views: _Views, moments: npt.NDArray[np.int64], source: Camera, entries: Ints
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether position, orientation and field of view of some moments are those of some entries, each (n,)."""
    positions = source.positions[entries]
    distances = np.linalg.norm(views.positions[moments] - positions, axis=1)
    same_position = distances <= _SAME_POSITION * np.maximum(np.linalg.norm(positions, axis=1), 1.0)
    seen, known = quat.with_w(views.orientations[moments]), quat.with_w(source.orientations[entries])
    off = np.minimum(np.abs(seen - known).max(axis=1), np.abs(seen + known).max(axis=1))
    angles = camera_view.visible(source.fields_of_view[entries])
    same_angle = np.abs(views.fields_of_view[moments] - angles) <= _SAME_ANGLE
    return same_position, off <= _SAME_ORIENTATION, same_angle


def _finish_shots(views: _Views, plan: _Plan) -> None:
    """Fills in the ends of shots: those of imported files, and those that no camera shows."""
    ends = [index for index, moment in enumerate(plan.moments) if moment.is_end]
    for cut, end in enumerate(ends):
        guesses = _extrapolated(views, plan.moments, end) if plan.moments[end].is_hidden else None
        imported = plan.imported_cut(cut)
        for channel, table in enumerate(views.channels()):
            if guesses is not None:
                table[end] = guesses[channel]
            if imported is not None:
                stored, number = imported
                original, entry = _channels_of(stored.camera)[channel], stored.ends[number]
                # The end belongs to the shot: it goes with the entry before it.
                if entry == 0 or end == 0 or np.array_equal(table[end - 1], original[entry - 1]):
                    table[end] = original[entry]


def _extrapolated(views: _Views, moments: list[_Moment], end: int) -> tuple[Floats, Floats, Floats]:
    """Where the motion of a shot's last frame leads; where it has but one frame, nowhere."""
    last = max(end - 1, 0)
    before = max(end - 2, 0)
    if moments[last].is_end or moments[before].is_end:
        before = last
    at_last, at_before = quat.with_w(views.orientations[last]), quat.with_w(views.orientations[before])
    orientation = quat.multiply(quat.multiply(at_last, quat.conjugate(at_before)), at_last)
    angles = views.fields_of_view
    return (
        2.0 * views.positions[last] - views.positions[before],
        quat.without_w(orientation),
        camera_view.visible(2.0 * angles[last] - angles[before]),
    )
