"""Workloads of the images of Fashion-MNIST."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from measurements.workloads.recipe import Recipe

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from measurements.workloads.recipe import FloatArray, Request

LIMITS = 0.0, 255.0


def images(request: Request, generator: Generator, *, upsampled: bool) -> Recipe:
    """Images to train on, searched with images to test on less their mean.

    As they are, all 60,000 of them with 784 pixels each, no matter which N is asked for; or 10,000 of
    them interpolated to a square of about N pixels, 316 × 316 by default. What lies between the pixels of the file is
    not new, so those are no substitute for large photographs.
    """
    train, test = request.read("train_images_idx3_ubyte", "t10k_images_idx3_ubyte")
    n, N = request.shape(n=10_000 if upsampled else len(train))
    side = isqrt(N) if upsampled else train.shape[1]
    for label, wanted, there in (("n", n, len(train)), ("queries", request.queries, len(test))):
        if wanted > there:
            raise ValueError(f"{label}: expected at most {there} images, got {wanted}")
    chosen = train[generator.permutation(len(train))[:n]]
    queries = flat(test[generator.permutation(len(test))[: request.queries]], side)
    queries -= queries.mean(axis=1, keepdims=True)
    return Recipe(
        (n, side * side),
        queries,
        lambda rows, _stream: flat(chosen[rows], side),
        limits=LIMITS,
    )


def flat(some: NDArray[Any], side: int) -> FloatArray:
    """Return images as rows of side · side pixels, interpolated bilinearly if that is another size.

    Examples
    --------
    >>> flat(np.array([[[0, 2], [4, 6]]]), 3)
    array([[0., 1., 2., 2., 3., 4., 4., 5., 6.]], dtype=float32)
    """
    found = some.astype(np.float32)
    for axis in (1, 2):
        found = _interpolated(found, side, axis)
    return found.reshape(len(found), -1)


def _interpolated(some: FloatArray, side: int, axis: int) -> FloatArray:
    there = some.shape[axis]
    if there == side:
        return some
    places = np.linspace(0, there - 1, side)
    before = np.minimum(places.astype(np.int64), there - 2)
    weights = (places - before).astype(np.float32).reshape(-1, *(1,) * (2 - axis))
    left: FloatArray = some.take(before, axis)
    left += weights * (some.take(before + 1, axis) - left)
    return left
