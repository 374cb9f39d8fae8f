"""Find wrong labels by the mistakes that they cause: attribution of the mistakes of a network to its training examples.

One per cent of the training labels are replaced by wrong ones, and a network is trained on all of them. For the worst mistakes that
it then makes on test images, the question is which training examples led it there: those whose gradients have the most negative
inner product with the gradient of the loss of that image, because a step of training on them makes this loss larger. If attribution
works, wrong labels are far more frequent among them than one in a hundred.

The same is done with gradients that are projected to 512 and 4,096 numbers, which is common because whole ones seem too large
to read: what does that lose, and what does it save?

    python examples/find_flipped_labels.py                      # digits, a dense network in numpy: seconds
    python examples/find_flipped_labels.py --fashion FILE.npz   # Fashion-MNIST, a convolutional network in torch: minutes

The first needs scikit-learn for its digits, the second torch. ``--rows FILE`` keeps what was found as JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sureshot.attribution import (
    GaussianProjection,
    Store,
    StoreWriter,
    example_gradients,
    judge_projection,
    write_gradients,
)
from sureshot.experiments import gradients
from sureshot.experiments.gradients import Samples

K = 10
FLIPPED = 0.01
# Seconds to wait between two kinds of searches: the threads of a product stay awake for a while.
REST = 0.3


class Dense:
    """Two dense layers, trained and differentiated with numpy."""

    name = "dense network"

    def __init__(self, train: Samples, generator: np.random.Generator) -> None:
        self.network = gradients.train_network(train, hidden=512, epochs=20, generator=generator)

    def answers(self, samples: Samples) -> tuple[Any, Any]:
        """Return the class that the network gives to each sample, and its loss."""
        errors = gradients.backward(self.network, samples).class_errors
        shares = errors + np.eye(gradients.CLASSES)[samples.labels]
        return shares.argmax(axis=1), -np.log(shares[np.arange(len(shares)), samples.labels])

    def gradients(self, samples: Samples) -> Any:
        """Return the gradient of the loss of each sample, one row each."""
        return gradients.backward(self.network, samples).gradients(slice(None))

    def write(self, samples: Samples, path: Path) -> Store:
        """Write the gradients of all samples to a store."""
        factors = gradients.backward(self.network, samples)
        modules = {
            name: part.size for name, part in zip(self.network._fields, self.network, strict=True)
        }
        with StoreWriter(path, rows=len(samples.labels), modules=modules) as writer:
            while writer.written < writer.rows:
                some = slice(writer.written, writer.written + 64)
                writer.append(factors.gradients(some))
        return writer.store()


class Convolutional:
    """Two convolutions and two dense layers, trained and differentiated with torch."""

    name = "convolutional network"

    def __init__(self, train: Samples, generator: np.random.Generator, epochs: int) -> None:
        import torch  # noqa: PLC0415 - the other network does without

        torch.manual_seed(int(generator.integers(1 << 31)))
        self.torch, nn = torch, torch.nn
        self.model = nn.Sequential(
            nn.Unflatten(1, (1, 28, 28)),
            *(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(800, 134), nn.ReLU(), nn.Linear(134, 10)),
        )
        self.loss = nn.functional.cross_entropy
        optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        for _ in range(epochs):
            for rows in np.array_split(
                generator.permutation(len(train.labels)), len(train.labels) // 64
            ):
                images, labels = self._tensors(train.take(rows))
                optimizer.zero_grad()
                self.loss(self.model(images), labels).backward()
                optimizer.step()

    def _tensors(self, samples: Samples) -> Any:
        return self.torch.from_numpy(samples.inputs), self.torch.from_numpy(samples.labels)

    def answers(self, samples: Samples) -> tuple[Any, Any]:
        """Return the class that the network gives to each sample, and its loss."""
        images, labels = self._tensors(samples)
        with self.torch.no_grad():
            scores = self.model(images)
            losses = self.loss(scores, labels, reduction="none")
        return scores.argmax(dim=1).numpy(), losses.numpy()

    def gradients(self, samples: Samples) -> Any:
        """Return the gradient of the loss of each sample, one row each."""
        return example_gradients(self.model, self.loss, *self._tensors(samples))

    def write(self, samples: Samples, path: Path) -> Store:
        """Write the gradients of all samples to a store."""
        data = self.torch.utils.data.TensorDataset(*self._tensors(samples))
        return write_gradients(self.model, self.loss, data, path, batch_size=64)


class Question(NamedTuple):
    """What is asked of the store: which rows led to the mistakes."""

    store: Store
    queries: Any  # the gradients of the losses of the mistakes, one row each
    flipped: Any  # which rows of the store have a wrong label


def flip(samples: Samples, generator: np.random.Generator) -> tuple[Samples, Any]:
    """Give some samples another label; return which."""
    flipped = np.zeros(len(samples.labels), dtype=bool)
    count = max(1, round(FLIPPED * len(flipped)))
    flipped[generator.permutation(len(flipped))[:count]] = True
    moved = (
        samples.labels + generator.integers(1, gradients.CLASSES, len(flipped))
    ) % gradients.CLASSES
    return Samples(samples.inputs, np.where(flipped, moved, samples.labels)), flipped


def timed(calls: list[Any]) -> tuple[list[Any], float]:
    """Return what some calls return, and the median of their milliseconds."""
    time.sleep(REST)
    found, taken = [], []
    for call in calls:
        started = time.perf_counter()
        found.append(call())
        taken.append(1e3 * (time.perf_counter() - started))
    return found, float(np.median(taken))


def found_wrong(indices: Any, flipped: Any) -> dict[str, float]:
    """Return which part of the found rows has a wrong label, and which part of those in the first place."""
    wrong = flipped[np.asarray(indices)]
    return {"precision": float(wrong.mean()), "first": float(wrong[:, 0].mean())}


def by_full_gradients(question: Question, *, unit_norm: bool) -> list[dict[str, Any]]:
    """Search the whole gradients, with sureshot and by reading everything."""
    store, queries, flipped = question
    options: dict[str, Any] = {"k": K, "unit_norm": unit_norm, "reverse": True}
    raced, ours = timed([lambda q=q: store.top_k(q, rng=0, **options) for q in queries])
    exact, theirs = timed([lambda q=q: store.top_k(q, method="exact", **options) for q in queries])
    truth = np.stack([one.indices for one in exact])
    rows = []
    for name, found, taken in (("sureshot", raced, ours), ("exact product", exact, theirs)):
        indices = np.stack([one.indices for one in found])
        kept = np.mean([np.isin(a, b).mean() for a, b in zip(truth, indices, strict=True)])
        rows.append(
            {
                "by": f"full gradients, {name}",
                "unit_norm": unit_norm,
                "numbers": store.shape[1],
                "kept": float(kept),
                **found_wrong(indices, flipped),
                "milliseconds": taken,
                "share": float(np.mean([one.work.share for one in found])),
                "seconds_before": 0.0,
            }
        )
    return rows


def least(rows: Any, query: Any) -> Any:
    """Return the rows with the smallest inner products, by a plain product."""
    return np.argsort(rows @ query)[:K]


def by_projection(question: Question, dimensions: int) -> list[dict[str, Any]]:
    """Project everything, and search the projections by a plain product."""
    store, queries, flipped = question
    started = time.perf_counter()
    projection = GaussianProjection(store.shape[1], dimensions)
    projected = projection.apply(store)
    seconds = time.perf_counter() - started
    asked = projection.apply(queries)
    rows = []
    for unit_norm in (False, True):
        options: dict[str, Any] = {"unit_norm": unit_norm, "reverse": True, "rng": 0}
        judged = judge_projection(store, queries, projected, asked, K, **options)
        if unit_norm:
            projected /= np.linalg.norm(projected, axis=1, keepdims=True)
        found, taken = timed([partial(least, projected, query) for query in asked])
        rows.append(
            {
                "by": f"projected to {dimensions:,}",
                "unit_norm": unit_norm,
                "numbers": dimensions,
                "kept": judged.mean,
                **found_wrong(found, flipped),
                "milliseconds": taken,
                "share": 1.0,
                "seconds_before": seconds,
            }
        )
    return rows


def main() -> None:
    """Tell the story."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--fashion", type=Path, help="file of Fashion-MNIST; digits if not given")
    parser.add_argument("--examples", type=int, default=6_000, help="training images of it")
    parser.add_argument("--epochs", type=int, default=30, help="of training on it")
    parser.add_argument("--questions", type=int, default=30, help="mistakes to ask about")
    parser.add_argument("--dimensions", type=int, nargs="*", default=[512, 4096])
    parser.add_argument(
        "--rows", type=Path, help="file of JSON that gets one line per way to search"
    )
    settings = parser.parse_args()

    generator = np.random.default_rng(0)
    if settings.fashion:
        train, test = gradients.image_samples(settings.fashion)
        train = train.take(generator.permutation(len(train.labels))[: settings.examples])
    else:
        train, test = gradients.digits_samples(generator)
    train, flipped = flip(train, generator)
    print(f"{flipped.sum():,} of {len(flipped):,} training labels are wrong.")
    network: Any = Dense(train, generator)
    if settings.fashion:
        network = Convolutional(train, generator, settings.epochs)
    said, losses = network.answers(test)
    wrong = np.flatnonzero(said != test.labels)
    print(
        f"The {network.name} knows {1 - len(wrong) / len(said):.1%} of {len(said):,} test images."
    )
    worst = wrong[np.argsort(-losses[wrong])[: settings.questions]]
    queries = network.gradients(test.take(worst))

    with tempfile.TemporaryDirectory() as folder:
        store = network.write(train, Path(folder) / "gradients")
        started = time.perf_counter()
        store.compute_norms()
        print(f"{store}; norms in {time.perf_counter() - started:.2f} s")
        question = Question(store, queries, flipped)
        rows = [
            row for unit in (False, True) for row in by_full_gradients(question, unit_norm=unit)
        ]
        rows += [row for one in settings.dimensions for row in by_projection(question, one)]
        rows.sort(key=lambda row: row["unit_norm"])
        print(store.top_k(queries[0], K, reverse=True, rng=0).certificate, "\n")

    print(
        f"Of the {K} training examples that led to each of {len(worst)} mistakes, how many have a wrong label?"
    )
    print(f"And of those in the first place? By chance {flipped.mean():.1%}.\n")
    print(f"{'':36}{'of 10':>7}{'of first':>10}{'true top':>10}{'ms':>8}{'read':>9}")
    for row in rows:
        name = row["by"] + (", unit" if row["unit_norm"] else "")
        print(
            f"{name:36}{row['precision']:>7.1%}{row['first']:>10.1%}{row['kept']:>10.1%}"
            f"{row['milliseconds']:>8.1f}{row['share']:>9.2%}"
        )
        row |= {"network": network.name, "stored": len(flipped), "questions": len(worst), "k": K}
        row |= {"chance": float(flipped.mean()), "accuracy": 1 - len(wrong) / len(said)}
    if settings.rows:
        settings.rows.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
