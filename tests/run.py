"""Runs pytest with the given arguments and leaves without Blender's own way out, which may hang."""

import os
import sys

import pytest

if __name__ == "__main__":
    status = pytest.main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status))
