"""Per-sample gradients of a small network, trained so that the same seed gives the same values.

Knows nothing of the workloads that are made of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]
    DoubleArray = NDArray[np.float64]
    IntegerArray = NDArray[np.int64]

HELD_OUT_DIGITS = 300
CLASSES = 10
# See `on_grid`.
GRID = 2.0**-20


class Samples(NamedTuple):
    """Network inputs, which are multiples of `GRID`, and the classes they belong to."""

    inputs: FloatArray
    labels: IntegerArray

    def take(self, rows: IntegerArray) -> Samples:
        """Return these samples only."""
        return Samples(self.inputs[rows], self.labels[rows])


class Network(NamedTuple):
    """A two-layer ReLU network: weights and offsets of the hidden layer, then of the classes."""

    hidden_weights: DoubleArray
    hidden_offsets: DoubleArray
    class_weights: DoubleArray
    class_offsets: DoubleArray


class Factors(NamedTuple):
    """What per-sample gradients are made of, one row per sample.

    The gradient of a sample is inputs ⊗ hidden_errors, hidden_errors, hidden ⊗ class_errors,
    class_errors: the four arrays of `Network`, in their order.
    """

    inputs: NDArray[Any]
    hidden_errors: NDArray[Any]
    hidden: NDArray[Any]
    class_errors: NDArray[Any]

    def gradients(self, rows: slice) -> FloatArray:
        """Return the gradients of these samples, flat."""
        inputs, hidden_errors, hidden, class_errors = (
            factor[rows].astype(np.float32) for factor in self
        )
        parts = (
            _outer(inputs, hidden_errors),
            hidden_errors,
            _outer(hidden, class_errors),
            class_errors,
        )
        return np.concatenate(parts, axis=1)


def _outer(left: FloatArray, right: FloatArray) -> FloatArray:
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def on_grid(values: DoubleArray) -> DoubleArray:
    """Round to multiples of 2^-20, so that matrix products have no rounding errors.

    Products of such numbers are multiples of 2^-40, and float64 adds those exactly, in any order, as
    long as sums stay below 2^13. Without this the order of the additions, which follows the number
    of threads, grows through the steps of the training into another network: on Fashion-MNIST the
    gradients moved by 30 %.
    """
    return np.rint(values / GRID) * GRID


def backward(network: Network, samples: Samples) -> Factors:
    """Return the factors of the gradients of the cross-entropy loss."""
    inputs = samples.inputs.astype(np.float64)
    hidden = inputs @ network.hidden_weights + network.hidden_offsets
    hidden = on_grid(np.maximum(hidden, 0))
    logits = hidden @ network.class_weights + network.class_offsets
    errors = np.exp(logits - logits.max(axis=1, keepdims=True))
    errors /= errors.sum(axis=1, keepdims=True)
    errors[np.arange(len(errors)), samples.labels] -= 1
    # einsum adds in one order always, so the small errors of samples learned well stay unrounded.
    hidden_errors = np.einsum("sc,hc->sh", errors, network.class_weights) * (hidden > 0)
    return Factors(inputs, hidden_errors, hidden, errors)


def train_network(samples: Samples, hidden: int, epochs: int, generator: Generator) -> Network:
    """Train by plain stochastic gradient descent, from weights that keep the size of signals."""
    batch, rate = 64, 0.1
    count, inputs = samples.inputs.shape
    network = Network(
        on_grid(generator.standard_normal((inputs, hidden)) * np.sqrt(2 / inputs)),
        np.zeros(hidden),
        on_grid(generator.standard_normal((hidden, CLASSES)) * np.sqrt(2 / hidden)),
        np.zeros(CLASSES),
    )
    for _ in range(epochs):
        shuffled = generator.permutation(count)
        for start in range(0, count, batch):
            chosen = samples.take(shuffled[start : start + batch])
            factors = backward(network, chosen)
            hidden_errors = on_grid(factors.hidden_errors)
            class_errors = on_grid(factors.class_errors)
            gradients = Network(
                factors.inputs.T @ hidden_errors,
                hidden_errors.sum(axis=0),
                factors.hidden.T @ class_errors,
                class_errors.sum(axis=0),
            )
            step = rate / len(chosen.labels)
            network = Network(
                *(
                    on_grid(parameter - step * gradient)
                    for parameter, gradient in zip(network, gradients, strict=True)
                )
            )
    return network


def gradients_to_search(
    train: Samples,
    test: Samples,
    *,
    rows: int,
    queries: int,
    parameters: int,
    epochs: int,
    generator: Generator,
) -> tuple[Factors, FloatArray]:
    """Train a network on all of `train`, and return gradients of some samples.

    Of as many training samples as `rows`, in factors, and of as many test samples as `queries`. The
    network has the possible number of parameters nearest to `parameters`.
    """
    for label, wanted, there in (
        ("n", rows, len(train.labels)),
        ("queries", queries, len(test.labels)),
    ):
        if wanted > there:
            raise ValueError(f"{label}: expected at most {there} samples, got {wanted}")
    inputs = train.inputs.shape[1]
    hidden = max(1, round((parameters - CLASSES) / (inputs + 1 + CLASSES)))
    network = train_network(train, hidden, epochs, generator)
    chosen = generator.permutation(len(train.labels))[:rows]
    asked = generator.permutation(len(test.labels))[:queries]
    return (
        backward(network, train.take(chosen)),
        backward(network, test.take(asked)).gradients(slice(None)),
    )


def digits_samples(generator: Generator) -> tuple[Samples, Samples]:
    """Return scikit-learn's digits, most of them to train on and some held out."""
    # Imported here, because the other workloads do without scikit-learn.
    images, labels = import_module("sklearn.datasets").load_digits(return_X_y=True)
    samples = Samples((images / 16).astype(np.float32), labels.astype(np.int64))
    shuffled = generator.permutation(len(labels))
    return samples.take(shuffled[HELD_OUT_DIGITS:]), samples.take(shuffled[:HELD_OUT_DIGITS])


def image_samples(path: Path) -> tuple[Samples, Samples]:
    """Return the images of bytes in a file of Fashion-MNIST, those to train on and those held out."""
    with np.load(path) as file:
        train, test = (
            _image_samples(file[f"{part}_images_idx3_ubyte"], file[f"{part}_labels_idx1_ubyte"])
            for part in ("train", "t10k")
        )
    return train, test


def _image_samples(images: NDArray[Any], labels: NDArray[Any]) -> Samples:
    # Not 255: the inputs must be multiples of `GRID`.
    inputs = images.reshape(len(images), -1).astype(np.float32) / np.float32(256)
    return Samples(inputs, labels.astype(np.int64))
