"""A source of your own: rows in a compressed file, of which a search unpacks a small part."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from sureshot import BoundsError
from sureshot.blocks import Blocks
from sureshot.search.condition import assumption
from sureshot.search.methods import METHODS
from sureshot.search.problem import Problem, Tally
from sureshot.search.run import run
from sureshot.sources.base import Source
from sureshot.sources.costs import uniform
from sureshot.theory import intervals


class CompressedRows(Source):
    """Inner products of a query with rows of float32, every block of them a member of a ZIP file."""

    bytes_per_number, coordinate_major = 4, False
    costs = uniform(30_000.0, round=120_000.0)  # nanoseconds; a block is found and unpacked

    def __init__(self, file: ZipFile, query: Any, blocks: Blocks) -> None:
        self.file, self.query, self.blocks = file, query, blocks
        self.n_arms, self.n_coordinates = len(file.namelist()) // blocks.count, len(query)

    def block_sums(self, arms: Any, blocks: Any) -> Any:
        """Return the sum of each arm over each block: all that a source must answer."""
        sums = [self._sum(arm, block) for block in blocks for arm in arms]
        return np.array(sums, dtype=np.float64).reshape(len(blocks), len(arms))

    def _sum(self, arm: int, block: int) -> float:
        values = np.frombuffer(self.file.read(f"{arm}/{block}"), np.float32).astype(np.float64)
        start, stop = self.blocks.span(block)
        for at in np.flatnonzero(~np.isfinite(values)):
            raise BoundsError(f"row {arm} has the value {values[at]} at coordinate {start + at}")
        return float(values @ self.query[start:stop])


if __name__ == "__main__":
    rng, n_arms, blocks = np.random.default_rng(0), 100, Blocks(98_304, size=256)
    data = rng.integers(-9, 10, (n_arms, 8)) @ rng.integers(-9, 10, (8, 98_304))
    query = data[7] + rng.integers(-99, 100, 98_304).astype(np.float64)
    with TemporaryFile() as archive, ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=1) as file:
        for arm, block in np.ndindex(n_arms, blocks.count):
            values = data[arm, slice(*blocks.span(block))].astype(np.float32)
            file.writestr(f"{arm}/{block}", values.tobytes())
        found = intervals.from_values("ip", query, data.min(), data.max(), blocks, n_arms)
        known = found, assumption("the file is unchanged")
        source = CompressedRows(file, query, blocks)
        problem = Problem(source, np.arange(n_arms), None, 3, 0, 0.05, lambda: known)
        best = run(problem, METHODS["betting"], 1, Tally())
        print(f"rows {best.indices}, {best.work.share:.1%} unpacked. {best.certificate}")
