"""The race of arms on the front page: one search, as it pulled its arms.

``python -m measurements.front.race`` searches, writes what it recorded to ``docs/results/race.jsonl`` and draws
``docs/figures/race.svg`` from that. Twenty arms, as models on a test set: a reward is 1 where a model is right. The
picture moves once, for some seconds; where readers want no motion it shows the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements.harness.page import DOCS
from sureshot.experiments import rows

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.experiments.rows import Row

ROWS = DOCS / "results" / "race.jsonl"
PICTURE = DOCS / "figures" / "race.svg"

ARMS, REWARDS, EPSILON, SEED = 20, 2_000, 0.01, 7

DURATION = "7s"
LEFT, WIDTH, RIGHT, TOP, LANE, BAR = 54, 366, 100, 46, 15, 9
STYLE = """\
.race { font: 13px system-ui, sans-serif; --text: var(--pst-color-text-base, #48566b);
  --faint: var(--pst-color-surface, #eceff3);
  --out: color-mix(in srgb, var(--pst-color-text-muted, #48566b) 50%, transparent);
  --running: var(--pst-color-secondary, #8045e5); --best: var(--pst-color-primary, #0a7d91); }
@media (min-width: 700px) { .race { font-size: 10px; } }
.race text { fill: var(--text); } .race .track { fill: var(--faint); }
.race .bar { fill: var(--out); }
.race .bar.best { fill: var(--best); } .race text.best { font-weight: 600; }
@media (prefers-reduced-motion: no-preference) {
  .race.moving .bar { animation-duration: DURATION; animation-timing-function: linear; animation-fill-mode: both; }
  .race.moving .end { animation: race-end DURATION both; }
}
@keyframes race-end { 0%, 99% { opacity: 0; } 100% { opacity: 1; } }
"""


def arms() -> Floats:
    """Return the rewards: two good arms, and others between 0.40 and 0.75 on average."""
    rng = np.random.default_rng(SEED)
    means = np.r_[0.82, 0.77, np.linspace(0.40, 0.75, ARMS - 2)]
    rng.shuffle(means)
    return np.asarray(rng.random((ARMS, REWARDS)) < means[:, None], dtype=np.float64)


def record() -> Row:
    """Search, and write down how often each arm was pulled up to the end of each round."""
    table, pulled = arms(), np.zeros(ARMS, np.int64)
    after: list[list[int]] = []

    def pull(some: Ints, coordinates: Ints) -> Floats:
        pulled[some] += len(coordinates)
        found: Floats = table[np.ix_(some, coordinates)]
        return found

    def end_round(_: object) -> None:
        after.append(pulled.tolist())

    result = sureshot.best_arms(pull, ARMS, REWARDS, epsilon=EPSILON, rng=SEED, progress=end_round)
    return {
        "arms": ARMS,
        "rewards": REWARDS,
        "epsilon": EPSILON,
        "seed": SEED,
        "best": int(result.indices[0]),
        "pulls": after,
        "certificate": str(result.certificate),
        **rows.environment(),
    }


def svg(row: Row) -> str:
    """Return the picture of a race."""
    last = row["pulls"][-1]
    height = TOP + LANE * row["arms"] + 6
    everything = row["arms"] * row["rewards"]
    lanes = [_lane(row, arm) for arm in range(row["arms"])]
    title = [
        f"{row['arms']} arms of {row['rewards']:,} rewards each. The best one is found after",
        f"{sum(last):,} of {everything:,} pulls: {100 * sum(last) / everything:.0f} %.",
    ]
    whole = " ".join(title)
    moves = "\n".join(one["move"] for one in lanes)
    drawn = "\n".join(one["drawn"] for one in lanes)
    return (
        f'<svg class="race moving" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + RIGHT} {height}" '
        f'role="img" aria-labelledby="race-title">\n<title id="race-title">{whole}</title>\n'
        f"<style>\n{STYLE.replace('DURATION', DURATION)}{moves}\n</style>\n"
        f'<text x="{LEFT}" y="15">{title[0]}</text>\n<text x="{LEFT}" y="32">{title[1]}</text>\n'
        f"{drawn}\n</svg>\n"
    )


def _lane(row: Row, arm: int) -> dict[str, str]:
    """Return how the bar of an arm moves, and its lane."""
    rounds = len(row["pulls"])
    shares = [0.0, *(pulls[arm] / row["rewards"] for pulls in row["pulls"])]
    kept = _corners(shares)
    out = kept[-2] if shares[kept[-1]] == shares[kept[-2]] else kept[-1]
    best = arm == row["best"]
    colour = "--best" if best else "--out"
    stops = [
        f"{100 * at / rounds:.1f}% {{ width: {WIDTH * shares[at]:.1f}px; "
        f"fill: var({'--running' if at < out else colour}); }}"
        for at in kept
    ]
    pulls = row["pulls"][-1][arm]
    y = TOP + LANE * arm
    end = LEFT + WIDTH * shares[-1] + 5
    kind, words = ("best", f"{pulls:,}, best") if best else ("", f"{pulls:,}")
    return {
        "move": f"@keyframes race-{arm} {{ {' '.join(stops)} }}",
        "drawn": (
            f'<text x="{LEFT - 8}" y="{y + BAR}" text-anchor="end">arm {arm}</text>'
            f'<rect class="track" x="{LEFT}" y="{y}" width="{WIDTH}" height="{BAR}" rx="2"/>'
            f'<rect class="bar {kind}" x="{LEFT}" y="{y}" width="{WIDTH * shares[-1]:.1f}" '
            f'height="{BAR}" style="animation-name: race-{arm}"/>'
            f'<text class="end {kind}" x="{end:.1f}" y="{y + BAR}">{words}</text>'
        ),
    }


def _corners(shares: list[float]) -> list[int]:
    """Return the first and the last position, and those around which a list rises or stays in another way.

    Examples
    --------
    >>> _corners([0.0, 0.1, 0.2, 0.2, 0.2, 0.5])
    [0, 2, 4, 5]
    """
    steps = np.diff(shares)
    inside = [at for at in range(1, len(steps)) if not np.isclose(steps[at - 1], steps[at])]
    return [0, *inside, len(steps)]


def main() -> None:
    """Search and draw."""
    row: dict[str, Any] = record()
    rows.write(ROWS, [row])
    PICTURE.write_text(svg(row), encoding="utf-8")


if __name__ == "__main__":
    main()
