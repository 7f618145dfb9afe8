"""The finished model against what Blender shows, before anything is written.

The model is skinned by the format package, as a game would do it, and compared with Blender's evaluated meshes: at
rest, corner by corner with texture coordinates, and on frames of each animation, vertex by vertex.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..io_common import evaluated
from ..io_common.reports import Report
from ..io_common.verification import Verify, frames_to_verify
from .causes import Cause, likely_causes
from .export_anim import SampledClip
from .export_mesh import Block
from .export_skeleton import Skeleton
from .format import Animation
from .format.model import Floats
from .format.skeleton import poses
from .format.skinning import skin
from .player import Player

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Object

POSITION_TOLERANCE = 1e-4
"""Differences up to this part of the model's size are none."""

UV_TOLERANCE = 1e-5
"""The same for texture coordinates."""


@dataclass(frozen=True)
class Difference:
    """Where an exported mesh is not what Blender shows.

    Attributes:
        distance: the largest, in units of the file; infinite where the numbers of vertices differ.
        frame: of the scene; None for the rest pose.
        clip: the name of the animation; empty for the rest pose and the scene.
        causes: what is likely to be the reason, the likeliest first.
        from_file: whether it is no more than what the weights of the imported file disagree by.
        expected: what Blender shows, in the coordinates of the file, (n, 3).
        positions: of the joints on that frame, (J, 3).
        orientations: quaternions (J, 4).
    """

    distance: float
    frame: float | None
    clip: str
    causes: list[Cause]
    from_file: bool
    expected: Floats
    positions: Floats
    orientations: Floats


def size_of(blocks: dict[Object, list[Block]], skeleton: Skeleton) -> float:
    """The diagonal of the box around the model in its bind pose."""
    joints = skeleton.joints
    clouds = [
        skin(block.mesh, joints.positions, joints.orientations)
        for parts in blocks.values()
        for block in parts
    ]
    cloud = np.concatenate([joints.positions, *clouds])
    return max(float(np.linalg.norm(np.ptp(cloud, axis=0))), 1e-9)


def rest_difference(
    blocks: list[Block], mesh: evaluated.TriangleMesh, skeleton: Skeleton
) -> tuple[float, float]:
    """The largest distances of the corners of an object's blocks from those of its evaluated mesh, at rest.

    Returns:
        The distance in units of the file, and that of texture coordinates.
    """
    joints = skeleton.joints
    expected = skeleton.conversion.points(mesh.vertices)
    furthest = furthest_uv = 0.0
    seen = 0
    for block in blocks:
        own = block.corners[:, 0] >= 0
        seen += int(own.sum())
        corners = block.corners[own]
        triangles = block.mesh.triangles[own]
        vertices = skin(block.mesh, joints.positions, joints.orientations)
        # The corners of the evaluated mesh say which vertices they are, not what the block remembers of them.
        wanted = expected[mesh.corner_vertices[corners]]
        furthest = max(furthest, _largest(vertices[triangles] - wanted))
        if mesh.uvs is not None:
            uvs = block.mesh.uvs[triangles] * (1.0, -1.0) + (0.0, 1.0)
            furthest_uv = max(furthest_uv, _largest(uvs - mesh.uvs[corners]))
    if seen != len(mesh.triangles):
        return np.inf, furthest_uv
    return furthest, furthest_uv


def frame_differences(
    blocks: dict[Object, list[Block]],
    sampled: SampledClip,
    animation: Animation,
    skeleton: Skeleton,
    player: Player,
    size: float,
    verify: Verify,
) -> dict[Object, Difference]:
    """The largest difference of each object on the frames of an animation, where there is one.

    Args:
        blocks: of each object.
        sampled: the clip that the animation was made of.
        animation: as it will be written.
        skeleton: the joints of the file.
        player: of the clip.
        size: of the model.
        verify: on which frames.
    """
    chosen = frames_to_verify(len(sampled.frames), verify)
    worst: dict[Object, Difference] = {}
    if not chosen or not blocks:
        return worst
    positions, orientations = poses(replace(animation, frames=animation.frames[chosen]))
    skinned = {
        obj: [skin(block.mesh, positions, orientations) for block in parts] for obj, parts in blocks.items()
    }
    player.play(sampled.clip)
    for row, index in enumerate(chosen):
        frame = float(sampled.frames[index])
        graph = player.show(frame, meshes=True)
        for obj, parts in blocks.items():
            expected = evaluated_vertices(obj, graph, skeleton)
            vertices = [found[row] for found in skinned[obj]]
            distance, beyond = _distance(parts, vertices, expected)
            if distance <= POSITION_TOLERANCE * size or (obj in worst and worst[obj].distance >= distance):
                continue
            worst[obj] = Difference(
                distance,
                frame,
                sampled.clip.name,
                likely_causes(obj, skeleton, graph),
                beyond <= POSITION_TOLERANCE * size,
                expected,
                positions[row],
                orientations[row],
            )
    return worst


def is_smaller_without_stored(difference: Difference, blocks: list[Block]) -> bool:
    """Whether other blocks of the same object are nearer to what Blender shows where the difference was largest."""
    vertices = [skin(block.mesh, difference.positions, difference.orientations) for block in blocks]
    return _distance(blocks, vertices, difference.expected)[0] < 0.5 * difference.distance


def evaluated_vertices(obj: Object, graph: Depsgraph, skeleton: Skeleton) -> Floats:
    """The vertices of an object that Blender shows, in the coordinates of the file, (n, 3)."""
    return skeleton.conversion.points(evaluated.world_vertices(obj.evaluated_get(graph)))


def _distance(blocks: list[Block], vertices: list[Floats], expected: Floats) -> tuple[float, float]:
    """The largest distance, and the largest beyond what stored weights disagree by."""
    furthest = beyond = 0.0
    for block, found in zip(blocks, vertices, strict=True):
        if block.vertex_count != len(expected):
            return np.inf, np.inf
        distances = np.linalg.norm(found - expected[block.vertices], axis=1)
        furthest = max(furthest, float(distances.max(initial=0.0)))
        beyond = max(beyond, float((distances - block.slack).max(initial=0.0)))
    return furthest, beyond


def _largest(offsets: Floats) -> float:
    """The length of the longest of some vectors (…, n)."""
    return float(np.sqrt(np.einsum("...i,...i->...", offsets, offsets).max(initial=0.0)))


def warn_of_difference(obj: Object, difference: Difference, size: float, report: Report) -> None:
    """Warns of a difference: the mesh, how large it is, where, and why."""
    where = "at rest"
    if difference.frame is not None:
        where = f"on frame {difference.frame:g}" + (f" of {difference.clip}" if difference.clip else "")
    if difference.from_file:
        reason = "The weights of the imported file disagree about the position of vertices"
    else:
        reason = "; ".join(cause.text for cause in difference.causes) or "unknown"
    if np.isinf(difference.distance):
        report.warn(f"modifiers give it other vertices {where} than in the export", obj.name)
        return
    report.warn(
        f"the export is up to {difference.distance:.4g} units ({difference.distance / size:.2%} of the model's "
        f"size) off from what Blender shows {where}. Likely cause: {reason}",
        obj.name,
    )
