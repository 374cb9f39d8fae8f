"""The CUDA driver: devices, memory, modules and launches, with errors that say what is missing."""

from __future__ import annotations

import ctypes
import weakref
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Array

# The oldest cards whose instructions the kernels use.
OLDEST = (8, 0)

# Those on which a kernel may be launched before the one that it follows has ended.
EARLY = (9, 0)

EXTRA = "pip install 'sureshot[cuda]'"


class CudaError(RuntimeError):
    """The CUDA driver refused something, or a kernel failed."""


@cache
def bindings() -> Any:
    """Return the driver of the package cuda-bindings, started."""
    try:
        from cuda.bindings import driver  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(f"a search on a CUDA device needs cuda-bindings: {EXTRA}") from error
    try:
        check(driver.cuInit(0))
    except Exception as error:
        raise CudaError(f"no CUDA driver can be used here: {error}") from error
    return driver


def check(answer: tuple[Any, ...]) -> Any:
    """Return what a call of the driver returns after its status; raise `CudaError` if that is not success."""
    status = answer[0]
    if int(status) != 0:
        raise CudaError(f"CUDA: {getattr(status, 'name', status)}")
    if len(answer) == 2:
        return answer[1]
    return answer[1:] or None


class Device:
    """One card, with the context that all libraries of this process share."""

    def __init__(self, number: int) -> None:
        driver = self.driver = bindings()
        self.number = number
        self.handle = check(driver.cuDeviceGet(number))
        self.context = check(driver.cuDevicePrimaryCtxRetain(self.handle))
        kinds = driver.CUdevice_attribute
        self.name = str(check(driver.cuDeviceGetName(128, self.handle)).split(b"\0")[0].decode())
        self.capability = (
            self._attribute(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            self._attribute(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        )
        self.processors = self._attribute(kinds.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        most = kinds.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        self.shared_memory = self._attribute(most)
        if self.capability < OLDEST:
            oldest, own = (".".join(map(str, pair)) for pair in (OLDEST, self.capability))
            raise CudaError(
                f"a search needs a card of compute capability {oldest} or newer, got {self.name} of {own}"
            )

    def _attribute(self, kind: Any) -> int:
        return int(check(bindings().cuDeviceGetAttribute(kind, self.handle)))

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this device the current one of the thread, for a while."""
        driver = self.driver
        if int(check(driver.cuCtxGetCurrent())) == int(self.context):
            yield
            return
        check(driver.cuCtxPushCurrent(self.context))
        try:
            yield
        finally:
            check(driver.cuCtxPopCurrent())


@cache
def device(number: int) -> Device:
    """Return a card by its number."""
    return Device(number)


class Memory:
    """Memory on a device, all zeros, given back when this object goes."""

    def __init__(self, on: Device, size: int) -> None:
        driver = bindings()
        self.size = max(size, 16)
        with on.current():
            self.pointer = int(check(driver.cuMemAlloc(self.size)))
            self._close = weakref.finalize(self, _free, on, self.pointer)
            check(driver.cuMemsetD8(self.pointer, 0, self.size))
            # Streams that do not wait for the default stream must not see it before.
            check(driver.cuCtxSynchronize())

    def close(self) -> None:
        """Give the memory back now; all that uses it must have ended."""
        self._close()


def _free(on: Device, pointer: int) -> None:
    with on.current():
        on.driver.cuMemFree(pointer)  # at the end of the process the driver may be gone


class Pinned:
    """Memory of the host that the device writes to: an array of bytes, and where the device finds it."""

    def __init__(self, on: Device, size: int) -> None:
        driver = bindings()
        with on.current():
            flags = driver.CU_MEMHOSTALLOC_DEVICEMAP | driver.CU_MEMHOSTALLOC_PORTABLE
            address = int(check(driver.cuMemHostAlloc(size, flags)))
            self._close = weakref.finalize(self, _free_host, on, address)
            self.pointer = int(check(driver.cuMemHostGetDevicePointer(address, 0)))
        memory: Any = (ctypes.c_uint8 * size).from_address(address)
        self.bytes: Array = np.frombuffer(memory, dtype=np.uint8)
        self.bytes[:] = 0
        self.address = address


def _free_host(on: Device, address: int) -> None:
    with on.current():
        on.driver.cuMemFreeHost(address)


def upload(on: Device, values: Array) -> Memory:
    """Copy an array to new memory on a device."""
    own = np.ascontiguousarray(values)
    memory = Memory(on, own.nbytes)
    if own.nbytes:
        with on.current():
            check(bindings().cuMemcpyHtoD(memory.pointer, own.ctypes.data, own.nbytes))
    return memory


def copy_to_device(pointer: int, values: Array, stream: int) -> None:
    """Copy an array of the host to memory on the device of the moment, in the order of a stream."""
    check(bindings().cuMemcpyHtoDAsync(pointer, values.ctypes.data, values.nbytes, stream))


def download(on: Device, pointer: int, out: Array, stream: int) -> None:
    """Copy memory of a device to an array of the host, after all that a stream does before."""
    driver = bindings()
    with on.current():
        check(driver.cuMemcpyDtoHAsync(out.ctypes.data, pointer, out.nbytes, stream))
        check(driver.cuStreamSynchronize(stream))


class Kernel:
    """A function of a module."""

    def __init__(self, module: Any, name: str, shared: int = 0) -> None:
        driver = bindings()
        self.name, self.shared = name, shared
        self.handle = check(driver.cuModuleGetFunction(module, name.encode()))
        if shared > 48 * 1024:
            kind = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            check(driver.cuFuncSetAttribute(self.handle, kind, shared))


def load(image: bytes) -> Any:
    """Load compiled kernels on the device of the moment."""
    return check(bindings().cuModuleLoadData(image))


class Launches:
    """Launches of kernels with one structure as their argument, prepared once."""

    def __init__(self, on: Device, argument: ctypes.Structure, threads: int) -> None:
        self.argument = argument  # kept, since the launches read it where it is
        self._pointers = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        self._address = ctypes.addressof(self._pointers)
        self._threads = threads
        self._launch = bindings().cuLaunchKernel
        self._launch_early = bindings().cuLaunchKernelEx
        self._early = on.capability >= EARLY
        self._prepared: dict[Any, Any] = {}

    def run(
        self, kernel: Kernel, grid: tuple[int, int], stream: Any, threads: int | None = None
    ) -> None:
        """Launch a kernel after all that the stream has before; the structure is copied now."""
        across, down = grid
        size = threads or self._threads
        # fmt: off
        status = self._launch(
            kernel.handle, across, down, 1, size, 1, 1, kernel.shared, stream, self._address, 0
        )[0]
        # fmt: on
        if status:
            check((status,))

    def follow(
        self, kernel: Kernel, grid: tuple[int, int], stream: Any, threads: int | None = None
    ) -> None:
        """Launch a kernel that waits itself for the one before it, which `run` or this has launched.

        It is then there when that one ends. Every kernel but the first of a search waits so.
        """
        if not self._early:
            self.run(kernel, grid, stream, threads)
            return
        key = (kernel.name, grid)
        prepared = self._prepared.get(key)
        if prepared is None or prepared[1] is not stream:
            prepared = (self._configuration(kernel, grid, stream, threads), stream)
            self._prepared[key] = prepared
        status = self._launch_early(prepared[0], kernel.handle, self._address, 0)[0]
        if status:
            check((status,))

    def _configuration(
        self, kernel: Kernel, grid: tuple[int, int], stream: Any, threads: int | None
    ) -> Any:
        driver = bindings()
        value = driver.CUlaunchAttributeValue()
        value.programmaticStreamSerializationAllowed = 1
        attribute = driver.CUlaunchAttribute()
        kinds = driver.CUlaunchAttributeID
        attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value = value
        made = driver.CUlaunchConfig()
        made.gridDimX, made.gridDimY, made.gridDimZ = *grid, 1
        made.blockDimX, made.blockDimY, made.blockDimZ = threads or self._threads, 1, 1
        made.sharedMemBytes, made.hStream = kernel.shared, stream
        made.attrs, made.numAttrs = [attribute], 1
        return made


_streams: dict[int, Any] = {}


def stream(address: int) -> Any:
    """Return a stream by its address, as launches take it."""
    found = _streams.get(address)
    if found is None:
        found = _streams[address] = bindings().CUstream(address)
    return found
