"""Models that Blender shows differently each time are recognized: no export can be compared with them."""

from __future__ import annotations

import animation_edits
import armature_edits
import bpy
import evaluated_meshes
import workbench


def is_steady(bench: workbench.Bench) -> bool:
    bpy.context.view_layer.update()
    return evaluated_meshes.is_steady(evaluated_meshes.meshes_of(bench.armature))


def test_a_bone_driven_by_another_bone_is_steady():
    bench = workbench.made()
    animation_edits.SITUATIONS["a driver that reads another bone"](bench)
    assert is_steady(bench)


def test_a_driver_that_reads_a_child_of_its_bone_is_not_steady():
    """Blender then starts each evaluation from the result of the last: it shows other bones after a change of frame."""
    bench = workbench.made()
    animation_edits.SITUATIONS["a driver that reads another bone"](bench)
    armature_edits.EDITS["switch direction of all"](bench)
    assert not is_steady(bench)
