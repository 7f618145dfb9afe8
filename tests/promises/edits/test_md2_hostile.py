"""Whatever stands in the custom properties and attributes of an imported MD2, the export is what Blender shows.

Never an internal error, and never more work than the mesh is worth.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from md2_compare import assert_matches_blender, bench_of, compare
from workbench import activate

resource = pytest.importorskip("resource", reason="on Windows, the memory of a process has no limits")

pytestmark = pytest.mark.slow

KEYS = [
    "frame_names", "key_names", "frame_start", "grids", "vertices", "normals", "triangles", "st", "skin_size",
    "image_size", "skins", "material_skins",
]  # fmt: skip
VALUES = [
    True, 0, 1, -1, 2**31 - 1, -(2**31), 0.0, 0.5, -1e300, math.nan, math.inf, "", "x", "x" * 5000, "frame\0", "材質",
    b"", b"\0", b"\xff" * 7, b"\xff" * 120, b"\0" * 120, b"\x7f" * 375, b"\xff" * 375, b"\0" * 1000,
    [], [0], [1, 1], [0, 0], [-1, -1], [2**31 - 1] * 2, [65536, 65536], [0.5, 0.5], [math.nan] * 2,
    [math.inf] * 30, [1, 2, 3],
    ["a"], ["wave1"] * 5, ["x" * 64] * 5, ["é\udc80".encode("utf-8", "ignore").decode()] * 5, [""] * 5, ["a"] * 3000,
    list(range(500)),
    {}, {"a": 1}, {"frame_names": {"b": [1.0]}},
    np.full(30, np.nan, "<f4").tobytes(), np.full(30, np.inf, "<f4").tobytes(), np.full(30, 3e38, "<f4").tobytes(),
    np.full(30, 1e25, "<f4").tobytes(), np.full(30, -1.0, "<f4").tobytes(), np.zeros(30, "<f4").tobytes(),
    np.arange(108, dtype="<i4").tobytes(), np.full(108, -1, "<i4").tobytes(), np.full(108, 2**31 - 1, "<i4").tobytes(),
    np.zeros(108, "<i4").tobytes(), np.full(56, -32768, "<i2").tobytes(), np.full(56, 32767, "<i2").tobytes(),
]  # fmt: skip
MISSING = object()

# By which the process may grow over an export of the small sample, in KiB.
MOST_MEMORY = 100_000


@pytest.fixture(params=["plain", "one frame", "edited"])
def bench(request, tmp_path):
    bench = bench_of(tmp_path, "tube", request.param if request.param != "edited" else "plain")
    if request.param == "edited":
        for key in bench.mesh.data.shape_keys.key_blocks:
            key.data[3].co.x += 2.0
        bench.mesh.data.uv_layers[0].uv[0].vector = (0.4, 0.3)
    return bench


def assert_exact(folder, what):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        result = compare(folder)
    except RuntimeError as error:
        pytest.fail(f"{what}: {error}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY, what
    assert result.file.skin_size in ((64, 48), (256, 256)), what
    assert result.wrong == [], what
    assert not [text for text in result.warnings if "differ from" in text], what
    return result


@pytest.mark.parametrize("key", KEYS)
def test_a_hostile_value(tmp_path, bench, key):
    mesh = bench.mesh.data
    good = mesh["md2"].to_dict()
    # Each key gets every sixth value, and the next key the next ones.
    for value in [MISSING, *VALUES[KEYS.index(key) % 6 :: 6]]:
        group = {name: kept for name, kept in good.items() if name != key}
        if value is not MISSING:
            group[key] = value
        mesh["md2"] = group
        assert_exact(tmp_path, f"{key} = {value!r}"[:200])


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_a_hostile_group(tmp_path, value):
    bench = bench_of(tmp_path)
    bench.mesh.data["md2"] = value
    assert_exact(tmp_path, "the group")


def test_several_hostile_values_at_once(tmp_path, bench):
    mesh = bench.mesh.data
    good = mesh["md2"].to_dict()
    rng = np.random.default_rng(17)
    for number in range(50):
        group = dict(good)
        for key in rng.choice(KEYS, size=rng.integers(1, 5), replace=False):
            if rng.random() < 0.5 and isinstance(group[key], bytes):
                data = bytearray(group[key])
                for place in rng.integers(0, max(len(data), 1), 5):
                    data[place % max(len(data), 1)] = rng.integers(0, 256)
                group[key] = bytes(data[: rng.integers(0, len(data) + 1)] if rng.random() < 0.3 else data)
            else:
                group[key] = VALUES[rng.integers(len(VALUES))]
        mesh["md2"] = group
        assert_exact(tmp_path, f"sequence {number}")


@pytest.mark.parametrize("name", ["md2_vertex", "md2_corner_st"])
@pytest.mark.parametrize("kind", ["INT", "FLOAT", "BOOLEAN", "INT8", "FLOAT_VECTOR"])
@pytest.mark.parametrize("domain", ["POINT", "EDGE", "FACE", "CORNER"])
def test_hostile_attributes(tmp_path, name, kind, domain):
    mesh = bench_of(tmp_path).mesh.data
    mesh.attributes.remove(mesh.attributes[name])
    attribute = mesh.attributes.new(name, kind, domain)
    rng = np.random.default_rng(3)
    count = len(attribute.data)
    if kind == "INT":
        for values in (
            np.full(count, -1),
            np.full(count, 2**31 - 1),
            np.full(count, -(2**31)),
            np.zeros(count),
            np.arange(count)[::-1],
            rng.permutation(count),
            rng.integers(-100, 100, count),
        ):
            attribute.data.foreach_set("value", values.astype(np.int32))
            assert_exact(tmp_path, values)
    elif kind == "FLOAT":
        attribute.data.foreach_set("value", np.full(count, np.nan, np.float32))
    assert_exact(tmp_path, kind)


def test_the_group_of_another_model(tmp_path):
    """As after a script copied it, or after objects were joined in the other order."""
    bench = bench_of(tmp_path)
    collection = bench.mesh.users_collection[0]
    group = bench.mesh.data["md2"].to_dict()
    bpy.data.objects.remove(bench.mesh)
    for name in ("cube", "monkey"):
        if name == "cube":
            bpy.ops.mesh.primitive_cube_add()
        else:
            bpy.ops.mesh.primitive_monkey_add(location=(4, 0, 0))
        bpy.context.object.data["md2"] = group
        collection.objects.link(bpy.context.object)
    assert_exact(tmp_path, "another model")


def test_joined_with_a_new_mesh(tmp_path):
    bench = bench_of(tmp_path)
    bpy.ops.mesh.primitive_cube_add(location=(40, 0, 0))
    activate(bench.mesh, bpy.context.object)
    bpy.ops.object.join()
    assert_matches_blender(compare(tmp_path))


def test_joined_into_a_new_mesh(tmp_path):
    """Blender keeps the shape keys, but neither their animation nor the properties."""
    bench = bench_of(tmp_path)
    bpy.ops.mesh.primitive_cube_add(location=(40, 0, 0))
    activate(bpy.context.object, bench.mesh)
    bpy.ops.object.join()
    result = compare(tmp_path, source="SCENE")
    assert_matches_blender(result)
    result = compare(tmp_path)
    assert result.file.frame_names == ["wave1", "wave2", "wave3", "wave4", "wave5"]
    assert any("mix" in text for text in result.warnings)
