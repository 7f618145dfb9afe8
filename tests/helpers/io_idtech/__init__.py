"""The checkout as the package `io_idtech`, whatever its folder is called."""

from pathlib import Path

_ROOT = Path(__file__).parents[3]
__path__ = [str(_ROOT)]
exec(compile((_ROOT / "__init__.py").read_text(encoding="utf-8"), _ROOT / "__init__.py", "exec"))
