"""Random numbers that are the same in every run, and take the time that they need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(10)
