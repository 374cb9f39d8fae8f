"""Measure searches on a card: ``python -m measurements.gpu.run --out rows.jsonl``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

import sureshot
from measurements.gpu import clock, sets
from sureshot.cuda.arrays import device_array
from sureshot.cuda.driver import stream
from sureshot.cuda.matrix import matrix_of

K = 10
REPEATS = 20
WIDTH = 100_000


def main() -> None:
    """Measure one data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=sets.SETS, required=True)
    parser.add_argument("--gigabytes", type=float, required=True)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    dtype = getattr(torch, options.dtype)
    n = round(options.gigabytes * 1e9 / (options.width * dtype.itemsize))
    data, queries = sets.SETS[options.set](n, options.width, dtype, REPEATS)
    asked = queries.to(dtype)
    # What is searched for is what torch is asked, in its type.
    queries = asked.float().contiguous()
    right = sets.best_rows(data, queries, K)
    bounds = sureshot.scan(data)
    common = {
        "set": options.set,
        "dtype": options.dtype,
        "n": n,
        "width": options.width,
        **machine(),
    }
    for batch in (1, 16):
        row = {**common, "batch": batch, **measured(data, queries, asked, bounds, right, batch)}
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        shown = {
            key: row[key]
            for key in (
                "set",
                "dtype",
                "n",
                "batch",
                "right",
                "torch_device",
                "torch_wall",
                "ours_device",
                "ours_wall",
                "stages",
                "choice",
                "share",
                "counts",
            )
        }
        print(json.dumps(shown), flush=True)


def machine() -> dict[str, Any]:
    """Return what was measured on."""
    asked = "name,driver_version,clocks.sm,clocks.mem"
    try:
        answer = subprocess.run(
            ["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        answer = torch.cuda.get_device_name()
    return {"device": answer, "torch": torch.__version__, "python": sys.version.split()[0]}


def measured(
    data: Any, queries: Any, asked: Any, bounds: Any, right: Any, batch: int
) -> dict[str, Any]:
    """Return the times of one size of batch."""

    def some(of: Any, i: int) -> Any:
        return of[i % len(of)] if batch == 1 else of[:batch]

    def product(i: int) -> Any:
        scores = torch.mv(data, some(asked, i)) if batch == 1 else torch.mm(data, some(asked, i).T)
        return torch.topk(scores, K, dim=0)

    def product_to_host(i: int) -> None:
        found = product(i)
        found.values.cpu(), found.indices.cpu()

    def search(i: int) -> Any:
        return sureshot.top_k(data, some(queries, i), K, bounds=bounds, rng=i)

    repeats = REPEATS if batch == 1 else 8
    for i in range(3):
        product_to_host(i)
        found = search(i)
    (launches,) = [
        one
        for one in matrix_of(data, device_array(data, "data")).searches.values()
        if one.together == batch
    ]
    raw = stream(torch.cuda.current_stream().cuda_stream)

    def launch(i: int) -> None:
        query = some(queries, i)
        launches.begin(query.data_ptr(), data.shape[1], batch, i, 0.0, raw)

    results = [search(i) for i in range(repeats)]
    is_right = 0
    for i, one in enumerate(results):
        wanted = right[i % len(right)] if batch == 1 else right[:batch]
        same = (one.indices == wanted).reshape(-1, K).all(axis=1)
        is_right += int(same.all())
        for at in (~same).nonzero()[0]:
            alone = sureshot.top_k(data, queries[at if batch > 1 else i], K, bounds=bounds, rng=i)
            print(
                "wrong",
                i,
                at,
                one.indices.reshape(-1, K)[at],
                wanted.reshape(-1, K)[at],
                alone.indices,
                alone.work.choice,
            )
    stages: dict[str, float] = {}
    for i in range(8):
        clock.flush()
        torch.cuda._sleep(clock.SLEEP)
        events = []

        def run(kernel: Any, *arguments: Any) -> None:
            launched(kernel, *arguments)
            events.append((kernel.name, torch.cuda.Event(enable_timing=True)))
            events[-1][1].record()

        launched = launches._launches.run
        launches._launches.run = run
        start = torch.cuda.Event(enable_timing=True)
        start.record()
        launch(i)
        launches._launches.run = launched
        torch.cuda.synchronize()
        for number, (name, event) in enumerate(events):
            key = f"{number} {name}"
            stages[key] = stages.get(key, 0.0) + start.elapsed_time(event) * 1e3 / 8
            start = event
    work = launches.work[0]
    return {
        "right": f"{is_right}/{repeats}",
        "torch_device": round(clock.device_microseconds(product, repeats), 1),
        "torch_wall": round(clock.wall_microseconds(product_to_host, repeats), 1),
        "ours_device": round(clock.device_microseconds(launch, repeats), 1),
        "ours_wall": round(clock.wall_microseconds(search, repeats), 1),
        "share": found.work.share,
        "choice": found.work.choice,
        "memory": launches.memory,
        "stages": {name: round(value, 1) for name, value in stages.items()},
        "counts": [
            *work["count"].tolist(),
            int(work["steps"]),
            int(work["end"]),
            *(round(float(c), 3) for c in work["cost"]),
        ],
    }


if __name__ == "__main__":
    main()
