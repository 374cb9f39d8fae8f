"""Small scales."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sureshot.experiments import clock, fig1, fig4, grids, synthetic

TINY = grids.Grid(
    epsilons=(0.4,),
    deltas=(0.3,),
    betting_epsilons=(0.0,),
    budgets=(0.2,),
    bits=(1, 2),
    tables=(1,),
    shares=(0.5, 1.0),
    depths=(0, 1),
)


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait between calls: nothing is timed here."""
    monkeypatch.setattr(clock, "REST", 0.0)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small scale a tiny one."""
    make_tiny(monkeypatch)


def make_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small scale a tiny one, until the patch is undone."""
    sizes = replace(fig1.SCALES["small"], n_arms=20, n_rewards=1_100, epsilons=(0.2, 0.6), runs=2)
    monkeypatch.setitem(fig1.SCALES, "small", sizes)
    monkeypatch.setitem(grids.GRIDS, "small", TINY)
    for module in (synthetic, fig4):
        monkeypatch.setitem(module.SHAPES, "small", (40, 1_100))
        monkeypatch.setitem(module.QUERIES, "small", 2)
