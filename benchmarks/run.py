"""Times the jobs that matter against the least that Blender's own calls cost, and prints one table.

    python run.py benchmark

Medians of several runs; a ratio is what to look at, since machines differ. Floors are measured in the same process:
the bare calls for the same data, and `np.fromstring` over the numbers of the file. Peers are taken where they can be
installed (Assimp by `assimp-py`). Real files are added where IO_IDTECH_CORPUS names them.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import inputs  # noqa: E402
from floors import ActionFloor, ModelFloor, NumberFloor  # noqa: E402

from io_md5.format import (  # noqa: E402
    format_animation,
    format_mesh,
    parse_mesh,
    read_animation,
    read_mesh,
    write_animation,
    write_mesh,
)

RUNS = 5
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS", ROOT.parent / "shared" / "corpus"))
BOB = CORPUS / "md5/21region+ik/data/models/boblampclean.md5mesh"
RIFLE = CORPUS / "md5/UnvanquishedAssets+res-weapons_src.dpkdir/models/weapons/rifle/rifle_view.md5mesh"


def main() -> None:
    """Runs all jobs and prints the table."""
    curves = load_extension()
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(Path(folder), curves)
        jobs.reading()
        jobs.clip()
        jobs.mesh()
        jobs.exporting()
        jobs.growth()
    print(f"\nBlender {bpy.app.version_string}, numpy {np.__version__}, {platform.machine()}, {os.cpu_count()} cores, "
          f"median of {RUNS} runs\n")  # fmt: skip
    print("| job | seconds | against | seconds | ratio |")
    print("|---|---:|---|---:|---:|")
    for job, seconds, against, floor in jobs.rows:
        print(f"| {job} | {seconds:.3f} | {against} | {floor:.3f} | {seconds / floor:.2f} |")
    if jobs.slopes:
        print("\n| cost over | sizes | slope of log time over log size |")
        print("|---|---|---:|")
        for job, sizes, slope in jobs.slopes:
            print(f"| {job} | {', '.join(f'{size:,}' for size in sizes)} | {slope:.2f} |")


def load_extension() -> type:
    """Registers the working copy; returns its writer of F-curves, which the floor uses too."""
    spec = importlib.util.spec_from_file_location(
        "io_idtech", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["io_idtech"] = module
    spec.loader.exec_module(module)
    module.register()
    return importlib.import_module("io_idtech.io_common.versions").ActionCurves


def median(
    job: Callable[[], object], prepare: Callable[[], object] = lambda: None, runs: int = RUNS
) -> float:
    """The median time of a job; one run before is not counted."""
    times = []
    for _ in range(runs + 1):
        prepare()
        started = time.perf_counter()
        job()
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def empty() -> None:
    """An empty file, so that runs do not weigh on each other."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


class Jobs:
    """The jobs, and the rows that they add to the tables."""

    def __init__(self, folder: Path, curves: type) -> None:
        self.folder = folder
        self.curves = curves
        self.rows: list[tuple[str, float, str, float]] = []
        self.slopes: list[tuple[str, list[int], float]] = []

    def reading(self) -> None:
        """An md5mesh of 2 MB into arrays, against its bare numbers and against Assimp."""
        path = self.folder / "two.md5mesh"
        write_mesh(inputs.model(18_000, 60), path)
        data = path.read_bytes()
        size = f"{len(data) / 1e6:.1f} MB"
        seconds = median(lambda: parse_mesh(data))
        self.rows.append((f"read md5mesh of {size}", seconds, "np.fromstring", median(NumberFloor(data).run)))
        if importlib.util.find_spec("assimp_py") is not None:
            import assimp_py

            peer = median(lambda: assimp_py.import_file(str(path), 0))
            whole = median(lambda: read_mesh(path))
            self.rows.append((f"read md5mesh of {size}, from disk", whole, "Assimp", peer))

    def clip(self) -> None:
        """A clip of 2,800 frames: Bob's 140 frames 20 times over, or as many made ones."""
        if BOB.is_file():
            model, base = BOB, read_animation(BOB.with_suffix(".md5anim"))
            base.frames = np.tile(base.frames, (20, 1))
        else:
            model = self.folder / "bob.md5mesh"
            write_mesh(inputs.model(900, 33), model)
            base = inputs.animation(read_mesh(model).joints, 2800)
        base.bounds = np.zeros((base.frame_count, 2, 3))
        path = self.folder / "clip.md5anim"
        write_animation(base, path)

        def prepare() -> None:
            empty()
            bpy.ops.import_scene.md5(filepath=str(model))

        floor, numbers = ActionFloor(base, self.curves), NumberFloor(path.read_bytes())
        seconds = median(lambda: bpy.ops.import_scene.md5(filepath=str(path)), prepare)
        least = median(floor.run, empty) + median(numbers.run)
        self.rows.append(
            (f"import clip, {base.frame_count:,} frames of {len(base.names)} joints", seconds, "floor", least)
        )

    def mesh(self) -> None:
        """A mesh of some 7,400 vertices."""
        path = self._large_model()
        model = read_mesh(path)
        floor, numbers = ModelFloor(model), NumberFloor(path.read_bytes())
        seconds = median(lambda: bpy.ops.import_scene.md5(filepath=str(path), use_textures=False), empty)
        least = median(floor.run, empty) + median(numbers.run)
        self.rows.append((f"import mesh, {model.vertex_count:,} vertices", seconds, "floor", least))

    def exporting(self) -> None:
        """501 frames of 46 joints with bounds, against playing them once; the mesh against its import."""
        path = self._large_model()
        model = read_mesh(path)
        clip = self.folder / "idle.md5anim"
        idle = RIFLE.with_name("rifle_view_idle.md5anim")
        write_animation(read_animation(idle) if idle.is_file() else inputs.animation(model.joints, 501), clip)
        target = str(self.folder / "out.md5")

        def load() -> None:
            bpy.ops.import_scene.md5(filepath=str(path), use_textures=False)

        def play() -> None:
            scene = bpy.context.scene
            for frame in range(scene.frame_start, scene.frame_end + 1):
                scene.frame_set(frame)

        importing = median(load, empty)
        empty()
        load()
        bpy.ops.import_scene.md5(filepath=str(clip))
        playing = median(play)
        seconds = median(lambda: bpy.ops.export_scene.md5anim(filepath=target + "anim"))
        self.rows.append(
            ("export 501 frames of 46 joints with bounds", seconds, "playing them once", playing)
        )
        seconds = median(lambda: bpy.ops.export_scene.md5mesh(filepath=target + "mesh"))
        self.rows.append((f"export mesh, {model.vertex_count:,} vertices", seconds, "its import", importing))

    def growth(self) -> None:
        """How the cost of each job grows with the size of its input."""
        vertices = [10_000, 30_000, 100_000]
        paths = []
        for count in vertices:
            paths.append(self.folder / f"v{count}.md5mesh")
            write_mesh(inputs.model(count, 100), paths[-1])
        self._slope("import, vertices", vertices, [self._importing(path) for path in paths])
        joints = [50, 150, 500]
        paths = []
        for count in joints:
            paths.append(self.folder / f"j{count}.md5mesh")
            write_mesh(inputs.model(1000, count), paths[-1])
        self._slope("import, joints", joints, [self._importing(path) for path in paths])
        frames = [1_000, 3_000, 10_000]
        skeleton = inputs.model(400, 33).joints
        clips = [inputs.animation(skeleton, count) for count in frames]
        self._slope(
            "write md5anim, frames", frames, [median(lambda c=c: format_animation(c), runs=3) for c in clips]
        )
        times = []
        for count, made in zip(frames, clips, strict=True):
            write_animation(made, self.folder / f"f{count}.md5anim")
            times.append(self._importing(self.folder / f"f{count}.md5anim"))
        self._slope("import, frames", frames, times)
        models = [inputs.model(count, 100) for count in vertices]
        self._slope(
            "write md5mesh, vertices", vertices, [median(lambda m=m: format_mesh(m), runs=3) for m in models]
        )

    def _importing(self, path: Path) -> float:
        return median(lambda: bpy.ops.import_scene.md5(filepath=str(path), use_textures=False), empty, runs=3)

    def _slope(self, job: str, sizes: list[int], times: list[float]) -> None:
        self.slopes.append((job, sizes, float(np.polyfit(np.log(sizes), np.log(times), 1)[0])))

    def _large_model(self) -> Path:
        if RIFLE.is_file():
            return RIFLE
        path = self.folder / "large.md5mesh"
        if not path.exists():
            write_mesh(inputs.model(7_400, 46), path)
        return path


if __name__ == "__main__":
    # The operators tell of every import; only the table is wanted.
    main()
    sys.stdout.flush()
    os._exit(0)
