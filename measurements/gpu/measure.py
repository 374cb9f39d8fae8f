"""Measures one data set on the card: ``python -m measurements.gpu.measure --set "low rank" --gigabytes 4 --out FILE``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import sureshot
from measurements.gpu import clock, sets
from measurements.gpu.card import torch
from sureshot.cuda.arrays import device_array
from sureshot.cuda.driver import stream
from sureshot.cuda.matrix import matrix_of

K = 10
QUERIES = 20
BATCHES = (1, 16)
# How often each single query is asked, with other seeds, and repeats of a batch, whose queries are the same.
ROUNDS = 2
REPEATS = 8


def main() -> None:
    """Measure, and append a row for each size of batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=[*sets.SETS, *sets.REAL], required=True)
    parser.add_argument("--gigabytes", type=float, required=True)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="the folder of real data")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    clock.warm_up()
    clock.stay_near_the_card()
    dtype = getattr(torch, options.dtype)
    n = round(options.gigabytes * 1e9 / (options.columns * dtype.itemsize))
    shape = (n, options.columns, dtype, QUERIES)
    if options.set in sets.REAL:
        data, queries = sets.real(options.set, options.data, *shape)
    else:
        data, queries = sets.SETS[options.set](*shape)
    side = Side(data, queries.to(dtype))
    case = {
        "set": options.set,
        "dtype": options.dtype,
        "gigabytes": options.gigabytes,
        "rows": len(data),
        "columns": options.columns,
    }
    for batch in BATCHES:
        row = {**case, "batch": batch, **side.measured(batch), **machine()}
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


class Side:
    """A matrix, the queries in its type, and in float32 as they are searched for."""

    def __init__(self, data: Any, asked: Any) -> None:
        self.data, self.asked = data, asked
        self.queries = asked.float().contiguous()
        self.right = sets.best_rows(data, self.queries, K)
        began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        sureshot.scan(data)  # compiles the kernel
        began.record()
        self.bounds = sureshot.scan(data)
        ended.record()
        torch.cuda.synchronize()
        self.scan = began.elapsed_time(ended)

    def measured(self, batch: int) -> dict[str, Any]:
        """Return the times of one size of batch, in microseconds."""
        repeats = ROUNDS * QUERIES if batch == 1 else REPEATS

        def some(of: Any, i: int) -> Any:
            return of[i % len(of)] if batch == 1 else of[:batch]

        def product(i: int) -> Any:
            query = some(self.asked, i)
            scores = torch.mv(self.data, query) if batch == 1 else torch.mm(self.data, query.T)
            return torch.topk(scores, K, dim=0)

        def product_to_host(i: int) -> Any:
            found = product(i)
            return found.values.cpu(), found.indices.cpu()

        def search(i: int) -> Any:
            return sureshot.top_k(self.data, some(self.queries, i), K, bounds=self.bounds, rng=i)

        clock.warm_up()
        for i in range(3):
            product_to_host(i)
            search(i)
        results = [search(i) for i in range(repeats)]
        right = [
            int(
                (
                    found.indices == (self.right[i % QUERIES] if batch == 1 else self.right[:batch])
                ).all()
            )
            for i, found in enumerate(results)
        ]
        kept = matrix_of(self.data, device_array(self.data, "data")).searches.items()
        (launches,) = (one for (_, kind), one in kept if kind.n_queries == batch)
        own = stream(torch.cuda.current_stream().cuda_stream)

        def launch(i: int) -> None:
            width = self.data.shape[1]
            query = some(self.queries, i)
            for at in range(0, batch, launches.together):
                count = min(launches.together, batch - at)
                begin = query.data_ptr() + at * width * query.element_size()
                launches.begin(begin, width, count, i, 0.0, own)

        times = {
            "torch_device": round(clock.device_microseconds(product, repeats), 1),
            "torch_wall": round(clock.wall_microseconds(product_to_host, repeats), 1),
            "device": round(clock.device_microseconds(launch, repeats), 1),
            "wall": round(clock.wall_microseconds(search, repeats), 1),
        }
        return {
            "right": sum(right),
            "asked": repeats,
            **times,
            "scan_milliseconds": round(self.scan, 2),
            "share": sum(found.work.share for found in results) / repeats,
            "choice": results[0].work.choice,
            "memory": launches.memory,
            "left": launches.work["count"].tolist(),
        }


def machine() -> dict[str, Any]:
    """Return what was measured on, with its clocks of the moment."""
    try:
        names = "name,driver_version,clocks.sm,clocks.mem"
        answer = subprocess.run(
            ["nvidia-smi", f"--query-gpu={names}", "--format=csv,noheader"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.splitlines()[0]
        device, driver, processors, memory = answer.split(", ")
    except (OSError, subprocess.CalledProcessError):
        device, driver, processors, memory = torch.cuda.get_device_name(), "", "", ""
    return {
        "device_name": device,
        "driver": driver,
        "clock": processors,
        "memory_clock": memory,
        "torch": torch.__version__,
        "python": sys.version.split()[0],
    }


if __name__ == "__main__":
    main()
