"""Workloads of per-sample gradients of a small network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurements.workloads.recipe import Recipe
from sureshot.experiments import gradients

if TYPE_CHECKING:
    from numpy.random import Generator

    from measurements.workloads.recipe import Request
    from sureshot.experiments.gradients import Samples


def digits_gradients(request: Request, generator: Generator) -> Recipe:
    """Gradients of a network trained on scikit-learn's digits."""
    train, test = gradients.digits_samples(generator)
    return _recipe(request, generator, train, test, (len(train.labels), 99_985), epochs=10)


def fashion_gradients(request: Request, generator: Generator) -> Recipe:
    """Gradients of a network trained on Fashion-MNIST."""
    train, test = gradients.image_samples(request.file())
    return _recipe(request, generator, train, test, (10_000, 101_770), epochs=5)


def _recipe(
    request: Request,
    generator: Generator,
    train: Samples,
    test: Samples,
    shape: tuple[int, int],
    epochs: int,
) -> Recipe:
    n, N = request.shape(*shape)
    factors, queries = gradients.gradients_to_search(
        train,
        test,
        rows=n,
        queries=request.queries,
        parameters=N,
        epochs=epochs,
        generator=generator,
    )
    shape = len(factors.inputs), queries.shape[1]
    return Recipe(shape, queries, lambda rows, _stream: factors.gradients(rows))
