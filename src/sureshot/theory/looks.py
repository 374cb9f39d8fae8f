"""The numbers of pulls at which an arm is tested, for bandits whose bounds hold at all times."""

from __future__ import annotations

# Pulls between two tests (looks), as a share of those before. A bound that holds at all times allows
# any tests. Fewer of them take less time, and cost at most this share of pulls more.
GROWTH = 1 / 8


def next_look(pulls: int) -> int:
    """Return the number of pulls at the first look after `pulls` pulls.

    Examples
    --------
    >>> [next_look(pulls) for pulls in (0, 1, 8, 9, 100)]
    [1, 2, 9, 11, 113]
    """
    return pulls + max(1, -int(-pulls * GROWTH // 1))


def looks(n_rewards: int) -> tuple[int, ...]:
    """Return the numbers of pulls at all looks at a list that is read without replacement.

    Examples
    --------
    >>> looks(12)
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12)
    """
    grid = [1]
    while grid[-1] < n_rewards:
        grid.append(min(next_look(grid[-1]), n_rewards))
    return tuple(grid)
