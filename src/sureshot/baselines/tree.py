"""A binary tree of rows: each level splits every node along one projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Floats, Ints


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes of one level, from left to right, and how they are split for the next.

    Attributes
    ----------
    edges
        Node i holds the rows at the positions edges[i] to edges[i + 1] of the tree's order.
    threshold
        Rows with a larger projection went to the right; NaN where a node is a leaf.
    first_child
        The left child among the nodes of the next level; a leaf is handed down as its only child.
    """

    edges: Ints
    threshold: Floats
    first_child: Ints


@dataclass(frozen=True, slots=True)
class Tree:
    """The levels from the root downwards, and the rows in the order of the leaves.

    The rows of every node lie side by side, so a tree that is cut off at a depth is the same tree.
    """

    order: Ints
    levels: tuple[Level, ...]

    def descend(
        self, projection: Callable[[int], float], depth: int, leaf: int = 1
    ) -> tuple[Ints, int]:
        """Go down to one node and return its rows, and how many levels that took.

        Parameters
        ----------
        projection
            Returns the projection of the query that splits the nodes of a level.
        depth
            Where to stop at the latest.
        leaf
            Stop at a node of at most so many rows.
        """
        node, taken = 0, 0
        start, stop = 0, len(self.order)
        for number, level in enumerate(self.levels[:depth]):
            start, stop = level.edges[node : node + 2]
            if stop - start <= leaf or np.isnan(level.threshold[node]):
                break
            taken += 1
            right = projection(number) > level.threshold[node]
            cut = self._cut(number, node)
            start, stop = (cut, stop) if right else (start, cut)
            node = int(level.first_child[node]) + int(right)
        return self.order[start:stop], taken

    def _cut(self, number: int, node: int) -> int:
        """Return where the rows of a node's right child begin."""
        following = self.levels[number + 1].edges
        return int(following[self.levels[number].first_child[node] + 1])


def grow(projections: Floats, smallest: int, fractions: Callable[[int], Floats | float]) -> Tree:
    """Split the rows along one projection after the other.

    Parameters
    ----------
    projections
        (levels, n): what splits the nodes of each level. The tree ends before the last of them if
        all of its nodes are small enough.
    smallest
        Nodes of at most so many rows are leaves.
    fractions
        Given the number of nodes, the fraction of each that goes to the left. Each side has one row
        at least.
    """
    order = np.arange(projections.shape[1])
    edges = np.array([0, len(order)])
    levels = []
    for along in projections:
        sizes = np.diff(edges)
        nodes = np.arange(len(sizes))
        is_split = sizes > smallest
        if not is_split.any():
            break
        order = order[np.lexsort((along[order], np.repeat(nodes, sizes)))]
        left = np.clip(
            (sizes * fractions(len(sizes))).astype(np.int64), 1, np.maximum(sizes - 1, 1)
        )
        cuts = (edges[:-1] + left)[is_split]
        threshold = np.full(len(sizes), np.nan)
        threshold[is_split] = (along[order[cuts - 1]] + along[order[cuts]]) / 2
        levels.append(Level(edges, threshold, nodes + np.cumsum(is_split) - is_split))
        edges = np.sort(np.concatenate((edges, cuts)))
    last = np.full(len(edges) - 1, np.nan)
    levels.append(Level(edges, last, np.arange(len(last))))
    return Tree(order, tuple(levels))
