"""All kernels are compiled for the cards that they are for: NVRTC needs no card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sureshot.cuda import compiler

if TYPE_CHECKING:
    from pathlib import Path

# One architecture for each kind of kernel: together they have all types, metrics, alignments and queries.
KINDS = [
    ("sm_80", "float32", "float32", "ip", True),
    ("sm_90", "bfloat16", "float32", "cosine", True),
    ("sm_100", "float16", "float64", "abs-ip", False),
]


@pytest.fixture
def nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed")
    try:
        compiler._nvrtc()
    except ImportError as error:
        pytest.skip(f"NVRTC is not installed: {error}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("architecture", "row", "query", "metric", "aligned"), KINDS)
def test_kernels_compile(
    nvrtc: Path, architecture: str, row: str, query: str, metric: str, *, aligned: bool
) -> None:
    names = compiler.definitions(row, query, metric, aligned=aligned)
    for purpose in compiler.PARTS:
        image = compiler.compiled(architecture, names, purpose)
        assert image.startswith(b"\x7fELF")
        (kept,) = (nvrtc / "sureshot" / "cuda").iterdir()
        kept.write_bytes(b"what was kept")
        assert compiler.compiled(architecture, names, purpose) == b"what was kept"
        kept.unlink()


def test_an_error_of_the_compiler_is_shown(nvrtc: Path) -> None:
    names = {**compiler.definitions("float32", "float32", "ip", aligned=True), "ROW": "nothing"}
    with pytest.raises(RuntimeError, match="nothing"):
        compiler.compiled("sm_90", names, "measure")


def test_without_a_folder_to_keep_them_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    compiler._keep(tmp_path / "file" / "x.cubin", b"image")


KERNELS = {
    "measure": ("measure", "measure_short", "measure_columns"),
    "search": (
        *("first", "race", "race_on", "exact", "last", "whole"),
        *("narrow", "multiply", "pack", "multiply_integers", "skim", "screen"),
    ),
}


@pytest.mark.parametrize("purpose", compiler.PARTS)
def test_all_parts_of_the_source_are_there(purpose: str) -> None:
    text = compiler.source(purpose)
    for name in KERNELS[purpose]:
        assert f" {name}(const __grid_constant__" in text


def test_the_first_use_of_kernels_is_logged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(compiler, "_nvrtc", lambda: (None, (13, 0)))
    monkeypatch.setattr(compiler, "_compile", lambda *_: b"image")
    names = compiler.definitions("float16", "float32", "ip", aligned=True)
    with caplog.at_level("INFO", logger="sureshot"):
        for _ in range(2):
            assert compiler.compiled("sm_90", names, "search") == b"image"
    (line,) = caplog.messages
    assert "compiling kernels to search" in line
    assert str(tmp_path) in line
