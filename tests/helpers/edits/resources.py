"""A bound on the memory that a test may take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STATUS = Path("/proc/self/status")


@contextmanager
def limited_growth(megabytes: int) -> Iterator[None]:
    """Has more address space refused than there is, and so much; without effect where the system cannot."""
    try:
        import resource
    except ImportError:
        yield
        return
    taken = _size()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if taken is None:
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (taken + megabytes * 2**20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _size() -> int | None:
    """The address space that the process has, in bytes."""
    if not _STATUS.is_file():
        return None
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmSize:"):
            return int(line.split()[1]) * 1024
    return None
