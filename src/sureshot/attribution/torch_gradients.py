"""Gradients of a torch model, one per example, with ``torch.func``; for models of modest size."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.attribution.writing import StoreWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from sureshot._types import Array
    from sureshot.attribution.store import Store


def write_gradients(
    model: Any,
    loss: Callable[[Any, Any], Any],
    dataset: Any,
    path: str | os.PathLike[str],
    *,
    dtype: str = "bfloat16",
    batch_size: int = 32,
    progress: Callable[[int, int], object] | None = None,
) -> Store:
    """Write the gradient of the loss of each example, by all parameters that require one.

    Row i is the gradient of ``loss(model(input), target)`` for ``input, target = dataset[i]``, with the model in
    evaluation mode. The modules of the store are the parameters, by their names. The store is in the format
    of bergson. The same call goes on where an interruption has stopped it.

    Parameters
    ----------
    model
        A ``torch.nn.Module`` that ``torch.func.vmap`` can run.
    loss
        Function of the model's output for a batch of one and of its target, such as
        ``torch.nn.functional.cross_entropy``.
    dataset
        Sequence of pairs of an input and a target.
    path
        The folder to make.
    dtype
        Element type of the store.
    batch_size
        Examples whose gradients are computed at once: so many times the memory of the parameters.
    progress
        Called with the number of rows done and of all rows.

    Returns
    -------
    Store
        The store, opened.
    """
    torch = _torch()
    modules = {name: value.numel() for name, value in _parameters(model).items()}
    if not modules:
        raise ValueError("model must have parameters that require gradients, got none")
    total = len(dataset)
    writer = StoreWriter(path, rows=total, modules=modules, dtype=dtype, about=_digest(model))
    with writer:
        while writer.written < total:
            some = range(writer.written, min(writer.written + batch_size, total))
            inputs, targets = torch.utils.data.default_collate([dataset[row] for row in some])
            writer.append(example_gradients(model, loss, inputs, targets))
            if progress is not None:
                progress(writer.written, total)
    return writer.store()


def example_gradients(
    model: Any, loss: Callable[[Any, Any], Any], inputs: Any, targets: Any
) -> Array:
    """Return the gradient of the loss of each example in float32, one row each: queries for a store.

    Parameters
    ----------
    model, loss
        As in `write_gradients`.
    inputs, targets
        Tensors with one entry per example.
    """
    torch = _torch()
    parameters = _parameters(model)
    others = {
        name: value.detach()
        for name, value in (*model.named_parameters(), *model.named_buffers())
        if name not in parameters
    }
    device = next(iter(parameters.values())).device

    def loss_of_one(values: Any, one: Any, target: Any) -> Any:
        output = torch.func.functional_call(model, {**values, **others}, (one.unsqueeze(0),))
        return loss(output, target.unsqueeze(0))

    with _evaluating(model):
        of_each = torch.func.vmap(torch.func.grad(loss_of_one), in_dims=(None, 0, 0))
        found = of_each(parameters, inputs.to(device), targets.to(device))
    flat = torch.cat([found[name].flatten(start_dim=1).float() for name in parameters], dim=1)
    rows: Array = flat.cpu().numpy()
    return rows


def _torch() -> Any:
    try:
        import torch  # noqa: PLC0415 - gigabytes that only this needs
        import torch.utils.data  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("gradients of models need torch: pip install torch") from error
    return torch


def _parameters(model: Any) -> dict[str, Any]:
    return {name: value.detach() for name, value in model.named_parameters() if value.requires_grad}


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Set all modules to evaluation mode, and afterwards back to the mode of each."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def _digest(model: Any) -> str:
    """Return a digest of the parameters: half of the rows must not come from another checkpoint."""
    digest = hashlib.sha256()
    for name, value in model.state_dict().items():
        digest.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
        digest.update(np.ascontiguousarray(value.detach().cpu().double().numpy()).tobytes())
    return digest.hexdigest()
