"""Blender's empty scene, in which each file is imported.

Loading it takes about as long as saving a small model. After an import that was only saved, it is enough to remove what
the import added: the next result is the same, and so the results do not depend on the order of the files.
"""

from __future__ import annotations

import bpy

from ..io_blender.operators.rollback import Snapshot


class EmptyScene:
    """The empty scene of a run, which alone uses this Blender."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._restorable: Snapshot | None = None

    def prepare(self) -> None:
        """Makes the scene empty."""
        # Whatever happens from now on may change more than an import does, or end half-way.
        snapshot, self._restorable = self._restorable, None
        if snapshot is not None:
            snapshot.restore()
        else:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            snapshot = Snapshot(bpy.context)
        self._snapshot = snapshot

    def allow_restoring(self) -> None:
        """Tells that nothing but an import has changed the scene since it was prepared."""
        self._restorable = self._snapshot
