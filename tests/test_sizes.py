"""A size alone allocates nothing: what this machine has no memory for is refused before it is made."""

from __future__ import annotations

import io
import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot._validate import memory

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Floats, Ints

GIGABYTE = 10**9
# More than any machine has: as many would be 2**65 bytes or more.
ENDLESS = 2**62


def never(arms: Ints, coordinates: Ints) -> Floats:
    raise AssertionError("nothing is to be pulled")


def best_arms(**sizes: Any) -> sureshot.TopK:
    given = {"n_arms": 4, "n_rewards": 10, "where": None, "pull": never} | sizes
    return sureshot.best_arms(k=1, epsilon=0.1, delta=0.1, bounds=(0.0, 1.0), **given)


@pytest.fixture
def one_gigabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a machine with so much memory."""
    monkeypatch.setattr(memory, "bytes_of_memory", lambda: GIGABYTE)


@pytest.mark.parametrize("name", ["n_arms", "n_rewards"])
@pytest.mark.parametrize("size", [2**27, ENDLESS, ENDLESS**2])
@pytest.mark.usefixtures("one_gigabyte")
def test_more_than_the_memory_is_refused_before_any_pull(name: str, size: int) -> None:
    with pytest.raises(ValueError, match=rf"{name}={size} would take at least .* has 1 GB"):
        best_arms(**{name: size})


@pytest.mark.usefixtures("one_gigabyte")
def test_a_few_arms_of_very_many_can_be_searched() -> None:
    def pull(arms: Ints, coordinates: Ints) -> Floats:
        return np.where(arms == ENDLESS - 1, 1.0, 0.0)[:, None] * np.ones(len(coordinates))

    found = best_arms(n_arms=ENDLESS, where=[3, ENDLESS - 1], pull=pull)
    assert found.indices.tolist() == [ENDLESS - 1]


@pytest.mark.usefixtures("one_gigabyte")
def test_rows_that_exist_by_their_shape_only_are_refused() -> None:
    rows = np.broadcast_to(np.float32(1), (2**27, 1))
    with pytest.raises(ValueError, match=r"search all 134217728 data rows would .* with where"):
        sureshot.top_k(rows, [1.0], 1)
    assert sureshot.top_k(rows, [1.0], 1, where=[2**27 - 1]).indices.tolist() == [2**27 - 1]
    for data in (rows, rows.T):
        with pytest.raises(ValueError, match=r"a scan of data of shape \(.*\) would take at least"):
            sureshot.scan(data)


def test_the_memory_of_this_machine_holds_what_is_in_use() -> None:
    there = memory.bytes_of_memory()
    assert there is None or there > 1 << 27


@pytest.mark.parametrize("error", [ValueError, OSError])
def test_a_system_that_does_not_say_how_much_it_has_refuses_nothing(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> int:
        raise error(name)

    monkeypatch.setattr(os, "sysconf", unknown, raising=False)
    assert memory.bytes_of_memory() is None
    memory.refuse_beyond_memory(ENDLESS, "anything")
    monkeypatch.delattr(os, "sysconf")
    assert memory.bytes_of_memory() is None


def test_bounds_whose_header_promises_more_than_any_memory_are_refused(tmp_path: Path) -> None:
    whole, damaged = tmp_path / "whole.npz", tmp_path / "damaged.npz"
    sureshot.scan(np.ones((3, 4), dtype=np.float32)).save(whole)
    header = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": (2**58,)}
    np.lib.format.write_array_header_1_0(header, described)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(damaged, "w") as target:
        for name in source.namelist():
            target.writestr(name, header.getvalue() if "reach" in name else source.read(name))
    with pytest.raises(ValueError, match=r"damaged\.npz does not hold"):
        sureshot.Bounds.load(damaged)
