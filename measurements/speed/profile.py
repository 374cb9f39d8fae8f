"""Where the time of a query goes: the parts of `top_k`, and the floor that memory sets.

``python -m measurements.speed.profile low-rank --bounds scan`` prints a table, ``--write`` puts it into
docs/benchmarks.md. Every function of `PARTS` is wrapped; a part has the time spent in its own
functions, less that in other parts called from there, so that the parts add up to the whole. To
follow a change of the library, change the table.
"""

from __future__ import annotations

import argparse
import functools
import time
from contextlib import ExitStack, contextmanager
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any
from unittest import mock

import sureshot
from measurements.harness import command, machine, page
from measurements.speed import cases, floor, measure
from sureshot.experiments.numbers import milliseconds, per_cent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from measurements.speed.bandwidth import Memory
    from measurements.speed.floor import Traffic
    from measurements.speed.measure import Setup

REST = "the rest"
SAMPLING, EVALUATION = "reading blocks and betting", "exact evaluation"

# Part, module, and function or method as it is called: a name that was imported by name is wrapped
# where it was imported to. Of nested parts the innermost has the time.
PARTS = (
    ("checks of the arguments", "sureshot.api", "top_k_request"),
    ("setting up the problem", "sureshot.api", "prepare_top_k"),
    ("setting up the problem", "sureshot.prepare.top_k", "PreparedQueries.problem"),
    ("setting up the problem", "sureshot.prepare.top_k", "choose_intervals"),
    ("setting up the race", "sureshot.search.race.race", "Race.__init__"),
    (SAMPLING, "sureshot.search.race.reading", "Reading.read_on"),
    (SAMPLING, "sureshot.search.race.reading", "Reading.bet_on"),
    ("replaying bets", "sureshot.search.race.race", "Race.suspend_and_drop"),
    ("replaying bets", "sureshot.search.race.race", "Race.drop"),
    ("choosing candidates", "sureshot.search.race.race", "Race.evaluate_candidates"),
    (EVALUATION, "sureshot.search.race.race", "Race.evaluate"),
    (EVALUATION, "sureshot.sources.dense", "DenseSource.exact_scores_of"),
    ("screening in float32", "sureshot.sources.dense", "DenseSource.screened_best"),
    ("writing the answer", "sureshot.search.race.race", "Race.answer"),
)


class Stopwatch:
    """The seconds and the calls of each part; of nested parts only the innermost one runs."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self._running: list[str] = []
        self._since = 0.0

    def _switch(self) -> None:
        """Give the time since the last switch to the part that was running, if one was."""
        now = time.perf_counter()
        if self._running:
            self.seconds[self._running[-1]] += now - self._since
        self._since = now

    @contextmanager
    def running(self, part: str) -> Iterator[None]:
        """Count the time within to a part."""
        self._switch()
        self._running.append(part)
        self.seconds.setdefault(part, 0.0)
        self.calls[part] = self.calls.get(part, 0) + 1
        try:
            yield
        finally:
            self._switch()
            self._running.pop()

    def wrap(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time counted to a part."""

        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.running(part):
                return function(*arguments, **named)

        return timed


@contextmanager
def wrapped(stopwatch: Stopwatch, parts: Iterable[tuple[str, str, str]]) -> Iterator[None]:
    """Wrap the functions of the parts for as long as the block runs."""
    with ExitStack() as stack:
        for part, module, attribute in parts:
            try:
                function = resolve_name(f"{module}:{attribute}")
            except (AttributeError, ImportError) as error:
                message = f"PARTS: expected a function, got {module}.{attribute}: {error}"
                raise LookupError(message) from error
            target = f"{module}.{attribute}"
            stack.enter_context(mock.patch(target, stopwatch.wrap(part, function)))
        yield


def profile(setup: Setup, case: cases.SpeedCase) -> list[str]:
    """Search with all queries of a case and return the table of its parts, per query."""
    stopwatch, ready = Stopwatch(), setup.ready
    data, queries = ready.made.data, ready.made.queries
    search = functools.partial(
        sureshot.top_k,
        data,
        k=case.k,
        bounds=ready.bounds[case.bounds],
        method=case.method,
        threads=case.threads,
    )
    search(queries[-1], rng=case.seed)  # warm up
    results = []
    with wrapped(stopwatch, PARTS):
        for position in range(case.queries):
            with stopwatch.running(REST):
                results.append(search(queries[position], rng=case.seed + position))
    traffics = [floor.traffic(result.work, data, setup.memory) for result in results]
    return table(stopwatch, traffics, setup.memory)


def table(stopwatch: Stopwatch, traffics: list[Traffic], memory: Memory) -> list[str]:
    """Return the parts and their sum per query, with the floors of those that read the data."""
    queries, total = len(traffics), sum(stopwatch.seconds.values())
    floors = {
        SAMPLING: sum(one.sampling.seconds(memory) for one in traffics) / queries,
        EVALUATION: sum(one.evaluation.seconds(memory) for one in traffics) / queries,
    }
    lines = [
        [
            part,
            milliseconds(stopwatch.seconds[part] / queries),
            milliseconds(floors[part]) if part in floors else "",
            per_cent(stopwatch.seconds[part] / total),
            f"{stopwatch.calls[part] / queries:g}",
        ]
        for part in dict.fromkeys([*(part for part, _, _ in PARTS), REST])
        if part in stopwatch.seconds
    ]
    least = sum(floors.values())
    lines.append(["**together**", milliseconds(total / queries), milliseconds(least), "100 %", ""])
    read = sum(one.bytes_read for one in traffics) / queries
    about = (
        f"The floor is {per_cent(least * queries / total)} of the time: {read / 1e6:,.1f} MB, "
        f"{1e9 * memory.line_seconds:.1f} ns a scattered line, "
        f"{memory.bandwidth / 1e9:.1f} GB/s as a stream."
    )
    titles = ["part", "ms", "floor, ms", "of the time", "calls"]
    return [*page.left_aligned(titles, lines), "", about]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.speed.profile", description=__doc__
    )
    parser.add_argument("workload", choices=cases.WORKLOADS)
    parser.add_argument("--order", choices=cases.ORDERS, default="row")
    parser.add_argument("--bounds", choices=("scan", "limits", "none", "unit"), default="scan")
    parser.add_argument("--method", choices=("betting", "exact"), default="betting")
    parser.add_argument("-n", type=int, help="rows; 10,000 by default")
    parser.add_argument("-N", type=int, help="coordinates; 100,000 by default")
    parser.add_argument("-k", type=int, default=cases.K)
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--threads", type=int, default=machine.available_threads())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="add to docs/benchmarks.md")
    command.add_file_options(parser, cases.WORKLOADS)
    settings = parser.parse_args(arguments)
    if command.lacks_file(settings.workload, settings):
        parser.error(f"workload {settings.workload} reads a file")
    return settings


def main() -> None:
    """Make the data, search, print the table."""
    settings = parse()
    case = cases.SpeedCase(
        task="search",
        workload=settings.workload,
        size="full",
        asked_n=settings.n,
        asked_N=settings.N,
        order=settings.order,
        dtype="float32",
        method=settings.method,
        bounds=settings.bounds,
        k=settings.k,
        threads=settings.threads,
        queries=settings.queries,
        seed=settings.seed,
        library_digest="",
    )
    setup = measure.prepare(case, command.file_of(case.workload, settings))
    lines = [title(setup, case), "", *profile(setup, case)]
    print(*lines, sep="\n")
    if settings.write:
        page.rewrite(page.DOCS / "benchmarks.md", {f"profile {case.order}": lines})


def title(setup: Setup, case: cases.SpeedCase) -> str:
    """Return what was searched, in words."""
    n, N = setup.ready.made.data.shape
    how = f"bounds: {case.bounds}" if case.method == "betting" else f"method {case.method}"
    return (
        f"{case.workload}, {n:,} × {N:,}, {case.order}-major, {how}, k = {case.k}, "
        f"{case.threads} threads, mean of {case.queries} queries:"
    )


if __name__ == "__main__":
    main()
