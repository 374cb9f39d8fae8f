"""The loaders on small files in the published formats, and the data sets made of ratings."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.experiments import compare, factors, fig4, ratings, sets

if TYPE_CHECKING:
    from pathlib import Path

# User, item, rating; users 6 and 30 and items 10, 20 and 40, not in order.
TRIPLES = [(30, 20, 5), (6, 20, 3), (6, 10, 1), (30, 40, 4)]
EXPECTED = {(1, 1, 5.0), (0, 1, 3.0), (0, 0, 1.0), (1, 2, 4.0)}


def found_in(name: str, folder: Path) -> set[tuple[int, int, float]]:
    found = ratings.load(name, folder)
    assert (found.n_users, found.n_items) == (2, 3)
    return set(zip(found.users.tolist(), found.items.tolist(), found.values.tolist(), strict=True))


def text(pattern: str, header: str = "") -> str:
    return header + "".join(pattern.format(u=u, i=i, r=r) for u, i, r in TRIPLES)


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("MovieLens 100k", "u.data", text("{u}\t{i}\t{r}\t881250949\n")),
        ("MovieLens 1M or 10M", "ratings.dat", text("{u}::{i}::{r}::978300760\n")),
        ("MovieLens", "ratings.csv", text("{u},{i},{r}.0,112\n", "userId,movieId,rating,timestamp\n")),
        ("Yahoo! Music", "train_0.txt", text("{u}\t{i}\t{r}\n")),
        (
            "Yahoo! Music",
            "ydata-ymusic-user-artist-ratings-v1_0.txt",
            text("{u}\t{i}\t{r}\n"),
        ),
        (
            "Netflix",
            "combined_data_1.txt",
            "10:\n6,1,2005-09-06\n20:\n30,5,2005-09-06\n6,3,2004-01-01\n40:\n30,4,2005-09-06\n",
        ),
    ],
)  # fmt: skip
def test_published_formats(tmp_path: Path, name: str, file: str, content: str) -> None:
    (tmp_path / file).write_text(content)
    assert found_in(name, tmp_path) == EXPECTED


def test_netflix_has_a_file_for_each_movie(tmp_path: Path) -> None:
    folder = tmp_path / "training_set"
    folder.mkdir()
    for movie in (10, 20, 40):
        lines = [f"{u},{r},2005-09-06\n" for u, i, r in TRIPLES if i == movie]
        (folder / f"mv_{movie:07d}.txt").write_text(f"{movie}:\n" + "".join(lines))
    assert found_in("Netflix", tmp_path) == EXPECTED


def test_arrays_with_and_without_ratings(tmp_path: Path) -> None:
    users, items, values = np.array(TRIPLES).T
    np.savez(tmp_path / "ratings_ml100k.npz", u=users, i=items, r=values)
    assert found_in("MovieLens 100k", tmp_path) == EXPECTED
    np.savez(tmp_path / "ratings_ml1m_implicit.npz", u=users, i=items)
    assert found_in("MovieLens 1M, pairs", tmp_path) == {(u, i, 1.0) for u, i, _ in EXPECTED}


def test_matlab(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    table = np.zeros((2, 3))  # users × items, which MATLAB writes by columns
    for user, item, value in EXPECTED:
        table[user, item] = value
    training = table > 3
    with h5py.File(tmp_path / "ratings_yahoo_music.mat", "w") as file:
        file["M"], file["Otraining"] = table.T, training.T.astype(float)
        file["Otest"] = ((table > 0) & ~training).T.astype(float)
    assert found_in("Yahoo! Music, a part", tmp_path) == EXPECTED


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"MovieLens: expected one of ratings.csv in"):
        ratings.load("MovieLens", tmp_path)
    (tmp_path / "combined_data_1.txt").write_text("6,1,2005-09-06\n")
    words = (
        "Netflix: cannot read combined_data_1.txt: .*: expected a line 'movie:' first, got '6,1,"
    )
    with pytest.raises(sets.UnreadableData, match=words):
        ratings.load("Netflix", tmp_path)
    (tmp_path / "ratings.dat").write_text("")
    with pytest.raises(sets.UnreadableData, match="expected at least one rating, got none"):
        ratings.load("MovieLens 1M or 10M", tmp_path)
    np.savez(tmp_path / "ratings_ml100k.npz", users=np.arange(3))
    with pytest.raises(
        sets.UnreadableData, match=r"MovieLens 100k: cannot read ratings_ml100k\.npz"
    ):
        ratings.load("MovieLens 100k", tmp_path)


def test_never_play_again_is_no_liking(tmp_path: Path) -> None:
    path = tmp_path / "ydata-ymusic-user-artist-ratings-v1_0.txt"
    path.write_text("1\t7\t100\n1\t8\t255\n2\t7\t30\n")
    found = ratings.load("Yahoo! Music", tmp_path)
    assert found.values.tolist() == [100, 0, 30]
    assert found.origin == f"{path.name}: 3 ratings of 2 items by 2 users"


class FakeModel:
    """Factors that are the singular vectors of the table: no iterations."""

    def __init__(self, factors: int, iterations: int, random_state: int, use_gpu: bool) -> None:
        assert not use_gpu
        self.rank = factors

    def fit(self, table: Any, show_progress: bool) -> None:
        assert not show_progress
        left, values, right = np.linalg.svd(table.toarray(), full_matrices=False)
        self.user_factors = (left * values)[:, : self.rank].astype(np.float32)
        self.item_factors = right[: self.rank].T.astype(np.float32)


@pytest.fixture
def implicit(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = ModuleType("implicit.als")
    setattr(fake, "AlternatingLeastSquares", FakeModel)  # noqa: B010
    monkeypatch.setitem(sys.modules, "implicit", ModuleType("implicit"))
    monkeypatch.setitem(sys.modules, "implicit.als", fake)
    monkeypatch.setattr(fig4, "find_spec", lambda name: name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    users, items = np.divmod(rng.permutation(60 * 90)[:2_000], 90)
    values = rng.integers(1, 6, 2_000)
    np.savez(tmp_path / "ratings_ml100k.npz", u=users, i=items, r=values)
    return tmp_path


@pytest.mark.usefixtures("implicit")
def test_scores_are_the_products_of_the_factors(folder: Path) -> None:
    found = ratings.load("MovieLens 100k", folder)
    items, users = factors.factorise(found, 60, seed=0)
    table = np.zeros((found.n_users, found.n_items))
    table[found.users, found.items] = found.values
    np.testing.assert_allclose(users @ items.T, table, atol=1e-4)
    short = factors.as_factors(items, users, n=50, queries=4, seed=1)
    assert (short.data.shape, short.queries.shape) == ((50, 60), (4, 60))
    dense = factors.as_scores(items, users, (50, 40), queries=4, seed=1)
    assert (dense.data.shape, dense.queries.shape) == ((50, 40), (4, 40))
    assert dense.data.flags.c_contiguous
    rng = np.random.default_rng(1)
    chosen = rng.permutation(90)
    rng_columns = np.sort(rng.permutation(60)[:40])
    np.testing.assert_allclose(dense.queries, table.T[chosen[:4]][:, rng_columns], atol=1e-4)
    rows = np.sort(chosen[4:54])
    np.testing.assert_allclose(dense.data, table.T[rows][:, rng_columns], atol=1e-4)


def test_the_factorisation_knows_who_likes_what() -> None:
    pytest.importorskip("implicit", reason="implicit is not installed")
    rng = np.random.default_rng(3)
    users, items = np.divmod(np.flatnonzero(rng.random(60 * 40) < 0.3), 40)
    alike = users % 2 == items % 2  # two kinds of users, each with items of its own
    found = ratings.numbered(users[alike], items[alike], np.full(alike.sum(), 5.0))
    liked, likers = factors.factorise(found, 2, seed=0)
    assert (liked.shape, likers.shape) == ((40, 2), (60, 2))
    assert liked.dtype == np.float32
    best = np.argmax(likers @ liked.T, axis=1)
    np.testing.assert_array_equal(best % 2, np.arange(60) % 2)
    again, _ = factors.factorise(found, 2, seed=0)
    np.testing.assert_allclose(again, liked, rtol=1e-3, atol=1e-4)


@pytest.mark.usefixtures("implicit", "tiny")
def test_both_readings_of_ratings_are_measured(folder: Path) -> None:
    left_out = fig4.lacking(folder)
    assert "MovieLens 100k scores" not in left_out
    cases = [case for case in fig4.cases("small") if case.data.startswith("MovieLens 100k")]
    made = [replace(case, queries=1) for case in cases if case.method == "betting"]
    found = list(fig4.measure(made, folder))
    shapes = {row["data"]: (row["rows"], row["coordinates"]) for row in found}
    assert shapes == {"MovieLens 100k factors": (40, 60), "MovieLens 100k scores": (40, 60)}
    section = fig4.section(found)
    assert [picture.name for picture in section.pictures] == [
        "fig4-movielens-100k-factors",
        "fig4-movielens-100k-scores",
    ]


def test_a_missing_package_is_told_with_its_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fig4, "find_spec", lambda name: None)
    reasons = fig4.lacking(folder)
    assert reasons["MovieLens 100k factors"] == (
        "the factorisation needs implicit: pip install 'sureshot[reproduce]'"
    )
    monkeypatch.setitem(sys.modules, "implicit.als", None)
    with pytest.raises(compare.MissingPart, match=r"factors of ratings need implicit.als: pip"):
        factors.factorise(ratings.load("MovieLens 100k", folder), 5, seed=0)
