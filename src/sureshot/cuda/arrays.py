"""Arrays of torch, CuPy, JAX and others that lie on a CUDA device: where they are and how they are laid out.

Nothing of these libraries is imported here: a caller who has such an array has imported its library.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

# Of DLPack.
CUDA, CUDA_MANAGED = 2, 13
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}

# Of `__cuda_array_interface__`: 1 and 2 are the default streams of old and of one for each thread.
LEGACY_STREAM = 1


class DeviceArray(NamedTuple):
    """An array on a device. Strides are in elements."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    device: int
    stream: int
    # The number of changes in place that the array has seen, if its library counts them; a constant if it cannot be
    # changed; None if changes are not seen.
    changes: int | None
    owner: Any  # keeps the memory


def is_on_device(data: Any) -> bool:
    """Return whether an object is an array on a CUDA device."""
    if isinstance(data, np.ndarray):
        return False
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(data, torch.Tensor):
        return bool(data.is_cuda)
    if hasattr(type(data), "__cuda_array_interface__"):
        return getattr(data, "__cuda_array_interface__", None) is not None
    if hasattr(type(data), "__dlpack_device__"):
        return int(data.__dlpack_device__()[0]) in (CUDA, CUDA_MANAGED)
    return False


def device_array(data: Any, name: str) -> DeviceArray:
    """Return where an array on a device lies; `name` is what a message calls it."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(data, torch.Tensor):
        return _of_torch(data, torch, name)
    if hasattr(data, "block_until_ready"):  # of JAX, which names no stream
        data.block_until_ready()
    try:
        interface = getattr(data, "__cuda_array_interface__", None)
    except Exception:  # noqa: BLE001 - JAX refuses types that the interface has no name for
        interface = None
    return _of_dlpack(data) if interface is None else _of_interface(data, interface)


def _of_torch(tensor: Any, torch: Any, name: str) -> DeviceArray:
    if tensor.is_neg() or tensor.is_conj():
        raise ValueError(
            f"{name} must be stored as it is, got a tensor that torch negates when it is read: "
            "pass tensor.resolve_neg()"
        )
    index = tensor.device.index
    try:
        changes = None if tensor.is_inference() else int(tensor._version)
    except (AttributeError, RuntimeError):
        changes = None
    return DeviceArray(
        tensor.data_ptr(),
        tuple(tensor.shape),
        tensor.stride(),
        _torch_name(tensor.dtype),
        tensor.element_size(),
        index,
        torch_stream(torch, index),
        changes,
        tensor,
    )


_torch_names: dict[Any, str] = {}


def _torch_name(dtype: Any) -> str:
    name = _torch_names.get(dtype)
    if name is None:
        name = _torch_names[dtype] = str(dtype).removeprefix("torch.")
    return name


def torch_stream(torch: Any, device: int) -> int:
    """Return torch's stream of the moment on a device."""
    quick: Callable[[int], int] | None = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if quick is not None:  # ten times as fast
        return quick(device)
    return int(torch.cuda.current_stream(device).cuda_stream)


def _of_interface(data: Any, interface: dict[str, Any]) -> DeviceArray:
    dtype = np.dtype(interface["typestr"])
    if not dtype.isnative:
        raise TypeError(f"an array on a device must have its byte order, got {dtype.str!r}")
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        elements = _row_major(shape)
    else:
        elements = tuple(stride // dtype.itemsize for stride in strides)
    name = "bfloat16" if _is_bfloat16(data) else dtype.name
    stream = interface.get("stream")
    return DeviceArray(
        int(interface["data"][0] or 0),
        shape,
        elements,
        name,
        dtype.itemsize,
        _device_of(data),
        LEGACY_STREAM if stream is None else int(stream),
        0 if _is_unchangeable(data) else None,
        data,
    )


def _is_bfloat16(data: Any) -> bool:
    return str(getattr(data, "dtype", "")) == "bfloat16"


def _is_unchangeable(data: Any) -> bool:
    """Return whether an array can never be changed: so for JAX."""
    return type(data).__module__.partition(".")[0] in ("jax", "jaxlib")


def _device_of(data: Any) -> int:
    """Return the number of the device of an array of CuPy, numba or JAX."""
    device = getattr(data, "device", None)
    number = getattr(device, "id", None)
    if number is None and hasattr(data, "__dlpack_device__"):
        number = data.__dlpack_device__()[1]
    if number is None and hasattr(data, "devices"):
        number = next(iter(data.devices())).id
    return int(number or 0)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, product = [], 1
    for size in reversed(shape):
        strides.append(product)
        product *= size
    return tuple(reversed(strides))


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


def _of_dlpack(data: Any) -> DeviceArray:
    capsule = data.__dlpack__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer_of(capsule, b"dltensor"))
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    strides = _row_major(shape)
    if tensor.strides:
        strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim))
    kind = _KINDS.get(tensor.code, f"code {tensor.code} of DLPack")
    return DeviceArray(
        (tensor.data or 0) + tensor.offset,
        shape,
        strides,
        f"{kind}{tensor.bits}" if kind != "bool" else kind,
        tensor.bits // 8,
        tensor.device,
        LEGACY_STREAM,
        0 if _is_unchangeable(data) else None,
        (data, capsule),
    )
