"""The short way of a call that is like an earlier one: never taken where anything may differ."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.cuda import known, request
from tests.cuda.populations import low_rank

if TYPE_CHECKING:
    from tests.cuda.fake_driver import FakeDriver

TYPES = {"float32": "torch.float32", "float64": "torch.float64"}


class Tensor:
    """A tensor of torch, as far as the library looks at it, with the memory of the host."""

    is_cuda = True
    device = SimpleNamespace(index=0)

    def __init__(self, values: Any) -> None:
        self.values = values
        self.dtype = TYPES[values.dtype.name]
        self._version = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def dim(self) -> int:
        return len(self.values.shape)

    def __len__(self) -> int:
        return len(self.values)

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.values.itemsize for step in self.values.strides)

    def data_ptr(self) -> int:
        return int(self.values.ctypes.data)

    def element_size(self) -> int:
        return int(self.values.itemsize)

    def get_device(self) -> int:
        return 0

    def is_contiguous(self) -> bool:
        return bool(self.values.flags.c_contiguous)

    def cpu(self) -> Any:
        return self.values

    def is_neg(self) -> bool:
        return False

    is_conj = is_inference = is_neg


class Setting:
    """Rows and a query, and how often all arguments were checked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows, query = low_rank(np.random.default_rng(2), 500, 4000)
        self.rows, self.query = Tensor(_aligned(rows)), Tensor(_aligned(query))
        self.bounds = sureshot.scan(self.rows)  # type: ignore[arg-type]
        self.checks = 0
        checked = request.device_request

        def counted(*arguments: Any, **more: Any) -> Any:
            self.checks += 1
            return checked(*arguments, **more)

        monkeypatch.setattr(request, "device_request", counted)
        known.TENSORS.clear()
        self.ask()
        self.ask()
        assert self.checks == 1  # the second call was like the first

    def ask(self, query: Any = None, k: Any = 5, **more: Any) -> sureshot.TopK:
        asked: dict[str, Any] = {"bounds": self.bounds, "rng": 1, **more}
        rows: Any = self.rows
        of: Any = self.query if query is None else query
        return sureshot.top_k(rows, of, k, **asked)


def _aligned(values: Any) -> Any:
    room = np.zeros(values.size + 4, dtype=values.dtype)
    begin = -room.ctypes.data % 16 // values.itemsize
    placed = room[begin : begin + values.size].reshape(values.shape)
    placed[...] = values
    return placed


@pytest.fixture
def setting(card: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> Setting:
    assert card is not None
    stream = SimpleNamespace(cuda_stream=0)
    torch = SimpleNamespace(
        Tensor=Tensor, _C=SimpleNamespace(), cuda=SimpleNamespace(current_stream=lambda _: stream)
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    return Setting(monkeypatch)


def test_the_answers_are_the_same(setting: Setting) -> None:
    short = setting.ask()
    assert setting.checks == 1
    known.TENSORS.clear()
    long = setting.ask()
    assert setting.checks == 2
    assert short.indices.tolist() == long.indices.tolist()
    assert short.scores.tobytes() == long.scores.tobytes()
    assert short.certificate == long.certificate
    assert short.work.numbers_read == long.work.numbers_read
    other = Tensor(_aligned(setting.query.values[::-1].copy()))
    assert setting.ask(other).indices.tolist() != short.indices.tolist()
    assert setting.checks == 2


def test_seeds_and_generators_are_drawn_from(setting: Setting) -> None:
    assert setting.ask(rng=2).work.numbers_read != setting.ask(rng=3).work.numbers_read
    rng = np.random.default_rng(0)
    read = {setting.ask(rng=rng).work.numbers_read for _ in range(5)}
    assert len(read) > 1
    assert setting.checks == 1
    with pytest.raises(TypeError, match="rng"):
        setting.ask(rng="seed")


@pytest.mark.parametrize(
    "change",
    [
        {"k": 6},
        {"k": 5.0},
        {"epsilon": 0.5},
        {"delta": 0.1},
        {"metric": "cosine"},
        {"method": "exact"},
        {"bounds": None},
        {"where": np.arange(300)},
        {"row_scale": np.ones(500)},
        {"budget": 0.5},
    ],
)
def test_another_question_is_checked(setting: Setting, change: dict[str, Any]) -> None:
    refused = {"k": 5.0, "budget": 0.5}
    if any(refused.get(name) == value for name, value in change.items() if name in refused):
        with pytest.raises((TypeError, ValueError)):
            setting.ask(**change)
    else:
        setting.ask(**change)
    assert setting.checks == 2


def test_a_tensor_that_has_changed_is_checked(setting: Setting) -> None:
    setting.rows._version += 1
    setting.ask()
    assert setting.checks == 2
    setting.rows.values = _aligned(setting.rows.values)  # elsewhere
    setting.ask()
    assert setting.checks == 3
    square = setting.rows.values[:, :500]
    setting.rows.values = square
    with pytest.raises(ValueError, match="coordinates"):
        setting.ask()


def test_other_queries_are_checked(setting: Setting) -> None:
    values = setting.query.values
    for query in (
        values,  # of the host
        Tensor(values.astype(np.float64)),
        Tensor(_aligned(np.repeat(values, 2))[::2]),
        Tensor(np.stack([values, values])),
    ):
        before = setting.checks
        setting.ask(query)
        assert setting.checks == before + 1
    with pytest.raises(ValueError, match="4000 coordinates"):
        setting.ask(Tensor(_aligned(values[:100])))


def test_batches_like_an_earlier_one(setting: Setting) -> None:
    values = setting.query.values
    for factor in (1, -1):
        rows = np.stack([factor * values, values[::-1], 2 * values])
        found = setting.ask(Tensor(_aligned(rows)))
        assert setting.checks == 2
        for at, row in enumerate(rows):
            alone = setting.ask(Tensor(_aligned(row)))
            assert alone.indices.tolist() == found.indices[at].tolist()
            assert alone.scores.tobytes() == found.scores[at].tobytes()
    bad = rows.copy()
    bad[1, 7] = np.nan
    with pytest.raises(ValueError, match="query must be finite"):
        setting.ask(Tensor(_aligned(bad)))
    assert setting.checks == 2


def test_bounds_that_may_change_are_read_each_time(setting: Setting) -> None:
    norms = np.linalg.norm(setting.rows.values.astype(np.float64), axis=1)
    changeable = sureshot.Bounds(norms=norms)
    if changeable.unchangeable:
        pytest.skip("bounds keep a copy of their own")
    for checks in (2, 3):
        setting.ask(bounds=changeable)
        assert setting.checks == checks
