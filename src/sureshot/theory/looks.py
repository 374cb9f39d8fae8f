"""After how many pulls an arm is looked at, for bandits that may look as often as they like."""

from __future__ import annotations

# Pulls between two looks, as a part of those before. A bound that holds at all times allows any
# looks. Fewer of them cost less time, and at most this part more pulls than looks after every pull.
GROWTH = 1 / 8


def next_look(pulls: int) -> int:
    """Return how many pulls an arm has at the look that comes after `pulls` pulls.

    Examples
    --------
    >>> [next_look(pulls) for pulls in (0, 1, 8, 9, 100)]
    [1, 2, 9, 11, 113]
    """
    return pulls + max(1, -int(-pulls * GROWTH // 1))


def looks(n_rewards: int) -> tuple[int, ...]:
    """Return the pulls at all looks at a list that is read without replacement.

    Examples
    --------
    >>> looks(12)
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12)
    """
    grid = [1]
    while grid[-1] < n_rewards:
        grid.append(min(next_look(grid[-1]), n_rewards))
    return tuple(grid)
