"""What a search may still read, and how long it may take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sureshot.search.problem import Problem, Tally

# What may be read where nothing limits it: more than any data has.
UNLIMITED = 2**63 - 1


class Budget:
    """The budget of one search: a number of numbers, a deadline, both or neither.

    What the tally holds when the search begins, of a scan, say, is not part of it.

    Parameters
    ----------
    problem
        Has the budget and the deadline.
    tally
        Counts what the search reads.
    always_starts
        Whether the search is not late before it has read anything: for methods that have no answer
        before their first pull.
    """

    def __init__(self, problem: Problem, tally: Tally, *, always_starts: bool = False) -> None:
        self._numbers = problem.budget
        self._deadline = problem.deadline
        self._tally = tally
        self._began = 0.0 if problem.deadline is None else time.perf_counter()
        self._read_before = tally.numbers_read
        self._always_starts = always_starts

    @property
    def left(self) -> int | None:
        """How many numbers may still be read if there is time; None without such a limit."""
        return None if self._numbers is None else max(0, self._numbers - self._spent)

    @property
    def _spent(self) -> int:
        return self._tally.numbers_read - self._read_before

    def late(self) -> bool:
        """Return whether the time is up."""
        if self._deadline is None or (self._always_starts and self._spent == 0):
            return False
        return time.perf_counter() > self._deadline

    def affordable(self) -> int:
        """Return how many numbers may be read now: none once it is late."""
        if self.late():
            return 0
        left = self.left
        return UNLIMITED if left is None else left

    def predicted(self, share: float = 1.0) -> int:
        """Return how many numbers may be read before that share of the budget is spent.

        How many there is time for is predicted from the numbers that were read so far, and not limited
        before the first one.
        """
        numbers = UNLIMITED
        if self._numbers is not None:
            numbers = max(0, int(share * self._numbers) - self._spent)
        if self._deadline is not None:
            passed = time.perf_counter() - self._began
            left = share * (self._deadline - self._began) - passed
            if left <= 0:
                return 0
            if self._spent:
                numbers = min(numbers, int(self._spent * left / passed))
        return numbers

    def allows(self, numbers: float) -> bool:
        """Return whether so many numbers may be read now; none may always be."""
        return numbers <= self.affordable()


def numbers_of(share: float | None, everything: int) -> int | None:
    """Return how many numbers a budget is, given as a share of all of them."""
    return None if share is None else int(share * everything)


def deadline_in(seconds: float | None) -> float | None:
    """Return the time, by `time.perf_counter`, at which a search that starts now must end."""
    return None if seconds is None else time.perf_counter() + seconds
