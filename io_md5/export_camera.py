"""Cameras of the scene into a camera path.

Every frame of the scene's range becomes an entry, and every cut one more: where the old camera would be at that
instant. A cut is where a marker says so (see `camera_memory`), or binds a camera. The old camera's place at a cut is
remembered if the shot still ends as it did in the file, looked up if the next shot has another camera, and otherwise
where the motion of its last frame leads.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common import atomic, axes, names, state
from ..io_common.evaluated import world_matrix
from ..io_common.reports import Report
from ..io_common.scene_objects import NothingToExportError
from . import camera_memory, camera_view
from .camera_memory import Memory
from .format import Camera, format_camera
from .format import quaternions as quat
from .format.camera_file import odd_cuts
from .format.cuts import numbered
from .format.model import Floats, Ints

if TYPE_CHECKING:
    from bpy.types import Context, Object, Scene

# What was not changed since the import may be off by this much: what 32-bit floats leave of it.
_SAME_PLACE = 1e-6  # of the distance from the origin, or in units where that is less than one
_SAME_ORIENTATION = 4e-6  # in any component
_SAME_ANGLE = 1e-4  # in degrees


@dataclass(frozen=True)
class CameraExportOptions:
    """What the user asks for.

    Attributes:
        conversion: from the scene to the file.
        use_markers: follow the cameras that markers bind; otherwise the scene's active camera is the only one.
    """

    conversion: axes.Conversion = field(default_factory=axes.unchanged)
    use_markers: bool = True


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

    def channels(self) -> tuple[Floats, Floats, Floats]:
        """The three tables."""
        return self.positions, self.orientations, self.fields_of_view


def export_camera(context: Context, path: str | os.PathLike[str], options: CameraExportOptions) -> Report:
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
    return report


def read_scene(context: Context, options: CameraExportOptions, report: Report) -> Camera:
    """The scene's camera over the scene's range, as a file would hold it.

    Raises:
        NothingToExportError: there is no camera, or one without a field of view.
    """
    scene = context.scene
    plan = _Plan(scene, options)
    for camera in plan.cameras:
        _check(camera, report)
    views = _sample(context, plan.moments, options.conversion)
    for camera in plan.cameras:
        memory = plan.memories[camera]
        if memory is not None:
            _restore(views, plan, camera, memory)
    _finish_shots(views, plan)
    first = plan.moments[0].camera.data
    cuts, groups = plan.cuts()
    return Camera(
        cuts=cuts,
        positions=views.positions,
        orientations=views.orientations,
        fields_of_view=views.fields_of_view,
        frame_rate=_frame_rate(scene, first.get(camera_memory.FRAME_RATE), report),
        cut_groups=groups,
        commandline=names.kept_text(first, camera_memory.COMMANDLINE),
    )


def _check(camera: Object, report: Report) -> None:
    if camera.type != "CAMERA":
        raise NothingToExportError(f"{camera.name} is no camera")
    if camera.data.type != "PERSP":
        raise NothingToExportError(f"{camera.name}: a camera of the file has perspective; this one has not")
    if camera.data.shift_x or camera.data.shift_y:
        report.warn("the format has no lens shift; left out", camera.name)


def _frame_rate(scene: Scene, remembered: float | None, report: Report) -> float:
    """Frames per second, of the file that the camera came from or else of the scene, made whole: Doom 3 insists."""
    rate = remembered
    if not rate:
        exact = scene.render.fps / scene.render.fps_base
        rate = max(1.0, float(round(exact)))
        if abs(rate - exact) > 1e-4:
            report.warn(f"Doom 3 takes whole frame rates only: {exact:.6g} became {rate:g}")
    elif rate != round(rate):
        report.warn(f"Doom 3 takes whole frame rates only, and refuses {rate:.6g}")
    return float(rate)


class _Plan:
    """Which camera is shown when, and what becomes an entry.

    Args:
        scene: with markers and range.
        options: what the user asks for.

    Attributes:
        moments: the entries in order.
        instants: the first scene frame after each cut, rising.
        cameras: all that are shown.
        memories: the file that each of them came from.
    """

    def __init__(self, scene: Scene, options: CameraExportOptions) -> None:
        start, end = scene.frame_start, scene.frame_end
        self._start = start
        bound = _bound_cameras(scene) if options.use_markers else {}
        self._shown = _shown_cameras(scene, bound)
        self.cameras = list(dict.fromkeys(self._shown.values()))
        self.memories = {
            camera: camera_memory.recall(camera.data, options.conversion) if camera.type == "CAMERA" else None
            for camera in self.cameras
        }
        self.instants = self._find_cuts(scene, bound)
        self.moments: list[_Moment] = []
        cuts = Counter(self.instants)
        for frame in range(start, end + 2):
            old, new = self._shown[max(frame - 1, start)], self._shown[min(frame, end)]
            hidden = old == new
            self.moments += [_Moment(frame, old, is_end=True, is_hidden=hidden)] * cuts[frame]
            if frame <= end:
                self.moments.append(_Moment(frame, new))

    def _find_cuts(self, scene: Scene, bound: Iterable[int]) -> list[int]:
        start, end = scene.frame_start, scene.frame_end
        marked = camera_memory.cut_frames(scene, self.cameras)
        instants: list[int] = []
        for frame in sorted({*marked, *bound}):
            memory = self.memories[self._shown[min(max(frame - 1, start), end)]]
            remembered = len(memory.cuts_at(frame)) if memory else 0
            # Cuts that separate nothing come from odd files, as do several on one frame.
            outermost = remembered and memory and memory.is_outermost(frame) and frame in (start, end + 1)
            if start < frame <= end or outermost:
                instants += [frame] * max(1, min(remembered, marked[frame]))
        return instants

    def remembered_cut(self, index: int) -> tuple[Memory, int] | None:
        """The cut of a file that a cut of the scene is, and the memory of that file."""
        frame = self.instants[index]
        memory = self.memories[self._shown[max(frame - 1, self._start)]]
        found = memory.cuts_at(frame) if memory else []
        nth = index - self.instants.index(frame)
        return (memory, found[nth]) if memory is not None and nth < len(found) else None

    def cuts(self) -> tuple[Ints, list[str]]:
        """The cuts of the file, int32 (K,), and their groups."""
        groups = []
        for index in range(len(self.instants)):
            remembered = self.remembered_cut(index)
            groups.append(remembered[0].camera.cut_groups[remembered[1]] if remembered else "")
        instants = np.array(self.instants, dtype=np.int32)
        memory = self.memories[self.cameras[0]]
        if (
            len(self.cameras) == 1
            and memory is not None
            and memory.camera.entry_count == len(self.moments)
            and np.array_equal(memory.instants + memory.frame_start, instants)
        ):
            return memory.camera.cuts, groups
        return numbered(instants - self._start), groups


def _bound_cameras(scene: Scene) -> dict[int, Object]:
    """The frames on which markers bind cameras, rising; of several markers on one frame Blender takes the first."""
    bound: dict[int, Object] = {}
    for marker in scene.timeline_markers:
        if marker.camera and not marker.camera.hide_render:
            bound.setdefault(marker.frame, marker.camera)
    return dict(sorted(bound.items()))


def _shown_cameras(scene: Scene, bound: dict[int, Object]) -> dict[int, Object]:
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


def _sample(context: Context, moments: list[_Moment], conversion: axes.Conversion) -> _Views:
    """What the cameras show on their frames, evaluated; entries that none shows are left to be filled in."""
    scene = context.scene
    count = len(moments)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    fields_of_view = np.ones(count)
    frame = None
    with state.kept_frame(scene):
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
                data.lens, data.sensor_width, data.sensor_height, data.sensor_fit
            )
    positions, orientations = camera_view.to_file(matrices, conversion)
    return _Views(positions, orientations, fields_of_view)


def _restore(views: _Views, plan: _Plan, camera: Object, memory: Memory) -> None:
    """Puts the exact values of the file in place of what Blender made of them, where they were not changed since."""
    moments = np.array(
        [
            index
            for index, moment in enumerate(plan.moments)
            if moment.camera == camera
            and not moment.is_end
            and 0 <= moment.frame - memory.frame_start < len(memory.shown)
        ],
        dtype=np.int64,
    )
    frames = np.array([plan.moments[index].frame for index in moments], dtype=np.int64)
    entries = memory.shown[frames - memory.frame_start]
    stored = memory.camera
    for table, original, same in zip(
        views.channels(), _channels_of(stored), _unchanged(views, moments, stored, entries), strict=True
    ):
        table[moments[same]] = original[entries[same]]


def _channels_of(camera: Camera) -> tuple[Floats, Floats, Floats]:
    return camera.positions, camera.orientations, camera.fields_of_view


def _unchanged(
    views: _Views, moments: npt.NDArray[np.int64], stored: Camera, entries: Ints
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether position, orientation and field of view of some moments are those of some entries, each (n,)."""
    places = stored.positions[entries]
    distances = np.linalg.norm(views.positions[moments] - places, axis=1)
    same_place = distances <= _SAME_PLACE * np.maximum(np.linalg.norm(places, axis=1), 1.0)
    seen, known = quat.with_w(views.orientations[moments]), quat.with_w(stored.orientations[entries])
    off = np.minimum(np.abs(seen - known).max(axis=1), np.abs(seen + known).max(axis=1))
    angles = camera_view.visible(stored.fields_of_view[entries])
    same_angle = np.abs(views.fields_of_view[moments] - angles) <= _SAME_ANGLE
    return same_place, off <= _SAME_ORIENTATION, same_angle


def _finish_shots(views: _Views, plan: _Plan) -> None:
    """Fills in the ends of shots: remembered ones, and those that no camera shows."""
    ends = [index for index, moment in enumerate(plan.moments) if moment.is_end]
    for cut, end in enumerate(ends):
        guesses = _extrapolated(views, plan.moments, end) if plan.moments[end].is_hidden else None
        remembered = plan.remembered_cut(cut)
        for channel, table in enumerate(views.channels()):
            if guesses is not None:
                table[end] = guesses[channel]
            if remembered is not None:
                memory, number = remembered
                original, entry = _channels_of(memory.camera)[channel], memory.ends[number]
                # The end belongs to the shot: it goes with the entry before it.
                if entry == 0 or end == 0 or np.array_equal(table[end - 1], original[entry - 1]):
                    table[end] = original[entry]


def _extrapolated(views: _Views, moments: list[_Moment], end: int) -> tuple[Floats, Floats, Floats]:
    """Where the motion of a shot's last frame leads; where it has but one frame, nowhere."""
    last = max(end - 1, 0)
    before = max(end - 2, 0)
    if moments[last].is_end or moments[before].is_end:
        before = last
    turn_last, turn_before = quat.with_w(views.orientations[last]), quat.with_w(views.orientations[before])
    orientation = quat.multiply(quat.multiply(turn_last, quat.conjugate(turn_before)), turn_last)
    angles = views.fields_of_view
    return (
        2.0 * views.positions[last] - views.positions[before],
        quat.without_w(orientation),
        camera_view.visible(2.0 * angles[last] - angles[before]),
    )
