"""Every value that the add-on stores in Blender's data, found and values of all kinds to replace it with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import md5_compare
import workbench
from workbench import Bench


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


def bench_with_stored_values(folder, setting: str) -> Bench:
    """A model with whatever the import stores, degenerate triangles and unused vertices included."""
    path = workbench.write_sample(folder, with_oddities=True)
    return workbench.load_by_setting("odd", [path, path.with_name("walk.md5anim")], setting)


def assert_export_matches_blender(folder, bench: Bench) -> None:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    # The stored scale and axes are values that anyone may have changed.
    forward, up = bench.options.get("axes", ("Y", "Z"))
    own = {"global_scale": bench.options.get("scale", 1.0), "axis_forward": forward, "axis_up": up}
    result = md5_compare.export_and_compare(out, bench.armature, actions="ACTIVE", **bench.options, **own)
    md5_compare.assert_matches_blender(result)


# For the second setting, which stores little that the first does not.
FEW = ("a text", "a huge number", "NaN", "all huge", "numbers, one more", "the numbers reversed", "a group")

CASES = [("merged", value) for value in VALUES] + [("unmerged joint axes", value) for value in FEW]


def try_value(folder, setting: str, value: str) -> tuple[int, list[str]]:
    """Puts a value in every sixth place in turn, and the old one back after each export: their number, and failures."""
    # The next value begins with the next place, so that each place has many.
    bench = bench_with_stored_values(folder, setting)
    failures: list[str] = []
    cases = 0
    for place in places(bench)[list(VALUES).index(value) % 6 :: 6]:
        before = [(group, key, plain(group[key])) for group, key in containers(bench, place)]
        if place.kind == "material" and isinstance(VALUES[value](before[0][2]), str | bytes):
            # A text is another shader, which users may choose.
            continue
        done = [put(group, key, VALUES[value](old)) for group, key, old in before]
        try:
            if any(done):
                cases += 1
                export_and_compare(folder, bench, f"{place}", failures)
        finally:
            for group, key, old in before:
                put(group, key, old)
    return cases, failures


def export_and_compare(folder, bench: Bench, what: str, failures: list[str]) -> None:
    scene = bpy.context.scene
    try:
        with md5_compare.silence():
            assert_export_matches_blender(folder, bench)
    except (AssertionError, RuntimeError) as error:
        failures.append(f"{what}: {str(error).strip()[:300]}")
    scene.frame_set(scene.frame_start)
