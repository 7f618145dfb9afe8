"""The examples on the pages of the format packages run without Blender, one after the other."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from paths import ROOT


@pytest.mark.parametrize("page", ["api-md5.md", "api-md2.md"])
def test_examples_run_without_blender(page, tmp_path):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    script = "\n".join(["import sys", "sys.modules['bpy'] = None", f"folder = {str(tmp_path)!r}", *blocks])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
