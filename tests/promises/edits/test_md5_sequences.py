"""After random sequences of edits, every export matches the evaluated meshes, or a warning names the mesh."""

from __future__ import annotations

import pytest
import sequences

pytestmark = pytest.mark.slow

PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_sequences_of_edits_are_exported_as_evaluated(part):
    """Each kind of edit begins one of them."""
    failures = []
    refused = exact = 0
    seeds = sequences.FIXED_SEEDS[part::PARTS]
    for seed in seeds:
        one = sequences.of_seed(seed)
        outcome = sequences.run(one)
        refused += bool(outcome.refused)
        exact += outcome.exact
        if outcome.findings:
            failures.append(f"{one}: {'; '.join(outcome.findings[:2])}")
        if one.steps[0][0] not in outcome.ran:
            failures.append(f"{one}: the first edit was not done")
    assert failures == []
    # Neither refusals nor warnings may hide what the sequences are for.
    assert refused <= len(seeds) // 20
    assert exact >= len(seeds) // 2
