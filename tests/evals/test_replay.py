"""What a search would have saved, counted by hand, and every way to refuse a table."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot.evals import replay
from tests.guarantee import assert_at_most

MODELS, EXAMPLES = 6, 400
TABLE = (
    np.random.default_rng(3).random((MODELS, EXAMPLES)) < np.linspace(0.3, 0.85, MODELS)[:, None]
)
CLOSE = np.random.default_rng(0).random((5, 60)) < np.linspace(0.4, 0.6, 5)[:, None]


def test_the_figures_are_those_of_the_searches() -> None:
    found = replay(TABLE, epsilon=0.05, delta=0.1, orders=4, rng=10)
    searches = [
        sureshot.best_arms(
            lambda models, js: TABLE[np.ix_(models, js)],
            *TABLE.shape,
            epsilon=0.05,
            delta=0.1,
            rng=seed,
        )
        for seed in range(10, 14)
    ]
    ours = found.strategies[0]
    assert ours.calls.tolist() == [one.work.numbers_read for one in searches]
    assert ours.chosen.tolist() == [int(one.indices[0]) for one in searches]
    assert found["best_arms"].calls == np.mean(ours.calls)
    assert found["best_arms"].share == found["best_arms"].calls / TABLE.size < 0.5
    halving, sample, certain, everything = found.outcomes[1:]
    # As many answers as the search took, or fewer where they do not divide evenly.
    for other in found.strategies[1:3]:
        assert (other.calls <= ours.calls).all()
        assert (other.calls > ours.calls - 3 * MODELS).all()
    assert everything.calls == TABLE.size
    assert (everything.right, everything.exact, everything.mean_loss) == (1, 1, 0)
    u = 2 / 0.05**2 * np.log(MODELS / 0.1)
    assert certain.calls == MODELS * np.ceil((u + u / EXAMPLES) / (1 + u / EXAMPLES))
    assert {halving.name, sample.name} < set(str(found).replace("  ", "\n").splitlines())


def test_the_losses_are_those_of_the_means() -> None:
    found = replay(CLOSE, epsilon=0.1, orders=20)
    means = CLOSE.mean(axis=1)
    for strategy, outcome in zip(found.strategies, found.outcomes, strict=True):
        losses = means.max() - means[strategy.chosen]
        assert strategy.losses.tolist() == losses.tolist()
        assert outcome.right == np.mean(losses <= 0.1 + 1e-12)
        assert outcome.exact == np.mean(losses == 0)
        assert (outcome.mean_loss, outcome.largest_loss) == (losses.mean(), losses.max())
    assert found["best_arms"].exact < 1  # or the comparison would show nothing
    assert json.loads(json.dumps(found.to_dict()))["outcomes"][0]["name"] == "best_arms"


def test_the_search_is_right_as_often_as_it_promises() -> None:
    found = replay(CLOSE, epsilon=0.0, delta=0.3, orders=100)
    wrong = round(100 * (1 - found["best_arms"].right))
    assert_at_most(wrong, 100, 0.3)


def test_a_data_frame_names_its_models() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(TABLE, index=[f"family-{at}" for at in range(MODELS)])
    found = replay(frame, orders=1)
    assert found.models[5] == "family-5"
    assert "Best: family-5" in repr(found)
    same = replay(TABLE, models=list("abcdef"), orders=1)
    assert same["best_arms"].calls == found["best_arms"].calls
    assert "Best: f," in str(same)


def test_the_picture_has_a_mark_for_every_order() -> None:
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    axes = replay(TABLE, orders=3).plot()
    lines = [line for line in axes.lines if len(line.get_xdata()) == 3]
    assert len(lines) == 5
    assert len(axes.get_legend().get_texts()) == 5
    assert all(line.get_ydata().max() < axes.get_ylim()[1] for line in lines)
    plt.close(axes.figure)
    plt.close(replay(TABLE, orders=1, epsilon=0).plot().figure)


@pytest.mark.parametrize(
    ("table", "options", "error", "message"),
    [
        (np.ones(5), {}, ValueError, r"shape \(models, examples\).*got shape \(5,\)"),
        (np.ones((1, 5)), {}, ValueError, "at least two models"),
        (np.ones((2, 0)), {}, ValueError, "one example"),
        (np.array([["a"], ["b"]]), {}, TypeError, "real numbers or booleans, got <U1"),
        (
            [[0.5, 2], [1, 1]],
            {},
            ValueError,
            r"model 0 has 2 on example 1, outside bounds=\(0, 1\)",
        ),
        ([[0.5, 1], [1, np.nan]], {}, ValueError, "model 1 has nan on example 1"),
        (
            TABLE,
            {"models": ["a"]},
            ValueError,
            "models must have one name for each of 6 rows, got 1",
        ),
        (TABLE, {"bounds": (1, 0)}, ValueError, "low < high"),
        (TABLE, {"orders": 0}, ValueError, "orders must be at least 1, got 0"),
        (TABLE, {"epsilon": -1}, ValueError, "epsilon must be at least 0, got -1"),
        (TABLE, {"delta": 2}, ValueError, "delta must lie strictly between 0 and 1, got 2"),
    ],
)
def test_bad_input_is_refused(
    table: Any, options: dict[str, Any], error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        replay(table, **options)


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(KeyError, match="expected one of 'best_arms'"):
        replay(TABLE, orders=1)["magic"]
