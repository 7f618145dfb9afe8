"""Where things are."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELPERS = ROOT / "tests" / "helpers"
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS", ROOT.parent / "shared" / "corpus"))
SAMPLES = ROOT / "samples"
