"""Random sequences of edits on a model, exported and compared with what Blender shows."""

from __future__ import annotations

import random
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import animation_edits
import armature_edits
import bpy
import evaluated_meshes
import inexact
import md5_compare
import mesh_edits
import numpy as np
import scene_edits
import workbench
from installed import read_empty_scene
from paths import CORPUS
from workbench import Bench

Step = Callable[[Bench, random.Random], None]

MOST_STEPS = 8
# Beyond that, edits of meshes are skipped: each may multiply the faces.
MOST_VERTICES = 2500
_FOREIGN = "of another character"
# An export that says why it does not happen is no finding.
_REFUSALS = re.compile(
    r"no active action|there is no action|no slot of the action|no bone has Deform enabled|the armature has no bones"
    r"|no armature and no mesh|not finite"
)
# What an edit that does not suit the scene comes to.
_UNSUITABLE = (
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    ReferenceError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)

KINDS: dict[str, Step] = {}
"""Every kind of edit by its name."""


def _fixed(edit: Callable[[Bench], None]) -> Step:
    return lambda bench, rng: edit(bench)


def _modifier(kind: str, *, applied: bool) -> Step:
    def run(bench: Bench, rng: random.Random) -> None:
        modifier = mesh_edits.add_modifier(bench.mesh, kind)
        if applied:
            with workbench.mode(bench.mesh, "OBJECT"):
                bpy.ops.object.modifier_apply(modifier=modifier.name)

    return run


def _nodes(build) -> Step:
    return lambda bench, rng: scene_edits.node_group(bench.mesh, build) and None


def _hanging(hang) -> Step:
    def run(bench: Bench, rng: random.Random) -> None:
        hang(scene_edits.add_prop(bench, f"Prop {rng.randrange(100)}"), bench)

    return run


def _random_move(bench: Bench, rng: random.Random) -> None:
    vertices = list(bench.mesh.data.vertices)
    size = float(np.ptp(workbench.positions_of(bench.mesh), axis=0).max())
    for vertex in rng.sample(vertices, rng.randint(1, max(len(vertices) // 3, 1))):
        vertex.co.x += rng.uniform(-0.2, 0.2) * size
        vertex.co.y += rng.uniform(-0.2, 0.2) * size
    bench.mesh.data.update()


def _random_weights(bench: Bench, rng: random.Random) -> None:
    names = [bone.name for bone in bench.armature.data.bones]
    for _ in range(3):
        name = rng.choice(names)
        group = bench.mesh.vertex_groups.get(name) or bench.mesh.vertex_groups.new(name=name)
        count = len(bench.mesh.data.vertices)
        group.add(rng.sample(range(count), rng.randint(1, count)), rng.random(), rng.choice(("REPLACE", "ADD")))


def _random_uvs(bench: Bench, rng: random.Random) -> None:
    layer = bench.mesh.data.uv_layers.active
    for one in rng.sample(list(layer.uv), len(layer.uv) // 3):
        one.vector = (rng.random(), rng.random())


def _random_bone(bench: Bench, rng: random.Random) -> None:
    with workbench.mode(bench.armature, "EDIT"):
        bones = bench.armature.data.edit_bones
        for bone in rng.sample(list(bones), min(2, len(bones))):
            bone.roll += rng.uniform(-2, 2)
            bone.tail.z += rng.uniform(0.1, 0.4) * bone.length


def _random_pose(bench: Bench, rng: random.Random) -> None:
    for bone in rng.sample(list(bench.armature.pose.bones), min(2, len(bench.armature.pose.bones))):
        animation_edits.remove_curves(bench, bone.name)
        bone.rotation_mode = rng.choice(("QUATERNION", "XYZ", "ZYX"))
        bone.rotation_quaternion = (1.0, rng.uniform(-1, 1), rng.uniform(-1, 1), 0.2)
        bone.rotation_euler = (rng.uniform(-1, 1), rng.uniform(-1, 1), 0.3)


def _random_keys(bench: Bench, rng: random.Random) -> None:
    bone = rng.choice(list(bench.armature.pose.bones))
    bone.rotation_mode = "QUATERNION"
    for frame in rng.sample(range(-2, 12), 3):
        bone.rotation_quaternion = (1.0, rng.uniform(-1, 1), rng.uniform(-1, 1), 0.2)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def _switch_action(bench: Bench, rng: random.Random) -> None:
    suitable = [action for action in bpy.data.actions if animation_edits.curves_of(bench, action)]
    bench.armature.animation_data.action = rng.choice(sorted(suitable, key=lambda action: action.name))


def _copy_action(bench: Bench, rng: random.Random) -> None:
    copy = bench.armature.animation_data.action.copy()
    copy.name = f"copy {rng.randrange(100)}"
    copy.use_fake_user = True
    bench.armature.animation_data.action = copy


def _shift_action(bench: Bench, rng: random.Random) -> None:
    by = rng.randint(-5, 5)
    action = bench.armature.animation_data.action
    for curve in animation_edits.curves_of(bench):
        for point in curve.keyframe_points:
            point.co.x += by
        curve.update()
    if action.use_frame_range:
        action.frame_start, action.frame_end = action.frame_start + by, action.frame_end + by


def _reorder_meshes(bench: Bench, rng: random.Random) -> None:
    for obj, name in zip(bench.meshes, rng.sample("abcdefghij", len(bench.meshes)), strict=True):
        obj.name = f"{name} mesh"


def _merge_materials(bench: Bench, rng: random.Random) -> None:
    material = bench.mesh.data.materials[0]
    for obj in bench.meshes:
        obj.data.materials[0] = material


for _name, _edit in mesh_edits.EDITS.items():
    KINDS[f"mesh: {_name}"] = _fixed(_edit)
for _name in mesh_edits.MODIFIERS:
    KINDS[f"modifier: {_name}"] = _modifier(_name, applied=False)
    KINDS[f"modifier applied: {_name}"] = _modifier(_name, applied=True)
for _name, _build in scene_edits.NODES.items():
    KINDS[f"nodes: {_name}"] = _nodes(_build)
for _name, _edit in armature_edits.EDITS.items():
    KINDS[f"armature: {_name}"] = _fixed(_edit)
for _name, _edit in animation_edits.SITUATIONS.items():
    if _name not in ("rest position", "in pose mode"):
        KINDS[f"animation: {_name}"] = _fixed(_edit)
for _name, _hang in scene_edits.HANGING.items():
    KINDS[f"prop: {_name}"] = _hanging(_hang)
for _name, _cause in inexact.CAUSES.items():
    KINDS[f"inexact: {_name}"] = _fixed(_cause.arrange)
KINDS |= {
    "random: move": _random_move,
    "random: weights": _random_weights,
    "random: UVs": _random_uvs,
    "random: bones": _random_bone,
    "random: pose": _random_pose,
    "random: keys": _random_keys,
    "action: switch": _switch_action,
    "action: copy": _copy_action,
    "action: shift": _shift_action,
    "meshes: order": _reorder_meshes,
    "meshes: one material": _merge_materials,
}

# An inexact export excuses its meshes; these are the exception, so that most sequences must be exact.
_WEIGHTS = {name: 0.15 if name.startswith("inexact") else 1.0 for name in KINDS}


@dataclass
class Sequence:
    """What is done to which model, and how it is exported.

    Attributes:
        model: the name of the starting point and its setting.
        steps: kinds of edits, each with the seed of its choices.
        actions: which actions are exported.
        deform_only: as the operator has it.
        rate: the frame rate of the scene.
        has_other: whether another character, of another scale, stands beside it.
    """

    model: tuple[str, str]
    steps: list[tuple[str, int]]
    actions: str
    deform_only: bool
    rate: int = 24
    has_other: bool = False

    def without(self, number: int) -> Sequence:
        """The same without one step."""
        steps = self.steps[:number] + self.steps[number + 1 :]
        return replace(self, steps=steps)

    def __str__(self) -> str:
        steps = ", ".join(f"{name!r} ({seed})" for name, seed in self.steps)
        only = ", deform bones only" if self.deform_only else ""
        other = ", beside another character" if self.has_other else ""
        return f"{' '.join(self.model)}: {steps or 'no edit'}; {self.actions}{only}, {self.rate} fps{other}"


@dataclass
class Outcome:
    """What came of a sequence.

    Attributes:
        findings: differences that no warning tells of, and faults.
        ran: the kinds of edits that could be done.
        refused: why nothing could be compared, where that is known.
        exact: whether no warning was needed.
    """

    findings: list[str]
    ran: list[str] = field(default_factory=list)
    refused: str = ""
    exact: bool = False


def sequence(seed: int, first: Collection[str] = ()) -> Sequence:
    """The sequence of a seed; it begins with the given kinds of edits."""
    rng = random.Random(seed)
    names = list(KINDS)
    weights = [_WEIGHTS[name] for name in names]
    count = rng.randint(1, MOST_STEPS)
    kinds = rng.choices(names, weights, k=count)
    kinds[: len(first)] = first
    model = rng.choice(["sample", "sample", "made", *workbench.REAL])
    setting = rng.choice(list(workbench.SETTINGS)[:2])
    steps = [(kind, rng.randrange(1 << 30)) for kind in kinds]
    actions = rng.choice(["ACTIVE", "ACTIVE", "ALL", "SCENE"])
    deform_only = rng.random() < 0.2
    if rng.random() < 0.3:
        setting = list(workbench.SETTINGS)[2]
    rate, has_other = rng.choice([24, 24, 10, 30]), rng.random() < 0.3
    return Sequence((model, setting), steps, actions, deform_only, rate, has_other)


UNSTEADY = "Blender shows something else each time"

FIXED_SEEDS = range((len(KINDS) + 1) // 2)
"""The seeds of the tests."""


def of_seed(seed: int) -> Sequence:
    """The sequence of a fixed seed; among all of them every kind of edit comes first or second once.

    What is rare otherwise or needs several meshes is then done to the sample, which suits it.
    """
    first = list(KINDS)[2 * seed : 2 * seed + 2]
    one = sequence(seed, first)
    if any(_WEIGHTS[kind] < 1.0 or "another" in kind for kind in first):
        one.model = ("sample", one.model[1])
    return one


def run(one: Sequence) -> Outcome:
    """Does what a sequence says, in a new scene; if something is found, it has to be found each time."""
    outcome = _run_in_new_scene(one)
    # Some edits, such as Bevel on many threads, have another result now and then.
    if outcome.findings and not all(_run_in_new_scene(one).findings for _ in range(3)):
        outcome.findings, outcome.refused = [], UNSTEADY
    return outcome


def _run_in_new_scene(one: Sequence) -> Outcome:
    read_empty_scene()
    with tempfile.TemporaryDirectory() as folder:
        return _run(one, Path(folder))


def _load_another_character(folder: Path) -> None:
    """Imports a second model, with bones of equal names, another scale and actions of its own."""
    folder.mkdir()
    before = set(bpy.data.actions)
    other = workbench.write_sample(folder)
    workbench.load([other, other.with_name("wave.md5anim")], global_scale=10.0)
    for action in set(bpy.data.actions) - before:
        action.name = f"other {action.name}"
        action[_FOREIGN] = True


def _run(one: Sequence, folder: Path) -> Outcome:
    name, setting = one.model
    if name in workbench.REAL and not CORPUS.is_dir():
        name = "sample"
    with md5_compare.silence():
        bench = workbench.bench_of(folder, name, setting)
        if one.has_other:
            _load_another_character(folder / "other")
        bpy.context.scene.render.fps = one.rate
        ran = [kind for kind, seed in one.steps if _do(kind, seed, bench)]
    out = folder / "out"
    out.mkdir()
    outcome = Outcome([], ran)
    try:
        bpy.context.scene.frame_set(bpy.context.scene.frame_current)
        workbench.activate(bench.armature)
        data = bench.armature.animation_data
        played = data.action if data is not None else None
        owners = [bench.armature, *evaluated_meshes.meshes_of(bench.armature)]
        # Edits may leave nothing of an import, and so nothing of its scale.
        options = bench.options if any("md5" in obj.data for obj in owners) else {}
        result = md5_compare.export_and_compare(
            out, bench.armature, actions=one.actions, deform_only=one.deform_only, **options
        )
    except RuntimeError as error:
        text = str(error).strip()
        if _REFUSALS.search(text):
            outcome.refused = text
        else:
            outcome.findings.append(text)
        return outcome
    outcome.findings = result.findings
    own = {action.name for action in bpy.data.actions if not action.get(_FOREIGN)}
    own |= {played.name} if played is not None else set()
    if one.actions == "ALL" and not own.issuperset(result.clips):
        outcome.findings.append(f"actions of another character: {sorted(set(result.clips) - own)}")
    if result.findings and not evaluated_meshes.is_steady(evaluated_meshes.meshes_of(bench.armature)):
        outcome.findings, outcome.refused = [], UNSTEADY
    outcome.findings += _untold_speeds(result)
    outcome.exact = not any(md5_compare.is_told(mesh, result.warnings) for mesh in result.differences)
    return outcome


def _untold_speeds(result: md5_compare.Comparison) -> list[str]:
    """Animations that a game plays at another speed than Blender, without a word."""
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    moving = [clip for clip in result.clips.values() if np.ptp(clip.positions, axis=0).any()]
    told = md5_compare.said(result.warnings, " in Blender, ", " in the game")
    differ = any(abs(clip.frame_rate - rate) > 1e-2 for clip in moving)
    return [f"played at another speed: told {told}, is {differ}"] if differ != told and moving else []


def _do(kind: str, seed: int, bench: Bench) -> bool:
    """Does one edit to one of the meshes; False where it cannot be done."""
    rng = random.Random(seed ^ zlib.crc32(kind.encode()))
    meshes = sorted(evaluated_meshes.meshes_of(bench.armature), key=lambda obj: obj.name)
    if not meshes or sum(len(obj.data.vertices) for obj in meshes) > MOST_VERTICES:
        return False
    rng.shuffle(meshes)
    bench.meshes = meshes
    try:
        KINDS[kind](bench, rng)
    except _UNSUITABLE:
        return False
    finally:
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.update()
    return True


def shrunk(one: Sequence) -> tuple[Sequence, Outcome]:
    """The shortest sequence without steps that the finding does not need."""
    outcome = run(one)
    number = len(one.steps)
    while number:
        number -= 1
        shorter = one.without(number)
        again = run(shorter)
        if again.findings:
            one, outcome = shorter, again
    return one, outcome


def tally(outcomes: list[Outcome]) -> Counter[str]:
    """How often each kind of edit was done."""
    return Counter(kind for outcome in outcomes for kind in outcome.ran)
