"""Compiles the arithmetic of the kernels for the host."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import sureshot.cuda
from sureshot.cuda import compiler

if TYPE_CHECKING:
    from pathlib import Path


def compiled(source: str, folder: Path) -> ctypes.CDLL:
    """Return a library of C++ that may include parts of the kernels."""
    compiler_of_host = shutil.which("c++") or shutil.which("g++")
    if compiler_of_host is None:
        pytest.skip(
            "there is no C++ compiler to compile the arithmetic of the kernels for the host"
        )
    (folder / "host.cpp").write_text(source)
    kernels = f"{next(iter(sureshot.cuda.__path__))}/kernels"
    names = compiler.rounding_constants(4)
    subprocess.run(
        [
            *(compiler_of_host, "-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC"),
            *(f"-D{name}={value}" for name, value in names.items()),
            *(f"-I{kernels}", "host.cpp", "-o", "host.so"),
        ],
        cwd=folder,
        check=True,
    )
    return ctypes.CDLL(str(folder / "host.so"))


def pointer(array: Any) -> ctypes.c_void_p:
    """Return where an array lies."""
    return ctypes.c_void_p(array.ctypes.data)
