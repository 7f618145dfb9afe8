"""Exports compared with what Blender shows, triangle by triangle, at rest and in motion.

A difference that the export tells of is none of its faults: a warning must then name the object, and tell of a
difference of that kind and of at least that size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import bpy
import evaluated_meshes
import md5_reader
import numpy as np
import scene_state
from bpy_extras.io_utils import axis_conversion
from triangles import Triangles, distances, equal, partners
from unkeyed import Unkeyed
from workbench import Bench

PLACE_LIMIT = 1e-4
"""Of the model's size."""
UV_LIMIT = 1e-5
# What the export tells of objects that does not announce a difference, or one in how Blender splits bent faces into
# triangles: here they are split as at rest.
_HARMLESS = re.compile(
    "no material|no UV map|without weights of deforming bones: bound|have the same name and shader"
    "|faces are triangulated differently"
)


@dataclass
class Comparison:
    """What came of an export.

    Attributes:
        warnings: of the operator.
        findings: differences that no warning tells of.
        excused: differences that a warning tells of.
        differences: for each object the greatest distance, in units of the file.
        size: of the model.
        model: the file.
        clips: its animations, by their names.
    """

    warnings: list[str]
    findings: list[str] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    differences: dict[str, float] = field(default_factory=dict)
    size: float = 0.0
    model: md5_reader.Model | None = None
    clips: dict[str, md5_reader.Clip] = field(default_factory=dict)


@contextmanager
def silence() -> Iterator[None]:
    """Keeps what operators tell off the console."""
    with redirect_stdout(StringIO()):
        yield


# What comes before a single warning.
_SUMMARY = re.compile(r"^Exported .*?: 1 warning: ")


def call(operator, **options) -> list[str]:
    """Runs an operator and gives its warnings."""
    output = StringIO()
    with redirect_stdout(output):
        result = operator(**options)
    assert result == {"FINISHED"}, result
    lines = [line.removeprefix("Warning: ") for line in output.getvalue().splitlines() if "Warning: " in line]
    # The last report repeats the most important one; a single one is part of it.
    return [_SUMMARY.sub("", line) for line in lines if "all in the Info editor" not in line]


def export(folder: Path, *, actions="NONE", verify="ALL", **options) -> Comparison:
    """Exports the model, and animations beside it, and reads what was written.

    `verify` is the operator's, or "" for its default.
    """
    path = folder / "exported.md5mesh"
    for old in folder.glob("*.md5anim"):
        old.unlink()
    if verify and "verify" in bpy.ops.export_scene.md5mesh.get_rna_type().properties:
        options["verify"] = verify
    before = scene_state.everything()
    warnings = call(bpy.ops.export_scene.md5mesh, filepath=str(path), actions=actions, **options)
    changed = scene_state.differences(before, scene_state.everything())
    clips = {file.stem: md5_reader.read_clip(file) for file in sorted(folder.glob("*.md5anim"))}
    findings = [f"the export changed {what}" for what in changed]
    return Comparison(warnings, findings, model=md5_reader.read_model(path), clips=clips)


def export_and_compare(
    folder: Path, armature, *, actions="NONE", step=1.0, frames=3, scale=1.0, axes=("Y", "Z"), **options
):
    """Exports and compares the result with what Blender shows.

    Args:
        folder: an empty one.
        armature: the one that is exported.
        actions: as the operator has it.
        step: frames of the scene between two frames of the file.
        frames: so many of each animation are looked at, evenly spread.
        scale: that the export has to have, as it takes back that of the import.
        axes: that the export has to have, forward and up.
        options: others of the operator.
    """
    result = export(folder, actions=actions, **options)
    return compare_again(result, armature, actions=actions, step=step, frames=frames, scale=scale, axes=axes)


def compared(folder: Path, bench: Bench, actions="ACTIVE", **options) -> Comparison:
    """Exports into a folder of its own and compares up to 50 frames of each animation; for the options see `export`."""
    folder = folder / "out"
    folder.mkdir(exist_ok=True)
    bpy.context.view_layer.update()
    return export_and_compare(folder, bench.armature, actions=actions, frames=50, **options)


def said(texts: list[str], *words: str) -> bool:
    """Whether one of some texts has all these words."""
    return any(all(word in text for word in words) for text in texts)


def compare_again(
    result: Comparison, armature, *, actions="NONE", step=1.0, frames=3, scale=1.0, axes=("Y", "Z")
) -> Comparison:
    """Compares what was exported before with what Blender shows now; for the arguments see `export_and_compare`."""
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    turn = np.array(axis_conversion(to_forward=axes[0], to_up=axes[1]).to_3x3())

    def in_file(seen: list[evaluated_meshes.Part]) -> list[evaluated_meshes.Part]:
        for part in seen:
            part.triangles.places = scale * part.triangles.places @ turn.T
        return seen

    objects = evaluated_meshes.meshes_of(armature)
    before = list(result.findings)
    for cut in (evaluated_meshes.without_armatures(objects), evaluated_meshes.Triangulation()):
        result.findings[:] = before
        compare = _Comparison(result, in_file(evaluated_meshes.at_rest(armature, objects, cut)))
        if result.findings == before:
            break
    unkeyed = Unkeyed(armature)
    for stem, clip in result.clips.items():
        if (clip.names, clip.parents) != (result.model.names, result.model.parents):
            result.findings.append(f"{stem}: its joints are not those of the model")
            continue
        start = _prepare(unkeyed, armature, actions, stem, clip, step, result)
        for frame in sorted(set(np.linspace(0, len(clip.positions) - 1, frames).astype(int).tolist())):
            seen = in_file(evaluated_meshes.at_frame(objects, start + frame * step, cut))
            compare.frame(f"frame {frame} of {stem}", clip, frame, seen)
    return result


def _prepare(unkeyed: Unkeyed, armature, actions: str, stem: str, clip, step: float, result: Comparison) -> float:
    """Has Blender play what a file is about; gives the frame of the scene at which it begins."""
    scene = bpy.context.scene
    if actions == "SCENE":
        ranges = [(scene.frame_start, scene.frame_end)]
    else:
        if actions == "ALL":
            action = play_alone(unkeyed, armature, stem)
            if action is None:
                result.findings.append(f"{stem}: there is no such action")
                return 0.0
        action = armature.animation_data.action
        keys = _keyed_range(armature.animation_data)
        manual = tuple(action.frame_range) if action.use_frame_range else keys
        # Blender's own range of an action is that of all its slots.
        everything = tuple(action.curve_frame_range)
        ranges = [(min(keys[0], manual[0]), max(keys[1], manual[1])), manual, everything]
    for start, end in ranges:
        if len(clip.positions) == int((end - start) / step + 1e-4) + 1:
            return start
    result.findings.append(f"{stem}: {len(clip.positions)} frames, but the scene has {ranges}")
    return ranges[0][0]


def _keyed_range(data) -> tuple[float, float]:
    """From the first to the last key of what an animation data plays."""
    slot = getattr(data, "action_slot", None)
    if slot is None:
        return tuple(data.action.curve_frame_range)
    curves = data.action.layers[0].strips[0].channelbag(slot).fcurves
    ranges = np.array([curve.range() for curve in curves if len(curve.keyframe_points)]).reshape(-1, 2)
    return (float(ranges[:, 0].min()), float(ranges[:, 1].max())) if len(ranges) else (0.0, 0.0)


def play_alone(unkeyed: Unkeyed, armature, stem: str):
    """Has an armature play the action that a file is named after, alone and from rest; None if there is none.

    Everything else that an action can set is as it was before any of them.
    """
    action = next((one for one in bpy.data.actions if re.sub(r'[<>:"/\\|?*]', "_", one.name) == stem), None)
    if action is None:
        return None
    data = armature.animation_data_create()
    unkeyed.restore()
    data.use_nla = False
    if data.action != action:
        data.action = action
        if hasattr(data, "action_slot") and data.action_slot is None:
            data.action_slot = next((slot for slot in action.slots if slot.target_id_type == "OBJECT"), None)
    return action


class _Comparison:
    """Compares the triangles of a file with those that Blender shows."""

    def __init__(self, result: Comparison, rest: list[evaluated_meshes.Part]) -> None:
        self.result = result
        model = result.model
        corners = np.concatenate([part.triangles.places.reshape(-1, 3) for part in rest] or [np.empty((0, 3))])
        result.size = float(np.linalg.norm(np.ptp(corners, axis=0))) if len(corners) else 0.0
        self.shaders = sorted({block.shader for block in model.blocks})
        self.partners: dict[str, np.ndarray] = {}
        # How many triangles each object has of each shader at rest, and so in the file.
        self.counts: dict[str, dict[str, int]] = {}
        self.told: dict[str, Told] = {}
        self.is_rest = True
        self.frame("rest", model, None, rest)

    def frame(self, when: str, source, frame: int | None, seen: list[evaluated_meshes.Part]) -> None:
        """Compares at rest, or in a frame of an animation."""
        self.is_rest = frame is None
        pose = (source.positions, source.turns) if frame is None else (source.positions[frame], source.turns[frame])
        file = {shader: [] for shader in self.shaders}
        for block in self.result.model.blocks:
            file[block.shader].append(_block_triangles(block, *pose))
        groups: dict[str, list[evaluated_meshes.Part]] = {shader: [] for shader in self.shaders}
        for part in seen:
            shader = next((label for label in part.labels if label in groups), None)
            if shader is None:
                excused = self._told_of(part.name).excuses_absence
                self._tell(part.name, f"{when}: no mesh with a shader of {part.labels}", excused)
            else:
                groups[shader].append(part)
        for shader, mine in groups.items():
            self._compare(when, shader, mine, Triangles.joined(file[shader]))

    def _compare(self, when: str, shader: str, mine: list[evaluated_meshes.Part], theirs: Triangles) -> None:
        expected = Triangles.joined([part.triangles for part in mine])
        limit = PLACE_LIMIT * self.result.size
        known = self.partners.get(shader)
        if known is not None and len(known) == len(expected) and (known >= 0).all():
            place, uv = distances(expected, theirs.chosen(known))
            for owner, part in enumerate(mine):
                if (expected.owners == owner).any():
                    worst = float(place[expected.owners == owner].max())
                    self.result.differences[part.name] = max(self.result.differences.get(part.name, 0.0), worst)
            if (place <= limit).all() and (uv <= UV_LIMIT).all() and len(theirs) == len(expected):
                return
        # Objects that no warning names come first: what lies in the same place is theirs.
        told = np.array([is_told(part.name, self.result.warnings) for part in mine], dtype=bool)
        is_told_of = told[expected.owners] if len(mine) else np.zeros(0, dtype=bool)
        found = np.full(len(expected), -1)
        if known is not None and len(known) == len(expected):
            sure = (known >= 0) & ~is_told_of
            sure[sure] = equal(expected.chosen(sure), theirs.chosen(known[sure]), limit, UV_LIMIT)
            found[sure] = known[sure]
        rest, free = np.flatnonzero(found < 0), np.setdiff1d(np.arange(len(theirs)), found)
        rest = rest[np.argsort(is_told_of[rest], kind="stable")]
        others = partners(expected.chosen(rest), theirs.chosen(free), limit, UV_LIMIT)
        found[rest[others >= 0]] = free[others[others >= 0]]
        if known is None:
            self.partners[shader] = found
        missing = found < 0
        for owner, part in enumerate(mine):
            lost = missing & (expected.owners == owner)
            if lost.any():
                partner = known[lost] if known is not None and len(known) == len(expected) else None
                nearest = _nearest(expected.chosen(lost), theirs, partner)
                # Objects with the same shader may be in the same place at rest, so that each has the other's triangles.
                excused = self._excuses(part.name, expected.chosen(lost), theirs, partner) or (
                    len(mine) > 1 and self._excuses(part.name, expected.chosen(lost), theirs, None)
                )
                self._tell(
                    part.name,
                    f"{when}, {shader!r}: {int(lost.sum())} of {int((expected.owners == owner).sum())} triangles are "
                    f"not as shown, off by {nearest} (size {self.result.size:.4g})",
                    excused,
                )
        self._compare_counts(when, shader, mine, len(theirs) - len(expected))

    def _compare_counts(self, when: str, shader: str, mine: list[evaluated_meshes.Part], extra: int) -> None:
        """Tells of triangles of the file that Blender does not show, by the objects that have them at rest."""
        now: dict[str, int] = {}
        for part in mine:
            now[part.name] = now.get(part.name, 0) + len(part.triangles)
        if self.is_rest:
            self.counts[shader] = now
            if extra > 0:
                text = f"{when}, {shader!r}: {extra} triangles that Blender does not show"
                # Decimate, among others, makes other faces in the rest position too.
                self._tell(", ".join(now), text, any(self._told_of(name).faces for name in now))
            return
        for name, count in self.counts.get(shader, {}).items():
            vanished = count - now.get(name, 0)
            if vanished > 0:
                text = f"{when}, {shader!r}: {vanished} triangles that Blender does not show"
                self._tell(name, text, self._told_of(name).faces)

    def _told_of(self, name: str) -> Told:
        if name not in self.told:
            self.told[name] = Told.of(name, self.result.warnings)
        return self.told[name]

    def _excuses(self, name: str, lost: Triangles, theirs: Triangles, known) -> bool:
        """Whether warnings tell of differences as large as those of some triangles."""
        told = self._told_of(name)
        if told.excuses_absence:
            return True
        # Blender shows some differences in the rest position too, as of B-Bones: told of are those in motion.
        off = max(told.rest, told.motion) if self.is_rest else told.motion
        place = max(off, PLACE_LIMIT * self.result.size)
        uv = max(told.uv_rest if self.is_rest else told.uv_motion, UV_LIMIT)
        if known is not None and (known >= 0).all():
            return bool(equal(lost, theirs.chosen(known), place, uv).all())
        return all(
            equal(lost.chosen(np.full(len(theirs), index)), theirs, place, uv).any() for index in range(len(lost))
        )

    def _tell(self, name: str, text: str, excused: bool) -> None:
        (self.result.excused if excused else self.result.findings).append(f"{name}: {text}")


def assert_matches_blender(result: Comparison) -> None:
    """Every difference is told of."""
    assert not result.findings, "; ".join(result.findings[:3])


def assert_exact(result: Comparison) -> None:
    """There is no difference, and no warning tells of one."""
    assert_matches_blender(result)
    told = [name for name in result.differences if is_told(name, result.warnings)]
    assert not result.excused, "; ".join([*result.excused[:2], *result.warnings])
    assert not told, f"no difference, but: {result.warnings}"


@dataclass(frozen=True)
class Told:
    """What warnings tell of an object.

    Attributes:
        rest: how far off it is at rest, in units of the file.
        motion: the same in motion.
        uv_rest: how far off its texture coordinates are at rest.
        uv_motion: the same in motion.
        faces: whether it has other vertices, faces or materials in motion than at rest.
        left_out: whether it is not in the file.
    """

    rest: float = 0.0
    motion: float = 0.0
    uv_rest: float = 0.0
    uv_motion: float = 0.0
    faces: bool = False
    left_out: bool = False

    @classmethod
    def of(cls, name: str, warnings: list[str]) -> Told:
        """What some warnings tell of an object."""
        own = [text.removeprefix(f"{name}: ") for text in warnings if text.startswith(f"{name}: ")]
        rest = _figures(r"is up to (\S+) units .* and (\S+) in UV space off .* at rest", own)
        motion = _figures(r"is up to (\S+) units .* off from what Blender shows on frame", own)
        moving_uvs = _figures(r"modifiers move texture coordinates by up to (\S+) ", own)
        uv_rest = max((figures[1] for figures in rest), default=0.0)
        return cls(
            rest=max((figures[0] for figures in rest), default=0.0),
            motion=max((figures[0] for figures in motion), default=0.0),
            uv_rest=uv_rest,
            uv_motion=uv_rest + max((figures[0] for figures in moving_uvs), default=0.0),
            faces=any(re.search("modifiers change its (faces|number of vertices)", text) for text in own),
            left_out=any(re.match("not exported, because .*: ", text) and is_told(name, [text]) for text in warnings),
        )

    @property
    def excuses_absence(self) -> bool:
        """Whether triangles need not be in the file at all."""
        return self.left_out or self.faces


def _figures(pattern: str, texts: list[str]) -> list[tuple[float, ...]]:
    """The numbers in those texts that match a pattern, with what rounding to two digits may have taken."""
    found = [match for text in texts if (match := re.search(pattern, text))]
    return [tuple(1.06 * float(number) for number in match.groups()) for match in found]


def is_told(name: str, warnings: list[str]) -> bool:
    """Whether a warning tells of a difference of an object, naming it."""
    pattern = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\.?\w)")
    return any(pattern.search(text) and not _HARMLESS.search(text) for text in warnings)


def _block_triangles(block: md5_reader.Block, positions, turns) -> Triangles:
    """The triangles that a game draws; those that name a vertex twice are none."""
    corners = block.triangles
    flat = (corners[:, 0] == corners[:, 1]) | (corners[:, 1] == corners[:, 2]) | (corners[:, 0] == corners[:, 2])
    # Clockwise in the file.
    corners = corners[~flat][:, [0, 2, 1]]
    uvs = block.uvs * (1.0, -1.0) + (0.0, 1.0)
    return Triangles(block.vertices(positions, turns)[corners], uvs[corners], np.zeros(len(corners), dtype=int))


def _nearest(lost: Triangles, theirs: Triangles, known) -> str:
    """How far the triangles of the file are from some that have no partner, as text."""
    if not len(theirs):
        return "all there is"
    if known is not None and (known >= 0).all():
        place, uv = distances(lost, theirs.chosen(known))
        return f"{place.max():.4g} units, UV {uv.max():.4g}"
    places, uvs = [], []
    for index in range(min(len(lost), 20)):
        one = lost.chosen(np.full(len(theirs), index))
        place, uv = distances(one, theirs)
        best = np.argmin(place + uv)
        places.append(place[best])
        uvs.append(uv[best])
    return f"{max(places):.4g} units, UV {max(uvs):.4g}"
