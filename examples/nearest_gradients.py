"""Find the training samples that help most with a test sample: training-data attribution.

A step of training on one sample lowers the loss of another by the inner product of their gradients,
times the learning rate. So the training samples that help most with a test sample are those whose
gradients have the largest inner product with its own (and those that mislead, with its negative).
A gradient has as many numbers as the network has parameters, and all of them change with every step: an
index is outdated before it is built, so the usual method is one product with everything. This example
finds the same answer from a small share of the numbers.

Run with ``python examples/nearest_gradients.py``; it needs scikit-learn for its handwritten digits.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

import sureshot

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

HIDDEN = 1_333  # hidden units: 64 x 1,333 + 1,333 + 1,333 x 10 + 10 = 99,985 parameters
CLASSES = 10
TRAINING_SAMPLES = 1_497
STEPS = 60
LEARNING_RATE = np.float32(0.2)


class Network(NamedTuple):
    """One hidden layer of rectified units, then a score for each class."""

    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats


class Pass(NamedTuple):
    """What the gradients of some samples are made of, one row per sample."""

    hidden: Floats
    hidden_errors: Floats
    class_errors: Floats
    losses: Floats
    guesses: Ints


def main() -> None:
    """Train, take all gradients, and ask for the nearest ones to that of the worst test sample."""
    rng = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    shuffled = rng.permutation(len(images))
    train, test = shuffled[:TRAINING_SAMPLES], shuffled[TRAINING_SAMPLES:]

    network = trained(images[train], labels[train], rng)
    gradients = sample_gradients(network, images[train], labels[train])
    errors = run(network, images[test], labels[test])
    worst = test[np.argmax(errors.losses)]
    query = sample_gradients(network, images[[worst]], labels[[worst]])[0]
    guess = errors.guesses[np.argmax(errors.losses)]
    accuracy = np.mean(errors.guesses == labels[test])
    print(f"The network knows {accuracy:.1%} of the test digits.")
    print(f"Its worst mistake: it reads {guess} where {labels[worst]} was written.")
    print(
        f"Searching the {len(gradients):,} training gradients of {gradients.shape[1]:,} numbers "
        f"({gradients.nbytes / 1e6:.0f} MB).\n"
    )

    started = time.perf_counter()
    bounds = sureshot.scan(gradients)  # serves every later query of this checkpoint
    print(f"scan, once for all queries: {1000 * (time.perf_counter() - started):.0f} ms")
    started = time.perf_counter()
    result = sureshot.top_k(gradients, query, k=10, bounds=bounds, rng=0)
    print(f"sureshot: {1000 * (time.perf_counter() - started):.0f} ms", end=", ")
    print(f"{result.work.share:.2%} of the numbers read")
    started = time.perf_counter()
    products = gradients @ query
    best = np.argsort(-products)[:10]
    print(f"numpy: {1000 * (time.perf_counter() - started):.0f} ms, all numbers read")
    print(f"in both answers: {len(np.intersect1d(result.indices, best))} of 10\n")

    print(result.certificate, "\n")
    print("training sample  digit  inner product")
    for score, index in zip(*result, strict=True):
        print(f"{train[index]:15}  {labels[train[index]]:5}  {score:13.4f}")


def trained(images: Floats, labels: Ints, rng: np.random.Generator) -> Network:
    """Train by plain gradient descent on all samples at once."""
    network = Network(
        rng.standard_normal((images.shape[1], HIDDEN), dtype=np.float32) / np.float32(8),
        np.zeros(HIDDEN, np.float32),
        rng.standard_normal((HIDDEN, CLASSES), dtype=np.float32) / np.float32(HIDDEN**0.5),
        np.zeros(CLASSES, np.float32),
    )
    step = LEARNING_RATE / np.float32(len(images))
    for _ in range(STEPS):
        done = run(network, images, labels)
        slopes = Network(
            images.T @ done.hidden_errors,
            done.hidden_errors.sum(axis=0),
            done.hidden.T @ done.class_errors,
            done.class_errors.sum(axis=0),
        )
        for part, slope in zip(network, slopes, strict=True):
            np.subtract(part, step * slope, out=part)
    return network


def run(network: Network, images: Floats, labels: Ints) -> Pass:
    """Run the network forwards and backwards: cross-entropy loss of each sample by itself."""
    hidden = np.maximum(images @ network.first + network.first_bias, 0)
    scores = hidden @ network.second + network.second_bias
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)
    of_label = np.arange(len(labels)), labels
    class_errors = shares.copy()
    class_errors[of_label] -= 1
    hidden_errors = (class_errors @ network.second.T) * (hidden > 0)
    losses = -np.log(shares[of_label])
    return Pass(hidden, hidden_errors, class_errors, losses, shares.argmax(axis=1))


def sample_gradients(network: Network, images: Floats, labels: Ints) -> Floats:
    """Return the gradient of the loss of each sample by all parameters, one row per sample.

    In a layer of weights it is the outer product of what comes in and the error that comes back.
    """
    done = run(network, images, labels)
    gradients = np.empty((len(images), sum(part.size for part in network)), np.float32)
    start = 0
    for inputs, errors in ((images, done.hidden_errors), (done.hidden, done.class_errors)):
        stop = start + inputs.shape[1] * errors.shape[1]
        # One sample at a time, straight into its row: no second copy of all gradients.
        for row, one_input, one_error in zip(gradients, inputs, errors, strict=True):
            np.outer(one_input, one_error, out=row[start:stop].reshape(inputs.shape[1], -1))
        gradients[:, stop : stop + errors.shape[1]] = errors
        start = stop + errors.shape[1]
    return gradients


if __name__ == "__main__":
    main()
