"""Whatever stands in the data that the add-on stores, an export is what Blender shows, and never fails.

The data is found, not known: every stored value of objects, meshes, armatures, bones, actions and materials is replaced
by values of all kinds, one at a time.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import md5_judge
import pytest
import resources
import workbench
from workbench import Bench

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Place:
    """Where a stored value lies.

    Attributes:
        kind: of its owner: "object", "mesh", "armature", "bone", "action", "material", "pose bone" or "scene".
        path: keys from the owner's properties down to the value.
        is_registered: whether it lies among the properties that Blender keeps for registered ones.
    """

    kind: str
    path: tuple[str, ...]
    is_registered: bool

    def __str__(self) -> str:
        return f"{self.kind} {'/'.join(self.path)}"


def owners(bench: Bench) -> dict[str, list]:
    """The data-blocks and bones that may hold stored values."""
    return {
        "object": [bench.armature, *bench.meshes],
        "mesh": [obj.data for obj in bench.meshes],
        "armature": [bench.armature.data],
        "bone": list(bench.armature.data.bones),
        "pose bone": list(bench.armature.pose.bones),
        "action": list(bpy.data.actions),
        "material": [material for obj in bench.meshes for material in obj.data.materials],
        "scene": [bpy.context.scene],
    }


def stores(owner) -> Iterator[tuple[Any, bool]]:
    """What holds the stored values of an owner: its custom properties, and from 5.0 those of registered properties."""
    yield owner, False
    if hasattr(owner, "bl_system_properties_get"):
        registered = owner.bl_system_properties_get()
        if registered is not None:
            yield registered, True


def paths_in(group, above=()) -> Iterator[tuple[str, ...]]:
    """The paths of all values, of groups too."""
    for key in list(group.keys()):
        if key in ("cycles", "_RNA_UI"):
            continue
        yield (*above, key)
        if hasattr(group[key], "keys"):
            yield from paths_in(group[key], (*above, key))


def places(bench: Bench) -> list[Place]:
    """Every place where something is stored."""
    found = {
        Place(kind, path, is_registered): None
        for kind, some in owners(bench).items()
        for owner in some
        for store, is_registered in stores(owner)
        for path in paths_in(store)
    }
    return list(found)


def containers(bench: Bench, place: Place) -> Iterator[tuple[Any, str]]:
    """The groups that hold the value at a place, of all owners that have it, and its key."""
    for owner in owners(bench)[place.kind]:
        for store, is_registered in stores(owner):
            if is_registered != place.is_registered:
                continue
            group = store
            for key in place.path[:-1]:
                group = group[key] if key in group.keys() else None  # noqa: SIM118 (owners iterate otherwise)
                if not hasattr(group, "keys"):
                    group = None
                    break
            if group is not None and place.path[-1] in group.keys():  # noqa: SIM118
                yield group, place.path[-1]


def plain(value):
    """A stored value as plain Python."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value.to_list() if hasattr(value, "to_list") else value


def _numbers(old) -> list:
    return list(old) if isinstance(old, (list, tuple)) else [1.0, 2.0, 3.0]


def _like(old, value):
    """As many numbers as there were, of the same type, all of a value."""
    count = len(old) if isinstance(old, (list, tuple)) else 4
    return [value] * max(count, 1)


HUGE = 2**31 - 1
VALUES: dict[str, Callable[[Any], Any]] = {
    "a text": lambda old: "nonsense",
    "an empty text": lambda old: "",
    "a text with quotes and lines": lambda old: 'a "b"\n\x01{}//',
    "bytes": lambda old: b"\xff\xfe\x80",
    "a long text": lambda old: "x" * 100_000,
    "zero": lambda old: 0,
    "minus one": lambda old: -1,
    "a huge number": lambda old: HUGE,
    "a hugely negative number": lambda old: -HUGE - 1,
    "a fraction": lambda old: 0.5,
    "NaN": lambda old: math.nan,
    "infinity": lambda old: math.inf,
    "a number beyond floats": lambda old: 1e300,
    "truth": lambda old: True,
    "an empty list": lambda old: [],
    "one number": lambda old: [1.0],
    "one whole number": lambda old: [1],
    "numbers, one missing": lambda old: _numbers(old)[:-1],
    "numbers, one more": lambda old: [*_numbers(old), _numbers(old)[-1]] if _numbers(old) else [1],
    "twice the numbers": lambda old: _numbers(old) * 2,
    "half the numbers": lambda old: _numbers(old)[: len(_numbers(old)) // 2],
    "all NaN": lambda old: _like(old, math.nan),
    "all infinite": lambda old: _like(old, -math.inf),
    "all huge": lambda old: _like(old, HUGE),
    "all negative": lambda old: _like(old, -7),
    "all zero": lambda old: _like(old, 0),
    "all 1e30": lambda old: _like(old, 1e30),
    "all tiny": lambda old: _like(old, 1e-30),
    "the numbers reversed": lambda old: _numbers(old)[::-1],
    "the numbers a little off": lambda old: _shaken(old, 1e-3),
    "the numbers far off": lambda old: _shaken(old, 5.0),
    "the numbers negated": lambda old: [-number for number in _plain_numbers(old)],
    "the numbers of another type": lambda old: _other_type(old),
    "texts": lambda old: ["a", "b"],
    "a group": lambda old: {"a": 1, "b": {"c": [1.0, 2.0]}},
    "groups in a list": lambda old: [{"a": 1}, {"b": 2}],
    "a million numbers": lambda old: [0.0] * 1_000_000,
    "a million whole numbers": lambda old: [HUGE] * 1_000_000,
}


def _plain_numbers(old) -> list:
    return [number for number in _numbers(old) if isinstance(number, (int, float))] or [1.0]


def _shaken(old, size):
    numbers = _plain_numbers(old)
    if all(isinstance(number, int) for number in numbers):
        return [number + 1 + index % 2 for index, number in enumerate(numbers)]
    return [number + size * math.sin(index) for index, number in enumerate(numbers)]


def _other_type(old):
    numbers = _plain_numbers(old)
    if all(isinstance(number, int) for number in numbers):
        return [float(number) for number in numbers]
    return [int(max(min(number, HUGE), -HUGE)) if math.isfinite(number) else 0 for number in numbers]


def put(group, key: str, value) -> bool:
    """Stores a value; False where Blender keeps no such value there."""
    try:
        group[key] = value
    except (TypeError, ValueError, OverflowError, AttributeError):
        return False
    return True


def bench_with_memory(folder, setting: str) -> Bench:
    """A model with whatever the import stores, degenerate triangles and unused vertices included."""
    path = workbench.write_sample(folder, with_oddities=True)
    importing, exporting = workbench.SETTINGS[setting]
    bench = workbench.load([path, path.with_name("walk.md5anim")], **importing)
    bench.options = dict(exporting)
    return bench


def judged(folder, bench: Bench) -> None:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    result = md5_judge.judge(out, bench.armature, actions="ACTIVE", **bench.options)
    md5_judge.assert_as_shown(result)


# The shader of a material is a setting: users may give it another one.
STORING = ("mesh", "armature", "bone", "action")


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
def test_there_is_something_stored_where_the_values_are_put(tmp_path, setting):
    kinds = {place.kind for place in places(bench_with_memory(tmp_path, setting))}
    assert kinds >= {"mesh", "bone", "action"}


# For the second setting, which stores little that the first does not.
FEW = ("a text", "a huge number", "NaN", "all huge", "numbers, one more", "the numbers reversed", "a group")
CASES = [("merged", value) for value in VALUES] + [("unmerged joint axes", value) for value in FEW]


@pytest.mark.parametrize(("setting", "value"), CASES)
def test_a_stored_value_that_is_something_else_does_no_harm(tmp_path, setting, value):
    cases, failures = try_value(tmp_path, setting, value)
    assert not failures, "; ".join(failures[:5])
    assert cases >= 5


def try_value(folder, setting: str, value: str) -> tuple[int, list[str]]:
    """Puts a value in every place in turn, and the old one back after each export: their number, and failures."""
    bench = bench_with_memory(folder, setting)
    failures: list[str] = []
    cases = 0
    for place in places(bench):
        before = [(group, key, plain(group[key])) for group, key in containers(bench, place)]
        if place.kind == "material" and isinstance(VALUES[value](before[0][2]), str | bytes):
            # A text is another shader, which users may choose.
            continue
        done = [put(group, key, VALUES[value](old)) for group, key, old in before]
        try:
            if any(done):
                cases += 1
                _export_and_compare(folder, bench, f"{place}", failures)
        finally:
            for group, key, old in before:
                put(group, key, old)
    return cases, failures


def _export_and_compare(folder, bench: Bench, what: str, failures: list[str]) -> None:
    scene = bpy.context.scene
    try:
        with md5_judge.silence():
            judged(folder, bench)
    except (AssertionError, RuntimeError) as error:
        failures.append(f"{what}: {str(error).strip()[:300]}")
    scene.frame_set(scene.frame_start)


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
def test_a_stored_value_that_is_missing_does_no_harm(tmp_path, setting):
    bench = bench_with_memory(tmp_path, setting)
    failures = []
    for place in places(bench):
        before = [(group, key, plain(group[key])) for group, key in containers(bench, place)]
        for group, key, _ in before:
            del group[key]
        _export_and_compare(tmp_path, bench, f"{place}", failures)
        for group, key, old in before:
            put(group, key, old)
    assert not failures, "; ".join(failures[:5])


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
@pytest.mark.parametrize("kind", STORING)
def test_stored_values_of_another_owner_do_no_harm(tmp_path, setting, kind):
    """All that one mesh, bone, action or material remembers is what another one remembered."""
    bench = bench_with_memory(tmp_path, setting)
    some = owners(bench)[kind]
    if len(some) < 2:
        (tmp_path / "other").mkdir()
        other = bench_with_memory(tmp_path / "other", "unmerged" if setting == "merged" else "merged")
        workbench.activate(bench.armature)
        other.armature.hide_set(True)
        some = [*some, *owners(other)[kind]]
        for obj in other.meshes:
            obj.hide_set(True)
    before = [
        {path: plain(_at(store, path)) for store, _ in stores(one) for path in _top(store)} for one in some
    ]
    for number, owner in enumerate(some):
        theirs = before[(number + 1) % len(some)]
        for store, _ in stores(owner):
            for key in list(store.keys()):
                if (key,) in theirs:
                    put(store, key, theirs[(key,)])
    failures: list[str] = []
    _export_and_compare(tmp_path, bench, f"all of {kind}", failures)
    assert not failures, failures[0]


def _top(store) -> list[tuple[str, ...]]:
    return [(key,) for key in store.keys() if key not in ("cycles", "_RNA_UI")]  # noqa: SIM118


def _at(store, path: tuple[str, ...]):
    for key in path:
        store = store[key]
    return store


# Attributes

TYPES = ("FLOAT", "INT", "FLOAT_VECTOR", "BYTE_COLOR", "BOOLEAN", "INT8", "STRING", "FLOAT2", "QUATERNION")
DOMAINS = ("POINT", "EDGE", "FACE", "CORNER")


def stored_attributes(mesh) -> list[str]:
    return [one.name for one in mesh.attributes if one.name.startswith(("md5", ".md5", "idtech"))]


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
@pytest.mark.parametrize("values", ["huge", "negative", "zero", "reversed", "shifted", "random"])
def test_stored_attributes_with_other_values_do_no_harm(tmp_path, setting, values):
    bench = bench_with_memory(tmp_path, setting)
    names = stored_attributes(bench.mesh.data)
    assert names
    failures: list[str] = []
    for name in names:
        for obj in bench.meshes:
            attribute = obj.data.attributes.get(name)
            if attribute is None:
                continue
            before = [0] * len(attribute.data)
            attribute.data.foreach_get("value", before)
            attribute.data.foreach_set("value", _changed(before, values))
        _export_and_compare(tmp_path, bench, f"{name} {values}", failures)
    assert not failures, "; ".join(failures[:5])


def _changed(before: list[int], values: str) -> list[int]:
    count = len(before)
    if values == "huge":
        return [HUGE] * count
    if values == "negative":
        return [-1] * count
    if values == "zero":
        return [0] * count
    if values == "reversed":
        return before[::-1]
    if values == "shifted":
        return [number + 1 for number in before]
    return [zlib.crc32(bytes([index % 256, index // 256])) % max(count, 1) for index in range(count)]


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("domain", DOMAINS)
def test_stored_attributes_of_another_type_or_domain_do_no_harm(tmp_path, data_type, domain):
    bench = bench_with_memory(tmp_path, "merged")
    failures: list[str] = []
    for name in stored_attributes(bench.mesh.data):
        for obj in bench.meshes:
            attribute = obj.data.attributes.get(name)
            if attribute is not None:
                obj.data.attributes.remove(attribute)
            obj.data.attributes.new(name, data_type, domain)
        _export_and_compare(tmp_path, bench, f"{name} of {data_type} on {domain}", failures)
    assert not failures, "; ".join(failures[:5])


@pytest.mark.parametrize("setting", ["merged", "unmerged"])
def test_missing_attributes_do_no_harm(tmp_path, setting):
    bench = bench_with_memory(tmp_path, setting)
    failures: list[str] = []
    names = stored_attributes(bench.mesh.data)
    for name in names:
        for obj in bench.meshes:
            attribute = obj.data.attributes.get(name)
            if attribute is not None:
                obj.data.attributes.remove(attribute)
        _export_and_compare(tmp_path, bench, name, failures)
    assert not failures, "; ".join(failures[:5])


# Cost


def test_the_memory_of_an_export_does_not_grow_with_stored_numbers(tmp_path):
    """A number that was read as a count or an index once took gigabytes."""
    bench = bench_with_memory(tmp_path, "merged")
    with resources.limited_growth(megabytes=400):
        for value in ("a huge number", "all huge", "a million whole numbers", "all 1e30"):
            for place in places(bench):
                before = [(group, key, plain(group[key])) for group, key in containers(bench, place)]
                for group, key, old in before:
                    put(group, key, VALUES[value](old))
                md5_judge.export(tmp_path, actions="ACTIVE")
                for group, key, old in before:
                    put(group, key, old)
