"""Runs new random sequences for some minutes and prints each that fails, those of MD5 without needless steps.

python tests/helpers/edits/hunt.py [minutes] [first seed]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(path) for path in (HERE, HERE.parent)]

import installed  # noqa: E402  (enables the extension)
import md2_sequences  # noqa: E402
import md5_compare  # noqa: E402
import sequences  # noqa: E402


def hunt(minutes: float, seed: int) -> int:
    """How many sequences of MD5 and of MD2 failed."""
    end = time.monotonic() + 60.0 * minutes
    outcomes, failed, failed_md2 = [], 0, 0
    while time.monotonic() < end:
        one = sequences.sequence(seed)
        outcome = sequences.run(one)
        outcomes.append(outcome)
        if outcome.findings:
            failed += 1
            one, outcome = sequences.shrunk(one)
            print(f"seed {seed}: {one}\n    {'; '.join(outcome.findings[:2])}", flush=True)
        with md5_compare.silence():
            wrong = md2_sequences.run(seed)
        if wrong:
            failed_md2 += 1
            print(f"MD2 seed {seed}: {wrong}", flush=True)
        seed += 1
    done = sequences.tally(outcomes)
    never = [kind for kind in sequences.KINDS if not done[kind]]
    refused = sum(bool(outcome.refused) for outcome in outcomes)
    exact = sum(outcome.exact for outcome in outcomes)
    print(f"{len(outcomes)} sequences, {failed} failed, {refused} refused, {exact} exact; next seed {seed}")
    print(f"{len(outcomes)} sequences of MD2, {failed_md2} failed")
    if never:
        print(f"never done: {', '.join(never)}")
    return failed + failed_md2


if __name__ == "__main__":
    numbers = [float(word) for word in sys.argv[1:]]
    minutes = numbers[0] if numbers else 60.0
    failed = hunt(minutes, int(numbers[1]) if len(numbers) > 1 else int(time.time()) * 1000)
    installed.exit_process(1 if failed else 0)
