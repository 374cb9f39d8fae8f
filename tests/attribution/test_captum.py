"""Our nearest neighbours in captum's TracInCPFastRandProj; needs captum, `nox -s attribution` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.attribution.captum import NearestNeighbors

if TYPE_CHECKING:
    from pathlib import Path

torch: Any = pytest.importorskip("torch", reason="torch is not installed: nox -s attribution")
influence: Any = pytest.importorskip(
    "captum.influence", reason="captum is not installed: nox -s attribution"
)


def test_neighbours_are_the_largest_inner_products() -> None:
    generator = torch.Generator().manual_seed(0)
    data = torch.randn(50, 3, 40, generator=generator)
    queries = torch.randn(4, 3, 40, generator=generator)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        neighbours = NearestNeighbors(rng=0)
        neighbours.setup(data.to(dtype))
        indices, scores = neighbours.get_nearest_neighbors(queries.to(dtype), 5)
        products = queries.to(dtype).double().flatten(1) @ data.to(dtype).double().flatten(1).T
        best = products.topk(5, dim=1)
        assert indices.dtype == torch.long
        assert indices.tolist() == best.indices.tolist()
        np.testing.assert_allclose(scores.numpy(), best.values.numpy(), rtol=1e-5)
        assert neighbours.result is not None
        assert neighbours.result.certificate.scores == "exact"


def test_it_is_one_of_captums() -> None:
    from captum.influence._utils import nearest_neighbors  # noqa: PLC0415 - after the skip

    assert isinstance(NearestNeighbors(), nearest_neighbors.NearestNeighbors)


def test_setup_comes_first() -> None:
    with pytest.raises(RuntimeError, match="setup must be called"):
        NearestNeighbors().get_nearest_neighbors(torch.ones(1, 3), 1)


@pytest.mark.filterwarnings("ignore:WARNING. Using this implementation stores:UserWarning")
@pytest.mark.parametrize("proponents", [True, False])
def test_tracin(tmp_path: Path, proponents: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    inputs, labels = torch.randn(30, 6), torch.arange(30) % 3
    checkpoint = tmp_path / "checkpoint.pt"
    torch.save(model.state_dict(), checkpoint)

    def load(model: Any, path: str) -> float:
        model.load_state_dict(torch.load(path))
        return 1.0

    arguments: dict[str, Any] = {
        "model": model,
        "final_fc_layer": model[2],
        "train_dataset": torch.utils.data.TensorDataset(inputs, labels),
        "checkpoints": [str(checkpoint)],
        "checkpoints_load_func": load,
        "loss_fn": torch.nn.CrossEntropyLoss(reduction="sum"),
        "batch_size": 10,
    }
    ours = influence.TracInCPFastRandProj(**arguments, nearest_neighbors=NearestNeighbors(rng=0))
    plain = influence.TracInCPFast(**arguments)
    asked = (torch.randn(4, 6), torch.tensor([0, 1, 2, 0]))
    found = ours.influence(asked, k=5, proponents=proponents)
    expected = plain.influence(asked, k=5, proponents=proponents)
    assert found.indices.tolist() == expected.indices.tolist()
    np.testing.assert_allclose(
        found.influence_scores.numpy(), expected.influence_scores.numpy(), rtol=1e-4
    )
