"""The growth of the cost of each job with the size of its input, measured with three sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import bpy
import inputs
import md2_inputs
from extension import empty, operator
from results import Growth, Results
from timing import Job, medians

from io_idtech.io_md2.format import write_model
from io_idtech.io_md5.format import format_animation, format_mesh, write_animation, write_mesh

VERTICES = [10_000, 30_000, 100_000]
JOINTS = [50, 150, 500]
TRIANGLES = [20_000, 60_000, 200_000]
FRAMES = [1_000, 3_000, 10_000]
MD2_FRAMES = [57, 171, 512]
MD2_RINGS = [4, 11, 32]
MANY_TRIANGLES = [100_000, 300_000, 1_000_000]
SKINS = [1_000, 3_000, 10_000]
ANIMATIONS = [100, 300, 1_000]
COMMANDS = [512, 1_408, 4_096]


def growth(folder: Path, results: Results) -> None:
    """Measures all jobs."""
    _Growing(folder, results).all()


class _Growing:
    def __init__(self, folder: Path, results: Results) -> None:
        self.folder = folder
        self.results = results

    def all(self) -> None:
        self._models("vertices", VERTICES, lambda count: inputs.model(count, 100))
        self._models("joints", JOINTS, lambda count: inputs.model(1000, count))
        self._models("triangles", TRIANGLES, lambda count: inputs.model(5000, 50, count))
        self._clips()
        self._md2("frames", MD2_FRAMES, lambda count: md2_inputs.torus(12, 25, count))
        triangles = [2 * rings * 64 for rings in MD2_RINGS]
        self._md2("triangles", triangles, lambda count: md2_inputs.torus(count // 128, 64, 8))
        self._md2("many triangles", MANY_TRIANGLES, md2_inputs.many_triangles)
        self._md2("skins", SKINS, md2_inputs.many_skins)
        self._folders()
        for name, make in md2_inputs.SURFACES.items():
            jobs = [Job(md2_inputs.commands(make(count))) for count in COMMANDS]
            self._add(f"GL commands, {name}: triangles", COMMANDS, jobs)

    def _models(self, what: str, sizes: list[int], make: Callable[[int], inputs.Model]) -> None:
        models = [make(size) for size in sizes]
        paths = [self.folder / f"{what}{size}.md5mesh" for size in sizes]
        for model, path in zip(models, paths, strict=True):
            write_mesh(model, path)
        out = str(self.folder / "grown.md5mesh")
        self._add(f"import md5mesh: {what}", sizes, [Job(operator(path), empty) for path in paths])
        self._add(f"format md5mesh: {what}", sizes, [Job(lambda m=model: format_mesh(m)) for model in models])
        self._add(
            f"export md5mesh: {what}",
            sizes,
            [Job(lambda: bpy.ops.export_scene.md5mesh(filepath=out), _loading(path)) for path in paths],
        )

    def _clips(self) -> None:
        model = inputs.model(400, 33)
        body = self.folder / "body.md5mesh"
        write_mesh(model, body)
        clips = [inputs.animation(model.joints, count) for count in FRAMES]
        paths = [self.folder / f"frames{count}.md5anim" for count in FRAMES]
        for clip, path in zip(clips, paths, strict=True):
            write_animation(clip, path)
        out = str(self.folder / "grown.md5anim")
        self._add("import md5anim: frames", FRAMES, [Job(operator(path), _loading(body)) for path in paths])
        self._add("format md5anim: frames", FRAMES, [Job(lambda c=clip: format_animation(c)) for clip in clips])
        self._add(
            "export md5anim: frames",
            FRAMES,
            [Job(lambda: bpy.ops.export_scene.md5anim(filepath=out), _loading(body, path)) for path in paths],
        )

    def _folders(self) -> None:
        """Folders of many animations, which are imported with their model."""
        models = [inputs.folder(self.folder / f"animations{count}", count) for count in ANIMATIONS]
        jobs = [Job(operator(path, animations="FOLDER"), empty) for path in models]
        self._add("import md5anim: animations in a folder", ANIMATIONS, jobs)

    def _md2(self, what: str, sizes: list[int], make: Callable[[int], md2_inputs.Model]) -> None:
        paths = [self.folder / f"{what}{size}.md2" for size in sizes]
        for size, path in zip(sizes, paths, strict=True):
            write_model(make(size), path)
        out = str(self.folder / "grown.md2")
        self._add(f"import md2: {what}", sizes, [Job(operator(path), empty) for path in paths])
        self._add(
            f"export md2: {what}",
            sizes,
            [Job(lambda: bpy.ops.export_scene.md2(filepath=out, game="ANY"), _loading(path)) for path in paths],
        )

    def _add(self, job: str, sizes: Sequence[int], jobs: list[Job]) -> None:
        self.results.growth.append(Growth(job, list(sizes), medians(*jobs)))


def _loading(*paths: Path) -> Callable[[], None]:
    """The import of files into an empty .blend file."""

    def load() -> None:
        empty()
        for path in paths:
            operator(path)()

    return load
