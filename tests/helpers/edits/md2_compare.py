"""MD2 exports compared with what Blender shows, triangle by triangle, in every frame."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import bpy
import evaluated_meshes
import md2_reader
import numpy as np
import pytest
from installed import MODULE
from md2_reader import Md2File
from paths import CORPUS
from triangles import Triangles, partners
from workbench import Bench

from io_idtech.io_md2.format import Model, generate_commands, write_model

SETTINGS = {
    "plain": ({}, {}),
    "merged": ({"merge_vertices": True}, {}),
    "absolute keys": ({"animation": "ABSOLUTE"}, {}),
    "one frame": ({"animation": "NONE"}, {}),
    "scaled and turned": ({"global_scale": 0.25, "axis_forward": "X"}, {"global_scale": 4.0, "axis_forward": "X"}),
}
"""Options of the import, and of the export that takes them back."""

_TRANSFORM = ("global_scale", "axis_forward", "axis_up")

NO_LIMITS = {"game": "ANY"}
"""What the format can hold is exported, whatever a game takes."""

REAL = (
    "actionquake+distrib/baseaq/pak0/models/weapons/g_cannon/tris.md2",
    "egoboo+egoboo-assets/basicdat/globalobjects/monsters/scatterbrain.obj/tris.md2",
    "egoboo+egoboo-assets/basicdat/globalobjects/items/crowbar.obj/tris.md2",
)
"""Small real models."""


@dataclass(eq=False)
class Comparison:
    """An export and what was said.

    Attributes:
        file: as it was read.
        wrong: where it is not what Blender shows.
        warnings: that the user was told.
    """

    file: Md2File
    wrong: list[str]
    warnings: list[str]


def tube_model(frames: int = 5) -> Model:
    """A bent tube with a UV seam along it, that waves; a vertex that nothing uses; normals of no rule."""
    rings, sides = 4, 6
    angles = np.arange(sides) * 2 * np.pi / sides
    vertices = []
    for frame in range(frames):
        rows = [
            (ring * 5.0, np.cos(a) * (3 + ring), np.sin(a) * (3 + ring) + np.sin(frame + ring))
            for ring in range(rings)
            for a in angles
        ]
        vertices.append([*rows, (40.0, 0.0, float(frame))])
    positions = np.array(vertices)
    low, high = positions.min(axis=1), positions.max(axis=1)
    scale = ((high - low) / 250).astype(np.float32)
    translate = (low - 1.0 * scale).astype(np.float32)
    packed = np.round((positions - translate[:, None]) / scale[:, None]).astype(np.uint8)
    triangles, corners = [], []
    for ring in range(rings - 1):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            s, t = ring * (sides + 1) + side, ring * (sides + 1) + side + 1
            triangles += [(a, b, a + sides), (b, b + sides, a + sides)]
            corners += [(s, t, s + sides + 1), (t, t + sides + 1, s + sides + 1)]
    st = np.array([(9 * side + 3, 11 * ring + 2) for ring in range(rings) for side in range(sides + 1)], np.int16)
    model = Model(
        skin_width=64,
        skin_height=48,
        skins=["models/test/tube.pcx"],
        st=st,
        triangles=np.array(triangles, np.int32),
        triangle_st=np.array(corners, np.int32),
        scale=scale,
        translate=translate,
        frame_names=[f"wave{number + 1}" for number in range(frames)],
        vertices=packed,
        normals=np.random.default_rng(4).integers(0, 162, packed.shape[:2]).astype(np.uint8),
    )
    model.gl_commands = generate_commands(model.triangles, model.triangle_st, st, 64, 48)
    return model


def bench_of(folder: Path, name: str = "tube", setting: str = "plain", **options) -> Bench:
    """An imported model: the tube, or one of the real ones."""
    importing, exporting = SETTINGS[setting]
    importing = {**importing, **options}
    path = folder / "tube.md2"
    if name == "tube":
        write_model(tube_model(), path)
    else:
        path = CORPUS / "md2" / name
        if not path.is_file():
            pytest.skip(f"no real files at {CORPUS}")
    assert bpy.ops.import_scene.md2(filepath=str(path), use_textures=False, **importing) == {"FINISHED"}
    return Bench(None, [bpy.context.view_layer.objects.active], dict(exporting))


def export(path: Path, **options) -> tuple[Md2File, list[str]]:
    """Exports with no limits of a game, and what was said."""
    said: list[str] = []
    with _WarningsInto(said):
        assert bpy.ops.export_scene.md2(filepath=str(path), **NO_LIMITS, **options) == {"FINISHED"}
    return md2_reader.read(path), said


def compare(
    folder: Path,
    *,
    frames: list[int] | None = None,
    objects: list[bpy.types.Object] | None = None,
    source: str = "AUTO",
    gl_texels: float = 0.5,
    by_import: bool = True,
    **options,
) -> Comparison:
    """Exports the scene and compares every frame.

    Args:
        folder: for the file.
        frames: the frame of the scene that each frame of the file is to show; from the scene's first one on unless
            given.
        objects: those of the model unless given.
        source: what the frames are made of, as the operator's `frames`.
        gl_texels: by how much texture coordinates of GL commands may be off: the files of other programs have
            fractions of texels there, which their tables round or cut off.
        by_import: the scale and axes are those that take back the import, and not set.
        options: of the export; a scale and axes are taken back before comparing.
    """
    scene = bpy.context.scene
    given = {name: value for name, value in options.items() if not by_import or name not in _TRANSFORM}
    file, said = export(folder / "out.md2", frames=source, **given)
    back = 1.0 / options.get("global_scale", 1.0)
    if frames is None:
        frames = [scene.frame_start + number for number in range(len(file.frame_names))]
    wrong = [] if len(frames) == len(file.frame_names) else [f"{len(file.frame_names)} frames"]
    now = scene.frame_current, scene.frame_subframe
    cut = evaluated_meshes.Triangulation()
    reach = 1.0
    for number, frame in enumerate(frames[: len(file.frame_names)]):
        scene.frame_set(frame)
        meshes = objects or model_objects()
        expected = _joined(evaluated_meshes.parts(meshes, cut))
        has_uvs = all(_has_uvs(obj) for obj in meshes)
        step = file.steps[number] * back
        # Blender adds the differences of shape keys to the basis: the largest coordinate of any frame rounds them.
        reach = float(np.abs(expected.places).max(initial=reach))
        place = float(np.linalg.norm(step)) * 0.51 + 4e-6 * reach
        texel = 1.0 / max(min(file.skin_size), 1) if has_uvs else np.inf
        for kind, found, off in (
            ("list", file.triangles(number), 0.5),
            ("GL", file.drawn_triangles(number), gl_texels),
        ):
            found.places = _turned_back(found.places * back, options.get("axis_forward", "Y"))
            if not _same(expected, found, place, (off + 0.01) * texel):
                wrong.append(f"frame {number} ({kind})")
    scene.frame_set(now[0], subframe=now[1])
    return Comparison(file, wrong, said)


def assert_matches_blender(comparison: Comparison) -> None:
    """The file is what Blender shows, and no difference was warned of."""
    assert comparison.wrong == []
    assert [text for text in comparison.warnings if "differ from Blender" in text] == []


def visible_meshes() -> list:
    """The visible mesh objects, in the order of an export."""
    objects = bpy.context.view_layer.objects
    return sorted((obj for obj in objects if obj.type == "MESH" and obj.visible_get()), key=lambda obj: obj.name)


def model_objects() -> list:
    """The visible mesh objects that an export without a selection is to take, in its order.

    They are those of the imported model that is active or alone: what is linked to it by parents or armatures, in
    either direction, or is in one of its collections. Without such a model, they are all.
    """
    meshes = visible_meshes()
    active = bpy.context.view_layer.objects.active
    imported = [obj for obj in meshes if _is_imported(obj.data)]
    for obj in sorted(imported, key=lambda obj: obj != active):
        group = _linked_to(obj)
        if active in group or group.issuperset(imported):
            return [obj for obj in meshes if obj in group]
    return meshes


def _is_imported(mesh) -> bool:
    group = mesh.get("md2")
    return "md5" in mesh or (hasattr(group, "keys") and "frame_names" in group)


def _linked_to(model) -> set:
    group = {model}
    while True:
        above = {found for obj in group if (found := obj.find_armature() or obj.parent)}
        below = {obj for obj in bpy.context.scene.objects if (obj.find_armature() or obj.parent) in group}
        if above | below <= group:
            break
        group |= above | below
    for collection in bpy.data.collections:
        if model.name in collection.objects and collection.objects[model.name] == model:
            group.update(collection.all_objects)
    return group


def put_with(model, *others) -> None:
    """Puts objects into the collection of an imported model."""
    for other in others:
        if model.users_collection[0] not in other.users_collection:
            model.users_collection[0].objects.link(other)


def _joined(parts) -> Triangles:
    return Triangles.joined([part.triangles for part in parts])


def _same(expected: Triangles, found: Triangles, place: float, uv: float) -> bool:
    # Triangles that are degenerate in the file by their vertices show nothing; Blender has no such faces.
    if len(expected) != len(found):
        return False
    if np.isinf(uv):
        expected.uvs[:], found.uvs[:], uv = 0.0, 0.0, 1.0
    return bool((partners(expected, found, place, uv) >= 0).all())


def _turned_back(places: np.ndarray, forward: str) -> np.ndarray:
    """From a file whose models look along `forward` into Blender, where they look along +Y."""
    if forward == "Y":
        return places
    assert forward == "X"
    return np.stack([-places[..., 1], places[..., 0], places[..., 2]], axis=-1)


def _has_uvs(obj) -> bool:
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return len(evaluated.data.uv_layers) > 0


class _WarningsInto:
    """Collects the warnings that operators report to the console."""

    def __init__(self, into: list[str]) -> None:
        self._into = into

    def __enter__(self) -> None:
        self._reports = sys.modules[f"{MODULE}.io_blender.reports"]
        self._before = self._reports.report_result

        def report_result(operator, report, *rest):
            self._into += report.warnings
            return self._before(operator, report, *rest)

        self._reports.report_result = report_result

    def __exit__(self, *_error) -> None:
        self._reports.report_result = self._before
