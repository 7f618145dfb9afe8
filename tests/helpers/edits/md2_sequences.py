"""Random sequences of operators on imported MD2 models, each exported and compared with what Blender shows."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import bpy
import md2_compare
import mesh_edits
import numpy as np
from animation_edits import bags_of
from installed import read_empty_scene
from md2_compare import bench_of, compare, model_objects, put_with, visible_meshes
from md2_edits import EDITS
from paths import CORPUS
from workbench import Bench, activate

# What a file cannot hold at all.
REFUSALS = (
    "all frames of a model must have the same", "not fit into 16 bits", "no finite position",
    "imported with different scales", "imported with other axes",
)  # fmt: skip

# What a warning says of differences, and of shape keys that are the frames.
TOLD = ("differ from Blender", "triangulated differently")
TOLD_OF_KEYS = ("deleted or reordered", "mix", "pinned")

# Operators of Blender that need minutes or change the meaning of a frame.
LEFT_OUT = {"remesh", "shape keys applied as a mix"}


def move_keyframes(bench: Bench, rng: random.Random) -> None:
    factor, offset = rng.choice([0.5, 1.0, 2.0]), rng.choice([0, 0, 3])
    for action in bpy.data.actions:
        for curve in [curve for bag in bags_of(action) for curve in bag.fcurves]:
            for point in curve.keyframe_points:
                point.co.x = point.co.x * factor + offset
            curve.update()


def animate_object(bench: Bench, rng: random.Random) -> None:
    obj = bench.mesh
    for frame in (0, 4):
        obj.location = [rng.uniform(-9, 9) for _ in range(3)]
        obj.rotation_euler.z = rng.uniform(-3, 3)
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)


def parent_to_moving(bench: Bench, rng: random.Random) -> None:
    parent = bpy.data.objects.new("parent", None)
    bpy.context.scene.collection.objects.link(parent)
    bench.mesh.parent = parent
    for frame in (0, 4):
        parent.scale = [rng.uniform(0.5, 2) for _ in range(3)]
        parent.keyframe_insert("scale", frame=frame)


def add_modifier(bench: Bench, rng: random.Random) -> None:
    kind = rng.choice(["DISPLACE", "MIRROR", "SOLIDIFY", "SUBSURF", "TRIANGULATE", "CAST", "ARRAY", "EDGE_SPLIT"])
    bench.mesh.modifiers.new(kind.lower(), kind)


def edit_key(bench: Bench, rng: random.Random) -> None:
    keys = bench.mesh.data.shape_keys
    if keys is not None:
        key = rng.choice(list(keys.key_blocks))
        for point in key.data:
            if rng.random() < 0.3:
                point.co.z += rng.uniform(-2, 2)


def limit_key(bench: Bench, rng: random.Random) -> None:
    keys = bench.mesh.data.shape_keys
    if keys is not None:
        rng.choice(list(keys.key_blocks)).slider_max = rng.choice([0.3, 0.8, 2.0])


def add_still_object(bench: Bench, rng: random.Random) -> None:
    bpy.ops.mesh.primitive_ico_sphere_add(location=(rng.uniform(-30, 30), 0, 0))
    activate(bench.mesh)


def add_to_the_model(bench: Bench, rng: random.Random) -> None:
    bpy.ops.mesh.primitive_cube_add(size=8.0, location=(rng.uniform(-30, 30), 0, 0))
    if rng.random() < 0.5:
        bpy.context.object.parent = bench.mesh
    else:
        put_with(bench.mesh, bpy.context.object)
    activate(bench.mesh)


def activate_another(bench: Bench, rng: random.Random) -> None:
    activate(rng.choice(visible_meshes() or [bench.mesh]))


def import_another(bench: Bench, rng: random.Random) -> None:
    path = os.path.join(bpy.app.tempdir, "another.md2")
    model = md2_compare.tube_model(rng.choice([1, 3, 5]))
    model.translate[:, 2] += 25.0
    md2_compare.write_model(model, path)
    # As the first model was imported: an export of either has the scale and axes of its import.
    importing = {key: bench.options[key] for key in ("axis_forward",) if key in bench.options}
    scale = 1.0 / bench.options.get("global_scale", 1.0)
    bpy.ops.import_scene.md2(filepath=path, use_scene_timing=False, global_scale=scale, **importing)
    activate(bench.mesh)


def hide_another(bench: Bench, rng: random.Random) -> None:
    for obj in visible_meshes():
        if obj != bench.mesh and rng.random() < 0.5:
            obj.hide_set(True)


def save_and_open(bench: Bench, rng: random.Random) -> None:
    path, name = os.path.join(bpy.app.tempdir, "sequence.blend"), bench.mesh.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bench.meshes[:] = [bpy.data.objects[name]]


OTHERS: list[Callable[[Bench, random.Random], None]] = [
    move_keyframes, animate_object, parent_to_moving, add_modifier, edit_key, limit_key, add_still_object,
    add_to_the_model, activate_another, import_another, hide_another, save_and_open,
]  # fmt: skip


def is_alive(obj) -> bool:
    """Whether an object was not joined into another one."""
    try:
        return obj.name in bpy.context.view_layer.objects
    except ReferenceError:
        return False


def step(bench: Bench, rng: random.Random) -> str:
    """Does something, and says what; what Blender refuses to do is not done."""
    if not is_alive(bench.mesh):
        bench.meshes[:] = visible_meshes()[:1]
    if rng.random() < 0.35:
        action = rng.choice(OTHERS)
        action(bench, rng)
        return action.__name__
    name = rng.choice([edit for edit in EDITS if edit not in LEFT_OUT])
    try:
        mesh_edits.EDITS[name](bench)
    except (RuntimeError, RuntimeWarning, AssertionError, LookupError, ValueError, TypeError, AttributeError) as error:
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        return f"({name}: {error})"
    return name


def first_frame() -> int:
    """The first frame of what plays, as Blender's own timeline shows it."""
    frames = [
        point.co.x
        for obj in model_objects()
        if (keys := obj.data.shape_keys) is not None and keys.animation_data and keys.animation_data.action
        if "md2" in obj.data
        for bag in bags_of(keys.animation_data.action)
        # The object may be animated by another slot of the same action.
        if getattr(bag, "slot", None) == getattr(keys.animation_data, "action_slot", None)
        for curve in bag.fcurves
        for point in curve.keyframe_points
    ]
    return int(min(frames)) if frames else bpy.context.scene.frame_start


def is_decided_by_rounding(step: float) -> bool:
    """Whether moving vertices by the last digits of their coordinates moves what Blender shows by more than `step`.

    The normal of a vertex between folded faces is such a case: Displace moves it anywhere.
    """
    rng = np.random.default_rng(1)
    before = _places()
    for obj in model_objects():
        for key in obj.data.shape_keys.key_blocks if obj.data.shape_keys is not None else ():
            places = np.empty(3 * len(key.data), dtype=np.float32)
            key.data.foreach_get("co", places)
            places *= 1.0 + rng.uniform(-1e-6, 1e-6, len(places))
            key.data.foreach_set("co", places)
        obj.data.update()
    return bool(np.abs(_places() - before).max() > step)


def _places() -> np.ndarray:
    """The vertices that Blender shows on every frame, (n,)."""
    scene = bpy.context.scene
    shown = []
    for frame in range(first_frame(), first_frame() + 12):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for obj in model_objects():
            mesh = obj.evaluated_get(graph).data
            places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
            mesh.vertices.foreach_get("co", places)
            shown.append(places)
    return np.concatenate(shown)


def run(seed: int) -> str:
    """What is wrong after a sequence of operators in a new scene; empty if nothing is."""
    read_empty_scene()
    with tempfile.TemporaryDirectory() as folder:
        return _run(random.Random(seed), Path(folder))


def _run(rng: random.Random, folder: Path) -> str:
    name = rng.choice(["tube", "tube", *md2_compare.REAL])
    if not CORPUS.is_dir():
        name = "tube"
    bench = bench_of(folder, name, rng.choice(list(md2_compare.SETTINGS)))
    if rng.random() < 0.5:
        import_another(bench, rng)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, min(scene.frame_end, 5)
    done = [step(bench, rng) for _ in range(rng.randint(1, 8))]
    bpy.context.view_layer.update()
    # An untouched real model keeps its GL commands.
    options = {"gl_texels": 0.5 if name == "tube" else 1.5, "split_sharp": rng.random() < 0.3, **bench.options}
    options["by_import"] = rng.random() < 0.7
    render = bpy.context.scene.render
    render.fps = rng.choice([10, 24, 30])
    try:
        in_scene = compare(folder, source="SCENE", **options)
        count = len(compare(folder, **options).file.frame_names)
    except RuntimeError as error:
        return "" if any(reason in str(error) for reason in REFUSALS) else f"{name}: {done}: {error}"
    if in_scene.wrong and not _is_told(in_scene, TOLD):
        return f"{name}: {done}: {in_scene.wrong[:2]} as the scene plays"
    is_moving = bool(np.ptp(in_scene.file.vertices, axis=0).any())
    is_told = any(" in Blender, " in text for text in in_scene.warnings)
    if is_told != (is_moving and render.fps != 10):
        return f"{name}: {done}: another speed is not told"
    start = first_frame()
    automatic = compare(folder, frames=list(range(start, start + count)), **options)
    if (
        automatic.wrong
        and not _is_told(automatic, TOLD + TOLD_OF_KEYS)
        and not is_decided_by_rounding(_step_of_wrong_frames(automatic) / options.get("global_scale", 1.0) / 10)
    ):
        return f"{name}: {done}: {automatic.wrong[:2]}"
    return ""


def _step_of_wrong_frames(result: md2_compare.Comparison) -> float:
    """The smallest step of the grids of the frames that are not what Blender shows; infinite if they are flat."""
    wrong = [int(text.split()[1]) for text in result.wrong if text.startswith("frame ")]
    steps = np.linalg.norm(result.file.steps[wrong], axis=1)
    return float(steps[steps > 0].min(initial=np.inf))


def _is_told(result: md2_compare.Comparison, texts: tuple[str, ...]) -> bool:
    return any(text in warning for warning in result.warnings for text in texts)
