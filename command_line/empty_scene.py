"""Blender's empty scene, in which each file is imported.

Loading it takes about as long as saving a small model. After an import that was only saved, it is enough to remove what
the import added: the next result is the same, and so the results do not depend on the order of the files.
"""

from __future__ import annotations

import bpy

from ..io_common.operators.rollback import Snapshot


class EmptyScene:
    """The empty scene of a run, which alone uses this Blender."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._is_restorable = False

    def open(self) -> None:
        """Makes the scene empty."""
        if self._snapshot is not None and self._is_restorable:
            self._snapshot.restore()
        else:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            self._snapshot = Snapshot(bpy.context)
        # Whatever happens now may change more than an import does, or end half-way.
        self._is_restorable = False

    def allow_restoring(self) -> None:
        """Tells that nothing but an import has changed the scene since it was opened."""
        self._is_restorable = True
