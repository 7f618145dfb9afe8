"""The jobs: reading, importing and exporting files, and what each is compared with."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

import bpy
import conversion
import game_folder
import inputs
import md2_inputs
import md3_inputs
import memory
import numpy as np
from extension import empty, load, operator
from floors import ActionFloor, FramesFloor, ModelFloor, NumberFloor
from parts import Functions, measure_parts
from results import Memory, Results, Row
from timing import Job, medians

from io_idtech.io_blender.reports import finish
from io_idtech.io_common.skeletal.scales import NamedAnimation
from io_idtech.io_iqm.format import from_model, read_iqm, write_iqm
from io_idtech.io_md2.format import Model, read_model, write_model
from io_idtech.io_md3.format import Model as Md3Model
from io_idtech.io_md3.format import read_model as read_md3
from io_idtech.io_md3.format import write_model as write_md3
from io_idtech.io_md5.format import Animation, read_animation, read_mesh, write_animation, write_mesh

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS", ROOT.parent / "shared" / "corpus"))
BOB = CORPUS / "md5/21region+ik/data/models/boblampclean.md5mesh"
RIFLE = CORPUS / "md5/UnvanquishedAssets+res-weapons_src.dpkdir/models/weapons/rifle/rifle_view.md5mesh"
PLAYER = CORPUS / "md2/assimp+assimp/test/models/MD2/faerie.md2"

IMPORT, OWN_EXPORT, EVERY_FRAME, AT_LIMITS, PLAYING, READING, VERIFYING = 1.15, 1.2, 3.0, 1.5, 0.35, 0.6, 1.15
EVALUATING = 3.0
CONVERTING, AT_ONCE, GLB, LEVEL, MANY = 1.2, 1.15, 1.1, 1.05, 1.5
AS_ARRAYS, AS_MD5 = 1.5, 1.0
"""The target ratios."""

FIRST_MODEL, FURTHER_MODEL = 0.3, 0.02
"""The target seconds of a model with 50 materials in a large game folder."""

PICTURES = 1.0
"""The target seconds of an asset, with the pictures of the model and of its actions."""

CLIP_READING: Functions = {
    "reading its bytes": ("io_common.files:read_file",),
    "finding the lines": ("io_md5.format.text.columns:Text.lines",),
    "converting the digits": ("io_md5.format.text.columns:Text.decimals",),
    "comparing the bytes between the numbers": ("io_md5.format.text.columns:Text.matches",),
    "scanning what is not a frame": ("io_md5.format.text.anim_file:Scan",),
}
IMAGES: Functions = {
    "images": (
        "io_common.textures.search:Search.model",
        "io_common.textures.search:ModelSearch.material",
        "io_blender.materials.library:MaterialLibrary.get",
    )
}
MESH_IMPORT: Functions = {
    "merging copies of vertices along seams": ("io_common.skeletal.skinning:find_merged_vertices",),
    "the bind pose": ("io_common.skeletal.skinning:bind_pose",),
    "storing what a Blender mesh cannot hold": ("io_blender.skeletal.importing.model:store_mesh",),
    "selecting the result, which updates the scene": ("io_blender.state:select_only",),
}
MESH_EXPORT: Functions = {
    "reading the weights of the vertices": ("io_blender.scene.mesh_data:vertex_group_weights",),
    "comparing stored weights": (
        "io_blender.skeletal.exporting.mesh:load_source",
        "io_blender.skeletal.exporting.weights:SourceMesh.verified",
    ),
    "verification": ("io_blender.skeletal.exporting.build:Verifier",),
    "printing the file": ("io_md5.exporting:format_mesh",),
    "writing it through to the disk": ("io_md5.exporting:write_files",),
}
CLIP_EXPORT: Functions = {
    "the meshes": ("io_blender.skeletal.exporting.build:Builder._build_rest",),
    "the poses, from F-curves": ("io_blender.skeletal.exporting.build:sample_clip",),
    "Blender's evaluation of the verified frames": (
        "io_blender.clips.playing:Player.play",
        "io_blender.clips.playing:Player.evaluate",
    ),
    "skinning these frames": (
        "io_blender.skeletal.exporting.verification:poses_in_file",
        "io_common.skeletal.weights:WeightsByJoint.skin",
    ),
    "the bounds": ("io_blender.skeletal.exporting.build:bounds_of_weights",),
    "printing the files": ("io_blender.skeletal.exporting.build:encode_clip", "io_md5.exporting.game:format_animation"),
    "writing them through to the disk": ("io_md5.exporting:write_files",),
}
MD2_IMPORT: Functions = {
    "the positions of all frames": ("io_md2.format:decompress",),
    "sequences and their markers": ("io_blender.frames.models:add_markers",),
    "storing what a Blender mesh cannot hold": ("io_md2.importing:store_model",),
    "what is undone after an error": ("io_blender.operators.job_operator:Snapshot.__init__",),
}
MD2_EXPORT: Functions = {
    "reading the shape keys": ("io_blender.frames.models:plan_model", "io_md2.exporting:sample_frames"),
    "the grid and the bytes of the frames": ("io_md2.exporting:requantise",),
    "the GL commands": ("io_md2.exporting:_gl_commands",),
    "verification": ("io_md2.exporting:_find_differences",),
    "checking the finished model": ("io_md2.format:check_model",),
    "printing the file": ("io_md2.format:format_model",),
    "writing it through to the disk": ("io_blender.frames.operators.frame_operators:write_files",),
}
"""Functions of the extension that take notable parts of a job."""

_SHORT_CLIPS, _SHORT_FRAMES = 20, 10
_MANY = 1_000
_CONVERTED, _EXPORTED, _LEVEL_FILES, _ASSETS, _ACTIONS = 800, 50, 10_000, 2_000, 30


class Jobs:
    """The jobs and the files that they share.

    Args:
        folder: for files.
        curves: the add-on's writer of F-curves.
        results: extended with the results of each job.
    """

    def __init__(self, folder: Path, curves: type, results: Results) -> None:
        self.folder = folder
        self.curves = curves
        self.results = results

    def all(self) -> Iterable[Callable[[], None]]:
        """All jobs, in the order of the table."""
        return (
            self.reading,
            self.clip,
            self.clip_parts,
            self.mesh,
            self.mesh_parts,
            self.player,
            self.player_parts,
            self.large,
            self.many_animations,
            self.export_clip,
            self.export_mesh,
            self.export_player,
            self.edited_frames,
            self.verification,
            self.short_clips,
            self.iqm,
            self.materials,
            self.conversion,
            self.memory,
        )

    # Files

    @cached_property
    def rifle(self) -> Path:
        """A mesh of some 7,400 vertices and 46 joints, alone in its folder."""
        return self._copy_or_generate(RIFLE, lambda path: write_mesh(inputs.model(7_400, 46), path), "mesh.md5mesh")

    @cached_property
    def bob(self) -> Path:
        """The model of the clip."""
        return self._copy_or_generate(BOB, lambda path: write_mesh(inputs.model(900, 33), path), "bob.md5mesh")

    @cached_property
    def bob_clip(self) -> Path:
        """2,800 frames of 33 joints: the 140 frames of a real clip repeated 20 times, or generated frames."""
        source = BOB.with_suffix(".md5anim")
        if source.is_file():
            clip = read_animation(source)
            clip.frames = np.tile(clip.frames, (20, 1))
            clip.bounds = np.zeros((clip.frame_count, 2, 3))
        else:
            clip = inputs.animation(read_mesh(self.bob).joints, 2800)
        return self._clip(clip, "clip")

    @cached_property
    def rifle_clip(self) -> Path:
        """501 frames for the mesh of 7,400 vertices."""
        idle = RIFLE.with_name("rifle_view_idle.md5anim")
        generated = inputs.animation(read_mesh(self.rifle).joints, 501)
        return self._clip(read_animation(idle) if idle.is_file() else generated, "idle")

    @cached_property
    def md2_player(self) -> Path:
        """A player model of 198 frames."""
        return self._copy_or_generate(PLAYER, lambda path: write_model(md2_inputs.player(), path), "player.md2")

    @cached_property
    def md3_player(self) -> Path:
        """The same as MD3."""
        path = self._path("player.md3")
        write_md3(md3_inputs.same_model(read_model(self.md2_player)), path)
        return path

    @cached_property
    def huge(self) -> Path:
        """100,000 vertices and 500 joints: ten times the largest real model."""
        path = self._path("huge.md5mesh")
        write_mesh(inputs.model(100_000, 500), path)
        return path

    @cached_property
    def huge_clip(self) -> Path:
        """10,000 frames of 33 joints."""
        return self._clip(inputs.animation(read_mesh(self.bob).joints, 10_000), "long")

    @cached_property
    def md2_huge(self) -> Path:
        """A model at Quake II's limits."""
        path = self._path("limits.md2")
        write_model(md2_inputs.torus(*md2_inputs.LIMITS), path)
        return path

    def _path(self, name: str) -> Path:
        """A path in a folder of its own, as Assimp also reads other files next to a model."""
        path = self.folder / Path(name).stem / name
        path.parent.mkdir(exist_ok=True)
        return path

    def _copy_or_generate(self, real: Path, make: Callable[[Path], None], name: str) -> Path:
        path = self._path(name)
        if real.is_file():
            shutil.copyfile(real, path)
        else:
            make(path)
        return path

    def _clip(self, clip: Animation, name: str) -> Path:
        path = self._path(name + ".md5anim")
        write_animation(clip, path)
        return path

    # Reading

    def reading(self) -> None:
        """Reading files into arrays, compared with Assimp and with `np.fromstring`."""
        medium = self._path("two.md5mesh")
        write_mesh(inputs.model(10_000, 60), medium)
        for path, target in ((medium, None), (self.huge, READING)):
            job = f"read md5mesh of {path.stat().st_size / 1e6:.1f} MB into arrays"
            self._against_assimp(job, lambda p=path: read_mesh(p), path, target)
            self._row(job, lambda p=path: read_mesh(p), "np.fromstring", NumberFloor(path.read_bytes()).run)
        # Assimp reads an .md5anim only with the .md5mesh of the same name.
        pair = self._path("pair.md5mesh")
        clip = pair.with_suffix(".md5anim")
        shutil.copyfile(self.bob, pair)
        shutil.copyfile(self.huge_clip, clip)
        job = f"read md5anim of {clip.stat().st_size / 1e6:.1f} MB and its small md5mesh into arrays"
        self._against_assimp(job, lambda: (read_mesh(pair), read_animation(clip)), pair, READING)
        extension = sys.modules["io_idtech.io_md5.format"]
        self._functions("reading that md5anim", "all of it", Job(lambda: extension.read_animation(clip)), CLIP_READING)
        player = self.md2_player
        self._against_assimp("read MD2 player model into arrays", lambda: read_model(player), player, None)

    def _against_assimp(self, job: str, read: Callable[[], object], path: Path, target: float | None) -> None:
        assimp = _assimp(path)
        if assimp is not None:
            self._row(job, read, "Assimp", assimp, target)

    # Importing

    def clip(self) -> None:
        """A clip of 2,800 frames."""
        self._import_clip(self.bob_clip, IMPORT)

    def clip_parts(self) -> None:
        """The parts of that import."""
        path = self.bob_clip
        floor = self._action_floor(path)
        parts = {
            "reading the file": Job(lambda: read_animation(path)),
            "`np.fromstring` of the floor": Job(NumberFloor(path.read_bytes()).run),
            "the floor's calls": Job(floor.run, empty),
        }
        self._add_parts("that clip", Job(operator(path), lambda: load(self.bob)), parts)

    def mesh(self) -> None:
        """A mesh of some 7,400 vertices."""
        self._import_mesh(self.rifle, IMPORT)

    def mesh_parts(self) -> None:
        """The parts of that import."""
        path = self.rifle
        floor = ModelFloor(read_mesh(path))
        parts = {
            "reading the file": Job(lambda: read_mesh(path)),
            "creating bones in Edit Mode, with the mode changes": Job(floor.make_bones, empty),
            "the floor's calls": Job(floor.run, empty),
            "`np.fromstring` of the floor": Job(NumberFloor(path.read_bytes()).run),
        }
        self._parts("that mesh", path, "io_idtech.io_md5.importing.importer", parts)
        self._functions("importing that mesh", "the import", Job(operator(path), empty), MESH_IMPORT)

    def player_parts(self) -> None:
        """The parts of that import."""
        path = self.md2_player
        state = sys.modules["io_idtech.io_blender.state"]
        select_only = state.select_only

        def build() -> None:
            """Imports without the first update of the scene."""
            empty()
            importer = sys.modules["io_idtech.io_md2.importing"]
            state.select_only = lambda *_: None
            finish(importer.import_files(bpy.context, [path], importer.ImportOptions(use_textures=False)))
            state.select_only = select_only

        parts = {
            "reading the file": Job(lambda: read_model(path)),
            "the floor": Job(FramesFloor(read_model(path), self.curves).run, empty),
            "Blender's update of the scene when it is selected (`view_layer.update`)": Job(
                lambda: bpy.context.view_layer.update(), build
            ),
        }
        whole, _reading, floor, *updates = self._parts("that MD2 model", path, "io_idtech.io_md2.importing", parts)
        self._functions("importing that MD2 model", "the import", Job(operator(path), empty), MD2_IMPORT)
        both = "floor and Blender's updates of the scene"
        self.results.rows.append(Row("import MD2 player model", whole, both, floor + sum(updates), IMPORT))

    def _parts(self, what: str, path: Path, module: str, parts: dict[str, Job]) -> list[float]:
        """Adds rows for the parts of an import; returns the seconds of the import and of each part."""
        importer = sys.modules[module]

        def build() -> None:
            empty()
            finish(importer.import_files(bpy.context, [path], importer.ImportOptions(use_textures=False)))

        update = Job(lambda: bpy.context.view_layer.update(), build)
        parts = {**parts, "the rest of Blender's update of the scene (`view_layer.update`)": update}
        return self._add_parts(what, Job(operator(path), empty), parts)

    def _functions(self, what: str, against: str, job: Job, functions: Functions) -> None:
        """Adds rows for functions that a job calls."""
        whole, parts = measure_parts(job, functions)
        self.results.rows += [Row(f"of {what}: {part}", parts[part], against, whole) for part in functions]

    def _add_parts(self, what: str, importing: Job, parts: dict[str, Job]) -> list[float]:
        """Adds rows for the parts of a prepared import; returns the seconds of the import and of each part."""
        whole, *times = medians(importing, *parts.values())
        for part, seconds in zip(parts, times, strict=True):
            self.results.rows.append(Row(f"of importing {what}: {part}", seconds, "the import", whole))
        return [whole, *times]

    def player(self) -> None:
        """A player model of 198 frames, as MD2 and as MD3."""
        self._import_frames(self.md2_player, read_model(self.md2_player), "MD2 player model")
        self._import_frames(self.md3_player, read_md3(self.md3_player), "MD3 player model")

    def large(self) -> None:
        """Ten times the largest real models."""
        self._import_mesh(self.huge, IMPORT)
        self._import_clip(self.huge_clip, None)
        self._import_frames(self.md2_huge, read_model(self.md2_huge), "MD2 at its limits")

    def many_animations(self) -> None:
        """A folder of animations, compared with making the curves of all."""
        model = inputs.folder(self.folder / "many", _MANY)
        clips = sorted(model.parent.glob("*.md5anim"))
        importing = operator(model, animations="FOLDER")
        empty()
        importing()
        versions = sys.modules[self.curves.__module__]
        action = bpy.data.actions[clips[0].stem]
        actions = ActionFloor(versions.action_fcurves(action, "OBJECT"), self.curves)
        numbers = [NumberFloor(path.read_bytes()) for path in clips]

        def floor() -> None:
            for one in numbers:
                one.run()
                actions.run()

        seconds, least = medians(Job(importing, empty), Job(floor, empty))
        job = f"import a folder of {_MANY:,} animations, 30 frames of 33 joints"
        self.results.rows.append(Row(job, seconds, "floor", least, MANY))

    def _import_clip(self, path: Path, target: float | None) -> None:
        clip = read_animation(path)
        floor = self._action_floor(path)
        numbers = NumberFloor(path.read_bytes())
        seconds, least = medians(Job(operator(path), lambda: load(self.bob)), Job(_both(floor, numbers), empty))
        job = f"import clip, {clip.frame_count:,} frames of {len(clip.names)} joints"
        self.results.rows.append(Row(job, seconds, "floor", least, target))

    def _action_floor(self, path: Path) -> ActionFloor:
        """The floor of a clip, for the curves and keys that its import creates."""
        load(self.bob)
        operator(path)()
        action = bpy.context.view_layer.objects.active.animation_data.action
        versions = sys.modules[self.curves.__module__]
        return ActionFloor(versions.action_fcurves(action, "OBJECT"), self.curves)

    def _import_mesh(self, path: Path, target: float | None) -> None:
        model = read_mesh(path)
        numbers = NumberFloor(path.read_bytes())
        floors = (ModelFloor(model), ModelFloor(model, through_attributes=True))
        seconds, least, fastest = medians(
            Job(operator(path), empty), *(Job(_both(floor, numbers), empty) for floor in floors)
        )
        job = f"import mesh, {model.vertex_count:,} vertices, {len(model.joints)} joints"
        assimp = _assimp(path)
        peer = medians(Job(assimp))[0] if assimp else None
        self.results.rows.append(Row(job, seconds, "floor", least, None, peer))
        self.results.rows.append(Row(job, seconds, "fastest floor", fastest, target))

    def _import_frames(self, path: Path, model: Model | Md3Model, name: str) -> None:
        floors = (FramesFloor(model, self.curves), FramesFloor(model, self.curves, through_attributes=True))
        seconds, least, fastest = medians(Job(operator(path), empty), *(Job(floor.run, empty) for floor in floors))
        job = f"import {name}, {model.frame_count} frames of {model.vertex_count:,} vertices"
        assimp = _assimp(path)
        peer = medians(Job(assimp))[0] if assimp else None
        self.results.rows.append(Row(job, seconds, "floor", least, None, peer))
        self.results.rows.append(Row(job, seconds, "fastest floor", fastest))

    # Exporting

    def export_clip(self) -> None:
        """501 frames of 46 joints with bounds, compared with playing them once."""
        load(self.rifle)
        operator(self.rifle_clip)()
        target = str(self.folder / "out.md5anim")

        def play() -> None:
            scene = bpy.context.scene
            for frame in range(scene.frame_start, scene.frame_end + 1):
                scene.frame_set(frame)

        frames = bpy.context.scene.frame_end - bpy.context.scene.frame_start + 1
        self._row(
            f"export {frames} frames of 46 joints with bounds",
            lambda: bpy.ops.export_scene.md5anim(filepath=target),
            "playing them once",
            play,
            PLAYING,
        )
        export = Job(lambda: bpy.ops.export_scene.md5anim(filepath=target))
        self._functions("exporting those frames", "the export", export, CLIP_EXPORT)

    def export_mesh(self) -> None:
        """The mesh of 7,400 vertices, and the largest one."""
        for path in (self.rifle, self.huge):
            out = str(self.folder / "out.md5mesh")
            self._export(
                f"export mesh, {read_mesh(path).vertex_count:,} vertices",
                lambda: bpy.ops.export_scene.md5mesh(filepath=out),  # noqa: B023 - the same in each round
                path,
                OWN_EXPORT,
            )

        export = Job(lambda: bpy.ops.export_scene.md5mesh(filepath=out), lambda: load(self.rifle))
        self._functions("exporting the mesh of 7,421 vertices", "the export", export, MESH_EXPORT)

    def verification(self) -> None:
        """Exports with verification, compared with the same without."""
        load(self.rifle)
        operator(self.rifle_clip)()
        mesh, clip = str(self.folder / "verified.md5mesh"), str(self.folder / "verified.md5anim")
        frames = bpy.context.scene.frame_end - bpy.context.scene.frame_start + 1
        exports: dict[str, Callable[[str], object]] = {
            "mesh of 7,400 vertices": lambda verify: bpy.ops.export_scene.md5mesh(filepath=mesh, verify=verify),
            f"{frames} frames of 46 joints": lambda verify: bpy.ops.export_scene.md5anim(filepath=clip, verify=verify),
            f"that mesh with {frames} frames": lambda verify: bpy.ops.export_scene.md5mesh(
                filepath=mesh, actions="ACTIVE", verify=verify
            ),
        }
        for what, export in exports.items():
            self._row(
                f"export, verified: {what}",
                lambda: export("SOME"),  # noqa: B023 - measured in this round
                "without verification",
                lambda: export("NONE"),  # noqa: B023
                VERIFYING,
            )

    def short_clips(self) -> None:
        """An export of many short clips with verification, compared with the same without."""
        load(self.rifle)
        joints = read_mesh(self.rifle).joints
        for number in range(_SHORT_CLIPS):
            clip = inputs.animation(joints, _SHORT_FRAMES, seed=number)
            operator(self._clip(clip, f"short{number}"))()
        out = str(self.folder / "clips.md5mesh")

        def export(verify: str) -> object:
            return bpy.ops.export_scene.md5mesh(filepath=out, actions="ALL", verify=verify)

        self._row(
            f"export, verified: a mesh of 7,400 vertices with {_SHORT_CLIPS} clips of {_SHORT_FRAMES} frames",
            lambda: export("SOME"),
            "without verification",
            lambda: export("NONE"),
            VERIFYING,
        )
        self._functions("exporting those clips", "the export", Job(lambda: export("SOME")), CLIP_EXPORT)

    def iqm(self) -> None:
        """A large IQM read into arrays, and a character with 30 animations, compared with the same as MD5."""
        huge = self._path("huge.iqm")
        write_iqm(from_model(inputs.model(200_000, 100)), huge)
        iqm = read_iqm(huge)
        arrays = [iqm.triangles, iqm.adjacency, *(one.values for one in iqm.arrays)]

        def floor() -> list[np.ndarray]:
            data = huge.read_bytes()
            return [np.frombuffer(data, one.dtype, one.size).copy() for one in arrays]

        job = f"read IQM of {huge.stat().st_size / 1e6:.1f} MB into arrays"
        self._row(job, lambda: read_iqm(huge), "`np.frombuffer`", floor, AS_ARRAYS)

        md5 = self._path("character.md5mesh")
        shutil.copyfile(self.rifle, md5)
        model = read_mesh(md5)
        clips = [inputs.animation(model.joints, 30, seed=number) for number in range(_ACTIONS)]
        for number, clip in enumerate(clips):
            write_animation(clip, md5.with_name(f"clip{number}.md5anim"))
        named = [NamedAnimation(f"clip{number}", clip) for number, clip in enumerate(clips)]
        file = self._path("figure.iqm")
        write_iqm(from_model(model, named), file)
        jobs = [Job(operator(path, animations="FOLDER"), empty) for path in (file, md5)]
        what = f"{model.vertex_count:,} vertices with {_ACTIONS} animations of 30 frames"
        own, other = medians(*jobs)
        self.results.rows.append(Row(f"import IQM, {what}", own, "the same as MD5", other, AS_MD5))

        # Made in Blender: of both, nothing of an imported file can be written again.
        def load_new() -> None:
            jobs[1].prepare()
            jobs[1].run()
            for data in (*bpy.data.armatures, *bpy.data.meshes, *bpy.data.actions):
                data.pop("md5", None)

        out = str(file.with_name("out"))
        own, other = medians(
            Job(lambda: bpy.ops.export_scene.iqm(filepath=out + ".iqm", actions="ALL"), load_new),
            Job(lambda: bpy.ops.export_scene.md5mesh(filepath=out + ".md5mesh", actions="ALL"), load_new),
        )
        self.results.rows.append(Row(f"export IQM, {what}", own, "the same as MD5", other, AS_MD5))

    # Materials

    def materials(self) -> None:
        """Models with 50 materials in a game folder of 20,000 files and 40 archives."""
        models = game_folder.make(self.folder / "game", inputs.model(400, 5))
        importer = sys.modules["io_idtech.io_md5.importing.importer"]

        def images_of(paths: list[Path]) -> float:
            job = Job(lambda: finish(importer.import_files(bpy.context, paths, importer.ImportOptions())), empty)
            return measure_parts(job, IMAGES)[1]["images"]

        first, total = images_of(models[:1]), images_of(models)
        job = "images of a model with 50 materials in a game folder of 20,000 files and 40 archives"
        self.results.rows.append(Row(job, first, "0.3 s", FIRST_MODEL, 1.0))
        further = (total - first) / (len(models) - 1)
        self.results.rows.append(Row(f"{job}, each further one", further, "20 ms", FURTHER_MODEL, 1.0))

    # Converting

    def conversion(self) -> None:
        """Whole trees on the command line."""
        # Each half of them, every other one, holds as many of both.
        models = [self.bob, self.md2_player, self.md2_player, self.bob]
        tree = conversion.make_tree(self.folder / "tree", models, _CONVERTED)
        out = self.folder / "converted"
        one, floor, two, halves = conversion.compare(tree, out)
        job = f"convert {_CONVERTED} models to .blend"
        running = "importing and saving them in one running Blender"
        self.results.rows.append(Row(job, one[conversion.WHOLE], running, floor, CONVERTING))
        for part in (
            conversion.STARTING, conversion.EMPTYING, conversion.READING,
            conversion.BUILDING, conversion.WRITING, conversion.RECORDING,
        ):  # fmt: skip
            self.results.rows.append(Row(f"of converting them: {part}", one[part], "all", one[conversion.WHOLE]))
        self.results.rows.append(
            Row(f"{job}, --jobs 2", two, "two separate processes at once with half of them each", halves, AT_ONCE)
        )
        self.results.rows.append(Row(f"{job}, --jobs 2", two, "one job", one[conversion.WHOLE]))
        few = conversion.make_tree(self.folder / "few", models, _EXPORTED)
        glb = conversion.measure(few, out, "glb")
        least = glb[conversion.WRITING]
        self.results.rows.append(
            Row(f"convert {_EXPORTED} models to .glb", glb[conversion.COMMAND], "Blender's exporter alone", least, GLB)
        )
        small = self._path("small.md2")
        write_model(md2_inputs.torus(6, 6, 1), small)
        many = conversion.make_tree(self.folder / "level", [small], _LEVEL_FILES)
        before, after = conversion.memory(conversion.measure(many, out, "blend"))
        self.results.rows.append(
            Row(f"memory after converting {_LEVEL_FILES:,} files", after / 1e9, "after a tenth of them",
                before / 1e9, LEVEL, unit="GB")
        )  # fmt: skip

        library = conversion.make_tree(self.folder / "assets", [small], _ASSETS)
        made = conversion.measure(library, out, "assets")
        before, after = conversion.memory(made)
        self.results.rows += [
            Row("asset of a small MD2, beside its import", made[conversion.PICTURES] / _ASSETS, "1 s", PICTURES, 1.0),
            Row(f"memory after making {_ASSETS:,} assets", after / 1e9, "after a tenth of them", before / 1e9, LEVEL,
                unit="GB"),
        ]  # fmt: skip
        (self.folder / "animated").mkdir()
        for index in range(_ACTIONS):
            animation = inputs.animation(read_mesh(self.bob).joints, 30)
            write_animation(animation, self.folder / "animated" / f"clip{index}.md5anim")
        shutil.copy(self.bob, self.folder / "animated")
        made = conversion.measure(self.folder / "animated", out, "assets")
        job = f"asset of a model of 7,421 vertices with {_ACTIONS} actions, beside its import"
        self.results.rows.append(Row(job, made[conversion.PICTURES], "1 s", PICTURES, 1.0))

    def export_player(self) -> None:
        """The player models unchanged and with every frame edited, and the largest MD2."""
        out = str(self.folder / "out.md2")

        def export() -> object:
            return bpy.ops.export_scene.md2(filepath=out, game="ANY")

        def edit() -> None:
            for key in next(iter(bpy.data.shape_keys)).key_blocks:
                key.points[0].co.x += 0.123

        def export_md3() -> object:
            return bpy.ops.export_scene.md3(filepath=str(self.folder / "out.md3"), game="ANY")

        self._export("export MD2 player model", export, self.md2_player, OWN_EXPORT)
        self._export("export MD3 player model", export_md3, self.md3_player, OWN_EXPORT)

        job = Job(export, lambda: load(self.md2_player))
        self._functions("exporting the MD2 player model", "the export", job, MD2_EXPORT)
        self._export("export MD2 player model, every frame edited", export, self.md2_player, EVERY_FRAME, edit)
        self._export("export MD2 at its limits", export, self.md2_huge, AT_LIMITS)

    def edited_frames(self) -> None:
        """MD3 models of which every vertex was moved in every frame, compared with Blender's evaluation of these."""
        for rings, frames in ((60, 100), (240, 100)):
            path = self._path(f"frames{rings}.md3")
            write_md3(md3_inputs.same_model(md2_inputs.torus(rings, rings, frames)), path)
            load(path)
            for key in next(iter(bpy.data.shape_keys)).key_blocks:
                points = np.empty(3 * len(key.points), dtype=np.float32)
                key.points.foreach_get("co", points)
                key.points.foreach_set("co", 1.02 * points)
            target = str(self.folder / "out.md3")
            self._row(
                f"export MD3, {frames} edited frames of {rings * rings:,} vertices",
                lambda: bpy.ops.export_scene.md3(filepath=target, game="ANY"),  # noqa: B023 - measured in this round
                "evaluating them once",
                evaluate_frames,
                EVALUATING,
            )

    def _export(
        self,
        job: str,
        export: Callable[[], object],
        path: Path,
        target: float,
        change: Callable[[], object] = lambda: None,
    ) -> None:
        def prepare() -> None:
            load(path)
            change()

        seconds, importing = medians(Job(export, prepare), Job(operator(path), empty))
        self.results.rows.append(Row(job, seconds, "its import", importing, target))

    # Memory

    def memory(self) -> None:
        """The peak memory of each import."""
        if not memory.is_measurable():
            return
        for job, path, armature in (
            ("mesh of 7,400 vertices", self.rifle, None),
            ("mesh of 100,000 vertices", self.huge, None),
            ("clip of 2,800 frames", self.bob_clip, self.bob),
            ("clip of 10,000 frames", self.huge_clip, self.bob),
            ("MD2 player model", self.md2_player, None),
            ("MD2 at its limits", self.md2_huge, None),
        ):
            peak = memory.measure(path, armature)
            self.results.memory.append(Memory(job, peak.file, peak.result, peak.above))

    def _row(
        self,
        job: str,
        run: Callable[[], object],
        against: str,
        other: Callable[[], object],
        target: float | None = None,
    ) -> None:
        seconds, least = medians(Job(run), Job(other))
        self.results.rows.append(Row(job, seconds, against, least, target))


def evaluate_frames() -> None:
    """Evaluates the frames of the scene, and reads positions and normals of its mesh."""
    scene = bpy.context.scene
    obj = next(one for one in scene.objects if one.type == "MESH")
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.attributes["position"].data.foreach_get("vector", points)
        normals = np.empty(3 * len(mesh.loops), dtype=np.float32)
        mesh.corner_normals.foreach_get("vector", normals)
        evaluated.to_mesh_clear()


def _both(floor: ActionFloor | ModelFloor, numbers: NumberFloor) -> Callable[[], None]:
    def run() -> None:
        numbers.run()
        floor.run()

    return run


def _assimp(path: Path) -> Callable[[], object] | None:
    """Reading a file with Assimp; None if it is not installed or cannot read the file."""
    if importlib.util.find_spec("assimp_py") is None:
        return None
    import assimp_py

    def read() -> object:
        return assimp_py.import_file(str(path), 0)

    try:
        read()
    except (RuntimeError, ValueError):
        return None
    return read
