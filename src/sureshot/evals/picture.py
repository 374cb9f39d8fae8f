"""The picture of a replay, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sureshot.evals.replayed import Replayed

# Colours that differ without colour vision, too, in the order of the strategies.
COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#666666")
MARKS = ("o", "s", "^", "D", "X")


def draw(found: Replayed, axes: Any = None) -> Any:
    """Draw the loss of each choice against what it took, a mark for every order."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra
        from matplotlib.ticker import PercentFormatter  # noqa: PLC0415
    except ImportError as error:
        message = "plot() needs matplotlib: pip install 'sureshot[report]'"
        raise ImportError(message) from error
    if axes is None:
        axes = plt.subplots(figsize=(7, 5.5), layout="constrained")[1]
    everything = found.shape[0] * found.shape[1]
    looks = zip(found.strategies, found.outcomes, COLOURS, MARKS, strict=True)
    for strategy, outcome, colour, mark in looks:
        axes.plot(
            strategy.calls / everything,
            strategy.losses,
            mark,
            color=colour,
            alpha=0.5,
            label=f"{strategy.name}: {outcome.share:.1%} of the answers, right in {outcome.right:.1%}",
        )
    axes.axhline(found.epsilon, color="0.4", lw=1, ls=":")
    axes.annotate(
        "allowed loss, ε",
        (0, found.epsilon),
        xytext=(4, 3),
        textcoords="offset points",
        color="0.4",
    )
    axes.set(
        xlabel="answers paid for, as a share of all",
        ylabel="loss of the chosen model",
        xlim=(0, 1.05),
    )
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    highest = max(found.epsilon, *(one.largest_loss for one in found.outcomes))
    if highest > 0:  # or no choice has lost anything, nor may it
        axes.set_ylim(-0.05 * highest, 1.15 * highest)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize="small", frameon=False)
    return axes
