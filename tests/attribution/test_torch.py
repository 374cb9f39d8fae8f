"""Gradients of torch models; needs torch, `nox -s attribution` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution import StoreError, example_gradients, open_store, write_gradients

if TYPE_CHECKING:
    from pathlib import Path

torch: Any = pytest.importorskip("torch", reason="torch is not installed: nox -s attribution")

EXAMPLES = 11


class Small(torch.nn.Module):  # type: ignore[misc]
    """A convolution, a norm with buffers, dropout and a head; one parameter is frozen."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(1, 3, 3)
        self.norm = torch.nn.BatchNorm2d(3)
        self.drop = torch.nn.Dropout(0.5)
        self.head = torch.nn.Linear(48, 4)
        self.norm.bias.requires_grad_(requires_grad=False)

    def forward(self, images: Any) -> Any:
        hidden = torch.relu(self.norm(self.conv(images)))
        return self.head(self.drop(hidden.flatten(start_dim=1)))


@pytest.fixture
def model() -> Any:
    return Small()


@pytest.fixture
def dataset() -> list[tuple[Any, int]]:
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(1, 6, 6, generator=generator), number % 4) for number in range(EXAMPLES)]


LOSS = torch.nn.functional.cross_entropy


def one_by_one(model: Any, dataset: list[tuple[Any, int]]) -> Any:
    """Return the gradient of each example by plain backpropagation."""
    model.eval()
    rows = []
    for image, label in dataset:
        model.zero_grad()
        LOSS(model(image[None]), torch.tensor([label])).backward()
        kept = [value.grad.flatten() for value in model.parameters() if value.requires_grad]
        rows.append(torch.cat(kept).numpy().copy())
    model.zero_grad()
    return np.stack(rows)


def test_the_rows_are_gradients(model: Any, dataset: Any, tmp_path: Path) -> None:
    model.train()
    calls: list[tuple[int, int]] = []
    store = write_gradients(
        model,
        LOSS,
        dataset,
        tmp_path / "store",
        dtype="float32",
        batch_size=4,
        progress=lambda *done: calls.append(done),
    )
    assert calls == [(4, 11), (8, 11), (11, 11)]
    assert model.training
    assert model.drop.training
    assert store.modules.names == (
        "conv.weight",
        "conv.bias",
        "norm.weight",
        "head.weight",
        "head.bias",
    )
    expected = one_by_one(model, dataset)
    np.testing.assert_allclose(np.concatenate(store.parts), expected, rtol=1e-4, atol=1e-6)
    found = store.top_k(expected[5], 1, unit_norm=True)
    assert found.indices.tolist() == [5]


def test_bfloat16_is_rounded_as_torch_does(model: Any, dataset: Any, tmp_path: Path) -> None:
    store = write_gradients(model, LOSS, dataset, tmp_path / "store")
    assert store.dtype.name == "bfloat16"
    images = torch.stack([image for image, _ in dataset])
    labels = torch.tensor([label for _, label in dataset])
    rows = torch.from_numpy(example_gradients(model, LOSS, images, labels)).bfloat16()
    written = np.concatenate(store.parts)
    expected = rows.view(torch.int16).numpy().view(written.dtype)
    difference = np.abs(written.astype(np.float32) - expected.astype(np.float32))
    assert (difference <= 2.0**-7 * np.abs(expected.astype(np.float32)) + 1e-6).all()


def test_an_interruption_and_another_model(model: Any, dataset: Any, tmp_path: Path) -> None:
    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    options: dict[str, Any] = {"dtype": "float32", "batch_size": 3}
    with pytest.raises(KeyboardInterrupt):
        write_gradients(model, LOSS, dataset, tmp_path / "store", progress=stop, **options)
    with pytest.raises(StoreError, match="still being written"):
        open_store(tmp_path / "store")
    before = model.head.bias.detach().clone()
    with torch.no_grad():
        model.head.bias += 1
    with pytest.raises(StoreError, match="begun for other data"):
        write_gradients(model, LOSS, dataset, tmp_path / "store", **options)
    with torch.no_grad():
        model.head.bias.copy_(before)
    calls: list[int] = []
    store = write_gradients(
        model,
        LOSS,
        dataset,
        tmp_path / "store",
        progress=lambda done, _: calls.append(done),
        **options,
    )
    assert calls == [6, 9, 11]
    expected = one_by_one(model, dataset)
    np.testing.assert_allclose(np.concatenate(store.parts), expected, rtol=1e-4, atol=1e-6)


def test_a_model_without_parameters(dataset: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="parameters that require gradients"):
        write_gradients(torch.nn.Flatten(), LOSS, dataset, tmp_path / "store")
