"""What came of a replay: for each way to choose, what it took and how good the choices were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints

# Losses are differences of two means, each rounded.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """One way to choose: its choice in every order, and what it took.

    Attributes
    ----------
    name
        What it is called in the table.
    chosen
        The chosen model in each order.
    calls
        Answers that were paid for in each order.
    means
        The mean result of every model.
    """

    name: str
    chosen: Ints
    calls: Ints
    means: Floats

    @property
    def losses(self) -> Floats:
        """How much worse than the best model the chosen one is, in each order."""
        losses: Floats = self.means.max() - self.means[self.chosen]
        return losses

    def right(self, epsilon: float) -> float:
        """Return how often the choice was within epsilon of the best model, as a share."""
        return float((self.losses <= epsilon + ROUNDING).mean())


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What one strategy chose and paid, over all orders.

    Attributes
    ----------
    name
        What it is called in the table.
    calls
        Answers that were paid for, the mean over the orders.
    share
        The same as a share of all answers.
    right
        Share of the orders in which the choice is within epsilon of the best model.
    exact
        Share of the orders in which the choice is the best model.
    mean_loss, largest_loss
        How much worse than the best model the choice is, over the orders.
    """

    name: str
    calls: float
    share: float
    right: float
    exact: float
    mean_loss: float
    largest_loss: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Replayed:
    """The result of `replay`: ``found["best_arms"]`` is an outcome, ``print(found)`` the table.

    Attributes
    ----------
    models
        Names of the models.
    shape
        Number of models, and of examples.
    epsilon, delta
        What the search was asked.
    strategies
        The choices of each strategy in each order.
    """

    models: tuple[str, ...]
    shape: tuple[int, ...]
    epsilon: float
    delta: float
    strategies: tuple[Strategy, ...]

    @property
    def orders(self) -> int:
        """In how many orders the examples were tried."""
        return len(self.strategies[0].calls)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What each strategy chose and paid."""
        return tuple(self[strategy.name] for strategy in self.strategies)

    def __getitem__(self, name: str) -> Outcome:
        strategies = {strategy.name: strategy for strategy in self.strategies}
        if name not in strategies:
            raise KeyError(f"expected one of {', '.join(map(repr, strategies))}, got {name!r}")
        one = strategies[name]
        calls, losses = float(one.calls.mean()), one.losses
        return Outcome(
            name=name,
            calls=calls,
            share=calls / (self.shape[0] * self.shape[1]),
            right=one.right(self.epsilon),
            exact=one.right(0.0),
            mean_loss=float(losses.mean()),
            largest_loss=float(losses.max()),
        )

    def __repr__(self) -> str:
        models, examples = self.shape
        best = max(
            zip(self.strategies[0].means, self.models, strict=True), key=lambda pair: pair[0]
        )
        titles = ("", "answers", "share", "right", "the best", "mean loss", "largest")
        lines = [
            (
                one.name,
                f"{one.calls:,.0f}",
                f"{one.share:.1%}",
                f"{one.right:.1%}",
                f"{one.exact:.1%}",
                f"{one.mean_loss:.4f}",
                f"{one.largest_loss:.4f}",
            )
            for one in self.outcomes
        ]
        widths = [max(len(line[at]) for line in [titles, *lines]) for at in range(len(titles))]
        shown = [
            "  ".join(
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in [titles, *lines]
        ]
        head = (
            f"{models:,} models, {examples:,} examples, {self.orders:,} orders. "
            f"Best: {best[1]}, {best[0]:.4f}. Right: within {self.epsilon:g} of it."
        )
        return "\n".join([head, "", *shown])

    def to_dict(self) -> dict[str, Any]:
        """Return what was asked and what came of it, ready for JSON."""
        return {
            "models": self.shape[0],
            "examples": self.shape[1],
            "epsilon": self.epsilon,
            "delta": self.delta,
            "orders": self.orders,
            "outcomes": [one.to_dict() for one in self.outcomes],
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw what each order took and lost, for every strategy.

        Parameters
        ----------
        axes
            A matplotlib ``Axes`` to draw on; a new figure if not given.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.
        """
        from sureshot.evals.picture import draw  # noqa: PLC0415 - matplotlib is an extra

        return draw(self, axes)
