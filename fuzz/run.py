"""Fuzzes one reader with atheris until the time is over or something is found: ``run.py READER SECONDS [FILES]``.

How many inputs were tried, and in how much processor time, is added up in `build/fuzz/READER/figures.json`, from where
`page.py` takes it; without that folder it begins anew.

A finding is any exception that is not the reader's own error, more time than `_SECONDS` and `_SECONDS_PER_BYTE` allow,
or more memory than `_BYTES` and `_BYTES_PER_BYTE` allow. The input that did it is kept in `build/fuzz/READER`; given as
FILES, inputs are tried once each instead.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

with atheris.instrument_imports(include=["io_common", "io_md2", "io_md5"]):
    from targets import TARGETS

    from io_md5.format.text import scanner

# The inputs are shorter than the pieces that texts are read in.
scanner._CHUNK = 256

_MAX_LENGTH = 1 << 14
_OFTEN = 2.0  # seconds
# The code runs several times slower under the fuzzer than alone.
_SECONDS, _SECONDS_PER_BYTE = 2.0, 1e-4
_BYTES, _BYTES_PER_BYTE = 64 << 20, 4096


class CostError(Exception):
    """An input that took more time or memory than its size allows."""


def main(arguments: list[str]) -> None:
    """Fuzzes the named reader; returns only by exit."""
    name, seconds, *files = arguments
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
        memory, started = _peak(), time.perf_counter()
        try:
            target.read(data)
        except target.errors as error:
            assert str(error)
        taken, used = time.perf_counter() - started, _peak() - memory
        if taken > _SECONDS + _SECONDS_PER_BYTE * len(data):
            raise CostError(f"{taken:.1f} s for {len(data)} bytes")
        if used > _BYTES + _BYTES_PER_BYTE * len(data):
            raise CostError(f"{used >> 20} MB for {len(data)} bytes")

    options += [
        f"-max_total_time={seconds}",
        f"-max_len={_MAX_LENGTH}",
        f"-artifact_prefix={folder}/",
        "-rss_limit_mb=0",  # the fuzzer keeps some bytes of every error itself; memory is judged above
        "-print_final_stats=1",
        "-verbosity=0",
        "-seed=1",
    ]
    atheris.Setup([sys.argv[0], *options, *(files or [str(corpus)])], one_input)
    atheris.Fuzz()


class Figures:
    """What was tried so far, in all runs of one reader; the fuzzer leaves without asking anybody, so now and then."""

    def __init__(self, path: Path) -> None:
        self._path = path
        known = json.loads(path.read_text()) if path.is_file() else {}
        self._inputs = known.get("inputs", 0)
        self._seconds = known.get("cpu_seconds", 0.0)
        self._written = 0.0

    def count(self) -> None:
        """One more input."""
        self._inputs += 1
        now = time.process_time()
        if now - self._written > _OFTEN:
            self._written = now
            told = {"inputs": self._inputs, "cpu_seconds": round(self._seconds + now, 1)}
            self._path.write_text(json.dumps(told))


def _peak() -> int:
    """The most memory that the process ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main(sys.argv[1:])
