"""A source of our own: rows in a compressed file, of which a search unpacks a small part."""

from __future__ import annotations

import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sureshot import BoundsError
from sureshot.blocks import Blocks
from sureshot.search.problem import Problem, Tally
from sureshot.search.race import betting
from sureshot.sources.base import Source
from sureshot.sources.costs import ReadingCosts
from sureshot.theory import intervals


class CompressedRows(Source):
    """Inner products with rows of float32, of which every block is compressed on its own."""

    bytes_per_number, coordinate_major = 4, False
    # Nanoseconds: a block must be found and unpacked, whether it follows the last or not.
    costs = ReadingCosts(*(6 * [20_000.0]), visit=0.0, round=120_000.0)

    def __init__(self, path, query, blocks):
        self.query, self.blocks, self.n_coordinates = query, blocks, len(query)
        self.ends = np.load(path.with_suffix(".npy"))  # of each block of each row in the file
        self.n_arms, self.packed = len(self.ends), np.memmap(path, np.uint8, "r")

    @classmethod
    def write(cls, path, data, blocks):
        spans = [slice(*blocks.span(block)) for block in range(blocks.count)]
        packed = [[zlib.compress(row[span].tobytes(), 1) for span in spans] for row in data]
        path.write_bytes(b"".join(block for row in packed for block in row))
        ends = np.cumsum([len(block) for row in packed for block in row])
        np.save(path.with_suffix(".npy"), ends.reshape(len(data), -1))

    def block_sums(self, arms, blocks):
        return np.array([[self.block_sum(a, b) for a in arms] for b in blocks]).reshape(
            -1, len(arms)
        )

    def block_sum(self, arm, block):
        end, (first, stop) = arm * self.blocks.count + block, self.blocks.span(block)
        start = self.ends.flat[end - 1] if end else 0
        values = np.frombuffer(
            zlib.decompress(self.packed[start : self.ends.flat[end]]), np.float32
        )
        for at in np.flatnonzero(~np.isfinite(values)):
            raise BoundsError(f"row {arm} has the value {values[at]} at coordinate {first + at}")
        return float(values.astype(np.float64) @ self.query[first:stop])


if __name__ == "__main__":
    rng, blocks = np.random.default_rng(0), Blocks(65_536, size=1024)
    data = (rng.integers(-9, 10, (500, 8)) @ rng.integers(-9, 10, (8, 65_536))).astype(np.float32)
    query = data[7] + rng.integers(-99, 100, 65_536)
    with TemporaryDirectory() as folder:
        CompressedRows.write(Path(folder) / "rows", data, blocks)
        source = CompressedRows(Path(folder) / "rows", query, blocks)
        known = intervals.from_values("ip", query, data.min(), data.max(), blocks, len(data))
        problem = Problem(source, np.arange(500), np.ones(500), 3, 0.0, 0.05, known, "as written")
        answer = betting.search(problem, np.random.default_rng(1), tally := Tally())
        print(
            f"rows {answer.positions}, {tally.numbers_read / data.size:.2%} of the numbers unpacked"
        )
        print(answer.certificate)
