"""Camera paths in Blender, and Doom 3's rule for playing them, written without any of the extension's code."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from io_idtech.io_md5.format import Camera, read_camera, write_camera

# What 32-bit floats leave of coordinates up to a few thousand units.
PLACE, DIRECTION, ANGLE = 5e-4, 3e-6, 5e-4


# What the game does: written without any of the extension's code


def matrix_rows(x, y, z):
    """idCQuat::ToQuat and idQuat::ToMat3: the rows are forward, left and up."""
    w = math.sqrt(abs(1.0 - (x * x + y * y + z * z)))
    x2, y2, z2 = x + x, y + y, z + z
    xx, xy, xz = x * x2, x * y2, x * z2
    yy, yz, zz = y * y2, y * z2, z * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def entry_played(camera, frame):
    """idCameraAnim::GetViewParms at the time of a whole frame."""
    for cut in camera.cuts.tolist():
        if frame < cut:
            break
        frame += 1
    return min(frame, len(camera.positions) - 1)


def frames_of(camera):
    return len(camera.positions) - len(camera.cuts)


# What Blender shows


def view_of(obj):
    """Place, forward, left, up and horizontal angle of a camera as it is evaluated, from the edges of its picture."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world
    corners = [matrix.to_3x3() @ corner for corner in evaluated.data.view_frame(scene=bpy.context.scene)]
    right_top, right_bottom, left_bottom, left_top = corners
    middle = (right_top + left_bottom) / 2
    left = ((left_top + left_bottom) / 2 - middle).normalized()
    up = ((left_top + right_top) / 2 - middle).normalized()
    right_edge, left_edge = (right_top + right_bottom) / 2, (left_top + left_bottom) / 2
    return matrix.to_translation(), middle.normalized(), left, up, math.degrees(right_edge.angle(left_edge))


def assert_plays_as_in_the_game(obj, camera, frame_start=0):
    scene = bpy.context.scene
    for frame in range(frames_of(camera)):
        scene.frame_set(frame_start + frame)
        entry = entry_played(camera, frame)
        place, *directions, angle = view_of(obj)
        assert (place - Vector(camera.positions[entry])).length < PLACE, f"frame {frame}"
        for seen, row in zip(directions, matrix_rows(*camera.orientations[entry]), strict=True):
            assert (seen - Vector(row)).length < DIRECTION, f"frame {frame}"
        assert abs(angle - camera.fields_of_view[entry]) < ANGLE, f"frame {frame}"


def fcurves(part, data_block, kind):
    data = data_block.animation_data
    return list(part("io_blender.versions").action_fcurves(data.action, kind)) if data and data.action else []


# What goes in


def make_camera(cuts, entries, rate, seed=0, zoom=True):
    """A camera that flies and turns at random, jumps at cuts, and zooms in some shots."""
    rng = np.random.default_rng(seed)
    positions, orientations, angles = np.empty((entries, 3)), np.empty((entries, 3)), np.empty(entries)
    place, turn = rng.uniform(-3000, 3000, 3), Quaternion(rng.normal(size=4)).normalized()
    velocity, spin, phase, pace = np.zeros(3), Quaternion(), 0.0, 0.0
    for entry in range(entries):
        if entry == 0 or entry - 1 in cuts:
            place, turn = rng.uniform(-3000, 3000, 3), Quaternion(rng.normal(size=4)).normalized()
            velocity, spin = (rng.normal(scale=8, size=3), Quaternion(rng.normal(size=3), rng.uniform(-0.3, 0.3)))
            phase = rng.uniform(0, 6)
            pace = rng.normal(scale=0.1) if rng.random() < 0.6 else 0.0
        positions[entry] = place.round(6)
        turn.normalize()
        sign = -1.0 if turn.w > 0 else 1.0
        orientations[entry] = np.round([turn.x * sign, turn.y * sign, turn.z * sign], 7)
        angles[entry] = round(65 + 40 * math.sin(phase), 4) if zoom else 64.25
        place, turn, phase = place + velocity, spin @ turn, phase + pace
    return Camera(
        np.array(cuts, dtype=np.int32), positions, orientations, angles, float(rate), commandline="made by a test"
    )


NINE = [5, 12, 13, 20, 31, 33, 47, 58, 70]


def imported(tmp_path, camera, name="intro", **options):
    path = tmp_path / f"{name}.md5camera"
    write_camera(camera, path)
    bpy.ops.import_scene.md5(filepath=str(path), **options)
    return bpy.context.scene.camera


def exported(tmp_path, **options):
    path = tmp_path / "out.md5camera"
    assert bpy.ops.export_scene.md5camera(filepath=str(path), **options) == {"FINISHED"}
    camera = read_camera(path)
    assert camera.warnings == []
    return camera


def assert_same(a, b):
    """Entry for entry the same, to the last digit."""
    np.testing.assert_array_equal(a.cuts, b.cuts)
    np.testing.assert_array_equal(a.positions, b.positions)
    np.testing.assert_array_equal(a.orientations, b.orientations)
    np.testing.assert_array_equal(a.fields_of_view, b.fields_of_view)
    assert (a.frame_rate, a.commandline) == (b.frame_rate, b.commandline)
    assert (a.cut_groups or [""] * len(a.cuts)) == (b.cut_groups or [""] * len(b.cuts))


# Out


def new_camera(name="Camera"):
    obj = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.scene.camera = bpy.context.scene.camera or obj
    return obj


def set_range(last, rate=24):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 0, last, rate


def mark(name, frame, camera=None):
    bpy.context.scene.timeline_markers.new(name, frame=frame).camera = camera


def key(obj, path, frame, value):
    setattr(obj, path, value)
    obj.keyframe_insert(path, frame=frame)


def assert_matches_blender(camera, cameras):
    """On each frame, the entry that the game would show is what the camera of that frame shows in Blender."""
    scene = bpy.context.scene
    for frame, obj in enumerate(cameras):
        scene.frame_set(frame)
        entry = entry_played(camera, frame)
        place, *directions, angle = view_of(obj)
        assert (place - Vector(camera.positions[entry])).length < PLACE, f"frame {frame}"
        for seen, row in zip(directions, matrix_rows(*camera.orientations[entry]), strict=True):
            assert (seen - Vector(row)).length < DIRECTION, f"frame {frame}"
        assert abs(angle - camera.fields_of_view[entry]) < ANGLE, f"frame {frame}"
