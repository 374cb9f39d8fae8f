"""Tensors of other libraries that lie in this machine's memory, as arrays that share it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.storage.extras import bfloat16

if TYPE_CHECKING:
    from sureshot._types import Array

# Of DLPack: devices that are this machine's memory, as it is or prepared for CUDA or ROCm.
CPU = (1, 3, 11)


def is_tensor(data: Any) -> bool:
    """Return whether an object can be shared through DLPack."""
    return hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__")


def adopt(tensor: Any) -> Array:
    """Return a tensor as an array, without a copy."""
    kind, _ = tensor.__dlpack_device__()
    if int(kind) not in CPU:
        raise TypeError(
            f"data must lie in this machine's memory, got a tensor on {getattr(tensor, 'device', kind)}"
        )
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        tensor = tensor.detach()  # what is learnt from it is no matter of a search
        if tensor.is_neg():  # which is forgotten on the way
            raise ValueError(
                "data must be stored as it is, got a tensor that torch negates when it is read: "
                "pass tensor.resolve_neg()"
            )
        if tensor.dtype == torch.bfloat16:  # which numpy does not know
            return np.from_dlpack(tensor.view(torch.int16)).view(bfloat16())
    return np.from_dlpack(tensor)
