"""Arrays of other libraries: where they lie, without these libraries."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sureshot.cuda.arrays import CUDA, LEGACY_STREAM, device_array, is_on_device
from tests.cuda.fake_driver import FakeArray

VALUES = np.arange(60, dtype=np.float32).reshape(6, 10)


class ByDLPack:
    """An array that has only DLPack, with the memory of the host."""

    def __init__(self, values: Any, device: int = CUDA) -> None:
        self.values, self.device_kind = values, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_kind, 0

    def __dlpack__(self, **_: Any) -> Any:
        return self.values.__dlpack__()


class Tensor:
    """What is asked of a tensor of torch."""

    is_cuda = True
    dtype = "torch.bfloat16"
    device = SimpleNamespace(index=1)
    shape = (6, 10)
    negated = False
    _version = 4

    def data_ptr(self) -> int:
        return 4096

    def stride(self) -> tuple[int, int]:
        return (16, 1)

    def element_size(self) -> int:
        return 2

    def is_neg(self) -> bool:
        return self.negated

    def is_conj(self) -> bool:
        return False

    def is_inference(self) -> bool:
        return False


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    stream = SimpleNamespace(cuda_stream=77)
    library = SimpleNamespace(
        Tensor=Tensor,
        _C=SimpleNamespace(),
        cuda=SimpleNamespace(current_stream=lambda _: stream),
    )
    monkeypatch.setitem(sys.modules, "torch", library)
    return library


@pytest.mark.parametrize("values", [VALUES, [1.0], "rows.npy", None, np.float32(1)])
def test_what_lies_on_the_host(values: Any) -> None:
    assert not is_on_device(values)


def test_a_tensor_of_the_host(torch: Any) -> None:
    tensor = torch.Tensor()
    assert is_on_device(tensor)
    tensor.is_cuda = False
    assert not is_on_device(tensor)


def test_a_tensor(torch: Any) -> None:
    tensor = torch.Tensor()
    found = device_array(tensor, "data")
    assert (found.pointer, found.shape, found.strides) == (4096, (6, 10), (16, 1))
    assert (found.dtype, found.itemsize) == ("bfloat16", 2)
    assert (found.device, found.stream, found.changes) == (1, 77, 4)
    assert found.owner is tensor
    # Torch has a function that asks for the stream in a tenth of the time.
    torch._C._cuda_getCurrentRawStream = lambda device: 100 + device
    assert device_array(tensor, "data").stream == 101


def test_changes_that_torch_does_not_count(torch: Any) -> None:
    tensor = torch.Tensor()
    tensor.is_inference = lambda: True
    assert device_array(tensor, "data").changes is None


def test_a_tensor_that_is_negated_when_it_is_read(torch: Any) -> None:
    tensor = torch.Tensor()
    tensor.negated = True
    with pytest.raises(ValueError, match="resolve_neg"):
        device_array(tensor, "data")


def test_the_interface_of_cupy_and_others() -> None:
    array = FakeArray(VALUES, stream=5)
    assert is_on_device(array)
    found = device_array(array, "data")
    assert found.pointer == VALUES.ctypes.data
    assert (found.shape, found.strides, found.dtype) == ((6, 10), (10, 1), "float32")
    assert (found.device, found.stream, found.changes) == (0, 5, None)
    part = device_array(FakeArray(VALUES[1::2, 2:7]), "data")
    assert (part.shape, part.strides) == ((3, 5), (20, 1))
    assert part.pointer == VALUES.ctypes.data + 48
    assert part.stream == LEGACY_STREAM


def test_strides_that_are_left_out() -> None:
    class Dense:
        __cuda_array_interface__ = {  # noqa: RUF012 - as others have it
            **FakeArray(VALUES).__cuda_array_interface__,
            "strides": None,
        }

    assert device_array(Dense(), "data").strides == (10, 1)


def test_dlpack() -> None:
    array = ByDLPack(VALUES)
    assert is_on_device(array)
    assert not is_on_device(ByDLPack(VALUES, device=1))
    found = device_array(array, "data")
    assert (found.pointer, found.shape, found.strides) == (VALUES.ctypes.data, (6, 10), (10, 1))
    assert (found.dtype, found.itemsize, found.stream) == ("float32", 4, LEGACY_STREAM)
    assert device_array(ByDLPack(VALUES.astype(np.int8)), "data").dtype == "int8"
    assert device_array(ByDLPack(VALUES[:, ::2]), "data").strides == (10, 2)


def test_an_array_that_cannot_change() -> None:
    """JAX: its arrays never change, so what was measured of one holds as long as it is there."""

    class Array(ByDLPack):
        pass

    Array.__module__ = "jaxlib.xla_extension"
    assert device_array(Array(VALUES), "data").changes == 0
    assert device_array(ByDLPack(VALUES), "data").changes is None
