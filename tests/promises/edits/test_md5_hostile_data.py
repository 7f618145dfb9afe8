"""Whatever stands in the data that the add-on stores, an export is what Blender shows, and never fails.

The data is found, not known: every stored value of objects, meshes, armatures, bones, actions and materials is replaced
by values of all kinds, one at a time.
"""

from __future__ import annotations

import zlib

import md5_compare
import pytest
import resources
import workbench
from md5_stored_values import (
    CASES,
    HUGE,
    VALUES,
    bench_with_stored_values,
    containers,
    export_and_compare,
    owners,
    places,
    plain,
    put,
    stores,
    try_value,
)

pytestmark = pytest.mark.slow

# The shader of a material is a setting: users may give it another one.
STORING = ("mesh", "armature", "bone", "action")


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
def test_the_sample_stores_values_on_meshes_bones_and_actions(tmp_path, setting):
    kinds = {place.kind for place in places(bench_with_stored_values(tmp_path, setting))}
    assert kinds >= {"mesh", "bone", "action"}


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "value"), CASES)
def test_an_invalid_stored_value_does_not_change_the_export(tmp_path, setting, value):
    cases, failures = try_value(tmp_path, setting, value)
    assert not failures, "; ".join(failures[:5])
    assert cases >= 5


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
def test_a_missing_stored_value_does_not_change_the_export(tmp_path, setting):
    bench = bench_with_stored_values(tmp_path, setting)
    failures = []
    for place in places(bench):
        before = [(group, key, plain(group[key])) for group, key in containers(bench, place)]
        for group, key, _ in before:
            del group[key]
        export_and_compare(tmp_path, bench, f"{place}", failures)
        for group, key, old in before:
            put(group, key, old)
    assert not failures, "; ".join(failures[:5])


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
@pytest.mark.parametrize("kind", STORING)
def test_stored_values_of_another_owner_do_not_change_the_export(tmp_path, setting, kind):
    """All that one mesh, bone, action or material remembers is what another one remembered."""
    bench = bench_with_stored_values(tmp_path, setting)
    some = owners(bench)[kind]
    if len(some) < 2:
        (tmp_path / "other").mkdir()
        other = bench_with_stored_values(
            tmp_path / "other", "merged" if "unmerged" in setting else "unmerged joint axes"
        )
        workbench.activate(bench.armature)
        other.armature.hide_set(True)
        some = [*some, *owners(other)[kind]]
        for obj in other.meshes:
            obj.hide_set(True)
    before = [{path: plain(_at(store, path)) for store, _ in stores(one) for path in _top(store)} for one in some]
    for number, owner in enumerate(some):
        theirs = before[(number + 1) % len(some)]
        for store, _ in stores(owner):
            for key in list(store.keys()):
                if (key,) in theirs:
                    put(store, key, theirs[(key,)])
    failures: list[str] = []
    export_and_compare(tmp_path, bench, f"all of {kind}", failures)
    assert not failures, failures[0]


def _top(store) -> list[tuple[str, ...]]:
    return [(key,) for key in store.keys() if key not in ("cycles", "_RNA_UI")]  # noqa: SIM118


def _at(store, path: tuple[str, ...]):
    for key in path:
        store = store[key]
    return store


TYPES = ("FLOAT", "INT", "FLOAT_VECTOR", "BYTE_COLOR", "BOOLEAN", "INT8", "STRING", "FLOAT2", "QUATERNION")

DOMAINS = ("POINT", "EDGE", "FACE", "CORNER")


def stored_attributes(mesh) -> list[str]:
    return [one.name for one in mesh.attributes if one.name.startswith(("md5", ".md5", "idtech"))]


# Attributes


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
@pytest.mark.parametrize("values", ["huge", "negative", "zero", "reversed", "shifted", "random"])
def test_stored_attributes_with_other_values_do_not_change_the_export(tmp_path, setting, values):
    bench = bench_with_stored_values(tmp_path, setting)
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
        export_and_compare(tmp_path, bench, f"{name} {values}", failures)
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
def test_stored_attributes_of_another_type_or_domain_do_not_change_the_export(tmp_path, data_type, domain):
    bench = bench_with_stored_values(tmp_path, "merged")
    failures: list[str] = []
    for name in stored_attributes(bench.mesh.data):
        for obj in bench.meshes:
            attribute = obj.data.attributes.get(name)
            if attribute is not None:
                obj.data.attributes.remove(attribute)
            obj.data.attributes.new(name, data_type, domain)
        export_and_compare(tmp_path, bench, f"{name} of {data_type} on {domain}", failures)
    assert not failures, "; ".join(failures[:5])


@pytest.mark.parametrize("setting", ["merged", "unmerged joint axes"])
def test_missing_attributes_do_not_change_the_export(tmp_path, setting):
    bench = bench_with_stored_values(tmp_path, setting)
    failures: list[str] = []
    names = stored_attributes(bench.mesh.data)
    for name in names:
        for obj in bench.meshes:
            attribute = obj.data.attributes.get(name)
            if attribute is not None:
                obj.data.attributes.remove(attribute)
        export_and_compare(tmp_path, bench, name, failures)
    assert not failures, "; ".join(failures[:5])


# Cost


@pytest.mark.slow
def test_the_memory_of_an_export_does_not_grow_with_stored_numbers(tmp_path):
    """A number that was read as a count or an index once took gigabytes."""
    bench = bench_with_stored_values(tmp_path, "merged")
    with resources.limited_growth(megabytes=400):
        for value in ("a huge number", "all huge", "a million whole numbers", "all 1e30"):
            for place in places(bench):
                before = [(group, key, plain(group[key])) for group, key in containers(bench, place)]
                for group, key, old in before:
                    put(group, key, VALUES[value](old))
                md5_compare.export(tmp_path, actions="ACTIVE")
                for group, key, old in before:
                    put(group, key, old)
