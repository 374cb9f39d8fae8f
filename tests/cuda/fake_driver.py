"""A CUDA driver that is not there: memory of the host, and kernels that are the reference."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.cuda import compiler, driver, matrix, reference, scores
from sureshot.cuda.layout import AGAIN, WORK, Measure, Params

if TYPE_CHECKING:
    import pytest

TYPES = {"float32": np.float32, "float16": np.float16, "int8": np.int8, "uint8": np.uint8}
METRICS = {number: name for name, number in compiler.METRICS.items()}


class FakeArray:
    """An array of the host that says it lies on a device."""

    def __init__(self, values: Any, stream: int | None = None) -> None:
        self.values = np.asarray(values)
        self.stream = stream

    def __getitem__(self, part: Any) -> FakeArray:
        return FakeArray(self.values[part])

    @property
    def T(self) -> FakeArray:
        return FakeArray(self.values.T)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.values.shape,
            "strides": self.values.strides,
            "typestr": self.values.dtype.str,
            "data": (self.values.ctypes.data, False),
            "version": 3,
            "stream": self.stream,
        }


def on_card(values: Any) -> Any:
    """Return an array that lies on the card, as far as the library can see."""
    return FakeArray(values)


class CountedArray(FakeArray):
    """One whose changes are counted, as torch does: the tests say when it has changed."""

    changes = 0


def at(pointer: int, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return the memory at an address as an array."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(pointer), dtype=dtype).reshape(shape)


class FakeDriver:
    """What the library calls of ``cuda.bindings.driver``."""

    CU_MEMHOSTALLOC_DEVICEMAP = CU_MEMHOSTALLOC_PORTABLE = 0
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR="major",
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR="minor",
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT="processors",
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN="shared_memory",
    )
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared")

    def __init__(self, capability: tuple[int, int] = (9, 0)) -> None:
        self.attributes = {
            "major": capability[0],
            "minor": capability[1],
            "processors": 3,
            "shared_memory": 232_448,
        }
        self.allocated: dict[int, Any] = {}
        self.launched: list[str] = []
        self.crowded: set[int] = set()  # queries of a batch whose lists have no room
        self.query_type, self.metric, self.row = "float32", "ip", "float32"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("cu"):
            return lambda *_: (0,)
        raise AttributeError(name)

    def cuDeviceGet(self, number: int) -> tuple[int, int]:
        return 0, number

    def cuDevicePrimaryCtxRetain(self, _: Any) -> tuple[int, int]:
        return 0, 7

    def cuCtxGetCurrent(self) -> tuple[int, int]:
        return 0, 7

    def cuDeviceGetName(self, _: int, __: Any) -> tuple[int, bytes]:
        return 0, b"a card\0\0"

    def cuDeviceGetAttribute(self, kind: str, _: Any) -> tuple[int, int]:
        return 0, self.attributes[kind]

    def cuMemAlloc(self, size: int) -> tuple[int, int]:
        memory = np.full(size + 16, 0xCC, dtype=np.uint8)
        pointer = -(-memory.ctypes.data // 16) * 16
        self.allocated[pointer] = memory
        return 0, pointer

    def cuMemHostAlloc(self, size: int, _: int) -> tuple[int, int]:
        return self.cuMemAlloc(size)

    def cuMemHostGetDevicePointer(self, address: int, _: int) -> tuple[int, int]:
        return 0, address

    def cuMemFree(self, pointer: int) -> tuple[int]:
        del self.allocated[pointer]
        return (0,)

    cuMemFreeHost = cuMemFree

    def cuMemsetD8(self, pointer: int, value: int, size: int) -> tuple[int]:
        ctypes.memset(pointer, value, size)
        return (0,)

    def cuMemsetD32(self, pointer: int, value: int, count: int) -> tuple[int]:
        at(pointer, np.uint32, (count,))[:] = value
        return (0,)

    def cuMemcpyHtoD(self, pointer: int, address: int, size: int) -> tuple[int]:
        ctypes.memmove(pointer, address, size)
        return (0,)

    def cuMemcpyDtoHAsync(self, address: int, pointer: int, size: int, _: Any) -> tuple[int]:
        ctypes.memmove(address, pointer, size)
        return (0,)

    def cuModuleLoadData(self, image: bytes) -> tuple[int, Any]:
        return 0, eval(image.decode())

    def cuModuleGetFunction(self, module: Any, name: bytes) -> tuple[int, Any]:
        return 0, (module, name.decode())

    def cuLaunchKernel(self, function: Any, *arguments: Any) -> tuple[int]:
        (row, query, metric), name = function
        self.launched.append(name)
        address: Any = (ctypes.c_void_p * 1).from_address(arguments[8])[0]
        if name.startswith("measure"):
            measure(Measure.from_address(address), row, query, metric)
        elif name in ("last", "whole"):
            p = Params.from_address(address)
            for index in range(arguments[1]):
                answer(p, row, query, metric, index)
                if p.batch and index in self.crowded:
                    at(p.out_work + index * WORK.itemsize, WORK, (1,))["reason"] = AGAIN
                    at(p.out_arm + index * p.k * 4, np.int32, (p.k,))[:] = 0
        return (0,)

    def cuLaunchKernelEx(self, config: Any, function: Any, *arguments: Any) -> tuple[int]:
        grid = (config.gridDimX, config.gridDimY, config.gridDimZ)
        block = (config.blockDimX, config.blockDimY, config.blockDimZ)
        return self.cuLaunchKernel(
            function, *grid, *block, config.sharedMemBytes, config.hStream, *arguments
        )

    CUlaunchConfig = CUlaunchAttribute = CUlaunchAttributeValue = SimpleNamespace
    CUlaunchAttributeID = SimpleNamespace(
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION="early"
    )

    def CUstream(self, address: int) -> int:
        return address


def rows_of(p: Any, row: str, count: int) -> Any:
    kind = np.dtype(TYPES[row])
    step = getattr(p, "column_stride", 1)
    whole = at(p.data, kind, ((count - 1) * p.stride + (p.width - 1) * step + 1,))
    return np.lib.stride_tricks.as_strided(
        whole, (count, p.width), (p.stride * kind.itemsize, step * kind.itemsize)
    )


def measure(p: Measure, row: str, query: str, metric: str) -> None:
    rows = at(p.rows, np.int32, (p.n,)) if p.rows else np.arange(p.n)
    data = rows_of(p, row, int(rows.max()) + 1)[rows]
    wide = data.astype(np.float64)
    at(p.square, np.float64, (p.n,))[:] = (wide * wide).sum(axis=1)
    at(p.largest, np.float32, (p.n,))[:] = np.abs(wide).max(axis=1)
    outside = ((wide < p.low) | (wide > p.high)).any(axis=1)
    if outside.any():
        at(p.outside, np.int32, (1,))[:] = np.argmax(outside)
    if p.query:
        q = at(p.query, np.dtype(query), (p.width,)).astype(np.float64)
        chunk = 16 // data.dtype.itemsize
        far = metric == "sqeuclidean"
        at(p.sum, np.float64, (p.n,))[:] = scores.row_sums(data, q, chunk, squared_distance=far)


def answer(p: Params, row: str, query: str, metric: str, index: int) -> None:
    arms = at(p.rows, np.int32, (p.n,)).astype(np.int64) if p.rows else np.arange(p.n)
    count = int(arms.max()) + 1
    size = np.dtype(query).itemsize
    q = at(p.query + index * p.query_stride * size, np.dtype(query), (p.width,))
    squares = at(p.square, np.float64, (count,))
    data = rows_of(p, row, count)
    found = reference.search(
        reference.Question(
            data=data,
            query=q,
            k=p.k,
            squares=squares,
            seed=p.seed,
            metric=metric,  # type: ignore[arg-type]
            epsilon=p.epsilon * (np.linalg.norm(q) if metric == "cosine" else 1),
            delta=0.05,
            row_scale=at(p.factor, np.float64, (count,)) if p.factor else None,
            arms=arms if p.rows else None,
        )
    )
    work = at(p.out_work + index * WORK.itemsize, WORK, (1,))
    work["bad_query"] = 0 if np.isfinite(q).all() else p.epoch
    work["bad_norm"] = p.epoch if found.too_long else 0
    work["bad_score"] = 0
    work["square"] = float(q.astype(np.float64) @ q.astype(np.float64))
    work["reason"] = p.whole
    work["rows"], work["blocks"] = len(found.evaluated) - p.first, found.steps_read
    work["stage"] = 0 if p.whole else len(found.stages)
    at(p.out_score + index * p.k * 8, np.float64, (p.k,))[:] = found.scores
    at(p.out_arm + index * p.k * 4, np.int32, (p.k,))[:] = np.searchsorted(arms, found.indices)
    work["epoch"] = p.epoch


def install(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int] = (9, 0)) -> FakeDriver:
    """Let the library believe that there is a card."""
    fake = FakeDriver(capability)
    monkeypatch.setattr(driver, "bindings", lambda: fake)
    monkeypatch.setattr(driver, "_streams", {})
    monkeypatch.setattr(matrix, "_known", {})
    driver.device.cache_clear()
    matrix.module.cache_clear()

    def compiled(_: str, names: Any, __: str) -> bytes:
        row = {value: key for key, value in compiler.ROWS.items()}[names["ROW"]]
        query = {value: key for key, value in compiler.QUERIES.items()}[names["QUERY"]]
        return repr((row, query, METRICS[int(names["METRIC"])])).encode()

    monkeypatch.setattr(compiler, "compiled", compiled)
    return fake
