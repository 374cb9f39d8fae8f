"""The measurements of files and partitions, and the model of their costs."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from measurements import workloads
from measurements.harness.page import DOCS
from measurements.scale import cluster, disk, files, latency, model, run, table
from measurements.scale.sides import OURS, STREAM
from sureshot.experiments import rows
from sureshot.sources.partitioned import sums_of_blocks
from tests.measurements.test_pages import assert_on_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sureshot.experiments.rows import Row
    from sureshot.storage.partitioned import Call

PAGE = "scale.md"


def committed(name: str) -> list[Row]:
    return rows.read(DOCS / "results" / name)


def test_the_page_has_the_tables_of_the_rows() -> None:
    for name, lines in model.TABLES.items():
        assert_on_page(PAGE, name, lines())
    for name, file, made in (
        ("files", table.ROWS, table.lines),
        ("disk", disk.ROWS, disk.lines),
        ("latency", latency.ROWS, latency.lines),
        ("cluster", cluster.ROWS, cluster.lines),
    ):
        found = committed(file)
        assert_on_page(PAGE, name, made(found) if found else [])


def test_the_model_predicts_the_disk() -> None:
    found = committed(disk.ROWS)
    assert len(found) == len(disk.KINDS)
    for row in found:
        assert 0.5 < row["seconds"] / row["requests"] / disk.predicted(row) < 2


def test_the_model_predicts_files_that_were_searched_cold() -> None:
    raced = [
        row
        for row in committed(table.ROWS)
        if row["state"] == "cold" and row["choices"][0].startswith("raced")
    ]
    assert raced
    for row in raced:
        work = model.of_row(row)
        assert work.bytes == pytest.approx(row["share_of_bytes"][OURS] * row["bytes"], rel=0.1)
        assert 0.5 < row["seconds"][OURS] / model.seconds(work, model.DISK) < 2
        everything = model.streamed(row["rows"], model.ITEM * row["columns"])
        assert 0.5 < row["seconds"][STREAM] / model.seconds(everything, model.DISK) < 2
        # What the tables assume of a search.
        assert 0.5 < work.requests / row["rows"] / model.STEPS < 2
        assert 0.5 < row["rounds"] / model.ROUNDS < 2


def test_the_model_counts_what_a_client_receives(monkeypatch: pytest.MonkeyPatch) -> None:
    received = asked = 0

    class Counted(latency.Delayed):
        def run(self, calls: Sequence[Call]) -> list[Any]:
            nonlocal received, asked
            found = super().run(calls)
            for call, one in zip(calls, found, strict=True):
                if call.function is sums_of_blocks:
                    received += len(pickle.dumps(one))
                    asked += len(call.arguments[0]) * len(call.arguments[1].ids)
            return found

    made = workloads.make("low-rank", n=400, N=5_000, queries=1, seed=0)
    data = Counted(made.data, 0.001, 1.0, sleep=False)
    found = sureshot.top_k(data, made.queries[0], bounds=sureshot.scan(made.data), rng=0)
    assert found.work.rounds > 1
    monkeypatch.setattr(model, "STEPS", asked / 400)
    assert model.client(400, latency.PARTITIONS).received == pytest.approx(received, rel=0.1)


def test_a_latency_is_counted_for_each_trip() -> None:
    made = workloads.make("low-rank", n=100, N=5_000, queries=1, seed=0)
    bounds = sureshot.scan(made.data)
    found = {
        seconds: latency.measure(
            latency.LatencyCase(seconds, 1.0, "2", 100, 5_000, 1, 0, "now"),
            made,
            bounds,
            sleep=False,
        )
        for seconds in (0.0001, 0.0002)
    }
    for seconds, row in found.items():
        assert row["precision"] == 1
        assert row["seconds"] > row["trips"] * seconds
    lines = latency.lines(
        [row | {"latency": 0.01, "everything": 2.0, "growth": name} for name in latency.VARIANTS]
    )
    assert lines[2].startswith("| 10 ms | 2 s | **")


def test_rows_and_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(run.SIZES, "small", (("low-rank", 30, 2_000), ("gradients", 30, 2_000)))
    monkeypatch.setattr(files, "bytes_from_disk", lambda: 0)
    monkeypatch.setattr(files, "drop_from_memory", lambda _: None)
    options = ["--small", "--queries", "1", "--folder", str(tmp_path / "files")]
    settings = run.parse([*options, "--out", str(tmp_path / "rows.jsonl")])
    found = run.run(settings)
    assert [row["state"] for row in found] == [*run.STATES, *run.STATES]
    assert run.run(settings) == found  # nothing is measured twice
    assert all(right == 1 for row in found for right in row["right"].values())
    (tmp_path / PAGE).write_text("<!-- begin files -->\n<!-- end files -->")
    table.write(found, tmp_path)
    assert rows.read(tmp_path / "results" / table.ROWS) == found
    assert "| low-rank 30 × 2,000 | cold |" in (tmp_path / PAGE).read_text()


@pytest.mark.parametrize("kind", cluster.KINDS)
def test_a_matrix_in_partitions_is_the_one_that_is_asked(kind: str) -> None:
    case = cluster.ClusterCase(kind, 60, 300, 2, 0, "now")
    data = np.concatenate([cluster.part(case, 0, 40), cluster.part(case, 40, 60)])
    np.testing.assert_array_equal(data[40:], cluster.part(case, 40, 60))
    scores = np.abs(data @ cluster.queries_of(case).T).max()
    spread = np.linalg.norm(data, axis=1).max() * np.linalg.norm(cluster.queries_of(case)[0])
    assert (scores > 0.3 * spread) is np.bool_(kind == "low-rank")


def test_a_disk_is_measured_in_requests(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1 << 20))
    found = [
        disk.measure(path, size, in_order=in_order)
        for size, in_order in ((4096, False), (1 << 16, True))
    ]
    assert [row["requests"] for row in found] == [256, 16]
    assert len(disk.lines(found)) == 4
