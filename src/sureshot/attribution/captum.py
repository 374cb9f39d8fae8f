"""The search as captum's nearest neighbours, for ``TracInCPFastRandProj(nearest_neighbors=...)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot

if TYPE_CHECKING:
    from sureshot._types import Array


class NearestNeighbors:
    """Finds the stored vectors with the largest inner products, exactly and with a certificate.

    captum's own class asks Annoy, which is approximate. With ``projection_dim=None`` captum stores the unprojected
    gradients of the last layer, and this class makes them affordable.

    Parameters
    ----------
    epsilon, delta
        As in `sureshot.top_k`.
    rng
        Seed or Generator.

    Attributes
    ----------
    result
        The `sureshot.TopK` of the last call: certificate and work.
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        delta: float = 0.05,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        _captum_class().register(type(self))
        self.epsilon, self.delta = epsilon, delta
        self._generator = np.random.default_rng(rng)
        self._data: Array | None = None
        self._bounds: sureshot.Bounds | None = None
        self.result: sureshot.TopK | None = None

    def setup(self, data: Any) -> None:
        """Keep a reference to the vectors, shape (N, ...), and read them once for their norms."""
        self._data = _rows(data)
        self._bounds = sureshot.scan(self._data)

    def get_nearest_neighbors(self, query: Any, k: int) -> tuple[Any, Any]:
        """Return the indices and the inner products of the k best vectors for each query."""
        if self._data is None:
            raise RuntimeError("setup must be called before get_nearest_neighbors")
        import torch  # noqa: PLC0415 - captum has loaded it

        self.result = sureshot.top_k(
            self._data,
            _rows(query),
            min(k, len(self._data)),
            epsilon=self.epsilon,
            delta=self.delta,
            bounds=self._bounds,
            rng=self._generator,
        )
        scores, indices = self.result
        return torch.tensor(indices), torch.tensor(scores, dtype=torch.float32)


def _rows(tensor: Any) -> Array:
    """Return a tensor as rows, without a copy if it is in the memory of the processor."""
    flat = tensor.detach().reshape(len(tensor), -1).cpu()
    rows: Array = (flat.float() if flat.element_size() < 4 else flat).numpy()
    return rows


def _captum_class() -> Any:
    try:
        from captum.influence._utils.nearest_neighbors import (  # noqa: PLC0415 - an extra
            NearestNeighbors as CaptumClass,
        )
    except ImportError as error:
        raise ImportError("this needs captum: pip install captum") from error
    return CaptumClass
