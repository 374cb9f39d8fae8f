"""What a measurement ran on: the state of the library, the threads, and the memory it took."""

from __future__ import annotations

import ctypes
import hashlib
import os
from pathlib import Path

import sureshot
from sureshot import _native
from sureshot.experiments import rows


def environment() -> rows.Row:
    """Return the versions and the machine that a row was measured with."""
    return {
        **rows.environment(),
        "library_digest": _library_digest(),
        "threads": available_threads(),
    }


def available_threads() -> int:
    """Return how many threads `sureshot.top_k` uses by default."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> int:
    """Return the bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _library_digest() -> str:
    """Return a digest of what searches: between releases the version says little."""
    folder = Path(sureshot.__file__).parent
    searching = [
        path
        for path in sorted(folder.rglob("*.py"))
        if path.relative_to(folder).parts[0] not in ("cli", "experiments", "baselines")
    ]
    digest = hashlib.sha256()
    for path in (*searching, Path(str(_native.__file__))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class PeakMemory:
    """How much the resident memory grew at most since `start`; None where Linux's /proc is not."""

    def start(self) -> None:
        """Forget earlier peaks, and memory that was freed but is still held."""
        self._before: int | None = None
        try:
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self._before = _status("VmRSS")
        except (OSError, AttributeError):
            pass

    def growth(self) -> int | None:
        """Return the growth in bytes."""
        return None if self._before is None else _status("VmHWM") - self._before


def _status(key: str) -> int:
    """Return a number of bytes that Linux knows of this process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(f"{key}:")[2].split()[0]) << 10
