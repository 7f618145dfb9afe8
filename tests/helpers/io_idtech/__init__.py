"""The checkout as the package `io_idtech`, under whatever name; with IO_IDTECH_INSTALLED, the installed package."""

import os
import sysconfig
from pathlib import Path

_INSTALLED = Path(sysconfig.get_path("purelib")) / "io_idtech"
_ROOT = _INSTALLED if "IO_IDTECH_INSTALLED" in os.environ else Path(__file__).parents[3]
__path__ = [str(_ROOT)]
exec(compile((_ROOT / "__init__.py").read_text(encoding="utf-8"), _ROOT / "__init__.py", "exec"))
