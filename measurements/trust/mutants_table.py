"""The tables of docs/trust.md on planted mistakes, from rows, and why some of them are no mistakes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from measurements.harness import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.rows import Row

# Why a change that no test noticed changes nothing that is promised: by module and change, or for a whole module.
UNKNOWN = "not looked into"
REASONS: dict[str, str] = {
    "search.race.policy": "it changes what is read, a little, and never whether the answer is right",
    "theory.narrowing": "it changes how a budget is spent, and never what is proved of the answer",
    "theory.mixture": "it changes how finely a limit is searched for, or how much at a time: any limit that is found is valid",
    "theory.mixture: self.peak_wealth(middle) >= level → self.peak_wealth(middle) > level": (
        "a wealth that is equal to the level only delays"
    ),
    "theory.concentration: math.ceil → math.floor": "the next lines raise a number of pulls that is too small",
    "theory.narrowing: whole > 0 → whole >= 0": "rounds without a pull are left out by the next line, too",
    "theory.wealth: 2 → 3": "a limit is searched for less finely: any that is found is valid",
    "theory.wealth: np.sqrt → np.abs": "any stake that follows from the past is valid; this one wins less",
    "theory.wealth: rho > 0 → rho >= 0": "where it is 0 there is nothing to bet",
    "theory.wealth: room <= 0 → room < 0": "a room of exactly 0 only delays",
    "theory.wealth: 1.0 → 2.001": "this ρ stands where nothing is bet",
    "theory.intervals: 0.0 → 0.001": "rounding errors are thought to be larger than they are",
    "theory.products: 100 → 101": "any limit does that is far below the largest number of float32",
}


def short(module: str) -> str:
    """Return the name of a module without that of the library."""
    return module.removeprefix("sureshot.")


def shown(row: Row) -> str:
    """Return a mutant in one line: where, before and after."""
    return f"{short(row['module'])}:{row['line']}: `{row['before']}` → `{row['after']}`"


def reason(row: Row) -> str:
    """Return why a mutant survived."""
    module = short(row["module"])
    change = f"{module}: {row['before']} → {row['after']}"
    return REASONS.get(change, REASONS.get(module, UNKNOWN))


def counts(found: Sequence[Row]) -> list[str]:
    """Return the table: how many mistakes were planted in each module, and noticed."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        groups[short(row["module"])].append(row)
    body = [
        [
            module,
            f"{len(group)}",
            f"{sum(row['outcome'] == 'noticed' for row in group)}",
            f"{sum(row['outcome'] == 'survived' for row in group)}",
        ]
        for module, group in sorted(groups.items())
    ]
    return page.table(["module", "planted", "noticed", "survived"], body)


def survivors(found: Sequence[Row]) -> list[str]:
    """Return the table of the mistakes that no test noticed, and why."""
    body = [
        [
            f"{short(row['module'])}:{row['line']}",
            f"`{row['before']}`".replace("|", "\\|"),
            f"`{row['after']}`".replace("|", "\\|"),
            reason(row),
        ]
        for row in sorted(found, key=lambda row: (row["module"], row["line"], row["number"]))
        if row["outcome"] == "survived"
    ]
    return page.left_aligned(["where", "before", "after", "why no test notices"], body)


def sections(found: Sequence[Row]) -> dict[str, list[str]]:
    """Return the generated parts of the page by the names of their marks."""
    return {"mutants": counts(found), "survivors": survivors(found)}
