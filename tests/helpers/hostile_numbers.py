"""Files with numbers near the limits of floats of 32 and 64 bits."""

from __future__ import annotations

import random
import re

import md2_samples
import numpy as np

from io_idtech.io_md2.format import Model

_LARGE = ("3.4e38", "-3.4e38", "3.4028234e38", "1e38", "-1e38", "1e30", "1e20", "-1e19", "1e308", "-1e308")
_SMALL = ("1e-38", "1e-45", "1e-300", "5e-324")
_DECIMAL = re.compile(r'(?<![\w."])-?\d+\.\d+')
_SINGLES = np.array([3.4e38, -3.4e38, 1e38, 1.3e36, -1.3e36, 1e30, 1e20, 1e-38, 1e-45, 0, 1], np.float32)


def with_hostile_numbers(text: str, seed: int) -> str:
    """A text with some of its decimals replaced: one or two of them, a tenth, half or all."""
    rng = random.Random(seed)
    found = list(_DECIMAL.finditer(text))
    share = rng.choice([0, 0, 0.1, 0.5, 1.0])
    for match in reversed(rng.sample(found, min(rng.randint(1, 2), len(found))) if not share else found):
        if not share or rng.random() < share:
            text = text[: match.start()] + rng.choice(_LARGE + _SMALL) + text[match.end() :]
    return text


def hostile_md2(seed: int) -> Model:
    """A model with some of its grids and texture coordinates replaced; it may not be valid."""
    model, rng = md2_samples.odd_model(), np.random.default_rng(seed)
    for values in (model.scale, model.translate, model.gl_commands.st):
        chosen = rng.random(values.shape) < rng.choice([0.0, 0.1, 0.5, 1.0])
        values[chosen] = rng.choice(_SINGLES, values.shape)[chosen]
    return model
