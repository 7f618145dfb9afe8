"""The working copy as the package `io_idtech`, without Blender: whatever its folder is called."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from paths import ROOT

NAME = "io_idtech"


def load() -> ModuleType:
    """The package; its modules can be imported by their full names afterwards."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            NAME, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
    return sys.modules[NAME]
