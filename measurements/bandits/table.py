"""Tables of the pulls of each bandit, from the rows."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from measurements.bandits.cases import COMPARED, FIXED_BUDGET, VARIED, BanditCase
from measurements.harness import page
from sureshot.experiments.numbers import per_cent
from sureshot.search.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measurements.bandits.cases import Sweep
    from sureshot.experiments.rows import Row

SYMBOLS = {"n_rewards": "N", "n_arms": "n", "epsilon": "ε", "delta": "δ"}


def of_point(found: Sequence[Row], base: BanditCase, varied: str, value: float) -> list[Row]:
    """Return the rows at one point: the base problem but for one value."""
    fixed = {name: getattr(base, name) for name in VARIED} | {varied: value}
    fixed["problem"] = base.problem
    return [row for row in found if all(row[name] == fixed[name] for name in fixed)]


def of_method(found: Sequence[Row], method: str, replacement: bool) -> list[Row]:
    """Return the rows of one method that has no fixed budget."""
    wanted = (method, replacement, None)
    return [row for row in found if (row["method"], row["replacement"], row["budget"]) == wanted]


def title(method: str, replacement: bool) -> str:
    """Return the name of a method for people.

    Examples
    --------
    >>> title("lucb", True), title("lucb", False), title("betting", False)
    ('lucb', 'lucb, without', 'betting')
    """
    return method if replacement or not METHODS[method].replacement else f"{method}, without"


def by_value(found: Sequence[Row], sweep: Sweep, varied: str) -> list[str]:
    """Return the table of the mean share of pulls while one thing is varied."""
    values = getattr(sweep, varied)
    titles = ["pulls / nN", *(f"{SYMBOLS[varied]} = {value:,g}" for value in values)]
    body = []
    for method, replacement in COMPARED:
        cells = []
        for value in values:
            mine = of_method(of_point(found, sweep.base, varied, value), method, replacement)
            mark = " *" if any(row["kind"] == "schedule" for row in mine) else ""
            cells.append(per_cent(fmean(row["share"] for row in mine)) + mark if mine else "–")
        body.append([title(method, replacement), *cells])
    return page.table(titles, body)


def models(found: Sequence[Row], sweep: Sweep) -> list[str]:
    """Return the table of the problem with few arms: what each method costs and how good it is."""
    mine = [row for row in found if row["problem"] == sweep.models.problem]
    groups = [
        (title(*way), of_method(mine, *way)) for way in (*COMPARED, ("exponential-gap", True))
    ]
    for method in FIXED_BUDGET:
        for replacement in (True, False):
            for budget in sweep.budgets:
                wanted = (method, replacement, budget)
                chosen = [
                    row
                    for row in mine
                    if (row["method"], row["replacement"], row["budget"]) == wanted
                ]
                name = f"{title(method, replacement)}, budget {per_cent(budget)}"
                groups.append((name, chosen))
    body = []
    for name, group in groups:
        runs = [row for row in group if row["kind"] == "run"]
        share = per_cent(fmean(row["share"] for row in group)) if group else "–"
        losses = [row["suboptimality"] for row in runs]
        within = sum(loss <= sweep.models.epsilon for loss in losses)
        body.append(
            [
                name,
                share + ("" if runs else " *"),
                f"{max(losses):.3f}" if losses else "–",
                f"{within}/{len(losses)}" if losses else "–",
            ]
        )
    return page.table(["method", "pulls / nN", "largest loss", "loss at most ε"], body)


def losses(found: Sequence[Row], sweep: Sweep) -> list[str]:
    """Return the sentence on how good the answers of the first part were."""
    mine = [row for row in found if row["problem"] == sweep.base.problem and row["kind"] == "run"]
    worse = [row for row in mine if row["suboptimality"] > row["epsilon"]]
    verdict = f"{len(mine):,} runs; the loss exceeded ε in {len(worse)} of them."
    return [f"{verdict} Numbers with a * are counted from the schedule, not run."]


def sections(found: Sequence[Row], sweep: Sweep) -> dict[str, list[str]]:
    """Return the generated parts of the page by the names of their marks."""
    parts = {f"pulls {name}": by_value(found, sweep, name) for name in VARIED}
    return parts | {"pulls models": models(found, sweep), "pulls losses": losses(found, sweep)}
