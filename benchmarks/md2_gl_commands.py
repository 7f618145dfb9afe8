"""How long GL commands take to find, on surfaces easy and hard, and on real models where there are any.

    python benchmarks/md2_gl_commands.py

Needs numpy alone. Eight times the triangles should take about eight times as long; quadratic time would be 64 times.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from io_md2.format import Md2Error, generate_commands, read_model  # noqa: E402

CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS", ROOT.parent / "shared" / "corpus"))
SIZES = 512, 4096


def seconds(triangles: np.ndarray) -> float:
    """The best of three."""
    count = int(triangles.max()) + 1
    st = np.stack([np.arange(count) % 128, np.arange(count) // 128 % 64], axis=1).astype(np.int16)
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        generate_commands(triangles, triangles, st, 128, 64)
        best = min(best, time.perf_counter() - start)
    return float(best)


def grid(width: int, height: int) -> np.ndarray:
    a = (np.arange(height)[:, None] * (width + 1) + np.arange(width)).reshape(-1)
    b, c, d = a + 1, a + width + 1, a + width + 2
    return np.stack([a, c, b, b, c, d], axis=1).reshape(-1, 3)


def shuffled(triangles: np.ndarray) -> np.ndarray:
    return triangles[np.random.default_rng(5).permutation(len(triangles))]


MESHES: dict[str, Callable[[int], np.ndarray]] = {
    "surface in order": lambda n: grid(32, n // 64),
    "surface, shuffled": lambda n: shuffled(grid(32, n // 64)),
    "one long strip": lambda n: grid(n // 2, 1),
    "one triangle, repeated": lambda n: np.tile([[0, 1, 2]], (n, 1)),
    "all triangles on one edge": lambda n: np.array([[0, 1, i + 2] for i in range(n)]),
    "random on six vertices": lambda n: np.random.default_rng(6).integers(0, 6, (n, 3)),
}


def real_models() -> None:
    models = []
    for path in sorted(CORPUS.glob("md2/**/*.md2")):
        try:
            models.append(read_model(path))
        except Md2Error:
            continue
    start = time.perf_counter()
    ratios = []
    for model in models:
        if model.num_triangles:
            mesh = model.triangles, model.triangle_st, model.st
            commands = generate_commands(*mesh, model.skin_width, model.skin_height)
            ratios.append(commands.num_ints / model.gl_commands.num_ints)
    total = sum(model.num_triangles for model in models)
    print(
        f"{len(models)} real models, {total} triangles: {time.perf_counter() - start:.2f} s; "
        f"length against the original's: median {np.median(ratios):.3f}, greatest {max(ratios):.3f}"
    )


if __name__ == "__main__":
    print(f"{'triangles':28}" + "".join(f"{size:>10}" for size in SIZES) + f"{'ratio':>10}")
    for name, make in MESHES.items():
        few, many = (seconds(make(size)) for size in SIZES)
        print(f"{name:28}{few:9.3f}s{many:9.3f}s{many / few:10.1f}")
    if CORPUS.is_dir():
        real_models()
