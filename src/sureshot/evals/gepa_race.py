"""GEPA's validation as a search: a new program is evaluated until it is clear whether it is the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.evals.gepa_pulls import check_adapter, fetched, ids_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sureshot._types import Floats, Ints


def gepa_race(
    adapter: Any,
    *,
    epsilon: float,
    delta: float = 0.05,
    bounds: tuple[float, float] = (0.0, 1.0),
    first: int = 32,
    seed: int = 0,
) -> dict[str, Any]:
    """Return arguments for ``gepa.optimize`` that evaluate new programs by `best_arms`.

    GEPA evaluates every program that it accepts on the whole validation set. With these arguments a new
    program is searched against the best one so far, `best_arms` of two, and evaluated on as many examples as
    that needs: a bad one on a few, one that may be the best on many. Both see the same examples.

    Parameters
    ----------
    adapter
        The adapter for ``gepa.optimize``: pass it here, not there.
    epsilon, delta, bounds
        Of each of these searches, as in `best_arms`.
    first
        Examples that the seed program is evaluated on at the beginning.
    seed
        Of the order of the examples. All searches have the same, so that what was paid for is used again.

    Returns
    -------
    dict
        ``adapter`` and ``val_evaluation_policy``, for ``gepa.optimize(..., **these)``.

    Notes
    -----
    GEPA asks a policy for the examples of a program without saying which program it is; the adapter that is
    returned here remembers what was proposed last. Where several programs are proposed at a time, they are
    evaluated on the whole set, as without this policy. Programs depend on earlier scores, so the
    searches guide the run and prove nothing of its end: to choose with a certificate, search the candidates
    with `gepa_pull` and a new seed. See ``docs/evals.md``.
    """
    check_adapter(adapter)
    if first < 1:
        raise ValueError(f"first must be at least 1, got {first}")
    recorder = Recorder(adapter)
    search: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "bounds": bounds, "rng": seed}
    # Asked of nothing much, so that what is wrong with it is said before a run begins.
    sureshot.best_arms(lambda arms, _: np.full((len(arms), 1), bounds[0]), 2, 1, **search)
    return {"adapter": recorder, "val_evaluation_policy": RacePolicy(recorder, search, first)}


@dataclass
class Evaluated:
    """Answers of one program, as an adapter returns them."""

    outputs: list[Any] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    trajectories: list[Any] | None = None
    objective_scores: list[dict[str, float]] | None = None
    num_metric_calls: int | None = None

    def add(self, found: Any) -> None:
        """Add more answers of the same program."""
        self.outputs += found.outputs
        self.scores += found.scores
        if found.objective_scores is not None:
            self.objective_scores = [*(self.objective_scores or []), *found.objective_scores]


class Recorder:
    """An adapter that does what another one does, and remembers which new programs it was asked about.

    What a search has evaluated before GEPA asks for it is given back without another evaluation.
    """

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter
        self.pool: list[Mapping[str, str]] = []  # the programs that GEPA has accepted
        self._proposed: list[Mapping[str, str]] = []  # in this iteration
        self._ready: tuple[Mapping[str, str], Evaluated] | None = None

    def __getattr__(self, name: str) -> Any:
        if name == "adapter":  # of a copy that is not made yet
            raise AttributeError(name)
        found = getattr(self.adapter, name)  # an AttributeError where the adapter has no such part
        return self._batch_evaluate if name == "batch_evaluate" else found

    @property
    def proposed(self) -> list[Mapping[str, str]]:
        """The new programs of this iteration."""
        return [program for program in self._proposed if program not in self.pool]

    def give_back(self, program: Mapping[str, str], evaluated: Evaluated) -> None:
        """Give these answers when the program is evaluated next."""
        self._ready = dict(program), evaluated

    def evaluate(self, batch: list[Any], candidate: dict[str, str], **options: Any) -> Any:
        """Evaluate as the adapter does."""
        ready = self._taken(candidate, batch)
        if ready is not None:
            return ready
        self._note(candidate, merged=not options.get("capture_traces", False))
        return self.adapter.evaluate(batch, candidate, **options)

    def _batch_evaluate(self, items: Sequence[tuple[Mapping[str, str], list[Any]]]) -> list[Any]:
        ready = [self._taken(candidate, batch) for candidate, batch in items]
        rest = [item for item, given in zip(items, ready, strict=True) if given is None]
        for candidate, _ in rest:
            self._note(candidate, merged=False)
        found = iter(self.adapter.batch_evaluate(rest) if rest else [])
        return [next(found) if given is None else given for given in ready]

    def _taken(self, candidate: Mapping[str, str], batch: list[Any]) -> Evaluated | None:
        if self._ready is None:
            return None
        program, evaluated = self._ready
        if program != candidate or len(evaluated.scores) != len(batch):
            return None
        self._ready = None
        return evaluated

    def _note(self, candidate: Mapping[str, str], *, merged: bool) -> None:
        # An iteration begins with its parents, or, without any, with a program merged of two.
        if candidate in self.pool or merged:
            self._proposed = []
        if candidate not in self._proposed:
            self._proposed.append(dict(candidate))


class RacePolicy:
    """GEPA's ``EvaluationPolicy``: the examples of a new program are those that a search asks for."""

    def __init__(self, recorder: Recorder, search: Mapping[str, Any], first: int) -> None:
        self._recorder = recorder
        self._search = search
        self._first = first

    def get_seed_eval_batch(self, loader: Any) -> list[Any]:
        """Return the examples of the first program: the first ones of the order."""
        ids = ids_of(loader)
        asked: list[Any] = []

        def pull(arms: Ints, coordinates: Ints) -> Floats:
            asked.extend(ids[at] for at in coordinates.tolist())
            return np.full((len(arms), len(coordinates)), self._search["bounds"][0])

        # Equal arms are pulled to the end, so the search shows its whole order.
        sureshot.best_arms(pull, 2, len(ids), **{**self._search, "epsilon": 0.0})
        return list(dict.fromkeys(asked))[: self._first]

    def get_eval_batch(
        self, loader: Any, state: Any, target_program_idx: int | None = None
    ) -> list[Any]:
        """Return the examples of the new program, which the search has evaluated then."""
        if state.evaluation_cache is not None:
            message = (
                "gepa_race needs cache_evaluation=False: the cache takes an example to train on for one to "
                "validate on that has the same id"
            )
            raise ValueError(message)
        self._recorder.pool = list(state.program_candidates)
        ids, proposed = ids_of(loader), self._recorder.proposed
        if target_program_idx is not None or len(proposed) != 1:
            return ids
        race = _Race(self._recorder.adapter, loader, ids, state, self.get_best_program(state))
        program = dict(proposed[0])
        sureshot.best_arms(
            lambda arms, coordinates: race.table(program, arms, coordinates),
            2,
            len(ids),
            **self._search,
        )
        race.record()
        self._recorder.give_back(program, race.evaluated)
        return list(race.scores)

    def get_best_program(self, state: Any) -> int:
        """Return the best program: each one against the best so far, on the examples that both have."""
        self._recorder.pool = list(state.program_candidates)
        scores = state.prog_candidate_val_subscores
        best = 0
        for number in range(1, len(scores)):
            both = scores[best].keys() & scores[number].keys()
            if sum(scores[number][one] - scores[best][one] for one in both) > 0:
                best = number
        return best

    def get_valset_score(self, program_idx: int, state: Any) -> float:
        """Return the average score of a program on the examples that it has."""
        return float(state.get_program_average_val_subset(program_idx)[0])


class _Race:
    """One search of the best program so far and a new one, and what it has paid for."""

    def __init__(
        self, adapter: Any, loader: Any, ids: Sequence[Any], state: Any, best: int
    ) -> None:
        self._adapter = adapter
        self._loader = loader
        self._ids = ids
        self._state = state
        self._best = best
        self._of_best: dict[
            Any, float
        ] = {}  # new scores of the best program, by the id of the example
        self.scores: dict[Any, float] = {}  # of the new program
        self.evaluated = Evaluated()  # the same with all that the adapter said

    def table(self, program: dict[str, str], arms: Ints, coordinates: Ints) -> Floats:
        """Return the scores of the best program (arm 0) and of the new one (arm 1)."""
        ids = [self._ids[at] for at in coordinates.tolist()]
        rows = [self._row_of_best(ids) if arm == 0 else self._row(program, ids) for arm in arms]
        return np.array(rows).reshape(len(arms), len(ids))

    def _row(self, program: dict[str, str], ids: list[Any]) -> list[float]:
        found = self._evaluate(program, ids)
        self.evaluated.add(found)
        self.scores.update(zip(ids, map(float, found.scores), strict=True))
        return [self.scores[one] for one in ids]

    def _row_of_best(self, ids: list[Any]) -> list[float]:
        known = self._state.prog_candidate_val_subscores[self._best]
        new = [one for one in ids if one not in known]
        if new:
            found = self._evaluate(dict(self._state.program_candidates[self._best]), new)
            self._of_best.update(zip(new, map(float, found.scores), strict=True))
            self._state.increment_evals(len(new))  # those of the new program GEPA counts itself
        return [float(known[one] if one in known else self._of_best[one]) for one in ids]

    def _evaluate(self, program: dict[str, str], ids: list[Any]) -> Any:
        return self._adapter.evaluate(fetched(self._loader, ids), program, capture_traces=False)

    def record(self) -> None:
        """Add the new scores of the best program to those that GEPA has of it."""
        state, best = self._state, self._best
        state.prog_candidate_val_subscores[best].update(self._of_best)
        for one, score in self._of_best.items():
            if score > state.pareto_front_valset.get(one, -np.inf):
                state.pareto_front_valset[one] = score
                state.program_at_pareto_front_valset[one] = {best}
            elif score == state.pareto_front_valset[one]:
                state.program_at_pareto_front_valset[one].add(best)
