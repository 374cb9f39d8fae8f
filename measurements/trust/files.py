"""Files with some bytes changed, for every format that is read: matrices, bounds and journals."""

from __future__ import annotations

import functools
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pyarrow as pa
import zarr

import sureshot
from measurements.trust.verdict import WrongAnswer, outcome, refuse_wrong

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from sureshot._types import Array

ROWS, WIDTH, K = 12, 24, 3
REWARDS = 40


def made_data() -> Array:
    """Return the numbers that all files hold at first."""
    return np.random.default_rng(7).standard_normal((ROWS, WIDTH)).astype(np.float32)


def write_npy(path: Path, data: Array) -> None:
    """Write a file of ``numpy.save``."""
    np.save(path, data)


def write_safetensors(path: Path, data: Array) -> None:
    """Write a file of one tensor, by the published rules."""
    about = {"rows": {"dtype": "F32", "shape": [ROWS, WIDTH], "data_offsets": [0, data.nbytes]}}
    header = json.dumps(about).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data.tobytes())


def write_hdf5(path: Path, data: Array) -> None:
    """Write a contiguous dataset."""
    with h5py.File(path, "w") as file:
        file.create_dataset("rows", data=data)


def write_chunked(path: Path, data: Array) -> None:
    """Write a dataset in compressed chunks with checksums: h5py says what is wrong with one."""
    with h5py.File(path, "w") as file:
        file.create_dataset("rows", data=data, chunks=(4, 8), compression="gzip", fletcher32=True)


def write_zarr(path: Path, data: Array) -> None:
    """Write an array in chunks."""
    array = zarr.create_array(str(path), shape=data.shape, chunks=(4, 8), dtype=data.dtype)
    array[:] = data


def write_arrow(path: Path, data: Array) -> None:
    """Write a column of lists of one length."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(data.ravel()), WIDTH)
    table = pa.table({"rows": lists})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


def read_bounds(path: Path) -> None:
    """Load saved bounds, and search with them: a file whose checksums are right is the one that was written."""
    bounds = sureshot.Bounds.load(path)
    data = made_data()
    refuse_wrong(sureshot.top_k(data, data[2], K, bounds=bounds, delta=1e-12), data, data[2], "ip")


def write_bounds(path: Path, data: Array) -> None:
    """Save what a scan finds."""
    sureshot.scan(data).save(path)


def _pull(arms: Array, coordinates: Array) -> Array:
    return np.asarray(((arms[:, None] * 7 + coordinates * 3) % 11) / 10)


def write_journal(path: Path, _data: Array) -> None:
    """Search with a journal, and stop early."""
    read_journal(path, budget=0.4)


def read_journal(path: Path, budget: float | None = None) -> None:
    """Go on with a journal: no number in it is checked by a sum, but what is no reward must be refused."""
    found = sureshot.best_arms(_pull, 4, REWARDS, epsilon=0.05, rng=0, journal=path, budget=budget)
    if not ((found.scores >= 0) & (found.scores <= 1)).all():
        raise WrongAnswer(f"means outside of the bounds: {found.scores}")


def search_file(path: Path) -> None:
    """Search a file, and compare the answer with what another reader finds in it."""
    matrix = sureshot.open_matrix(path)
    found = sureshot.top_k(matrix, made_data()[2], K, metric="l1", delta=1e-12, rng=0)
    scanned = sureshot.top_k(matrix, made_data()[2], K, metric="l1", bounds="scan", delta=1e-12)
    if found.indices.tolist() != scanned.indices.tolist():
        raise WrongAnswer(f"{found.indices} without a scan, {scanned.indices} with one")
    data = read_by_others(path)
    if data is not None and data.ndim == 2:
        refuse_wrong(found, data, np.asarray(made_data()[2], np.float64), "l1")


def read_by_others(path: Path) -> Array | None:
    """Return what the library of a format reads; None if it reads nothing, or there is none."""
    try:
        if path.suffix == ".npy":
            return np.asarray(np.load(path, allow_pickle=False))
        if path.suffix in (".h5", ".hdf5"):
            with h5py.File(path, "r") as file:
                (only,) = file.values()
                return np.asarray(only[:])
        if path.suffix == ".zarr":
            return np.asarray(zarr.open_array(str(path), mode="r")[:])
        if path.suffix == ".arrow":
            (column,) = pa.ipc.open_file(pa.OSFile(str(path), "rb")).read_all().columns
            return np.array(column.to_pylist())
    except Exception:  # noqa: BLE001 - libraries raise anything for files that they cannot read
        return None
    return None


FORMATS: dict[str, tuple[Callable[[Path, Array], None], Callable[[Path], None]]] = {
    "rows.npy": (write_npy, search_file),
    "rows.safetensors": (write_safetensors, search_file),
    "rows.h5": (write_hdf5, search_file),
    "rows.hdf5": (write_chunked, search_file),
    "rows.zarr": (write_zarr, search_file),
    "rows.arrow": (write_arrow, search_file),
    "bounds.npz": (write_bounds, read_bounds),
    "pulls.journal": (write_journal, read_journal),
}

EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x20, 0x2D, 0x2E, 0x30, 0x39, 0x65)
NUMBERS = (0, 1, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, -(2**63), 1 << 40)


def changed(content: bytes, rng: Generator) -> bytes:
    """Return some bytes with a few changes: of bits, bytes and numbers, cut off, longer, moved; mostly at the start.

    The beginnings and ends of files say what is in them: half of the changes are made there.
    """
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        if not found:
            break
        near = min(len(found), 512)
        place = int(rng.integers(near) if rng.random() < 0.5 else rng.integers(len(found)))
        if rng.random() < 0.15:
            place = len(found) - 1 - int(rng.integers(near))
        kind = int(rng.integers(8))
        if kind == 0:
            found[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            found[place] = int(rng.choice(EDGES))
        elif kind == 2:
            found[place] = int(rng.integers(256))
        elif kind == 3:
            size = int(rng.choice([2, 4, 8]))
            number = int(rng.choice(np.array(NUMBERS, object)))
            found[place : place + size] = (number % 256**size).to_bytes(size, "little")
        elif kind == 4:
            del found[place:]
        elif kind == 5:
            del found[place : place + int(rng.integers(1, 9))]
        elif kind == 6:
            found[place:place] = rng.bytes(int(rng.integers(1, 9)))
        else:
            digits = [at for at, byte in enumerate(found[:near]) if 0x30 <= byte <= 0x39]
            if digits:  # of a shape or an offset in words
                found[int(rng.choice(digits))] = int(rng.choice([0x2D, 0x30, 0x39, 0x2E, 0x65]))
    return bytes(found)


def fuzz(seed: int, count: int, note: Callable[[str], None], report: Callable[[str], None]) -> int:
    """Try so many changed files, drawn with a seed. `note`, `report` and the result: as for arguments."""
    answered = 0
    with tempfile.TemporaryDirectory() as folder:
        originals = Path(folder) / "originals"
        originals.mkdir()
        for name, (write, _) in FORMATS.items():
            write(originals / name, made_data())
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            name = str(rng.choice(list(FORMATS)))
            note(f"{name}, seed {seed}, number {number}")
            path = Path(folder) / f"{number}-{name}"
            target = place_in(originals / name, path, rng)
            target.write_bytes(changed(target.read_bytes(), rng))
            said = outcome(functools.partial(FORMATS[name][1], path))
            answered += said == "answer"
            if said not in ("answer", "error"):
                report(f"{said}\n{name}, seed {seed}, number {number}: {shown(target)}")
            for left in (path, *path.parent.glob(f"{path.name}-*")):
                shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    return answered


def place_in(original: Path, path: Path, rng: Generator) -> Path:
    """Copy a file, or a folder of them, and return the file that is to be changed."""
    if not original.is_dir():
        shutil.copy(original, path)
        return path
    shutil.copytree(original, path)
    inside = sorted(file for file in path.rglob("*") if file.is_file())
    about = [file for file in inside if file.suffix == ".json"]
    return inside[int(rng.integers(len(inside)))] if rng.random() < 0.5 else about[0]


def shown(path: Path) -> str:
    """Return a changed file, so that it can be made again."""
    content: Any = path.read_bytes() if path.exists() else b""
    return f"{os.path.basename(path)} {content[:400]!r}"  # noqa: PTH119
