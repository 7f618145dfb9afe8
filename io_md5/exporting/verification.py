"""Verification of an export before it is written: the model compared with what Blender shows.

The model is skinned by the format package, as in a game, and compared with Blender's evaluated meshes: at rest, corner
by corner with texture coordinates, and on frames of each animation, vertex by vertex, with the 32-bit floats that games
read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...io_blender.reports import Report
from ...io_blender.scene import evaluated, mesh_data
from ...io_blender.scene.instances import warn_of_instances
from ...io_blender.scene.time_dependence import changes_apart_from
from ...io_blender.verify_option import Verify, frames_to_verify
from ...io_common.triangles import TRIANGULATE, bend, flip_v
from ..format import Animation
from ..format.model import Floats
from ..format.scale_file import ScaleTable, scaled_poses
from ..format.skeleton import poses
from ..format.skinning import skin
from .animation import SampledClip
from .binding import parents_of
from .causes import known_causes, likely_causes
from .distinct_poses import distinct_frames
from .mesh import Block
from .player import Player
from .skeleton import Skeleton

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Object

POSITION_TOLERANCE = 1e-4
"""The tolerance of positions as a fraction of the model's size."""

UV_TOLERANCE = 1e-5
"""The tolerance of texture coordinates."""

# Models smaller than this, in units of the file, are less exact because of its ten decimals.
_SMALL = 0.5

# Coordinates of vertices that are computed at once, to limit the memory when all frames are verified.
_NUMBERS = 4_000_000

# Only these may give faces other materials over time.
_MATERIAL_MODIFIERS = {"NODES", "SOLIDIFY"}


@dataclass(frozen=True)
class Difference:
    """The largest difference between an exported mesh and Blender in an animation.

    Attributes:
        distance: in units of the file; infinite if the numbers of vertices differ.
        frame: of the scene.
        clip: the name of the animation; empty for the scene.
        causes: likely causes, the likeliest first.
        is_from_file: whether it is within the disagreement of the weights of the imported file.
        expected: what Blender shows, in the coordinates of the file, (n, 3).
        positions: of the joints on that frame, (J, 3).
        orientations: quaternions (J, 4).
        scales: of the joints (J,); None for 1.
    """

    distance: float
    frame: float
    clip: str
    causes: list[str]
    is_from_file: bool
    expected: Floats
    positions: Floats
    orientations: Floats
    scales: Floats | None = None


@dataclass(eq=False)
class RestMesh:
    """An object at rest: the evaluated mesh and the blocks made of it."""

    triangles: evaluated.TriangleMesh
    blocks: list[Block]


class Verifier:
    """Compares the meshes of a model with what Blender shows.

    `rest` is each object at rest, `verify` says which frames of animations to compare. With `writes_meshes`, meshes are
    exported, and so compared at rest too.
    """

    def __init__(
        self, skeleton: Skeleton, rest: dict[Object, RestMesh], verify: Verify, *, writes_meshes: bool
    ) -> None:
        self._skeleton = skeleton
        self._verify = verify
        self._meshes = rest
        self._size = _size(skeleton, rest)
        self._rest = {obj: _rest_difference(part, skeleton) for obj, part in rest.items() if writes_meshes}
        # Whether anything is known that may move an object otherwise than its bones.
        self._has_causes: dict[Object, bool] = {}
        self._moving: dict[Object, Difference] = {}
        self._uv_changes: dict[Object, tuple[float, str]] = {}
        self._face_changes: dict[Object, str] = {}
        self._bends: dict[Object, tuple[float, str]] = {}
        self._instance_report = Report()

    def check(
        self, sampled: SampledClip, animation: Animation, player: Player, objects: Collection[Object]
    ) -> None:
        """Compares frames of an animation, and stores the largest difference of each object.

        `animation` is as it will be written, `sampled` and `player` are of its clip.
        """
        count = len(sampled.frames)
        chosen = frames_to_verify(count, self._verify)
        if not chosen or not objects:
            return
        parents = self._skeleton.joints.parents
        chosen = distinct_frames(parents, sampled.positions, sampled.orientations, chosen)
        player.play(sampled.clip)
        if sampled.most_scaled is not None:
            chosen = sorted({*chosen, sampled.most_scaled})
        self._check_all(sampled, animation, player, chosen, objects)
        suspects = [obj for obj in objects if self._may_differ(obj, sampled)]
        if suspects:
            more = frames_to_verify(count, self._verify, many=True)
            self._check_all(sampled, animation, player, sorted(set(more) - set(chosen)), suspects)

    def _may_differ(self, obj: Object, sampled: SampledClip) -> bool:
        """Whether an object may differ on frames that were not compared: by what moves it, or as it does on others."""
        return (
            self._has_causes.get(obj, False)
            or sampled.most_scaled is not None
            or (sampled.moves_armature and self._skeleton.armature not in parents_of(obj))
            or (obj in self._moving and not self._moving[obj].is_from_file)
        )

    def _check_all(
        self,
        sampled: SampledClip,
        animation: Animation,
        player: Player,
        chosen: list[int],
        objects: Collection[Object],
    ) -> None:
        """Compares the frames with some indices, a few at a time."""
        vertex_count = sum(block.mesh.vertex_count for obj in objects for block in self._meshes[obj].blocks)
        step = max(1, _NUMBERS // max(3 * vertex_count, 1))
        for first in range(0, len(chosen), step):
            self._check_frames(sampled, animation, player, chosen[first : first + step], objects)

    def _check_frames(
        self,
        sampled: SampledClip,
        animation: Animation,
        player: Player,
        chosen: list[int],
        objects: Collection[Object],
    ) -> None:
        """Compares the frames with some indices."""
        armature = self._skeleton.armature
        parts = {obj: self._meshes[obj] for obj in objects}
        positions, orientations, factors = _poses(sampled, animation, chosen, as_read=True)
        skinned = {
            obj: [block.weights_by_joint.skin(positions, orientations, factors) for block in part.blocks]
            for obj, part in parts.items()
        }
        for row, index in enumerate(chosen):
            frame = float(sampled.frames[index])
            graph = player.evaluate(frame)
            for obj, part in parts.items():
                if obj.evaluated_get(graph).hide_viewport:
                    # Blender does not evaluate what is hidden, and shows nothing.
                    continue
                if obj not in self._has_causes and armature is not None:
                    self._has_causes[obj] = changes_apart_from(obj, armature) or bool(
                        known_causes(obj, self._skeleton, armature, graph)
                    )
                expected, has_same_faces = self._shown(obj, graph)
                vertices = [found[row] for found in skinned[obj]]
                frame_label = _frame_label(frame, sampled.clip.name)
                self._check_uvs(obj, graph, frame_label)
                self._check_faces(obj, graph, frame_label, has_same_faces=has_same_faces)
                self._check_triangulation(obj, graph, expected, frame_label)
                warn_of_instances(obj, graph, self._instance_report)
                distance = _distance(part.blocks, vertices, expected)
                if distance <= self._tolerance or distance <= self._largest(obj):
                    continue
                causes = likely_causes(obj, self._skeleton, graph)
                if not causes and np.isfinite(distance):
                    exact = _poses(sampled, animation, [index], as_read=False)
                    vertices_of_exact = [block.weights_by_joint.skin(*exact)[0] for block in part.blocks]
                    if _distance(part.blocks, vertices_of_exact, expected) <= self._tolerance:
                        causes = ["games compute rotations by almost 180° with 32-bit floats"]
                self._moving[obj] = Difference(
                    distance,
                    frame,
                    sampled.clip.name,
                    causes,
                    bool(np.isfinite(distance))
                    and _excess(part.blocks, vertices, expected) <= self._tolerance,
                    expected,
                    positions[row],
                    orientations[row],
                    None if factors is None else factors[row],
                )

    def _check_uvs(self, obj: Object, graph: Depsgraph, frame_label: str) -> None:
        """Compares the texture coordinates of a frame with those at rest, if modifiers may change them."""
        at_rest = self._meshes[obj].triangles.uvs
        if at_rest is None or not _has_modifiers(obj):
            return
        uvs = evaluated.texture_coordinates(obj.evaluated_get(graph).data)
        if uvs is None or uvs.shape != at_rest.shape:
            return
        distance = _longest(uvs - at_rest)
        if distance > max(UV_TOLERANCE, self._uv_changes.get(obj, (0.0, ""))[0]):
            self._uv_changes[obj] = distance, frame_label

    def _shown(self, obj: Object, graph: Depsgraph) -> tuple[Floats, bool]:
        """The vertices that Blender shows, (n, 3), in the order of those at rest, and whether the faces are the same.

        A modifier such as Edge Split may part other vertices than at rest, and leave every face as it is.
        """
        shown = _evaluated_vertices(obj, graph, self._skeleton)
        if not _has_modifiers(obj):
            return shown, True
        at_rest = self._meshes[obj].triangles
        corners = mesh_data.corner_vertices(obj.evaluated_get(graph).data)
        if np.array_equal(corners, at_rest.corner_vertices):
            return shown, True
        if corners.shape != at_rest.corner_vertices.shape:
            return shown, False
        ordered = np.zeros_like(at_rest.vertices)
        kept = min(len(ordered), len(shown))
        ordered[:kept] = shown[:kept]
        ordered[at_rest.corner_vertices] = shown[corners]
        if np.array_equal(ordered[at_rest.corner_vertices], shown[corners]):
            return ordered, True
        return shown, False

    def _check_faces(self, obj: Object, graph: Depsgraph, frame_label: str, *, has_same_faces: bool) -> None:
        """Compares faces and their materials with those at rest, if modifiers may change them."""
        if obj in self._face_changes or not _has_modifiers(obj):
            return
        at_rest = self._meshes[obj].triangles
        has_changed = not has_same_faces
        if not has_changed and any(modifier.type in _MATERIAL_MODIFIERS for modifier in obj.modifiers):
            current = evaluated.triangle_mesh(obj, graph)
            has_changed = len(current.materials) != len(at_rest.materials) or current.slots != at_rest.slots
            has_changed = has_changed or not np.array_equal(
                np.sort(current.materials), np.sort(at_rest.materials)
            )
        if has_changed:
            self._face_changes[obj] = frame_label

    def _check_triangulation(self, obj: Object, graph: Depsgraph, shown: Floats, frame_label: str) -> None:
        """Compares the triangles of faces of more than three corners with those at rest: Blender splits them anew."""
        at_rest = self._meshes[obj].triangles
        posed = obj.evaluated_get(graph)
        mesh = posed.data
        if len(mesh.loops) == 3 * len(mesh.polygons) or obj in self._face_changes:
            return
        loops, _ = evaluated.triangulation(posed)
        if loops.shape != at_rest.loops.shape:
            return
        moved = bend(shown[at_rest.corner_vertices], at_rest.loops, loops)
        if moved > max(self._tolerance, self._bends.get(obj, (0.0, ""))[0]):
            self._bends[obj] = moved, frame_label

    @property
    def _tolerance(self) -> float:
        return POSITION_TOLERANCE * self._size

    def _largest(self, obj: Object) -> float:
        return self._moving[obj].distance if obj in self._moving else 0.0

    def objects_to_rebuild(self) -> list[Object]:
        """The objects with a difference that stored data may cause."""
        return [
            obj
            for obj in self._meshes
            if not self._is_exact_at_rest(obj) or (obj in self._moving and not self._moving[obj].is_from_file)
        ]

    def _is_exact_at_rest(self, obj: Object) -> bool:
        if obj not in self._rest:
            return True
        distance, uv_distance = self._rest[obj]
        # Vertices that are not a number are an error of the model, which tells where they are.
        return not (distance > self._tolerance or uv_distance > UV_TOLERANCE)

    def accept_improvements(self, rebuilt: dict[Object, RestMesh]) -> dict[Object, RestMesh]:
        """Uses and returns rebuilt objects that are closer to what Blender shows; they must be checked again."""
        taken = {}
        for obj, part in rebuilt.items():
            at_rest = {obj: _rest_difference(part, self._skeleton)} if obj in self._rest else {}
            if obj in self._moving:
                is_better = _is_closer(part.blocks, self._moving[obj])
            else:
                is_better = max(at_rest[obj]) < max(self._rest[obj])
            if is_better:
                taken[obj] = part
                self._rest |= at_rest
                self._moving.pop(obj, None)
        self._meshes |= taken
        return taken

    def warn(self, other_causes: list[str], report: Report) -> None:
        """Adds a warning for each difference: the mesh, the amount, the frame and likely causes.

        `other_causes` are options of the export that may be the cause.
        """
        report.merge(self._instance_report)
        for obj in self._meshes:
            if not self._is_exact_at_rest(obj):
                distance, uv_distance = self._rest[obj]
                report.warn(
                    f"{obj.name}: the export is up to {self._in_units(distance)} and {uv_distance:.2g} in UV space off "
                    "from what Blender shows at rest",
                    is_important=True,
                )
            if obj in self._face_changes:
                report.warn(
                    f"{obj.name}: modifiers change its faces or their materials {self._face_changes[obj]}; "
                    "the export has those at rest"
                )
            if obj in self._uv_changes:
                uv_distance, frame_label = self._uv_changes[obj]
                report.warn(
                    f"{obj.name}: modifiers move texture coordinates by up to {uv_distance:.2g} {frame_label}; "
                    "the export has those at rest"
                )
            if obj in self._bends:
                distance, frame_label = self._bends[obj]
                report.warn(
                    f"{obj.name}: faces are triangulated differently from Blender's {frame_label}, off by up to "
                    f"{self._in_units(distance)}. Likely cause: they bend. {TRIANGULATE}"
                )
            if obj in self._moving:
                self._warn_of_motion(obj, self._moving[obj], other_causes, report)

    def _warn_of_motion(
        self, obj: Object, difference: Difference, other_causes: list[str], report: Report
    ) -> None:
        frame_label = _frame_label(difference.frame, difference.clip)
        # The name is part of the text, so that every mesh gets its own warning.
        if np.isinf(difference.distance):
            report.warn(
                f"{obj.name}: modifiers change its number of vertices {frame_label}; the export has those at rest"
            )
            return
        causes = [*difference.causes, *other_causes]
        if not causes and self._size < _SMALL:
            causes = ["the model is too small for the ten decimals of the format: export with a larger Scale"]
        if difference.is_from_file:
            causes = ["the weights of the imported file disagree about the position of vertices"]
        report.warn(
            f"{obj.name}: the export is up to {self._in_units(difference.distance)} off from what Blender shows "
            f"{frame_label}. Likely cause: {'; '.join(causes) or 'unknown'}",
            is_important=True,
        )

    def _in_units(self, distance: float) -> str:
        return f"{distance:.4g} units ({distance / self._size:.2%} of the model's size)"


def _poses(
    sampled: SampledClip, animation: Animation, chosen: list[int], *, as_read: bool
) -> tuple[Floats, Floats, Floats | None]:
    """The joints on frames with some indices: positions, orientations and scales; None for scales of 1."""
    chosen_frames = replace(animation, frames=animation.frames[chosen])
    if sampled.scales is None:
        return *poses(chosen_frames, as_read=as_read), None
    scales = ScaleTable(sampled.scales.values[chosen], sampled.scales.scales_position)
    return *scaled_poses(chosen_frames, scales, as_read=as_read), scales.values


def _has_modifiers(obj: Object) -> bool:
    """Whether an object has modifiers that may change faces and texture coordinates."""
    return any(modifier.type != "ARMATURE" for modifier in obj.modifiers)


def _frame_label(frame: float, clip: str) -> str:
    return f"on frame {frame:g}" + (f" of {clip}" if clip else "")


def _size(skeleton: Skeleton, rest: dict[Object, RestMesh]) -> float:
    """The diagonal of the box around the vertices at rest, or around the joints if there are none."""
    clouds = [skeleton.conversion.points(part.triangles.vertices) for part in rest.values()]
    cloud = np.concatenate([np.empty((0, 3)), *clouds])
    cloud = cloud[np.isfinite(cloud).all(axis=1)]
    cloud = cloud if len(cloud) else skeleton.joints.positions
    return max(float(np.linalg.norm(np.ptp(cloud, axis=0))), 1e-9)


def _rest_difference(part: RestMesh, skeleton: Skeleton) -> tuple[float, float]:
    """The largest distances between the corners of an object's blocks and of its evaluated mesh.

    The first is in units of the file, the second that of texture coordinates.
    """
    mesh, joints = part.triangles, skeleton.joints
    expected = skeleton.conversion.points(mesh.vertices)
    furthest = furthest_uv = 0.0
    count = 0
    for block in part.blocks:
        own = block.corners[:, 0] >= 0
        count += int(own.sum())
        corners, triangles = block.corners[own], block.mesh.triangles[own]
        vertices = skin(block.mesh, joints.positions, joints.orientations)
        # The vertices come from the corners of the evaluated mesh, not from the block, to find wrong vertices.
        shown = mesh.corner_vertices[corners]
        if np.array_equal(block.vertices[triangles], shown):
            # Every vertex once instead of every corner.
            used = evaluated.in_triangles(triangles, len(vertices))
            offsets = (vertices - expected[block.vertices])[used]
        else:
            offsets = vertices[triangles] - expected[shown]
        furthest = max(furthest, _longest(offsets))
        if mesh.uvs is not None:
            # `take` is twice as fast as an index.
            uvs = np.take(flip_v(block.mesh.uvs), triangles.ravel(), axis=0)
            furthest_uv = max(furthest_uv, _longest(uvs - np.take(mesh.uvs, corners.ravel(), axis=0)))
    if count != len(mesh.triangles):
        return np.inf, furthest_uv
    return furthest, furthest_uv


def _is_closer(blocks: list[Block], difference: Difference) -> bool:
    """Whether other blocks of the same object are closer to what Blender shows where the difference was largest."""
    pose = difference.positions, difference.orientations, difference.scales
    vertices = [skin(block.mesh, *pose) for block in blocks]
    return _distance(blocks, vertices, difference.expected) < 0.5 * difference.distance


def _evaluated_vertices(obj: Object, graph: Depsgraph, skeleton: Skeleton) -> Floats:
    """The vertices of an object that Blender shows, in the coordinates of the file, (n, 3)."""
    return skeleton.conversion.points(evaluated.world_vertices(obj.evaluated_get(graph)))


def _distance(blocks: list[Block], vertices: list[Floats], expected: Floats) -> float:
    """The largest distance; infinite if the numbers of vertices differ."""
    if any(block.vertex_count != len(expected) for block in blocks):
        return np.inf
    return max(
        (
            _longest(found - np.take(expected, block.vertices, axis=0))
            for block, found in zip(blocks, vertices, strict=True)
        ),
        default=0.0,
    )


def _excess(blocks: list[Block], vertices: list[Floats], expected: Floats) -> float:
    """The largest distance in excess of the disagreement of stored weights, where `_distance` is finite."""
    excess = 0.0
    for block, found in zip(blocks, vertices, strict=True):
        distances = np.linalg.norm(found - expected[block.vertices], axis=1)
        excess = max(excess, float((distances - block.disagreements).max(initial=0.0)))
    return excess


def _longest(offsets: Floats) -> float:
    """The length of the longest of some vectors (…, n)."""
    return float(np.sqrt(np.einsum("...i,...i->...", offsets, offsets).max(initial=0.0)))
