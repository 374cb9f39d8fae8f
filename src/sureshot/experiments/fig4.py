"""Figure 4: precision against online speed-up on real data.

Ratings, factorised, once as short factors and once as the dense matrix of predicted scores; and
gradients of single samples of a small network, the data that long rows come from today.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from sureshot.experiments import compare, factors, gradients, grids, ratings, sets, speed_up
from sureshot.experiments.section import Claim, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sureshot._types import Array
    from sureshot.experiments.compare import ComparisonCase
    from sureshot.experiments.rows import Row
    from sureshot.experiments.sets import DataSet

K = 5
RANK = 100
IMAGES = "images_fashion_mnist.npz"
DIGITS, FASHION = "digits gradients", "Fashion-MNIST gradients"
# At most so many rows and coordinates; a data set that is smaller is taken whole.
SHAPES = {"small": (1_000, 5_000), "paper": (10_000, 100_000)}
QUERIES = {"small": 5, "paper": 5}

CLAIM = (
    "On factors of the Netflix and Yahoo-Music ratings, too, the precision of the other methods drops "
    "more quickly than that of BoundedME. (The other data sets here are not in the paper.)"
)
NOTES = (
    (
        "The paper's factor files are not public, and neither is how they come to 10^5 dimensions. Ratings are "
        "factorised anew here, by the alternating least squares of implicit with ratings as "
        "confidences, and searched in both readings: as factors, and as the matrix of predicted scores with a "
        "coordinate for each user."
    ),
    "One δ for all searches, 0.05.",
    (
        "Rows of fewer than 1,024 numbers, such as the factors, are read faster than they are raced: there "
        "betting is the exact product."
    ),
)


def names() -> list[str]:
    """Return all data sets that this figure may have."""
    readings = [f"{name} {kind}" for name in ratings.FORMATS for kind in ("factors", "scores")]
    return [DIGITS, FASHION, *readings]


def cases(scale: str) -> list[ComparisonCase]:
    """Return the cases of all data sets, there or not."""
    grid = replace(grids.GRIDS[scale], deltas=grids.GRIDS[scale].deltas[:1])
    return [
        case
        for name in names()
        for case in grids.cases("fig4", name, _shape(name, scale), (K,), grid, QUERIES[scale])
    ]


def _shape(name: str, scale: str) -> tuple[int, int]:
    n, N = SHAPES[scale]
    return (n, RANK) if name.endswith(" factors") else (n, N)


def lacking(folder: Path | None) -> dict[str, str]:
    """Return the data sets that cannot be measured now, and why."""
    found = {}
    if find_spec("sklearn") is None:
        found[DIGITS] = "the digits need scikit-learn: pip install 'sureshot[reproduce]'"
    if folder is None or not (folder / IMAGES).exists():
        found[FASHION] = f"no {IMAGES} in the folder of --data"
    for name in ratings.FORMATS:
        there = None if folder is None else ratings.find(name, folder)
        if there is None:
            patterns = ", ".join(form.pattern for form in ratings.FORMATS[name])
            reason = f"none of {patterns} in the folder of --data"
        elif find_spec("implicit") is None:
            reason = "the factorisation needs implicit: pip install 'sureshot[reproduce]'"
        elif there[1][0].suffix == ".mat" and find_spec("h5py") is None:
            reason = f"{there[1][0].name} needs h5py: pip install 'sureshot[reproduce]'"
        else:
            continue
        found |= {f"{name} factors": reason, f"{name} scores": reason}
    return found


def measure(wanted: Sequence[ComparisonCase], folder: Path | None) -> Iterator[Row]:
    """Yield the row of each case; the ratings of a data set are factorised once."""
    return compare.measure(wanted, Loader(folder).load)


class Loader:
    """Makes data sets, and remembers the factors it made last: two data sets are made of them."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.made: tuple[str, str, tuple[Array, Array]] | None = None

    def load(self, case: ComparisonCase) -> DataSet:
        """Make the data of a case."""
        if case.data == DIGITS:
            return _gradients(case, gradients.digits_samples, epochs=10)
        if self.folder is None:
            raise FileNotFoundError(f"{case.data}: expected a folder of data, got none")
        if case.data == FASHION:
            path = self.folder / IMAGES
            return _gradients(case, lambda _rng: _images(path), epochs=5)
        name, _, kind = case.data.rpartition(" ")
        if self.made is None or self.made[0] != name:
            found = ratings.load(name, self.folder)
            rank = min(RANK, found.n_items, found.n_users)
            self.made = name, found.origin, factors.factorise(found, rank, case.seed)
        origin, (items, users) = self.made[1:]
        if kind == "factors":
            made = factors.as_factors(items, users, case.n, case.queries, case.seed)
        else:
            made = factors.as_scores(items, users, (case.n, case.N), case.queries, case.seed)
        return replace(made, origin=origin)


def _images(path: Path) -> tuple[gradients.Samples, gradients.Samples]:
    try:
        return gradients.image_samples(path)
    except ratings.UNREADABLE as error:
        raise sets.UnreadableData(f"{FASHION}: cannot read {path.name}: {error}") from error


def _gradients(
    case: ComparisonCase,
    samples: Callable[[np.random.Generator], tuple[gradients.Samples, gradients.Samples]],
    epochs: int,
) -> DataSet:
    rng = np.random.default_rng(case.seed)
    train, test = samples(rng)
    made_of, queries = gradients.gradients_to_search(
        train,
        test,
        rows=min(case.n, len(train.labels)),
        queries=case.queries,
        parameters=case.N,
        epochs=epochs,
        generator=rng,
    )
    return sets.of_rows(made_of.gradients(slice(None)), queries)


def title(name: str) -> str:
    """Return the name of a data set for people.

    Examples
    --------
    >>> title("Netflix scores"), title("digits gradients")
    ('Netflix as scores', 'digits gradients')
    """
    of, _, kind = name.rpartition(" ")
    return f"{of} as {kind}" if of in ratings.FORMATS else name


def section(found: Sequence[Row]) -> Section:
    """Return the part of the report: one figure and one table for each data set that is there."""
    parts = []
    for name in names():
        mine = [row for row in found if row["data"] == name]
        if mine:
            short = "fig4-" + "-".join(
                "".join(c if c.isalnum() else " " for c in name.lower()).split()
            )
            said = title(name)
            parts.append((said, speed_up.section(short, said, mine, CLAIM, NOTES)))
    return Section(
        name="fig4",
        title="Figure 4: real data",
        setting=" ".join(f"{name}: {part.setting}" for name, part in parts),
        claims=[
            Claim(
                CLAIM,
                tuple(
                    f"{name}: {said}"
                    for name, part in parts
                    for claim in part.claims
                    for said in claim.measured
                ),
            )
        ],
        pictures=[
            replace(picture, caption=f"{name}. {picture.caption}")
            for name, part in parts
            for picture in part.pictures
        ],
        tables=[
            replace(table, caption=f"{name}. {table.caption}")
            for name, part in parts
            for table in part.tables
        ],
        notes=list(dict.fromkeys(note for _, part in parts for note in part.notes)),
    )
