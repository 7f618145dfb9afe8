"""Verification of an export before it is written: the model compared with what Blender shows."""
# It is skinned by the format package, as in a game, with the 32-bit floats that games read, and compared with Blender's
# evaluated meshes: at rest by corner with texture coordinates, and on frames of each animation by vertex.

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from bpy.types import Depsgraph, Object

from ....io_common.skeletal.formats import Writing
from ....io_common.skeletal.model import Animation, Floats
from ....io_common.skeletal.playback import distinct_frames
from ....io_common.skeletal.scales import Poses
from ....io_common.skeletal.skinning import skin
from ....io_common.triangles import flip_v
from ... import verification
from ...clips.playing import Player
from ...reports import Job, Progress, Report
from ...scene import mesh_data
from ...scene.objects import warn_of_instances
from ...scene.time_dependence import changes_apart_from
from .animation import SampledClip, poses_in_file
from .causes import has_known_causes, likely_causes
from .mesh import Block
from .skeleton import Skeleton
from .source import parents_of

_UV_TOLERANCE = 1e-5

# Models smaller than this, in units of the file, are less exact because of its ten decimals.
_SMALL = 0.5

# Coordinates of vertices that are computed at once, to limit the memory when all frames are verified.
_NUMBERS = 4_000_000

# Only these may give faces other materials over time.
_MATERIAL_MODIFIERS = {"NODES", "SOLIDIFY"}

# The kinds of differences in the order of the warnings, which are formatted with `where`, `amount` and `distance`.
_FACES, _UV, _TRIANGULATION, _COUNT, _POSITION = "FACES", "UV", "TRIANGULATION", "COUNT", "POSITION"
_WARNINGS = {
    _FACES: "modifiers change its faces or their materials {where}; the export has those at rest",
    _UV: "modifiers move texture coordinates by up to {distance:.2g} {where}; the export has those at rest",
    _TRIANGULATION: verification.OTHER_TRIANGULATION,
    _COUNT: "modifiers change its number of vertices {where}; the export has those at rest",
    _POSITION: "the export is up to {amount} off from what Blender shows {where}. Likely cause: {causes}",
}


@dataclass(frozen=True)
class _Motion:
    """What is known of the largest distance of an object's vertices in an animation."""

    causes: list[str]  # likely ones, the likeliest first
    is_from_file: bool  # whether it is within the disagreement of the weights of the imported file
    expected: Floats  # what Blender shows, in the coordinates of the file, (n, 3)
    pose: Poses  # of the joints on that frame


@dataclass(eq=False)
class RestMesh:
    """An object at rest: the evaluated mesh and the blocks made of it."""

    triangles: mesh_data.TriangleMesh
    blocks: list[Block]


class Verifier:
    """Compares the meshes of a model with what Blender shows; at rest only those that are exported."""

    def __init__(
        self, skeleton: Skeleton, rest: dict[Object, RestMesh], verify: verification.Verify, writing: Writing,
        progress: Progress, *, writes_meshes: bool,
    ) -> None:  # fmt: skip
        self._skeleton, self._as_read = skeleton, writing.computes_w
        self._verify, self._progress = verify, progress
        self._meshes = rest
        clouds = [skeleton.conversion.points(part.triangles.vertices) for part in rest.values()]
        cloud = np.concatenate([np.empty((0, 3)), *clouds])
        is_empty = not np.isfinite(cloud).all(axis=1).any()
        self._size = max(verification.diagonal(skeleton.joints.positions if is_empty else cloud), 1e-9)
        self._tolerance = max(verification.POSITION_TOLERANCE, writing.precision) * self._size
        self._rest = {obj: _rest_difference(part, skeleton) for obj, part in rest.items() if writes_meshes}
        self._found = verification.Differences()
        # Whether anything is known that may move an object otherwise than its bones.
        self._has_causes: dict[Object, bool] = {}
        self._instance_report = Report()

    def check(
        self, sampled: SampledClip, animation: Animation, player: Player, objects: Collection[Object]
    ) -> Job[None]:
        """Compares frames of an animation as it will be written; keeps the largest differences by object."""
        count = len(sampled.frames)
        chosen = verification.frames_to_verify(count, self._verify)
        if not chosen or not objects:
            return
        parents = self._skeleton.joints.parents
        chosen = distinct_frames(parents, sampled.positions, sampled.orientations, chosen)
        player.play(sampled.clip)
        if sampled.most_scaled is not None:
            chosen = sorted({*chosen, sampled.most_scaled})
        yield from self._check_frames(sampled, animation, player, objects, chosen)
        suspects = [obj for obj in objects if self._may_differ(obj, sampled)]
        if suspects:
            more = verification.frames_to_verify(count, self._verify, many=True)
            yield from self._check_frames(sampled, animation, player, suspects, sorted(set(more) - set(chosen)))

    def _may_differ(self, obj: Object, sampled: SampledClip) -> bool:
        """Whether an object may differ on frames not compared: by what moves it, or as it does on others."""
        return (
            self._has_causes.get(obj, False)
            or sampled.most_scaled is not None
            or (sampled.moves_armature and self._skeleton.of_mesh(obj).armature not in parents_of(obj))
            or self._moves_otherwise(obj)
        )

    def _moves_otherwise(self, obj: Object) -> bool:
        """Whether an object has a difference in an animation that stored data may cause."""
        known = self._found.get((obj, _POSITION))
        return (obj, _COUNT) in self._found or (known is not None and not known.detail.is_from_file)

    def _check_frames(
        self, sampled: SampledClip, animation: Animation, player: Player, objects: Collection[Object], chosen: list[int]
    ) -> Job[None]:
        vertex_count = sum(block.mesh.vertex_count for obj in objects for block in self._meshes[obj].blocks)
        step = max(1, _NUMBERS // max(3 * vertex_count, 1))
        for first in range(0, len(chosen), step):
            some = chosen[first : first + step]
            positions, orientations, scales = poses_in_file(sampled, animation, some, as_read=self._as_read)
            skinned = {
                obj: [one.weights_by_joint.skin(positions, orientations, scales) for one in self._meshes[obj].blocks]
                for obj in objects
            }
            for row, index in enumerate(some):
                frame = float(sampled.frames[index])
                graph = player.evaluate(frame)
                where = f"on frame {frame:g}" + (f" of {sampled.clip.name}" if sampled.clip.name else "")
                for obj in objects:
                    if obj.evaluated_get(graph).hide_viewport:
                        # Blender does not evaluate what is hidden, and shows nothing.
                        continue
                    expected = self._check_mesh(obj, graph, where)
                    vertices = [found[row] for found in skinned[obj]]
                    distance = _distance(self._meshes[obj].blocks, vertices, expected)
                    if np.isinf(distance):
                        self._found.note(obj, _COUNT, distance, where)
                    elif self._is_largest(obj, distance):
                        pose = positions[row], orientations[row], None if scales is None else scales[row]
                        exact = poses_in_file(sampled, animation, [index], as_read=False)
                        motion = self._motion(obj, graph, vertices, expected, pose, exact)
                        self._found[obj, _POSITION] = verification.Difference(distance, where, motion)
                yield self._progress.step(0)

    def _is_largest(self, obj: Object, distance: float) -> bool:
        """Whether vertices are further off than allowed and known; those that are not a number always are."""
        known = self._found.get((obj, _POSITION))
        largest = max(self._tolerance, 0.0 if known is None else known.distance)
        return (obj, _COUNT) not in self._found and not distance <= largest

    def _motion(
        self, obj: Object, graph: Depsgraph, vertices: list[Floats], expected: Floats, pose: Poses, exact: Poses
    ) -> _Motion:
        """What is known of a distance; `exact` is the pose without the rounding of games, for one frame."""
        blocks = self._meshes[obj].blocks
        of_exact = [block.weights_by_joint.skin(*exact)[0] for block in blocks]
        if _distance(blocks, of_exact, expected) <= self._tolerance:
            causes = ["games compute rotations by almost 180° with 32-bit floats"]
        else:
            causes = likely_causes(obj, self._skeleton.of_mesh(obj), graph)
        excess = 0.0
        for block, found in zip(blocks, vertices, strict=True):
            distances = np.linalg.norm(found - expected[block.vertices], axis=1)
            excess = max(excess, float((distances - block.disagreements).max(initial=0.0)))
        return _Motion(causes, excess <= self._tolerance, expected, pose)

    def _check_mesh(self, obj: Object, graph: Depsgraph, where: str) -> Floats:
        """Compares faces, materials and UVs with those at rest; returns Blender's vertices in their order."""
        # A modifier such as Edge Split may part other vertices than at rest, and leave every face as it is.
        posed, at_rest = obj.evaluated_get(graph), self._meshes[obj].triangles
        mesh, skeleton = posed.data, self._skeleton.of_mesh(obj)
        armature = skeleton.armature
        if obj not in self._has_causes and armature is not None:
            self._has_causes[obj] = changes_apart_from(obj, armature) or has_known_causes(
                obj, skeleton, armature, graph
            )
        warn_of_instances(obj, graph, self._instance_report)
        shown = self._skeleton.conversion.points(mesh_data.world_vertices(posed))
        # Only modifiers may change faces and texture coordinates.
        if any(modifier.type != "ARMATURE" for modifier in obj.modifiers):
            uvs = None if at_rest.uvs is None else mesh_data.texture_coordinates(mesh)
            if uvs is not None and at_rest.uvs is not None and uvs.shape == at_rest.uvs.shape:
                self._found.note(obj, _UV, verification.longest(uvs - at_rest.uvs), where, allowed=_UV_TOLERANCE)
            corners = mesh_data.corner_vertices(mesh)
            ordered = _reordered(shown, corners, at_rest)
            if (obj, _FACES) not in self._found and (ordered is None or self._has_other_materials(obj, graph, at_rest)):
                self._found.note(obj, _FACES, np.inf, where)
            shown = shown if ordered is None else ordered
        # Faces of more than three corners are split anew on each frame.
        if len(mesh.loops) != 3 * len(mesh.polygons) and (obj, _FACES) not in self._found:
            loops, _ = mesh_data.triangulation(posed)
            if loops.shape == at_rest.loops.shape:
                moved = mesh_data.bend(shown[at_rest.corner_vertices], at_rest.loops, loops)
                self._found.note(obj, _TRIANGULATION, moved, where, allowed=self._tolerance)
        return shown

    @staticmethod
    def _has_other_materials(obj: Object, graph: Depsgraph, at_rest: mesh_data.TriangleMesh) -> bool:
        if not any(modifier.type in _MATERIAL_MODIFIERS for modifier in obj.modifiers):
            return False
        current = mesh_data.triangle_mesh(obj, graph)
        return (
            len(current.materials) != len(at_rest.materials)
            or current.slots != at_rest.slots
            or not np.array_equal(np.sort(current.materials), np.sort(at_rest.materials))
        )

    def objects_to_rebuild(self) -> list[Object]:
        """The objects with a difference that stored data may cause."""
        return [obj for obj in self._meshes if not self._is_exact_at_rest(obj) or self._moves_otherwise(obj)]

    def moved_otherwise(self) -> list[Object]:
        """The objects that joints do not move as shown."""
        return [obj for obj in self._meshes if (obj, _POSITION) in self._found and (obj, _COUNT) not in self._found]

    def remainder(self, obj: Object) -> str:
        """The largest difference of an object in words."""
        known = self._found.get((obj, _POSITION))
        return verification.amount(self._tolerance if known is None else known.distance, self._size)

    def _is_exact_at_rest(self, obj: Object) -> bool:
        distance, uv_distance = self._rest.get(obj, (0.0, 0.0))
        # Vertices that are not a number are an error of the model, which tells where they are.
        return not (distance > self._tolerance or uv_distance > _UV_TOLERANCE)

    def accept_improvements(self, rebuilt: dict[Object, RestMesh]) -> dict[Object, RestMesh]:
        """Uses and returns rebuilt objects that are closer to what Blender shows; check them again."""
        taken = {}
        for obj, part in rebuilt.items():
            at_rest = {obj: _rest_difference(part, self._skeleton)} if obj in self._rest else {}
            known = self._found.get((obj, _POSITION))
            if (obj, _COUNT) in self._found:
                is_better = False
            elif known is not None:
                motion: _Motion = known.detail
                vertices = [skin(block.mesh, *motion.pose) for block in part.blocks]
                is_better = _distance(part.blocks, vertices, motion.expected) < 0.5 * known.distance
            else:
                is_better = max(at_rest[obj]) < max(self._rest[obj])
            if is_better:
                taken[obj] = part
                self._rest |= at_rest
                self._found.pop((obj, _POSITION), None)
        self._meshes |= taken
        return taken

    def warn(self, other_causes: list[str], report: Report) -> None:
        """Adds a warning for each difference; `other_causes` are options that may be the cause."""
        report.merge(self._instance_report)
        for obj in self._meshes:
            # The name is part of the text, so that every mesh gets its own warning.
            if not self._is_exact_at_rest(obj):
                distance, uv_distance = self._rest[obj]
                off = f"{verification.amount(distance, self._size)} and {uv_distance:.2g} in UV space"
                report.warn(
                    f"{obj.name}: the export is up to {off} off from what Blender shows at rest", is_important=True
                )
            for kind, text in _WARNINGS.items():
                found = self._found.get((obj, kind))
                if found is None or (kind == _POSITION and (obj, _COUNT) in self._found):
                    continue
                if kind == _POSITION and found.detail.is_from_file:
                    # The import has warned of the file, which the export keeps.
                    continue
                causes = [*found.detail.causes, *other_causes] if kind == _POSITION else []
                if not causes and self._size < _SMALL:
                    causes = ["the model is too small for the ten decimals of the format: export with a larger Scale"]
                words = text.format(
                    where=found.where, amount=verification.amount(found.distance, self._size), distance=found.distance,
                    causes="; ".join(causes) or "unknown",
                )  # fmt: skip
                report.warn(f"{obj.name}: {words}", is_important=kind == _POSITION)


def _reordered(shown: Floats, corners: mesh_data.Ints, at_rest: mesh_data.TriangleMesh) -> Floats | None:
    """Vertices in the order of those at rest, by the vertices of corners; None if the faces are others."""
    if np.array_equal(corners, at_rest.corner_vertices):
        return shown
    if corners.shape != at_rest.corner_vertices.shape:
        return None
    ordered = np.zeros_like(at_rest.vertices)
    kept = min(len(ordered), len(shown))
    ordered[:kept] = shown[:kept]
    ordered[at_rest.corner_vertices] = shown[corners]
    return ordered if np.array_equal(ordered[at_rest.corner_vertices], shown[corners]) else None


def _rest_difference(part: RestMesh, skeleton: Skeleton) -> tuple[float, float]:
    """The largest distances of corners, in units of the file, and of their texture coordinates."""
    mesh, joints = part.triangles, skeleton.joints
    expected = skeleton.conversion.points(mesh.vertices)
    furthest = furthest_uv = 0.0
    count = 0
    for block in part.blocks:
        is_shown = block.corners[:, 0] >= 0
        count += int(is_shown.sum())
        corners, triangles = block.corners[is_shown], block.mesh.triangles[is_shown]
        vertices = skin(block.mesh, joints.positions, joints.orientations)
        # The vertices come from the corners of the evaluated mesh, not from the block, to find wrong vertices.
        shown = mesh.corner_vertices[corners]
        if np.array_equal(block.vertices[triangles], shown):
            # Every vertex once instead of every corner.
            used = mesh_data.in_triangles(triangles, len(vertices))
            offsets = (vertices - expected[block.vertices])[used]
        else:
            offsets = vertices[triangles] - expected[shown]
        furthest = max(furthest, verification.longest(offsets))
        if mesh.uvs is not None:
            # `take` is twice as fast as an index.
            uvs = np.take(flip_v(block.mesh.uvs), triangles.ravel(), axis=0)
            furthest_uv = max(furthest_uv, verification.longest(uvs - np.take(mesh.uvs, corners.ravel(), axis=0)))
    return furthest if count == len(mesh.triangles) else np.inf, furthest_uv


def _distance(blocks: list[Block], vertices: list[Floats], expected: Floats) -> float:
    """The largest distance; infinite if the numbers of vertices differ."""
    if any(block.vertex_count != len(expected) for block in blocks):
        return np.inf
    offsets = [found - np.take(expected, block.vertices, axis=0) for block, found in zip(blocks, vertices, strict=True)]
    return max(map(verification.longest, offsets), default=0.0)
