"""Random sequences of operators on imported MD2 models; `helpers/edits/hunt.py` tries new ones."""

from __future__ import annotations

import md2_sequences
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(60))
def test_an_export_after_a_sequence_of_operators_is_what_blender_shows(seed):
    assert md2_sequences.run(seed) == ""
