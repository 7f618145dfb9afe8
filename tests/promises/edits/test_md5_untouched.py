"""Untouched models and simple models made in Blender are exported as evaluated."""

from __future__ import annotations

import md5_compare
import pytest
import workbench


@pytest.mark.parametrize(("name", "setting"), workbench.starting_points(("sample", *workbench.REAL, "made")))
@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
def test_an_export_is_what_blender_shows(tmp_path, name, setting, actions):
    bench = workbench.bench_of(tmp_path, name, setting)
    (tmp_path / "out").mkdir()
    result = md5_compare.export_and_compare(tmp_path / "out", bench.armature, actions=actions, **bench.options)
    md5_compare.assert_matches_blender(result)
    assert result.clips
    assert len(result.model.blocks) == len(bench.meshes)
    assert len(result.differences) == len(bench.meshes)
