"""Data sets made on the card, and the true answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from measurements import workloads
from measurements.gpu.card import torch

if TYPE_CHECKING:
    from pathlib import Path

# Rows that are made at once: numbers of float32 in between take room, too.
NUMBERS_AT_ONCE = 1 << 28


def generator(seed: int) -> Any:
    """Return a generator of the card."""
    made = torch.Generator(device="cuda")
    made.manual_seed(seed)
    return made


def _filled(n: int, width: int, dtype: Any, make: Any) -> Any:
    """Return a matrix that `make` fills, some rows at a time."""
    data = torch.empty(n, width, dtype=dtype, device="cuda")
    rows = max(1, NUMBERS_AT_ONCE // width)
    for begin in range(0, n, rows):
        some = data[begin : begin + rows]
        some.copy_(make(len(some)))
    return data


def low_rank(n: int, width: int, dtype: Any, queries: int, *, unit: bool = False) -> Any:
    """Rows of rank 25 with noise and log-normal norms, or norms of 1."""
    g = generator(1)
    parts = torch.randn(25, width, device="cuda", generator=g) / 5

    def make(m: int) -> Any:
        some = torch.randn(m, width, device="cuda", generator=g).mul_(0.3)
        some.addmm_(torch.randn(m, 25, device="cuda", generator=g), parts)
        if unit:
            return some.div_(torch.linalg.vector_norm(some, dim=1, keepdim=True))
        return some.mul_(torch.exp(0.6 * torch.randn(m, 1, device="cuda", generator=g)))

    data = _filled(n, width, dtype, make)
    noise = 0.3 * torch.randn(queries, width, device="cuda", generator=g)
    return data, torch.randn(queries, 25, device="cuda", generator=g) @ parts + noise


def unit_rows(n: int, width: int, dtype: Any, queries: int) -> Any:
    """Rows of rank 25 with noise and norms of 1."""
    return low_rank(n, width, dtype, queries, unit=True)


def gradients(n: int, width: int, dtype: Any, queries: int) -> Any:
    """Outer products of sparse factors: the gradients of a classifier's last layer."""
    g = generator(2)
    classes = 100
    inner = width // classes
    centres = torch.randn(classes, inner, device="cuda", generator=g)

    def make(m: int) -> Any:
        label = torch.randint(classes, (m,), device="cuda", generator=g)
        noise = torch.randn(m, inner, device="cuda", generator=g)
        seen = torch.relu(centres[label] + noise - 0.5)
        logits = 2.0 * torch.randn(m, classes, device="cuda", generator=g)
        own = torch.arange(m, device="cuda")
        logits[own, label] += 6.0 + 3.0 * torch.randn(m, device="cuda", generator=g)
        error = torch.softmax(logits, 1)
        error[own, label] -= 1
        return (error[:, :, None] * seen[:, None, :]).reshape(m, width)

    return _filled(n, width, dtype, make), make(queries)


def gaussian(n: int, width: int, dtype: Any, queries: int) -> Any:
    """Independent Gaussian numbers: nothing to find."""
    g = generator(3)
    data = _filled(n, width, dtype, lambda m: torch.randn(m, width, device="cuda", generator=g))
    return data, torch.randn(queries, width, device="cuda", generator=g)


def planted(n: int, width: int, dtype: Any, queries: int) -> Any:
    """Gaussian rows, of which twenty for each query have a cosine of 0.1 to 0.2 with it."""
    data, asked = gaussian(n, width, dtype, queries)
    g = generator(4)
    rows = torch.randperm(n, device="cuda", generator=g)[: queries * 20].view(queries, 20)
    for own, query in zip(rows, asked, strict=True):
        cosine = 0.1 * (1 + torch.rand(20, 1, device="cuda", generator=g))
        data[own] = (torch.sqrt(1 - cosine**2) * data[own].float() + cosine * query).to(dtype)
    return data, asked


SETS = {
    "low rank": low_rank,
    "unit": unit_rows,
    "gradients": gradients,
    "planted": planted,
    "gaussian": gaussian,
}

# Workloads of the benchmarks on the host that are made of real data, and the files of it.
REAL = {
    "images": ("images-upsampled", "images_fashion_mnist.npz"),
    "fashion gradients": ("fashion-gradients", "images_fashion_mnist.npz"),
    "spectrograms": ("spectrograms-copied", "audio_esc10_logspec_u8.npz"),
}


def real(name: str, folder: Path, n: int, width: int, dtype: Any, queries: int) -> Any:
    """Rows of a workload of the host that is made of real data, as many columns as it can have near those."""
    workload, file = REAL[name]
    made = workloads.make(workload, n=n, N=width, queries=queries, path=folder / file)
    data, asked = (torch.from_numpy(some).to(dtype).cuda() for some in (made.data, made.queries))
    return data, asked


def best_rows(data: Any, queries: Any, k: int) -> Any:
    """Return the true top k of each query, by products in float64."""
    asked = queries.double().T.contiguous()
    rows = max(1, NUMBERS_AT_ONCE // 2 // data.shape[1])
    scores = [data[at : at + rows].double() @ asked for at in range(0, len(data), rows)]
    return torch.topk(torch.cat(scores), k, dim=0).indices.T.cpu().numpy()
