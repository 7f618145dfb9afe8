"""Where things are."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELPERS = ROOT / "tests" / "helpers"
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS", ROOT.parent / "shared" / "corpus"))
SAMPLES = ROOT / "samples"
# The folders of the product's modules.
PACKAGES = tuple(
    sorted(path.parent.name for path in [*ROOT.glob("io_*/__init__.py"), *ROOT.glob("command_line/__init__.py")])
)
