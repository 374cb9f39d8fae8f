"""Compiles the kernels for a card when they are first used, and keeps what was compiled in a folder."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.cuda import bets, layout, order, plan, rounding
from sureshot.cuda.driver import EXTRA, CudaError

if TYPE_CHECKING:
    from collections.abc import Mapping

# The parts of the source, in the order in which they are put together: those that measure rows, which are compiled in a
# second, and those that search.
PARTS = {
    "measure": ("records.cuh", "rows.cuh", "exact.cuh", "short_rows.cuh", "measure.cuh"),
    "search": (
        "records.cuh",
        "rows.cuh",
        "draws.cuh",
        "bet.cuh",
        "order.cuh",
        "answer.cuh",
        "exact.cuh",
        "below.cuh",
        "listed.cuh",
        "short_rows.cuh",
        "evaluate.cuh",
        "race.cuh",
        "product.cuh",
        "integers.cuh",
        "skim.cuh",
        "screen.cuh",
        "search.cu",
    ),
}

_log = logging.getLogger(__name__)

# Fused operations would round otherwise than the reference, and subnormal numbers stay what they are.
OPTIONS = ("--std=c++17", "--fmad=false", "-default-device")

# Element types of rows, by their names in numpy.
ROWS = {
    "float32": "float",
    "float16": "half_bits",
    "bfloat16": "bfloat_bits",
    "int8": "signed char",
    "uint8": "u8",
}
QUERIES = {"float32": "float", "float64": "double"}
METRICS = {"ip": 0, "abs-ip": 1, "cosine": 2, "sqeuclidean": 3}


def source(purpose: str) -> str:
    """Return the text of all kernels of a purpose: to ``"measure"`` rows, or to ``"search"`` them."""
    folder = resources.files("sureshot.cuda") / "kernels"
    return "\n".join((folder / part).read_text(encoding="utf-8") for part in PARTS[purpose])


def definitions(row: str, query: str, metric: str, *, aligned: bool) -> dict[str, str]:
    """Return what the kernels for such data are compiled with."""
    return {
        "ROW": ROWS[row],
        "QUERY": QUERIES[query],
        "METRIC": str(METRICS[metric]),
        "ALIGNED": str(int(aligned)),
        "PARAMS_BYTES": str(ctypes.sizeof(layout.Params)),
        "WORK_BYTES": str(layout.WORK.itemsize),
        "MERGE_BYTES": str(layout.MERGE_BYTES),
        "TICKET_BYTES": str(layout.TICKET_BYTES),
        **rounding_constants(16 // _size_of(row)),
    }


def _size_of(row: str) -> int:
    return {"float32": 4, "float16": 2, "bfloat16": 2}.get(row, 1)


def rounding_constants(chunk: int) -> dict[str, str]:
    """Return the constants of the bets, for chunks of so many columns."""
    single = {
        "SMALL_VARIANCE": float(bets.SOFTENING),
        "TINY": float(bets.TINY),
        "LARGEST_LOSS": rounding.C,
        "SMALLEST_FACTOR": rounding.LEAST_FACTOR,
        "LARGEST_FACTOR": rounding.MOST_FACTOR,
        "LARGEST_FLOAT": 3e38,
        "RAISED_CAP": rounding.ROOM,
        "SMALLEST_SQUARE": rounding.LEAST_SQUARE,
        "SMALLEST_WEALTH": rounding.LEAST_WEALTH,
        "GUARD": rounding.guard_share(chunk, plan.LAST_CAP),
        "GUARD_OF_THRESHOLD": rounding.THRESHOLD_SHARE,
        "BELOW_SLACK": rounding.BELOW_SLACK,
    }
    double = {
        "RAISED_WEIGHT": 1 + rounding.WEIGHT_SHARE,
        "EXACT_SHARE": rounding.EXACT_SHARE,
        "RAISED_ERROR": 1 + rounding.ERROR_SHARE,
        "LARGEST_NUMBER": rounding.MOST_NUMBER,
        "HALF": rounding.HALF,
        "SMALLEST_QUERY": rounding.LEAST_QUERY,
        "LARGEST_QUERY": rounding.MOST_QUERY,
    }
    return {
        **{name: f"{float(np.float32(value)).hex()}f" for name, value in single.items()},
        **{name: value.hex() for name, value in double.items()},
        "FIRST_BET": str(bets.FIRST_STAKE),
        "TICKET_BITS": str(order.TICKET_BITS),
        "LARGEST_EXPONENT": str(rounding.MOST_EXPONENT),
        "WIDE_ARMS": str(plan.WIDE_ARMS),
        "DRAWS": str(plan.DRAWS),
        "SHORT_CAP": str(plan.SHORT_CAP),
        "MOST_PIECES": str(plan.MOST_PIECES),
        "SAMPLES": str(plan.COST_SAMPLE),
        "PLACES": str(plan.PLACES),
        "INFINITE": "__int_as_float(0x7f800000)",
    }


@cache
def _nvrtc() -> Any:
    try:
        from cuda.bindings import nvrtc  # noqa: PLC0415 - an extra

        version = nvrtc.nvrtcVersion()
    except Exception as error:
        raise ImportError(
            f"a search on a CUDA device compiles its kernels with NVRTC: {EXTRA}"
        ) from error
    return nvrtc, version[1:]


def compiled(architecture: str, names: Mapping[str, str], purpose: str) -> bytes:
    """Return the machine code for a card, ``"sm_90"`` say, compiled or as it was kept."""
    nvrtc, version = _nvrtc()
    text = source(purpose)
    options = [
        f"--gpu-architecture={architecture}",
        *OPTIONS,
        *(f"-D{k}={v}" for k, v in names.items()),
    ]
    key = hashlib.sha256(repr((text, options, version)).encode()).hexdigest()
    kept = cache_folder() / f"{key[:40]}.cubin"
    try:
        return kept.read_bytes()
    except OSError:
        pass
    kind = f"rows of {names['ROW']}, queries of {names['QUERY']}, metric {names['METRIC']}"
    _log.info("compiling kernels to %s for %s, kept in %s", purpose, kind, kept.parent)
    image = _compile(nvrtc, text, options)
    _keep(kept, image)
    return image


def cache_folder() -> Path:
    """Return where machine code is kept: below ``XDG_CACHE_HOME``, or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sureshot" / "cuda"


def _keep(path: Path, image: bytes) -> None:
    """Write a file that others never see in part; a folder that cannot be written to is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(image)
        Path(file.name).replace(path)
    except OSError:
        pass


def _compile(nvrtc: Any, text: str, options: list[str]) -> bytes:
    status, program = nvrtc.nvrtcCreateProgram(text.encode(), b"sureshot.cu", 0, [], [])
    if int(status) == 0:
        (status,) = nvrtc.nvrtcCompileProgram(
            program, len(options), [option.encode() for option in options]
        )
    if int(status) != 0:
        log = _read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        raise CudaError(
            f"the kernels could not be compiled: {log.decode(errors='replace').strip()}"
        )
    image = _read(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    nvrtc.nvrtcDestroyProgram(program)
    return image


def _read(size_of: Any, read: Any, program: Any) -> bytes:
    _, size = size_of(program)
    room = b" " * int(size)
    read(program, room)
    return room
