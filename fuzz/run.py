"""Fuzzes readers with atheris until the time is up or there is a finding: ``run.py [READER …] SECONDS``.

Without a reader, all are fuzzed one after the other, each for that time. ``run.py READER 0 FILE …`` tries
single inputs.

The number of inputs and the processor time are added up in `build/fuzz/READER/figures.json`, from which `page.py` makes
a table; delete that folder to start again.

A finding is any exception other than the reader's own error, more processor time than `_SECONDS` and
`_SECONDS_PER_BYTE` allow, or more memory than `_BYTES` and `_BYTES_PER_BYTE` allow. Its input is stored in
`build/fuzz/READER`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from itertools import takewhile
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "helpers")]

with atheris.instrument_imports(include=["io_idtech"]):
    from targets import TARGETS

_MAX_LENGTH = 1 << 14
_WRITE_INTERVAL = 2.0  # seconds
# The fuzzer's instrumentation makes the code several times slower.
_SECONDS, _SECONDS_PER_BYTE = 2.0, 1e-4
_BYTES, _BYTES_PER_BYTE = 64 << 20, 4096


class CostError(Exception):
    """An input takes more time or memory than its size allows."""


def main(arguments: list[str]) -> None:
    """Fuzzes the given readers, or all."""
    readers = list(takewhile(lambda word: not word.isdigit(), arguments))
    seconds, *files = arguments[len(readers) :] or ["60"]
    if len(readers) == 1:
        fuzz(readers[0], seconds, files)
    for name in readers or TARGETS:
        # In a process of its own, as the fuzzer ends the process.
        subprocess.run([sys.executable, __file__, name, seconds], check=True)


def fuzz(name: str, seconds: str, files: list[str]) -> None:
    """Fuzzes a reader; never returns."""
    target = TARGETS[name]
    folder = ROOT / "build" / "fuzz" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for index, seed in enumerate(target.seeds):
        (corpus / f"seed{index}").write_bytes(seed)
    options = []
    if target.words:
        dictionary = folder / "words"
        dictionary.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
        options.append(f"-dict={dictionary}")

    figures = Figures(folder / "figures.json")

    def one_input(data: bytes) -> None:
        figures.count()
        memory, started = _peak(), time.process_time()
        try:
            target.read(data)
        except target.errors as error:
            assert str(error)
        taken, used = time.process_time() - started, _peak() - memory
        if taken > _SECONDS + _SECONDS_PER_BYTE * len(data):
            raise CostError(f"{taken:.1f} s for {len(data)} bytes")
        if used > _BYTES + _BYTES_PER_BYTE * len(data):
            raise CostError(f"{used >> 20} MB for {len(data)} bytes")

    options += [
        f"-max_total_time={seconds}",
        f"-max_len={_MAX_LENGTH}",
        f"-artifact_prefix={folder}/",
        "-rss_limit_mb=0",  # memory is checked above; the fuzzer itself needs some for every error
        "-print_final_stats=1",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], *options, *(files or [str(corpus)])], one_input)
    atheris.Fuzz()


class Figures:
    """The figures of all runs of a reader, written at intervals, as the fuzzer exits without notice."""

    def __init__(self, path: Path) -> None:
        self._path = path
        stored = json.loads(path.read_text()) if path.is_file() else {}
        self._inputs = stored.get("inputs", 0)
        self._seconds = stored.get("cpu_seconds", 0.0)
        self._written = 0.0

    def count(self) -> None:
        """Counts an input."""
        self._inputs += 1
        now = time.process_time()
        if now - self._written > _WRITE_INTERVAL:
            self._written = now
            figures = {"inputs": self._inputs, "cpu_seconds": round(self._seconds + now, 1)}
            self._path.write_text(json.dumps(figures))


def _peak() -> int:
    """The peak memory of the process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main(sys.argv[1:])
