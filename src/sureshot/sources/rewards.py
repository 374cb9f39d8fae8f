"""Whole tables of rewards from a function: some are in the journal, the others are pulled.

A round of a search asks for one table and bets only when it is complete. So rewards may arrive in any
order: the bets are placed in the order in which the coordinates were drawn, as the theorem requires.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import BoundsError, JournalError
from sureshot.sources.calls import Call, Caller, CallerThread, CallsInProgress, paid_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from sureshot._types import Array, Bools, Floats, Ints
    from sureshot.sources.journal import Journal


@dataclass(slots=True, eq=False)
class Rewards:
    """The rewards of `pull`: calls it, with retries, and checks and stores what it returns."""

    pull: Callable[[Ints, Ints], Any]
    low: float
    high: float
    caller: Caller = field(default_factory=CallerThread)
    per_call: int | None = None  # coordinates in a call, which then has one arm; None: whole tables
    concurrency: int = 1
    retries: int = 0
    journal: Journal | None = None
    abort: Callable[[], object] | None = None  # cancels the calls that run, where that is possible
    paid: int = 0  # rewards that were pulled, not found in the journal

    def table(self, arms: Ints, coordinates: Ints) -> Floats:
        """Return the reward of each arm at each coordinate, shape (len(arms), len(coordinates))."""
        distinct, where = np.unique(coordinates, return_inverse=True)
        if len(distinct) < len(coordinates):  # nothing is pulled twice
            return self.table(arms, distinct)[:, where]
        # A reward is never NaN, so NaN marks a reward that is not known yet.
        rewards = np.full((len(arms), len(coordinates)), np.nan)
        if self.journal is not None:
            self.journal.fill(rewards, arms, coordinates)
            self.journal.refuse_outside(rewards, arms, coordinates, self.low, self.high)
        calls = self._calls(np.isnan(rewards), arms, coordinates)
        running = CallsInProgress(self.caller, self.pull, calls, self.concurrency, self.retries)
        try:
            while completed := running.next_completed():
                self._record(completed, rewards)
                running.remove(completed)
        except BaseException as error:
            self._stop(running, error)
            raise
        return rewards

    def _calls(self, missing: Bools, arms: Ints, coordinates: Ints) -> Iterator[Call]:
        """Yield the calls that ask for what is missing."""
        if self.per_call is None and missing.all():
            portions = [(np.arange(len(arms)), np.arange(len(coordinates)))]
        elif self.per_call is None:
            # Arms that lack the same coordinates share a call.
            patterns, group = np.unique(missing, axis=0, return_inverse=True)
            portions = [
                (np.flatnonzero(group.ravel() == number), np.flatnonzero(pattern))
                for number, pattern in enumerate(patterns)
            ]
        else:
            portions = [
                (np.array([row]), columns)
                for row in range(len(arms))
                for columns in _portions(np.flatnonzero(missing[row]), self.per_call)
            ]
        for rows, columns in portions:
            if len(columns):
                yield Call(arms[rows], coordinates[columns], rows, columns)

    def _record(self, completed: dict[Future[Any], Call], rewards: Floats) -> None:
        """Put the rewards of completed calls into the table, and into the journal in one transaction."""
        found = []
        for future, call in completed.items():
            values = _as_rewards(future.result(), call)
            inside = (values >= self.low) & (values <= self.high)
            if not inside.all():
                self._refuse(call, values, inside)
            rewards[np.ix_(call.rows, call.columns)] = values
            found.append((call, values, inside))
        if self.journal is not None:
            self.journal.add(_entries(found))
        self.paid += sum(values.size for _, values, _ in found)

    def _stop(self, running: CallsInProgress, error: BaseException) -> None:
        """End the calls in progress, and store the valid rewards that they return.

        The calls in progress have their price, so an error waits for them. An interruption does not
        wait for calls that can be cancelled.
        """
        if self.journal is None or isinstance(error, JournalError):
            running.cancel()
            if self.abort is not None:
                self.abort()
            return
        if self.abort is not None and not isinstance(error, Exception):
            self.abort()
        found = []
        for future, call in running.last_completed().items():
            try:
                values = _as_rewards(paid_by(future), call)
            except (TypeError, ValueError):
                continue  # no rewards: the error is this one, or an earlier one
            found.append((call, values, (values >= self.low) & (values <= self.high)))
        self.journal.add(_entries(found))

    def _refuse(self, call: Call, values: Floats, inside: Bools) -> None:
        row, column = np.argwhere(~inside)[0]
        message = (
            f"arm {call.arms[row]} has reward {values[row, column]:.6g} at coordinate "
            f"{call.coordinates[column]}, outside bounds=({self.low:.6g}, {self.high:.6g})"
        )
        raise BoundsError(message)


def _portions(columns: Ints, size: int) -> Iterator[Ints]:
    for start in range(0, len(columns), size):
        yield columns[start : start + size]


def _as_rewards(answer: Any, call: Call) -> Floats:
    """Return what `pull` returned as an array of rewards, or raise an error."""
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()  # so that Python does not warn that it was never awaited
        message = (
            "pull must return rewards, got an awaitable: to have it awaited, pass a coroutine "
            "function (async def)"
        )
        raise TypeError(message)
    rewards: Array = np.asarray(answer)
    expected = (len(call.arms), len(call.coordinates))
    if rewards.shape != expected:
        message = (
            f"pull must return an array of shape {expected} (arms, coordinates), "
            f"got shape {rewards.shape}"
        )
        raise ValueError(message)
    if rewards.dtype.kind not in "fiub":
        raise TypeError(f"pull must return real numbers, got an array of {rewards.dtype}")
    return rewards.astype(np.float64, copy=False)


def _entries(
    found: Iterable[tuple[Call, Floats, Bools]],
) -> Iterator[tuple[int, int, float]]:
    """Yield arm, coordinate and reward of all valid rewards of some calls."""
    for call, values, inside in found:
        rows, columns = np.nonzero(inside)
        yield from zip(
            call.arms[rows].tolist(),
            call.coordinates[columns].tolist(),
            values[rows, columns].tolist(),
            strict=True,
        )
