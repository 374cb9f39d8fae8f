"""``sureshot scan``."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.cli import progress
from tests.cli.conftest import assert_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.conftest import Invoke


def test_scan_keeps_what_the_library_finds(invoke: Invoke, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a b.npz"
    shown = invoke("scan", "data.npy", str(out))
    assert shown.exit_code == 0, shown.output
    expected, found = sureshot.scan(np.load(folder / "data.npy")), sureshot.Bounds.load(out)
    for name in ("norms", "middle", "scale", "reach"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    cells = dict(line.split(maxsplit=1) for line in shown.output.splitlines() if line.strip())
    assert cells["rows"].strip() == "97"
    assert cells["coordinates"].strip() == "1,535"
    assert cells["largest"].split()[-1] == f"{np.max(np.asarray(expected.norms)):.6g}"
    assert cells["time"].split()[-1] in ("ms", "s")
    assert cells["speed"].split()[-1] == "GB/s"
    # The advice can be copied as it is.
    assert f"sureshot search data.npy QUERY.npy --bounds '{out}'" in shown.output


def test_scan_as_json(
    invoke: Invoke, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = []

    def spy(data: object, threads: int | None, **others: Any) -> sureshot.Bounds:
        passed.append((isinstance(data, np.memmap), threads))
        return original(data, threads=threads, **others)  # type: ignore[arg-type]

    original = sureshot.scan
    monkeypatch.setattr(sureshot, "scan", spy)
    out = tmp_path / "out.npz"
    arguments = ["scan", "data.npy", str(out), "--threads", "1", "--json"]
    found = json.loads(invoke(*arguments).stdout)
    assert passed == [(True, 1)]
    assert found.pop("seconds") > 0
    assert found.pop("gigabytes_per_second") > 0
    norms = np.linalg.norm(np.load(folder / "data.npy").astype(np.float64), axis=1)
    assert found.pop("largest_norm") == pytest.approx(norms.max(), rel=1e-12)
    assert found == {
        "data": "data.npy",
        "out": str(out),
        "rows": 97,
        "coordinates": 1535,
        "bytes_read": 2 * 97 * 1535 * 4,  # so few rows are all in the sample that is read before
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.npy", "out.npz"], "cannot open absent.npy: No such file or directory"),
        (["text.npy", "out.npz"], "text.npy is not a .npy file"),
        (["query.npy", "out.npz"], "data must have 2 dimensions"),
        (["nan-data.npy", "out.npz"], "data row 0 holds values that are not finite"),
        (["data.npy", "out.npz", "--threads", "0"], "threads must be at least 1, got 0"),
        (["data.npy", "data.npy"], "the file to write must end in .npz, got data.npy"),
        (["data.npy", "absent/out.npz"], "cannot write absent/out.npz: absent is not a directory"),
        (["data.npy", "folder.npz"], "cannot write folder.npz: Is a directory"),
    ],
)
def test_bad_input_writes_nothing(
    invoke: Invoke, folder: Path, arguments: list[str], message: str
) -> None:
    (folder / "folder.npz").mkdir(exist_ok=True)
    before = (folder / "data.npy").read_bytes()
    assert_refused(invoke("scan", *arguments), message)
    assert not (folder / "out.npz").exists()
    assert (folder / "data.npy").read_bytes() == before


def test_without_a_file_to_write_it_is_kept_beside_the_data(
    invoke: Invoke, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "some.data.npy"
    np.save(data, np.load(folder / "data.npy"))
    shown = invoke("scan", str(data))
    assert shown.exit_code == 0, shown.output
    out = tmp_path / "some.data.bounds.npz"
    assert f"Stored in {out}." in shown.output
    np.testing.assert_array_equal(
        np.asarray(sureshot.Bounds.load(out).norms),
        np.asarray(sureshot.scan(np.load(data)).norms),
    )
    # An older scan is replaced.
    np.save(data, 2 * np.load(folder / "data.npy"))
    again = json.loads(invoke("scan", str(data), "--json").stdout)
    assert again["out"] == str(out)
    assert np.max(np.asarray(sureshot.Bounds.load(out).norms)) == again["largest_norm"]
    # And a bare name means the folder one stands in.
    monkeypatch.chdir(tmp_path)
    assert json.loads(invoke("scan", data.name, "--json").stdout)["out"] == out.name


@pytest.mark.parametrize("named", [True, False])
def test_what_is_no_scan_is_not_overwritten_unless_asked(
    invoke: Invoke, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    data, out = tmp_path / "data.npy", tmp_path / "data.bounds.npz"
    np.save(data, np.load(folder / "data.npy"))
    np.savez(out, precious=np.arange(3))
    before = out.read_bytes()
    arguments = ["scan", str(data), *([str(out)] if named else [])]
    with monkeypatch.context() as patch:
        patch.setattr(sureshot, "scan", lambda *arguments, **keywords: pytest.fail("scanned"))
        refused = invoke(*arguments)
    assert_refused(refused, f'{out} is not a file that "sureshot scan" or Bounds.save wrote')
    assert "pass --overwrite" in refused.stderr
    assert out.read_bytes() == before
    assert invoke(*arguments, "--overwrite").exit_code == 0
    assert sureshot.Bounds.load(out).norms is not None


def test_a_file_that_may_not_be_written_is_refused_before_the_scan(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write
    monkeypatch.setattr(sureshot, "scan", lambda *arguments, **keywords: pytest.fail("scanned"))
    refused = invoke("scan", "data.npy", str(tmp_path / "out.npz"))
    assert_refused(refused, "out.npz: Permission denied")


def test_a_disk_that_is_full(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(bounds: sureshot.Bounds, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sureshot.Bounds, "save", fail)
    refused = invoke("scan", "data.npy", str(tmp_path / "out.npz"))
    assert_refused(refused, "out.npz: No space left on device")


def test_a_scan_that_was_interrupted_goes_on(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, out = tmp_path / "data.npy", tmp_path / "data.bounds.npz"
    np.save(data, np.ones((300, 7)))
    monkeypatch.setattr("sureshot.prepare.whole_scan.BYTES_OF_PIECE", 7 * 8 * 100)
    with monkeypatch.context() as patch:

        @contextmanager
        def stopping(name: str) -> Iterator[Callable[[sureshot.ScanInfo], object]]:
            def stop(info: sureshot.ScanInfo) -> None:
                if info.rows == 200:
                    raise KeyboardInterrupt

            yield stop

        patch.setattr("sureshot.cli.scan.scan_shown_if_slow", stopping)
        assert invoke("scan", str(data)).exit_code == 130
    assert not out.exists()
    assert json.loads(invoke("scan", str(data), "--json").stdout)["bytes_read"] == 100 * 7 * 8
    assert {file.name for file in tmp_path.iterdir()} == {"data.npy", "data.bounds.npz"}


def test_a_search_with_a_scan_of_other_data_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    data, out, query = (str(tmp_path / name) for name in ("data.npy", "out.npz", "query.npy"))
    np.save(query, np.ones(7))
    np.save(data, np.ones((300, 7)))
    assert invoke("scan", data, out).exit_code == 0
    assert invoke("search", data, query, "--bounds", out).exit_code == 0
    np.save(data, np.ones((300, 7)))
    refused = invoke("search", data, query, "--bounds", out)
    assert_refused(refused, "data.npy has changed since it was scanned at")


def test_a_slow_scan_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", 0)
    with progress.scan_shown_if_slow("rows.npy") as show:
        assert show is not None
        show(sureshot.ScanInfo(rows=1250, all_rows=5000, numbers_read=0))
        time.sleep(0.3)  # some refreshes
    assert "1,250 of 5,000 rows of rows.npy" in terminal.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.scan_shown_if_slow("rows.npy") as show:
        assert show is None
